/* The assembler of CVBC reads the text form (CVBC 15). The comment in print.c shows the grammar
 * by example. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/array.h"
#include "base/number.h"
#include "base/suggest.h"
#include "crypto/hash.h"
#include "cvbc/format/build.h"
#include "text/expr.h"
#include "text/labels.h"

struct assembly {
    struct source *s;
    struct findings *findings;
    struct cvbc_build b;
    struct labels labels; /* The arena of the labels also has strings. */
    struct writer metadata, security, stored, debug, key, signature;
    struct cvbc_debug_rows rows;
    struct cvbc_patch *patches;
    size_t patch_capacity;
    bool has_stored_of;
    uint8_t stored_of[HASH_BYTES];
    bool has_container; /* true if the text gives the bytes of a program */
    struct writer container;
    bool has_next; /* true after .program: the text of another program follows, with this entry */
    struct cvbc_override next;
};

/* Accepts a word. It looks at the text itself, because hex digits may follow, which are not
 * tokens. */
static bool accept_word(struct assembly *a, const char *word)
{
    struct source *s = a->s;
    size_t pos = s->pos, size = strlen(word);
    while (pos < s->text.size && (s->text.data[pos] == ' ' || s->text.data[pos] == '\t')) pos++;
    if (s->text.size - pos < size || memcmp(s->text.data + pos, word, size)) return false;
    s->pos = pos + size;
    return true;
}

static bool hex_or_none(struct assembly *a, struct writer *out)
{
    if (!accept_word(a, "none")) return source_hex(a->s, out);
    return true;
}

static bool unknown_field(struct source *s, struct token t, const struct layout_field *fields)
{
    struct suggest near = {.word = token_text(s, t)};
    for (; fields->name; fields++) suggest_offer(&near, fields->name);
    error_at(s->err, BASE_NAME_UNKNOWN, t.offset, "no field '%.*s'", BYTES_ARG(near.word, 40));
    return near.best ? error_note(s->err, "did you mean '%s'?", near.best) : false;
}

static bool raw_value(struct assembly *a, const struct layout_field *field, uint8_t *out)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    bool hex = t.kind == TOKEN_NAME && token_is(s, t, "hex");
    if (hex) t = source_next(s);
    if (t.kind != TOKEN_STRING) return source_unexpected(s, t, "a string, or hex and a string");
    penta_bytes text;
    size_t size = 0;
    if (!token_string(s, t, &a->labels.arena, &text)) return false;
    uint8_t *bytes = hex ? hex_parse(text, &size, s->err) : NULL;
    if (hex && !bytes)
        return error_at(s->err, BASE_SYNTAX, t.offset, "expected pairs of hex digits");
    if (!hex) size = text.size;
    bool fits = hex ? size == field->size : size <= field->size;
    if (fits) {
        memset(out, 0, field->size);
        if (size) memcpy(out, hex ? bytes : text.data, size);
    }
    free(bytes);
    return fits || error_at(s->err, BASE_NUMBER, t.offset, "%zu bytes, the field has %u", size,
                            (unsigned)field->size);
}

/* Reads name=value ... up to the end of the line. */
static bool field_list(struct assembly *a, const struct layout_field *fields,
                       struct cvbc_override *over)
{
    struct source *s = a->s;
    for (;;) {
        struct token t = source_peek(s);
        if (t.kind == TOKEN_LINE || t.kind == TOKEN_END) return true;
        if (t.kind != TOKEN_NAME) return source_unexpected(s, t, "a field");
        source_next(s);
        size_t offset;
        const struct layout_field *field = cvbc_field_find(fields, "", token_text(s, t), &offset);
        if (!field) return unknown_field(s, t, fields);
        if (!source_expect(s, '=')) return false;
        if (field->kind == PENTA_RAW) {
            if (!raw_value(a, field, over->bytes + offset)) return false;
        } else {
            uint64_t value = 0;
            struct token word = source_peek(s);
            if (word.kind == TOKEN_NAME && cvbc_value(field->name, token_text(s, word), &value))
                source_next(s);
            else if (!expr_field(s, NULL, NULL, field->size * 8, &value))
                return false;
            cvbc_field_put(field, value, over->bytes + offset);
        }
        memset(over->mask + offset, 1, field->size);
        over->used = true;
        source_accept(s, ',');
    }
}

