/* penta/cvbc.h over the room. */
#include "penta/cvbc.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "crypto/hash.h"
#include "cvbc/compile.h"
#include "cvbc/legacy.h"
#include "cvbc/trinity.h"

static bool hand_over(struct writer *w, bool ok, penta_buffer *out, penta_error *err)
{
    if (ok && writer_ok(w, err)) {
        penta_buffer_free(out);
        *out = w->out;
        return true;
    }
    writer_free(w);
    return false;
}

static const struct cvbc_module *container(const penta_module *module, penta_error *err)
{
    if (module->driver != &cvbc_driver)
        error_at(err, BASE_UNSUPPORTED, 0, "%s files are no containers", module->driver->name);
    else if (module->damage.code)
        error_at(err, BASE_DAMAGED, module->damage.offset, "%.100s", module->damage.message);
    return err->code ? NULL : cvbc_module(module);
}

bool penta_cvbc_keygen(const char *type, penta_buffer *private_pem, penta_error *err)
{
    *err = (penta_error){0};
    enum key_type kind = key_type_of(type);
    if (kind == KEY_NONE)
        return error_at(err, BASE_OPTION_VALUE, 0, "no key type is called '%.40s'", type);
    struct private_key *key = key_generate(kind, err);
    struct writer w = {0};
    if (key) key_private_pem(key, &w);
    key_private_free(key);
    return hand_over(&w, !err->code, private_pem, err);
}

bool penta_cvbc_public_key(penta_bytes pem, penta_cvbc_form form, penta_buffer *out,
                           penta_error *err)
{
    *err = (penta_error){0};
    struct public_key key;
    struct writer w = {0};
    uint8_t print[HASH_BYTES];
    if (!key_public_read(pem, &key, CVBC_KEY, err)) return false;
    key_fingerprint(&key, print);
    if (form == PENTA_CVBC_PEM)
        key_public_pem(&key, &w);
    else if (form == PENTA_CVBC_RAW)
        writer_bytes(&w, key.bytes, key.size);
    else
        writer_bytes(&w, print, sizeof print);
    return hand_over(&w, true, out, err);
}

static bool finish(struct cvbc_creation *made, const penta_option *options, size_t count,
                   penta_buffer *out, penta_error *err)
{
    struct writer w = {0};
    bool ok = cvbc_create_options(made, options, count, err) && cvbc_build_write(&made->b, &w, err);
    return hand_over(&w, ok, out, err);
}

bool penta_cvbc_create(const penta_module *module, const penta_option *options, size_t count,
                       penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    const struct cvbc_module *m = container(module, err);
    struct cvbc_creation made = {0};
    bool ok = m && options_check(options, count, cvbc_driver.options, OPTION_CREATE, err) &&
              cvbc_create_from(&made, m, err) && finish(&made, options, count, out, err);
    cvbc_creation_fini(&made);
    return ok;
}

bool penta_cvbc_compile(penta_bytes source, const char *name, const penta_option *options,
                        size_t count, penta_buffer *out, penta_report *report, void *user)
{
    penta_error err = {0};
    struct findings f = {.rules = cvbc_rules, .report = report, .user = user};
    struct cvbc_creation made = {0};
    struct writer debug = {0};
    struct cvbc_compilation how = {.portable = option_text(options, count, "portable") != NULL,
                                   .strip = option_text(options, count, "strip") != NULL,
                                   .file = name};
    bool ok = options_check(options, count, cvbc_driver.options, OPTION_CREATE, &err) &&
              cvbc_compile(source, &how, &made.b, &debug, &f);
    made.b.debug = writer_view(&debug);
    ok = ok && finish(&made, options, count, out, &err);
    if (err.code) findings_pass(&f, &err);
    writer_free(&debug);
    cvbc_creation_fini(&made);
    return ok;
}

