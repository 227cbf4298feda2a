/* Implements include/penta/cvbc.h with the functions of the format: rewriting files, and
 * building new ones. */
#include "base/long_work.h"
#include "base/bytes.h"
#include "crypto/hash.h"
#include "cvbc/api.h"
#include "cvbc/compile/compile.h"
#include "cvbc/format/hardware/hardware.h"
#include "cvbc/format/legacy.h"
#include <stdlib.h>
#include <string.h>

struct penta_cvbc_builder {
    struct cvbc_build b;
    struct private_key *key;
    struct cvbc_secret secret;
    bool keep_debug;
    /* This debug section is used unchanged. It is empty if the section is made from the rows. */
    struct writer debug;
    struct cvbc_debug_rows rows;
};

/* The functions below copy public structs into a build. */

/* Copies the public struct about signing into a build. The caller frees the key. */
static bool sign_with(struct cvbc_build *b, const penta_cvbc_signing *how, struct private_key **key,
                      penta_error *err)
{
    if (how->hash > 2)
        return error_at(err, CVBC_UNSUPPORTED, 0, "no hash has the number %u", (unsigned)how->hash);
    if (how->hash) b->hash_algorithm = (uint8_t)how->hash;
    if (!how->key.data) return true;
    struct private_key *read = key_private_read(how->key, CVBC_KEY, err);
    if (!read) return false;
    key_private_free(*key);
    *key = read;
    b->sign_key = read;
    b->external_key = how->external;
    return true;
}

/* Copies the public struct about sealing into a build. The caller frees the secret. */
static bool seal_with(struct cvbc_build *b, const penta_cvbc_sealing *how,
                      struct cvbc_secret *secret, penta_error *err)
{
    uint32_t rounds = how->iterations ? how->iterations : 600, method = how->derivation;
    if (how->cipher > 2)
        return error_at(err, CVBC_UNSUPPORTED, 0, "no cipher has the number %u",
                        (unsigned)how->cipher);
    if (method > CVBC_KEY_PBKDF2 || rounds > UINT16_MAX)
        return error_at(err, CVBC_UNSUPPORTED, 0,
                        "no key derivation has the number %u, or more than 65535 "
                        "thousand rounds",
                        (unsigned)method);
    if (method == CVBC_KEY_RAW && how->secret.size != 32)
        return error_at(err, CVBC_KEY, 0, "a raw key has 32 bytes, not %zu", how->secret.size);
    if (!how->secret.size) return error_at(err, CVBC_KEY, 0, "the secret is empty");
    cvbc_secret_free(secret);
    if (!cvbc_secret_copy(how->secret, secret, err)) return false;
    b->cipher = how->cipher ? (uint8_t)how->cipher : 1;
    b->derivation = method == CVBC_KEY_PBKDF2 ? method | rounds << 8 : method;
    b->secret = secret;
    return true;
}

bool penta_cvbc_sign(const penta_module *module, const penta_cvbc_signing *how, penta_buffer *out,
                     penta_error *err)
{
    *err = (penta_error){0};
    struct cvbc_build b = {0};
    struct private_key *key = NULL;
    struct public_key reserve;
    struct writer w = {0};
    bool ok = sign_with(&b, how, &key, err) &&
              (!how->reserve.data || key_public_read(how->reserve, &reserve, CVBC_KEY, err));
    struct cvbc_resigning resigning = {.key = key,
                                       .reserve = how->reserve.data ? &reserve : NULL,
                                       .external_key = how->external,
                                       .hash_algorithm = b.hash_algorithm,
                                       .replace = how->replace,
                                       .report = how->report,
                                       .user = how->user};
    ok = ok && cvbc_resign(cvbc_module(module), &resigning, &w, err);
    key_private_free(key);
    return writer_give(&w, ok, out, err);
}

