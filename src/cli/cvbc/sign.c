#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "cli/output.h"
#include "cvbc/format/build.h"

/* The result goes to -o, into the document, or in place when that was asked for. */
static bool has_target(struct cli *c)
{
    bool output = c->value[OPT_OUTPUT] != NULL;
    bool in_place = c->value[OPT_IN_PLACE] || (c->value[OPT_ATTACH_SIG] && !output);
    if (c->value[OPT_IN_PLACE] && output)
        cli_usage(c, NULL, "-o and --in-place exclude each other");
    else if (in_place && !strcmp(c->words[0], "-"))
        cli_usage(c, "-o FILE", "standard input cannot be signed in place");
    else if (!output && !in_place && !c->value[OPT_JSON])
        cli_usage(c, NULL, "penta sign needs -o FILE, or --in-place to replace the input");
    return !c->exit;
}

static void result(struct cli *c, const struct writer *out)
{
    bool attached = c->value[OPT_ATTACH_SIG] && !c->value[OPT_OUTPUT];
    if (!c->value[OPT_IN_PLACE] && !attached)
        cli_bytes(c, writer_view(out));
    else if (output_rewrite(c, c->words[0], writer_view(out)) && c->value[OPT_JSON])
        json_text(&c->json, "output", c->words[0]);
}

/* A wrong signature is refused. One that cannot be checked is accepted, unless the policy requires
 * a good one. */
static bool fits(const struct cvbc_module *m, penta_bytes file, penta_error *err)
{
    penta_module *made = cvbc_parse_under(file, &m->policy, err);
    if (!made) return false;
    const penta_error *objection = cvbc_objection(cvbc_module(made));
    if (objection) *err = *objection;
    cvbc_close_under(made);
    return !err->code;
}

static bool attach(struct cli *c, const struct cvbc_module *m, struct writer *out, penta_error *err)
{
    penta_buffer signature = {0};
    bool ok = file_read(c->value[OPT_ATTACH_SIG], 4096, &signature, err) &&
              cvbc_attach(m, (penta_bytes){signature.data, signature.size}, out, err) &&
              fits(m, writer_view(out), err);
    if (err->code == CVBC_UNSIGNED)
        error_note(err, "penta sign --public-key FILE --export-tbs FILE prepares it");
    penta_buffer_free(&signature);
    return ok;
}

/* Writes the bytes to be signed of the file just prepared. */
static bool export_tbs(struct cli *c, const struct writer *out)
{
    const uint8_t *file = out->out.data;
    uint32_t security = get32(file + 24);
    uint8_t message[40];
    cvbc_tbs(writer_view(out), security + CVBC_PROTECTION_BYTES + get32(file + security + 8),
             get32(file + security + 4), file[security + 2], message);
    return output_write(c, c->value[OPT_EXPORT_TBS], (penta_bytes){message, sizeof message});
}

static void add_replaced(void *user, const penta_error *replaced)
{
    penta_error warning = *replaced;
    warning.severity = PENTA_WARNING;
    finding_sink_add(user, &warning);
}

static bool sign(struct cli *c, const struct cvbc_module *m, const penta_option *options,
                 size_t count, struct finding_sink *replaced, struct writer *out, penta_error *err)
{
    if (c->value[OPT_ATTACH_SIG]) return attach(c, m, out, err);
    const char *key = option_text(options, count, "sign-key"),
               *hash = option_text(options, count, "hash");
    const char *public = option_text(options, count, "public-key");
    struct cvbc_resigning how = {.external_key =
                                     option_text(options, count, "external-key") != NULL,
                                 .replace = option_text(options, count, "resign") != NULL,
                                 .report = add_replaced,
                                 .user = replaced};
    uint64_t algorithm = 0;
    if (hash && !cvbc_value("hash_algorithm", bytes_of(hash), &algorithm))
        return error_not_in(err, "hash", hash, cvbc_hash_name);
    how.hash_algorithm = (uint8_t)algorithm;
    struct public_key reserve;
    if (c->value[OPT_EXPORT_TBS]) {
        if (!public) {
            error_at(err, BASE_OPTION_VALUE, 0, "--export-tbs needs the key that will sign");
            return error_note(err, "--public-key FILE");
        }
        if (!cvbc_public_key_file(public, &reserve, err)) return false;
        how.reserve = &reserve;
        return cvbc_resign(m, &how, out, err) && export_tbs(c, out);
    }
    if (!key) {
        error_at(err, CVBC_KEY, 0, "no key to sign with");
        return error_note(err, "--sign-key FILE, or --export-tbs for a key that is kept elsewhere");
    }
    struct private_key *private = cvbc_private_key_file(key, err);
    how.key = private;
    bool ok = private && cvbc_resign(m, &how, out, err);
    key_private_free(private);
    return ok;
}

void command_SIGN(struct cli *c)
{
    struct input in;
    if (!has_target(c) || !input_open(c, c->words[0], &in)) return;
    penta_error err = {0};
    struct writer out = {0};
    size_t count = 0;
    penta_option *options = options_for(c, in.module->driver, OPTION_SIGN, &count);
    if (in.module->driver != &cvbc_driver)
        error_at(&err, BASE_UNSUPPORTED, 0, "%s files cannot be signed", in.module->driver->name);
    else if (in.module->damage.code)
        error_at(&err, BASE_DAMAGED, in.module->damage.offset, "%.100s", in.module->damage.message);
    struct finding_sink replaced;
    finding_sink_init(&replaced, c, in.name);
    replaced.module = in.module;
    if (!err.code && sign(c, cvbc_module(in.module), options, count, &replaced, &out, &err)) {
        result(c, &out);
        finding_sink_finish(&replaced);
    }
    finding_sink_drop(&replaced);
    bool overridable = err.code == CVBC_SIGNATURE || err.code == CVBC_KEY || err.code == CVBC_HASH;
    if (overridable && !c->value[OPT_ATTACH_SIG] &&
        !cvbc_module(in.module)->policy.require_signature &&
        option_text(options, count, "sign-key"))
        snprintf(err.note, sizeof err.note, "if the contents are what you mean: --resign");
    if (err.code) cli_error(c, in.name, &err);
    writer_free(&out);
    free(options);
    input_close(&in);
}