bool penta_cvbc_sign(const penta_module *module, penta_bytes private_pem, bool embed_key,
                     penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    const struct cvbc_module *m = container(module, err);
    struct private_key *key = m ? key_private_read(private_pem, CVBC_KEY, err) : NULL;
    struct cvbc_resigning how = {.key = key, .external_key = !embed_key};
    struct writer w = {0};
    bool ok = hand_over(&w, key && cvbc_resign(m, &how, &w, err), out, err);
    key_private_free(key);
    return ok;
}

bool penta_cvbc_tbs(const penta_module *module, uint8_t out[40], penta_error *err)
{
    *err = (penta_error){0};
    const struct cvbc_module *m = container(module, err);
    if (m && !m->signature.size) error_at(err, CVBC_UNSIGNED, 56, "the file is not signed");
    if (err->code) return false;
    cvbc_tbs(m->base.file, cvbc_offset(m, m->signature.data), m->signature.size,
             m->protection.hash_algorithm, out);
    return true;
}

void penta_cvbc_verify(const penta_module *module, penta_cvbc_verdict *out)
{
    penta_error err = {0};
    const struct cvbc_module *m = container(module, &err);
    if (module->driver == &cvbc_driver)
        m = cvbc_module(module); /* damage has a status of its own */
    *out = (penta_cvbc_verdict){.status = err.code, .name = penta_code_name(err.code)};
    if (!m) return;
    const struct cvbc_opened *o = cvbc_open(m);
    out->status = o->failure.code;
    out->name = !out->status                    ? "OK"
                : out->status == CVBC_UNTRUSTED ? "KEY"
                                                : penta_code_name(out->status);
    out->is_signed = m->has_protection && m->protection.signature_algorithm;
    out->signature_good = o->signature_good;
    out->trusted = o->trust == CVBC_TRUST_KEY;
    out->contents_checked = o->contents_checked;
    out->key = o->trusted_key;
}

bool penta_cvbc_bytecode(const penta_module *module, penta_bytes *out, penta_error *err)
{
    *err = (penta_error){0};
    const struct cvbc_module *m = container(module, err);
    const struct cvbc_opened *o = m ? cvbc_open(m) : NULL;
    if (o && o->failure.code) *err = o->failure;
    if (err->code) return false;
    *out = o->program.image;
    return true;
}

bool penta_cvbc_convert_legacy(penta_bytes file, bool repair, penta_buffer *out,
                               penta_report *report, void *user)
{
    struct findings f = {.rules = cvbc_rules, .report = report, .user = user};
    struct cvbc_build b = {.flags = CVBC_DETERMINISTIC};
    struct cvbc_legacy layout;
    struct writer w = {0};
    penta_error err = {0};
    const char *why;
    unsigned repairs;
    bool ok = cvbc_legacy_detect(file, &layout, &why) || error_at(&err, CVBC_LEGACY, 0, "%s", why);
    ok = ok && cvbc_legacy_read(file, &layout, !repair, &b, &repairs, &f, &err) &&
         cvbc_build_write(&b, &w, &err);
    ok = hand_over(&w, ok, out, &err);
    if (err.code) findings_pass(&f, &err);
    cvbc_build_fini(&b);
    return ok;
}

bool penta_cvbc_board(const penta_module *const *modules, size_t count, const char *board,
                      penta_buffer out[4], penta_error *err)
{
    *err = (penta_error){0};
    const struct cvbc_module **files = calloc(count + 1, sizeof *files);
    struct cvbc_board profile;
    struct writer w[TRINITY_FILES];
    memset(w, 0, sizeof w);
    bool ok = files || error_at(err, BASE_MEMORY, 0, "no memory for the modules");
    for (size_t i = 0; ok && i < count; i++) ok = (files[i] = container(modules[i], err)) != NULL;
    ok = ok && (!board || cvbc_board_find(board, &profile, err)) &&
         cvbc_trinity(files, count, board ? &profile : NULL, w, err);
    for (int i = 0; i < TRINITY_FILES; i++) ok = hand_over(&w[i], ok, &out[i], err) && ok;
    free(files);
    return ok;
}