/* Finds the file of the key that signs, or of the key for whose signature space is left. */
static bool key_options(const penta_option *options, size_t count, const char **key,
                        const char **public, penta_error *err)
{
    *key = option_text(options, count, "sign-key");
    *public = option_text(options, count, "public-key");
    if (*key && *public)
        return error_at(err, BASE_OPTION_VALUE, 0, "either a sign-key or a public-key");
    if (*key || *public) return true;
    error_at(err, CVBC_KEY, 0, "no key to sign with");
    return error_note(err,
                      "option 'sign-key', or option 'public-key' for one that is kept elsewhere");
}

bool penta_cvbc_sign_options(const penta_module *module, const penta_option *options, size_t count,
                             penta_buffer *out, penta_report *replaced, void *user,
                             penta_error *err)
{
    const char *key, *public, *hash = option_text(options, count, "hash");
    struct public_key reserve;
    struct private_key *private = NULL;
    uint64_t algorithm = 0;
    struct writer w = {0};
    *err = (penta_error){0};
    if (!options_check(options, count, cvbc_driver.options, OPTION_SIGN, err)) return false;
    if (hash && !cvbc_value("hash_algorithm", bytes_of(hash), &algorithm))
        return error_not_in(err, "hash", hash, cvbc_hash_name);
    if (!key_options(options, count, &key, &public, err) ||
        (public && !cvbc_public_key_file(public, &reserve, err)) ||
        (key && !(private = cvbc_private_key_option(options, count, err))))
        return false;
    struct cvbc_resigning how = {.key = private,
                                 .reserve = public ? &reserve : NULL,
                                 .external_key = option_text(options, count, "external-key"),
                                 .hash_algorithm = (uint8_t)algorithm,
                                 .replace = option_text(options, count, "resign"),
                                 .report = replaced,
                                 .user = user};
    bool ok = cvbc_resign(cvbc_module(module), &how, &w, err);
    key_private_free(private);
    return writer_give(&w, ok, out, err);
}

bool penta_cvbc_attach(const penta_module *module, penta_bytes signature, penta_buffer *out,
                       penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    return writer_give(&w, cvbc_attach(cvbc_module(module), signature, &w, err), out, err);
}

/* Decodes the bytecode and stores it again, encrypted or plain. */
static bool build_rewrite(const struct cvbc_module *m, const penta_cvbc_sealing *sealing,
                          const penta_cvbc_signing *signing, penta_buffer *out, penta_error *err)
{
    struct cvbc_build b = {0};
    struct private_key *key = NULL;
    struct cvbc_secret secret = {0};
    struct writer w = {0};
    bool ok = true;
    if (m->header.flags & CVBC_SIGNED && !signing) {
        ok = error_at(err, CVBC_SEALED, 56,
                      "the file is signed, and the signature would no longer fit");
        error_note(err, "sign again, or say that the result is not signed");
    }
    ok = ok && cvbc_build_from(&b, m, err) && (!signing || sign_with(&b, signing, &key, err)) &&
         (!sealing || seal_with(&b, sealing, &secret, err));
    b.keep_debug = sealing && sealing->keep_debug;
    ok = ok && cvbc_build_programs_from(&b, m, err) && cvbc_build_write(&b, &w, err);
    cvbc_build_fini(&b);
    cvbc_secret_free(&secret);
    key_private_free(key);
    return writer_give(&w, ok, out, err);
}

bool penta_cvbc_seal(const penta_module *module, const penta_cvbc_sealing *how,
                     const penta_cvbc_signing *signing, penta_buffer *out, penta_error *err)
{
    const struct cvbc_module *m = cvbc_module(module);
    *err = (penta_error){0};
    if (m->header.flags & CVBC_ENCRYPTED)
        return error_at(err, CVBC_SEALED, 56, "the bytecode is encrypted already");
    if (m->debug.size && !how->keep_debug)
        return error_at(err, CVBC_SEALED, cvbc_offset(m, m->debug.data),
                        "debug data would stay readable");
    return build_rewrite(m, how, signing, out, err);
}

bool penta_cvbc_unseal(const penta_module *module, const penta_cvbc_signing *signing,
                       penta_buffer *out, penta_error *err)
{
    const struct cvbc_module *m = cvbc_module(module);
    *err = (penta_error){0};
    if (!(m->header.flags & CVBC_ENCRYPTED))
        return error_at(err, CVBC_SEALED, 56, "the bytecode is not encrypted");
    return build_rewrite(m, NULL, signing, out, err);
}