static bool directive_pin(struct assembly *a)
{
    struct cvbc_override over = {0};
    struct token t = source_peek(a->s);
    if (t.kind == TOKEN_NAME && cvbc_pin_place(token_text(a->s, t), over.bytes)) source_next(a->s);
    if (!field_list(a, cvbc_pin_fields, &over)) return false;
    if (a->b.pin_count == UINT16_MAX)
        return error_at(a->s->err, CVBC_LIMIT, t.offset, "more than 65535 pins");
    cvbc_build_pin_record(&a->b, over.bytes);
    return true;
}

static bool directive_dependency(struct assembly *a)
{
    struct cvbc_override over = {0};
    struct token t = source_peek(a->s);
    if (t.kind == TOKEN_STRING) { /* The line is .dependency "name" ... */
        if (!raw_value(a, &cvbc_dependency_fields[0], over.bytes)) return false;
    }
    if (!field_list(a, cvbc_dependency_fields, &over)) return false;
    if (a->b.dependency_count == UINT16_MAX)
        return error_at(a->s->err, CVBC_LIMIT, t.offset, "more than 65535 dependencies");
    writer_bytes(&a->b.dependencies, over.bytes, cvbc_dependency_bytes);
    a->b.dependency_count++;
    return true;
}

static bool directive_hint(struct assembly *a)
{
    struct token t = source_peek(a->s);
    uint64_t type = 0, priority = 0;
    if (t.kind == TOKEN_NAME && cvbc_value("hint_type", token_text(a->s, t), &type))
        source_next(a->s);
    else if (!expr_field(a->s, NULL, NULL, 8, &type))
        return false;
    if (!source_expect(a->s, ',') || !expr_field(a->s, NULL, NULL, 8, &priority) ||
        !source_expect(a->s, ','))
        return false;
    struct writer data = {0};
    bool ok = source_hex(a->s, &data);
    if (ok && (data.out.size > UINT16_MAX || a->b.hint_count == UINT16_MAX))
        ok = error_at(a->s->err, CVBC_LIMIT, t.offset, "more than 65535 hints or bytes of a hint");
    struct cvbc_hint head = {(uint8_t)type, (uint8_t)priority, (uint16_t)data.out.size};
    if (ok) {
        cvbc_hint_write(&a->b.hints, &head);
        writer_append(&a->b.hints, &data);
        a->b.hint_count++;
    }
    writer_free(&data);
    return ok;
}

static bool directive_stored(struct assembly *a)
{
    uint64_t at = a->s->pos;
    a->b.has_stored = true;
    if (!accept_word(a, "of ")) return hex_or_none(a, &a->stored);
    struct writer digest = {0};
    bool ok = source_hex(a->s, &digest);
    if (ok && digest.out.size != HASH_BYTES)
        ok = error_at(a->s->err, BASE_NUMBER, at, "a SHA-256 has 32 bytes, not %zu",
                      digest.out.size);
    if (ok) memcpy(a->stored_of, digest.out.data, HASH_BYTES);
    a->has_stored_of = ok;
    writer_free(&digest);
    return ok;
}

static bool directive_bytes(struct assembly *a)
{
    uint64_t offset = 0;
    if (!expr_field(a->s, NULL, NULL, 32, &offset) || !source_expect(a->s, ',')) return false;
    struct writer bytes = {0};
    bool ok = source_hex(a->s, &bytes);
    ok = ok && ARRAY_GROW(a->patches, a->patch_capacity, a->b.patch_count, a->s->err);
    if (ok) {
        void *copy = arena_copy(&a->labels.arena, writer_view(&bytes), a->s->err);
        a->patches[a->b.patch_count++] =
            (struct cvbc_patch){(uint32_t)offset, {copy, bytes.out.size}};
        ok = copy != NULL;
    }
    writer_free(&bytes);
    return ok;
}

static bool directive_string(struct assembly *a)
{
    struct token t = source_next(a->s);
    penta_bytes text;
    if (t.kind != TOKEN_STRING) return source_unexpected(a->s, t, "a string");
    if (!token_string(a->s, t, &a->labels.arena, &text)) return false;
    if (text.size && memchr(text.data, 0, text.size))
        return error_at(a->s->err, CVBC_BYTECODE, t.offset, "a string cannot hold a NUL");
    cvbc_build_string(&a->b, text);
    return true;
}

#define PLACE_ENTRY UINT32_MAX

/* Reads a number, or a label that may be defined later. `place` is where the value is stored. */
static bool cvbc_assemble_target(struct assembly *a, uint64_t place, uint64_t *value)
{
    struct token t = source_peek(a->s);
    if (t.kind != TOKEN_NAME) return expr_field(a->s, NULL, NULL, 16, value);
    source_next(a->s);
    return labels_use(&a->labels, token_text(a->s, t), place, 2, t.offset, a->s->err);
}