penta_cvbc_builder *penta_cvbc_builder_new(penta_error *err)
{
    *err = (penta_error){0};
    penta_cvbc_builder *b = calloc(1, sizeof *b);
    if (!b) error_at(err, BASE_MEMORY, 0, "no memory for a builder");
    return b;
}

void penta_cvbc_builder_free(penta_cvbc_builder *b)
{
    if (!b) return;
    cvbc_build_fini(&b->b);
    key_private_free(b->key);
    cvbc_secret_free(&b->secret);
    writer_free(&b->debug);
    cvbc_debug_free(&b->rows);
    free(b);
}

static bool record_size(const char *name, size_t size, size_t want, penta_error *err)
{
    *err = (penta_error){0};
    return size == want ||
           error_at(err, CVBC_METADATA, 0, "a %s record has %zu bytes, not %zu", name, want, size);
}

/* Checks that a list whose length is a u16 may have one more item. */
static bool list_has_room(const char *name, size_t count, size_t max, penta_error *err)
{
    return count < max || error_at(err, CVBC_LIMIT, 0, "more than %zu %s", max, name);
}

bool penta_cvbc_builder_core(penta_cvbc_builder *b, penta_bytes record, penta_error *err)
{
    if (!record_size("core", record.size, cvbc_core_bytes, err)) return false;
    struct reader r = {.in = record, .err = err};
    cvbc_core_read(&r, &b->b.core);
    return true;
}

bool penta_cvbc_builder_pin(penta_cvbc_builder *b, penta_bytes record, penta_error *err)
{
    if (!record_size("pin", record.size, cvbc_pin_bytes, err) ||
        !list_has_room("pins", b->b.pin_count, CVBC_PINS_MAX, err))
        return false;
    cvbc_build_pin_record(&b->b, record.data);
    return writer_ok(&b->b.pins, err);
}

bool penta_cvbc_builder_dependency(penta_cvbc_builder *b, penta_bytes record, penta_error *err)
{
    if (!record_size("dependency", record.size, cvbc_dependency_bytes, err) ||
        !list_has_room("dependencies", b->b.dependency_count, UINT16_MAX, err))
        return false;
    writer_bytes(&b->b.dependencies, record.data, record.size);
    b->b.dependency_count++;
    return writer_ok(&b->b.dependencies, err);
}

bool penta_cvbc_builder_hint(penta_cvbc_builder *b, uint8_t type, uint8_t priority,
                             penta_bytes data, penta_error *err)
{
    *err = (penta_error){0};
    if (!list_has_room("hints", b->b.hint_count, UINT16_MAX, err)) return false;
    if (data.size > UINT16_MAX)
        return error_at(err, CVBC_LIMIT, 0, "a hint of %zu bytes", data.size);
    struct cvbc_hint hint = {type, priority, (uint16_t)data.size};
    cvbc_hint_write(&b->b.hints, &hint);
    writer_bytes(&b->b.hints, data.data, data.size);
    b->b.hint_count++;
    return writer_ok(&b->b.hints, err);
}

bool penta_cvbc_builder_custom(penta_cvbc_builder *b, penta_bytes data, penta_error *err)
{
    *err = (penta_error){0};
    if (data.size > UINT16_MAX)
        return error_at(err, CVBC_LIMIT, 0, "%zu bytes of custom metadata", data.size);
    b->b.custom.out.size = 0;
    writer_bytes(&b->b.custom, data.data, data.size);
    return writer_ok(&b->b.custom, err);
}

bool penta_cvbc_builder_code(penta_cvbc_builder *b, penta_bytes code, penta_error *err)
{
    *err = (penta_error){0};
    if (code.size % cvbc_inst_bytes)
        return error_at(err, CVBC_BYTECODE, code.size, "%zu bytes are not a number of instructions",
                        code.size);
    if (code.size / 4 > UINT16_MAX - cvbc_build_count(&b->b))
        return error_at(err, CVBC_LIMIT, 0, "more than 65535 instructions");
    writer_bytes(&b->b.code, code.data, code.size);
    return writer_ok(&b->b.code, err);
}

bool penta_cvbc_builder_string(penta_cvbc_builder *b, penta_bytes text, penta_error *err)
{
    *err = (penta_error){0};
    if (text.size && memchr(text.data, 0, text.size))
        return error_at(err, CVBC_BYTECODE, 0, "string %u has a NUL inside",
                        (unsigned)b->b.string_count);
    if (text.size > CVBC_INFLATE_MAX ||
        !list_has_room("strings", b->b.string_count, UINT16_MAX, err))
        return error_at(err, CVBC_LIMIT, 0, "a string of %zu bytes", text.size);
    cvbc_build_string(&b->b, text);
    return writer_ok(&b->b.strings, err);
}

bool penta_cvbc_builder_entry(penta_cvbc_builder *b, uint32_t entry, penta_error *err)
{
    *err = (penta_error){0};
    if (entry > UINT16_MAX)
        return error_at(err, CVBC_BYTECODE, 0, "the entry point is %u", (unsigned)entry);
    b->b.entry = (uint16_t)entry;
    return true;
}

bool penta_cvbc_builder_needs(penta_cvbc_builder *b, int64_t stack, int64_t variables,
                              penta_error *err)
{
    enum { AT_STACK = 12, AT_VARIABLES = 14 };
    struct cvbc_override *over = &b->b.bytecode_over;
    *err = (penta_error){0};
    if (stack > UINT16_MAX || variables > UINT16_MAX)
        return error_at(err, CVBC_LIMIT, 0, "stack and variables are counted with 16 bits");
    memset(over, 0, sizeof *over);
    if (stack >= 0) {
        bytes_put16(over->bytes + AT_STACK, (uint16_t)stack);
        memset(over->mask + AT_STACK, 1, 2);
    }
    if (variables >= 0) {
        bytes_put16(over->bytes + AT_VARIABLES, (uint16_t)variables);
        memset(over->mask + AT_VARIABLES, 1, 2);
    }
    over->used = true;
    return true;
}

static bool debug_name(penta_bytes name, penta_error *err)
{
    *err = (penta_error){0};
    return name.size <= UINT16_MAX ||
           error_at(err, CVBC_LIMIT, 0, "a name of %zu bytes", name.size);
}

bool penta_cvbc_builder_symbol(penta_cvbc_builder *b, uint8_t kind, uint32_t value,
                               penta_bytes name, penta_error *err)
{
    if (!debug_name(name, err)) return false;
    cvbc_debug_symbol(&b->rows, name, kind, value);
    return writer_ok(&b->rows.symbols, err);
}

bool penta_cvbc_builder_line(penta_cvbc_builder *b, uint16_t instruction, uint16_t file,
                             uint32_t line, penta_error *err)
{
    *err = (penta_error){0};
    cvbc_debug_line(&b->rows, instruction, file, line);
    return writer_ok(&b->rows.lines, err);
}

bool penta_cvbc_builder_variable(penta_cvbc_builder *b, const penta_cvbc_variable *v,
                                 penta_bytes name, penta_error *err)
{
    if (!debug_name(name, err)) return false;
    cvbc_debug_variable(&b->rows, name,
                        (struct cvbc_variable){.storage = v->storage,
                                               .type = v->type,
                                               .slot = v->slot,
                                               .first = v->first,
                                               .last = v->last,
                                               .elements = v->elements});
    return writer_ok(&b->rows.variables, err);
}

bool penta_cvbc_builder_debug(penta_cvbc_builder *b, penta_bytes section, penta_error *err)
{
    *err = (penta_error){0};
    b->debug.out.size = 0;
    writer_bytes(&b->debug, section.data, section.size);
    return writer_ok(&b->debug, err);
}

/* The functions below set the other parts of a file. */

void penta_cvbc_builder_stamp(penta_cvbc_builder *b, uint64_t timestamp, uint64_t secure_timestamp,
                              uint32_t build_number, bool deterministic)
{
    b->b.timestamp = timestamp;
    b->b.secure_timestamp = secure_timestamp;
    b->b.build_number = build_number;
    b->b.flags &= (uint8_t)~CVBC_DETERMINISTIC;
    if (deterministic) b->b.flags |= CVBC_DETERMINISTIC;
}