static bool directive_entry(struct assembly *a)
{
    uint64_t value = 0;
    if (!cvbc_assemble_target(a, PLACE_ENTRY, &value)) return false;
    a->b.entry = (uint16_t)value;
    return true;
}

static bool directive_security(struct assembly *a)
{
    struct token t = source_peek(a->s);
    if (t.kind == TOKEN_NAME && token_is(a->s, t, "none")) {
        source_next(a->s);
        a->b.without_security = true;
        return true;
    }
    return field_list(a, cvbc_security_fields, &a->b.security_over);
}

#define FIELDS(name, record, over)                                                                 \
    static bool directive_##name(struct assembly *a)                                               \
    {                                                                                              \
        return field_list(a, cvbc_##record##_fields, &a->b.over);                                  \
    }
#define BLOB(name, writer, flag)                                                                   \
    static bool directive_##name(struct assembly *a)                                               \
    {                                                                                              \
        a->b.flag = true;                                                                          \
        return hex_or_none(a, &a->writer);                                                         \
    }
FIELDS(header, header, header_over)
FIELDS(target, core, core_over)
FIELDS(integrity, integrity, integrity_over)
FIELDS(bytecode, bytecode, bytecode_over)
BLOB(metadata, metadata, has_metadata)
BLOB(security_raw, security, has_security)
BLOB(key, key, has_key)
BLOB(signature, signature, has_signature)
FIELDS(programs, directory, directory_over)
static bool directive_container(struct assembly *a)
{
    a->has_container = true;
    return source_hex(a->s, &a->container);
}

static bool directive_program(struct assembly *a)
{
    a->next = (struct cvbc_override){0};
    a->has_next = true;
    struct token t = source_peek(a->s);
    if (t.kind == TOKEN_STRING) { /* The line is .program "name" ... */
        if (!raw_value(a, &cvbc_entry_fields[0], a->next.bytes)) return false;
        memset(a->next.mask, 1, CVBC_NAME_BYTES);
        a->next.used = true;
    }
    return field_list(a, cvbc_entry_fields, &a->next);
}

static bool directive_custom(struct assembly *a) { return source_hex(a->s, &a->b.custom); }
static bool directive_debug(struct assembly *a) { return source_hex(a->s, &a->debug); }

/* The functions below read rows of debug tables; debug_info.c describes them. */

static bool row_name(struct assembly *a, penta_bytes *name)
{
    struct token t = source_next(a->s);
    if (t.kind != TOKEN_STRING) return source_unexpected(a->s, t, "a name in quotes");
    if (!token_string(a->s, t, &a->labels.arena, name)) return false;
    return name->size <= UINT16_MAX ||
           error_at(a->s->err, CVBC_LIMIT, t.offset, "a name of %zu bytes", name->size);
}

/* Reads a comma, and then a word of the field or a number of `bits` bits. `field` is NULL if
 * there are no words. */
static bool row_value(struct assembly *a, const char *field, unsigned bits, uint64_t *value)
{
    if (!source_expect(a->s, ',')) return false;
    struct token t = source_peek(a->s);
    if (t.kind != TOKEN_NAME || !field) return expr_field(a->s, NULL, NULL, bits, value);
    source_next(a->s);
    if (cvbc_value(field, token_text(a->s, t), value)) return true;
    struct suggest near = {.word = token_text(a->s, t)};
    for (uint64_t i = 0; i < 256; i++)
        if (cvbc_name(field, i)) suggest_offer(&near, cvbc_name(field, i));
    error_at(a->s->err, BASE_SYNTAX, t.offset, "no kind is called so");
    if (near.best) error_note(a->s->err, "did you mean '%s'?", near.best);
    return false;
}

static bool directive_symbol(struct assembly *a)
{
    penta_bytes name;
    uint64_t kind, value;
    if (!row_name(a, &name) || !row_value(a, "kind", 8, &kind) || !row_value(a, NULL, 32, &value))
        return false;
    cvbc_debug_symbol(&a->rows, name, (uint8_t)kind, (uint32_t)value);
    return true;
}

static bool directive_line(struct assembly *a)
{
    uint64_t instruction, file, line;
    if (!expr_field(a->s, NULL, NULL, 16, &instruction) || !row_value(a, NULL, 16, &file) ||
        !row_value(a, NULL, 32, &line))
        return false;
    cvbc_debug_line(&a->rows, (uint16_t)instruction, (uint16_t)file, (uint32_t)line);
    return true;
}

static bool directive_variable(struct assembly *a)
{
    penta_bytes name;
    uint64_t storage, type, v[4];
    if (!row_name(a, &name) || !row_value(a, "storage", 8, &storage) ||
        !row_value(a, NULL, 8, &type))
        return false;
    for (int i = 0; i < 4; i++)
        if (!row_value(a, NULL, 16, &v[i])) return false;
    cvbc_debug_variable(&a->rows, name,
                        (struct cvbc_variable){.storage = (uint8_t)storage,
                                               .type = (uint8_t)type,
                                               .slot = (uint16_t)v[0],
                                               .first = (uint16_t)v[1],
                                               .last = (uint16_t)v[2],
                                               .elements = (uint16_t)v[3]});
    return true;
}

static const struct {
    const char *name;
    bool (*parse)(struct assembly *a);
} directives[] = {
    {".header", directive_header},     {".target", directive_target},
    {".pin", directive_pin},           {".dependency", directive_dependency},
    {".hint", directive_hint},         {".custom", directive_custom},
    {".security", directive_security}, {".integrity", directive_integrity},
    {".key", directive_key},           {".signature", directive_signature},
    {".bytecode", directive_bytecode}, {".string", directive_string},
    {".entry", directive_entry},       {".stored", directive_stored},
    {".debug", directive_debug},       {".bytes", directive_bytes},
    {".metadata", directive_metadata}, {".security_raw", directive_security_raw},
    {".symbol", directive_symbol},     {".line", directive_line},
    {".variable", directive_variable}, {".programs", directive_programs},
    {".program", directive_program},   {".container", directive_container},
};
enum { DIRECTIVES = sizeof directives / sizeof *directives };

static bool cvbc_assemble_emit(struct assembly *a, uint64_t at, uint8_t opcode, uint8_t flags,
                               uint64_t immediate)
{
    if (cvbc_build_count(&a->b) >= UINT16_MAX)
        return error_at(a->s->err, CVBC_LIMIT, at, "more than 65535 instructions");
    cvbc_build_inst(&a->b, opcode, flags, (uint16_t)immediate);
    return true;
}

/* Reads 0x0a or 0x0a.0x01 and an immediate: any opcode with any flags. */
static bool raw_instruction(struct assembly *a, size_t from)
{
    struct source *s = a->s;
    size_t end = from;
    while (end < s->text.size && s->text.data[end] > ' ' && s->text.data[end] != ';') end++;
    penta_bytes word = bytes_slice(s->text, from, end - from);
    const uint8_t *dot = memchr(word.data, '.', word.size);
    size_t left = dot ? (size_t)(dot - word.data) : word.size;
    s->pos = end; /* The text is consumed even if it is not an opcode. */
    uint64_t opcode = 0, flags = 0, immediate = 0;
    if (!number_parse_bytes(bytes_slice(word, 0, left), &opcode) || opcode > 255 ||
        (dot &&
         (!number_parse_bytes(bytes_slice(word, left + 1, word.size), &flags) || flags > 255)))
        return error_at(s->err, BASE_NUMBER, from, "expected an opcode and flags: 0x0a.0x01");
    enum token_kind next = source_peek(s).kind;
    if (next != TOKEN_LINE && next != TOKEN_END && !expr_field(s, NULL, NULL, 16, &immediate))
        return false;
    return cvbc_assemble_emit(a, from, (uint8_t)opcode, (uint8_t)flags, immediate);
}

static int find_mnemonic(const struct source *s, struct token t)
{
    for (int code = 0; code < 256; code++)
        if (cvbc_ops[code].mnemonic && token_is(s, t, cvbc_ops[code].mnemonic)) return code;
    return -1;
}

/* Removes the suffix from a name such as PUSH.S, which is one token. Returns the flag of the
 * suffix, or 0 if there is none. */
static int split_suffix(const struct source *s, struct token *t)
{
    const uint8_t *p = s->text.data + t->offset;
    if (t->size < 3 || p[t->size - 2] != '.') return 0;
    int flag = p[t->size - 1] == 'S' || p[t->size - 1] == 's'   ? CVBC_S
               : p[t->size - 1] == 'W' || p[t->size - 1] == 'w' ? CVBC_W
               : p[t->size - 1] == 'V' || p[t->size - 1] == 'v' ? CVBC_V
                                                                : 0;
    if (flag) t->size -= 2;
    return flag;
}

static bool unknown_word(struct assembly *a, struct token t)
{
    struct suggest near = {.word = token_text(a->s, t)};
    for (int code = 0; code < 256; code++)
        if (cvbc_ops[code].mnemonic) suggest_offer(&near, cvbc_ops[code].mnemonic);
    for (size_t i = 0; i < DIRECTIVES; i++) suggest_offer(&near, directives[i].name);
    error_at(a->s->err, BASE_MNEMONIC, t.offset, "unknown %s '%.*s'",
             t.kind == TOKEN_DIRECTIVE ? "directive" : "instruction", BYTES_ARG(near.word, 40));
    if (near.best) error_note(a->s->err, "did you mean '%s'?", near.best);
    return false;
}

static bool cvbc_assemble_instruction(struct assembly *a, struct token t)
{
    struct source *s = a->s;
    struct token name = t;
    int flags = split_suffix(s, &name), code = find_mnemonic(s, name);
    if (code < 0) return unknown_word(a, t);
    uint64_t immediate = 0;
    uint64_t place = cvbc_build_count(&a->b);
    switch (cvbc_ops[code].operand) {
    case CVBC_OPERAND_NONE: break;
    case CVBC_OPERAND_TARGET:
        if (!cvbc_assemble_target(a, place, &immediate)) return false;
        break;
    default:
        if (!expr_field(s, labels_value, &a->labels, 16, &immediate)) return false;
    }
    return cvbc_assemble_emit(a, t.offset, (uint8_t)code, (uint8_t)flags, immediate);
}

static bool cvbc_assemble_line(struct assembly *a)
{
    struct source *s = a->s;
    for (;;) {
        size_t pos = s->pos;
        while (pos < s->text.size && (s->text.data[pos] == ' ' || s->text.data[pos] == '\t')) pos++;
        if (pos < s->text.size && s->text.data[pos] >= '0' && s->text.data[pos] <= '9')
            return raw_instruction(a, pos) && source_end_of_line(s);
        struct token t = source_next(s);
        if (s->err->code || t.kind == TOKEN_LINE || t.kind == TOKEN_END) return !s->err->code;
        if (t.kind == TOKEN_DIRECTIVE) {
            for (size_t i = 0; i < DIRECTIVES; i++)
                if (token_is(s, t, directives[i].name))
                    return directives[i].parse(a) && source_end_of_line(s);
            return unknown_word(a, t);
        }
        if (t.kind != TOKEN_NAME) return source_unexpected(s, t, "an instruction");
        if (!source_accept(s, ':')) return cvbc_assemble_instruction(a, t) && source_end_of_line(s);
        if (!labels_define(&a->labels, token_text(s, t), cvbc_build_count(&a->b), t.offset, s->err))
            return false;
    }
}

static void cvbc_assemble_resolve(struct assembly *a)
{
    for (size_t i = 0; i < a->labels.fixup_count; i++) {
        const struct fixup *use = &a->labels.fixups[i];
        const struct label *l = &a->labels.items[use->label];
        if (!l->defined) {
            findings_add(a->findings, BASE_NAME_UNKNOWN, use->offset, NULL,
                         "label '%.*s' is not defined", BYTES_ARG(l->name, 60));
        } else if (use->place == PLACE_ENTRY) {
            a->b.entry = (uint16_t)l->value;
        } else if ((use->place + 1) * 4 <= a->b.code.out.size) {
            writer_patch(&a->b.code, (size_t)use->place * 4 + 2, l->value, 2);
        }
    }
}

/* Checks .stored, which is used only with the listing that it was printed with (CVBC 15.5). With
 * another listing the section is made again. */
static void check_stored(struct assembly *a)
{
    struct cvbc_build *b = &a->b;
    if (!b->has_stored) return;
    b->stored = writer_view(&a->stored);
    if (!cvbc_build_count(b)) {
        b->has_image = true; /* Without a listing the contents of .stored are unknown, so the
                              * image stays empty. */
        return;
    }
    uint8_t head[cvbc_bytecode_bytes], digest[HASH_BYTES];
    if (!cvbc_build_bytecode(b, head)) return;
    cvbc_override_apply(&b->bytecode_over, head, sizeof head);
    penta_bytes pieces[] = {{head, sizeof head}, writer_view(&b->code), writer_view(&b->strings)};
    hash_sha256_pieces(pieces, 3, digest);
    if (a->has_stored_of && !memcmp(digest, a->stored_of, sizeof digest)) return;
    if (b->flags & CVBC_ENCRYPTED) {
        findings_add(a->findings, CVBC_DECRYPT, a->s->text.size,
                     "remove .stored and the encrypted flag, assemble, and seal the result",
                     "the listing was changed, and the assembler has no key to encrypt it with");
        return;
    }
    findings_add(a->findings, CVBC_STORED_DROPPED, a->s->text.size, NULL,
                 "the listing was changed: .stored is ignored");
    b->has_stored = false;
}

static void cvbc_assemble_finish(struct assembly *a, struct writer *out)
{
    struct cvbc_build *b = &a->b;
    if (!a->debug.out.size) cvbc_debug_put(&a->rows, &a->debug);
    if (cvbc_build_failed(b) || a->metadata.failed || a->security.failed || a->stored.failed ||
        a->debug.failed || a->key.failed || a->signature.failed) {
        findings_add(a->findings, BASE_MEMORY, 0, NULL, "no memory for the file");
        return;
    }
    cvbc_assemble_resolve(a);
    enum { FLAGS_AT = 56 };
    if (b->header_over.mask[FLAGS_AT]) {
        b->flags = b->header_over.bytes[FLAGS_AT];
        b->force_compression = true;
    }
    b->metadata = writer_view(&a->metadata);
    b->security = writer_view(&a->security);
    b->key = writer_view(&a->key);
    b->signature = writer_view(&a->signature);
    b->debug = writer_view(&a->debug);
    b->patches = a->patches;
    if (!b->header_over.mask[FLAGS_AT] && b->signature.size) b->flags |= CVBC_SIGNED;
    check_stored(a);
    if (!cvbc_build_count(b) && !b->has_stored)
        findings_add(a->findings, CVBC_BYTECODE, a->s->text.size,
                     "write HALT for the shortest program", "the text has no instruction");
    if (b->custom.out.size > UINT16_MAX)
        findings_add(a->findings, CVBC_LIMIT, a->s->text.size, NULL,
                     "more than 65535 bytes of custom data");
    if (!b->has_stored && b->flags & CVBC_ENCRYPTED)
        findings_add(a->findings, CVBC_DECRYPT, a->s->text.size, "penta seal encrypts a file",
                     "the encrypted flag without .stored");
    penta_error err = {0};
    if (!a->findings->errors && !cvbc_build_write(b, out, &err)) findings_pass(a->findings, &err);
}

static void assembly_free(struct assembly *a)
{
    cvbc_build_fini(&a->b);
    writer_free(&a->metadata);
    writer_free(&a->security);
    writer_free(&a->stored);
    writer_free(&a->debug);
    writer_free(&a->container);
    cvbc_debug_free(&a->rows);
    writer_free(&a->key);
    writer_free(&a->signature);
    free(a->patches);
    labels_free(&a->labels);
}

/* Ends the text of another program. Its container becomes a part of the file. */
static void end_program(struct assembly *outer, struct assembly *inner,
                        const struct cvbc_override *entry)
{
    static const uint8_t no_name[CVBC_NAME_BYTES];
    struct writer *container = &inner->container;
    penta_error err = {0};
    if (!inner->has_container) cvbc_assemble_finish(inner, container);
    if (!writer_ok(container, &err) ||
        !cvbc_build_program(&outer->b, no_name, writer_view(container), entry, &err))
        findings_pass(outer->findings, &err);
    assembly_free(inner);
}

bool cvbc_assemble(struct source *s, const penta_option *options, size_t count, struct writer *out,
                   struct findings *findings)
{
    (void)options, (void)count;
    const struct assembly empty = {.s = s, .findings = findings};
    struct assembly outer = empty, inner = empty, *a = &outer;
    struct cvbc_override entry;
    penta_error err = {0};
    s->err = &err;
    while (s->pos < s->text.size) {
        err = (penta_error){0};
        if (!cvbc_assemble_line(a)) {
            findings_pass(findings, &err);
            source_skip_line(s);
        }
        if (!a->has_next) continue;
        a->has_next = false;
        struct cvbc_override next = a->next;
        if (a == &inner) end_program(&outer, &inner, &entry);
        entry = next;
        inner = empty;
        a = &inner;
    }
    if (a == &inner) end_program(&outer, &inner, &entry);
    cvbc_assemble_finish(&outer, out);
    assembly_free(&outer);
    return !findings->errors;
}