void penta_cvbc_builder_source(penta_cvbc_builder *b, const uint8_t sha256[32])
{
    memcpy(b->b.source_sha256, sha256, 32);
}

void penta_cvbc_builder_compress(penta_cvbc_builder *b, bool compress, bool force)
{
    b->b.flags &= (uint8_t)~CVBC_COMPRESSED;
    if (compress || force) b->b.flags |= CVBC_COMPRESSED;
    b->b.force_compression = force;
}

bool penta_cvbc_builder_sign(penta_cvbc_builder *b, const penta_cvbc_signing *how, penta_error *err)
{
    *err = (penta_error){0};
    return sign_with(&b->b, how, &b->key, err);
}

bool penta_cvbc_builder_seal(penta_cvbc_builder *b, const penta_cvbc_sealing *how, penta_error *err)
{
    *err = (penta_error){0};
    b->keep_debug = how->keep_debug;
    return seal_with(&b->b, how, &b->secret, err);
}

/* Tells whether the program has instructions that only files of minor version 3 may have. */
static bool build_needs_switch(const struct cvbc_build *b)
{
    const uint8_t *code = b->code.out.data;
    for (size_t i = 0; i < cvbc_build_count(b); i++)
        if (cvbc_ops[code[4 * i]].minor >= CVBC_MINOR_ENFORCED) return true;
    return false;
}

bool penta_cvbc_builder_compile(penta_cvbc_builder *b, penta_bytes text, const char *file,
                                bool portable, bool strip, penta_report *report, void *user)
{
    struct findings f = {.rules = cvbc_rules, .report = report, .user = user};
    char folder[CVBC_FOLDER_BYTES];
    struct cvbc_compilation how = {
        .portable = portable, .strip = strip, .file = file, .folder = cvbc_folder(file, folder)};
    b->debug.out.size = 0;
    bool ok = cvbc_compile(text, &how, &b->b, &b->debug, &f);
    penta_error err = {0};
    struct cvbc_declaring declaring = {
        .enforce = true, .source = text, .debug = writer_view(&b->debug), .f = &f};
    if (ok && build_needs_switch(&b->b)) ok = cvbc_declare(&b->b, &declaring, &err);
    if (err.code) findings_pass(&f, &err);
    if (strip) b->debug.out.size = 0;
    return ok;
}

/* Checks that the written bytes are a container. Values that are out of range are found only
 * here. */
static bool is_container(penta_bytes file, penta_error *err)
{
    penta_module *module = cvbc_parse(file, NULL, 0, err);
    if (!module) return false;
    struct findings f = {.rules = cvbc_rules, .report = error_keep_first, .user = err};
    cvbc_check_full(cvbc_module(module), &f);
    cvbc_close(module);
    return !err->code;
}

bool penta_cvbc_builder_finish(penta_cvbc_builder *b, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer made = {0}, w = {0};
    if (!b->debug.out.size) cvbc_debug_put(&b->rows, &made);
    b->b.debug = writer_view(b->debug.out.size ? &b->debug : &made);
    bool ok = writer_ok(&made, err);
    if (ok && !cvbc_build_count(&b->b))
        ok = error_at(err, CVBC_BYTECODE, 0, "there are no instructions");
    if (ok && b->b.cipher && b->b.debug.size && !b->keep_debug)
        ok = error_at(err, CVBC_SEALED, 0, "debug data would stay readable");
    if (ok && b->b.entry >= cvbc_build_count(&b->b))
        ok = error_at(err, CVBC_BYTECODE, 0, "the entry point is %u, of %zu instructions",
                      b->b.entry, cvbc_build_count(&b->b));
    ok = ok && cvbc_build_write(&b->b, &w, err) && is_container(writer_view(&w), err);
    writer_free(&made);
    b->b.debug = (penta_bytes){0};
    return writer_give(&w, ok, out, err);
}

/* The functions below build files as options say. */

/* Declares what the program uses, as the options say (cvbc_declare). */
static bool build_declare(struct cvbc_creation *made, const penta_option *options, size_t count,
                          struct cvbc_declaring *how, penta_error *err)
{
    const char *target = option_text(options, count, "target");
    struct cvbc_board board;
    if (target && !cvbc_board_find(target, &board, err)) return false;
    how->board = target ? &board : NULL;
    how->any_pin = option_text(options, count, "any-pin") != NULL;
    return cvbc_declare(&made->b, how, err);
}

/* Writes a compiled program. Its debug section exists for messages even if it is not written. */
static bool build_create(struct cvbc_creation *made, const penta_option *options, size_t count,
                         struct cvbc_declaring *how, penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    bool strip = option_text(options, count, "strip") != NULL;
    if (!strip) made->b.debug = how->debug;
    bool ok = cvbc_create_options(made, options, count, err) &&
              build_declare(made, options, count, how, err) && cvbc_build_write(&made->b, &w, err);
    return writer_give(&w, ok, out, err);
}

/* Does what option 'enforce' says to an existing program. */
static bool build_enforce(struct cvbc_creation *made, const struct cvbc_module *m,
                          const penta_option *options, size_t count, penta_error *err)
{
    penta_error first = {0};
    struct findings f = {.rules = cvbc_rules, .report = error_keep_first, .user = &first};
    struct cvbc_declaring how = {
        .program = &cvbc_open(m)->program, .enforce = true, .debug = m->debug, .f = &f};
    if (!option_text(options, count, "enforce")) return true;
    if (build_declare(made, options, count, &how, err)) return true;
    if (!err->code) *err = first;
    return false;
}

/* Adds the programs after the first one, and the name of the first one. */
static bool add_programs(struct cvbc_creation *made, const penta_cvbc_named *programs,
                         size_t program_count, penta_error *err)
{
    struct cvbc_build *b = &made->b;
    for (size_t i = 0; i < program_count; i++) {
        uint8_t name[CVBC_NAME_BYTES] = {0};
        penta_bytes text = bytes_of(programs[i].name);
        const struct cvbc_module *m = cvbc_module(programs[i].module);
        if (text.size < sizeof name) bytes_copy(name, text);
        if (!cvbc_program_name_good(name)) {
            error_at(err, CVBC_PROGRAM_NAME, 0, "'%.60s' is no name of a program",
                     programs[i].name);
            return error_note(err, "1 to 31 letters, digits, '_', '-' and '.'");
        }
        for (size_t k = 0; k < i; k++)
            if (!strcmp(programs[k].name, programs[i].name))
                return error_at(err, CVBC_PROGRAM_NAME, 0, "two programs are called '%s'",
                                programs[i].name);
        if (m->meta.has_directory)
            return error_at(err, CVBC_PROGRAM_KIND, 0, "'%s' holds programs itself",
                            programs[i].name);
        if (!i)
            memcpy(b->first_name, name, sizeof name);
        else if (!cvbc_build_add(b, name, m, err))
            return false;
    }
    return true;
}

bool penta_cvbc_create(const penta_cvbc_named *programs, size_t program_count,
                       const penta_option *options, size_t count, penta_buffer *out,
                       penta_error *err)
{
    *err = (penta_error){0};
    struct cvbc_creation made = {0};
    struct writer w = {0};
    bool ok = options_check(options, count, cvbc_driver.options, OPTION_CREATE, err);
    bool several = program_count != 1 || programs[0].name;
    if (ok && several && (program_count < 2 || program_count > CVBC_PROGRAMS_MAX + 1))
        ok = error_at(err, CVBC_LIMIT, 0, "a file with several programs has 2 to %d, not %zu",
                      CVBC_PROGRAMS_MAX + 1, program_count);
    ok = ok && cvbc_create_from(&made, cvbc_module(programs[0].module), err) &&
         cvbc_create_options(&made, options, count, err) &&
         build_enforce(&made, cvbc_module(programs[0].module), options, count, err) &&
         (several ? add_programs(&made, programs, program_count, err)
                  : cvbc_build_programs_from(&made.b, cvbc_module(programs[0].module), err)) &&
         cvbc_build_write(&made.b, &w, err);
    cvbc_creation_fini(&made);
    return writer_give(&w, ok, out, err);
}

/* Finds which logical pins the options declare. Without options for pins all pins may be used. */
static bool declared_pins(const penta_option *options, size_t count, struct cvbc_compilation *how,
                          bool pins[CVBC_LOGICAL_PINS], penta_error *err)
{
    const char *target = option_text(options, count, "target");
    struct cvbc_build b = {0};
    struct cvbc_board board;
    struct cvbc_declared declared;
    if (target && !cvbc_board_find(target, &board, err)) return false;
    bool ok = cvbc_create_pins(&b, target ? &board : NULL, options, count, err) &&
              writer_ok(&b.pins, err);
    if (ok && target) cvbc_build_places(&b, &board, UINT32_MAX);
    if (ok && !cvbc_build_declared(&b, false, &declared))
        ok = error_at(err, BASE_MEMORY, 0, "no memory for the pins");
    for (unsigned i = 0; ok && i < CVBC_LOGICAL_PINS; i++) pins[i] = declared.pins[i].there;
    if (b.pin_count && !option_text(options, count, "any-pin")) how->pins = pins;
    cvbc_build_fini(&b);
    return ok;
}

bool penta_cvbc_compile(penta_bytes source, const char *name, const penta_option *options,
                        size_t count, const volatile int *stop, penta_buffer *out,
                        penta_report *report, void *user, penta_error *err)
{
    *err = (penta_error){0};
    struct flag_work work;
    struct findings f = {
        .rules = cvbc_rules, .report = report, .user = user, .work = flag_work_begin(&work, stop)};
    struct cvbc_creation made = {0};
    struct writer debug = {0};
    char folder[CVBC_FOLDER_BYTES];
    struct cvbc_compilation how = {.portable = option_text(options, count, "portable") != NULL,
                                   .strip = option_text(options, count, "strip") != NULL,
                                   .file = name,
                                   .folder = cvbc_folder(name, folder)};
    bool pins[CVBC_LOGICAL_PINS] = {false};
    bool ok = options_check(options, count, cvbc_driver.options, OPTION_CREATE, err) &&
              declared_pins(options, count, &how, pins, err) &&
              cvbc_compile(source, &how, &made.b, &debug, &f);
    if (work.work.ended) error_at(err, BASE_STATE, 0, "interrupted while compiling");
    struct cvbc_declaring declaring = {
        .enforce = !how.portable, .source = source, .debug = writer_view(&debug), .f = &f};
    ok = ok && build_create(&made, options, count, &declaring, out, err);
    writer_free(&debug);
    cvbc_creation_fini(&made);
    return ok;
}

/* The functions below are for programs older than the container. */

bool penta_cvbc_legacy_detect(penta_bytes file, penta_cvbc_legacy *out)
{
    struct cvbc_legacy l;
    const char *why;
    if (!cvbc_legacy_detect(file, &l, &why)) return false;
    *out = (penta_cvbc_legacy){l.wrapper, l.layout, l.count, l.string_count};
    return true;
}

bool penta_cvbc_legacy_convert(penta_bytes file, const char *target, bool keep, penta_buffer *out,
                               penta_report *report, void *user)
{
    struct findings f = {.rules = cvbc_rules, .report = report, .user = user};
    penta_error err = {0};
    penta_option options[2];
    size_t count = 0;
    if (target) options[count++] = (penta_option){"target", target};
    if (keep) options[count++] = (penta_option){"no-repair", "1"};
    penta_module *module = cvbc_legacy_driver.parse(file, NULL, 0, &err);
    if (!module) {
        findings_pass(&f, &err);
        return false;
    }
    struct writer w = {0};
    bool ok = cvbc_legacy_driver.others->make(module, options, count, &w, &f);
    cvbc_legacy_driver.close(module);
    ok = writer_give(&w, ok, out, &err);
    if (err.code) findings_pass(&f, &err);
    return ok;
}
