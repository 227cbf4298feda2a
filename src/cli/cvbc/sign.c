/* The command sign puts a signature into a container, with a key from a file or with one that
 * stays in a PKCS #11 token, or writes the bytes that somebody else is to sign. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file/file.h"
#include "cli/output.h"
#include "cli/cvbc/container.h"
#include "cli/cvbc/pkcs11.h"

/* Tells whether the result has a place: the file of -o, the JSON document, or the input when
 * --in-place is given. */
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

static void sign_result(struct cli *c, penta_bytes out)
{
    bool attached = c->value[OPT_ATTACH_SIG] && !c->value[OPT_OUTPUT];
    if (!c->value[OPT_IN_PLACE] && !attached)
        cli_bytes(c, out);
    else if (output_rewrite(c, c->words[0], out) && c->value[OPT_JSON])
        json_text(&c->json, "output", c->words[0]);
}

/* the most bytes of a signature file; signatures of LMS have up to 75 kB */
enum { SIGNATURE_FILE_MAX = 1 << 17 };

static bool sign_attach(struct cli *c, const penta_module *module, penta_buffer *out,
                        penta_error *err)
{
    penta_buffer signature = {0};
    bool ok = file_read(c->value[OPT_ATTACH_SIG], SIGNATURE_FILE_MAX, &signature, err) &&
              penta_cvbc_attach(module, (penta_bytes){signature.data, signature.size}, out, err);
    if (is_rule(err, "UNSIGNED"))
        error_note(err, "penta sign --public-key FILE --export-tbs FILE prepares it");
    penta_buffer_free(&signature);
    return ok;
}

/* Writes the bytes that must be signed of the prepared file. */
static bool export_tbs(struct cli *c, penta_bytes file, penta_error *err)
{
    uint8_t message[40];
    penta_module *made = penta_cvbc_open(file, NULL, err);
    bool ok = made && penta_cvbc_tbs(made, message, err) &&
              output_write(c, c->value[OPT_EXPORT_TBS], (penta_bytes){message, sizeof message});
    penta_close(made);
    return ok;
}

static void add_replaced(void *user, const penta_error *replaced)
{
    penta_error warning = *replaced;
    warning.severity = PENTA_WARNING;
    finding_sink_add(user, &warning);
}

/* Replaces the prepared file by one with the token's signature. */
static bool sign_by_token(struct cli *c, penta_buffer *out, penta_error *err)
{
    struct pkcs11_key key = {c->value[OPT_PKCS11_MODULE], c->value[OPT_PKCS11_KEY],
                             c->value[OPT_PIN_FILE]};
    uint8_t message[40];
    penta_buffer signature = {0}, done = {0};
    penta_module *made = penta_cvbc_open((penta_bytes){out->data, out->size}, NULL, err);
    bool ok = made && penta_cvbc_tbs(made, message, err) &&
              pkcs11_sign(&key, (penta_bytes){message, sizeof message}, &signature, err) &&
              penta_cvbc_attach(made, (penta_bytes){signature.data, signature.size}, &done, err);
    penta_close(made);
    penta_buffer_free(&signature);
    if (!ok) return false;
    penta_buffer_free(out);
    *out = done;
    return true;
}

static bool token_complete(struct cli *c, penta_error *err)
{
    if (!c->value[OPT_PKCS11_MODULE]) return true;
    if (c->value[OPT_PKCS11_KEY] && c->value[OPT_PIN_FILE] && container_option(c, "public-key"))
        return true;
    error_at(err, BASE_OPTION_VALUE, 0,
             "--pkcs11-module needs the label of the key, its PIN and its public key");
    return error_note(err, "--pkcs11-key LABEL --pin-file FILE --public-key FILE");
}

static bool sign_module(struct cli *c, const penta_module *module, struct finding_sink *replaced,
                        penta_buffer *out, penta_error *err)
{
    if (c->value[OPT_ATTACH_SIG]) return sign_attach(c, module, out, err);
    if (c->value[OPT_EXPORT_TBS] && !container_option(c, "public-key")) {
        error_at(err, BASE_OPTION_VALUE, 0, "--export-tbs needs the key that will sign");
        return error_note(err, "--public-key FILE");
    }
    if (!token_complete(c, err)) return false;
    size_t count = 0;
    penta_option *options = options_for(c, "cvbc", OPTION_SIGN, &count);
    bool ok = penta_cvbc_sign_options(module, options, count, out, add_replaced, replaced, err);
    free(options);
    if (ok && c->value[OPT_PKCS11_MODULE]) ok = sign_by_token(c, out, err);
    if (ok && c->value[OPT_EXPORT_TBS])
        ok = export_tbs(c, (penta_bytes){out->data, out->size}, err);
    bool overridable = is_rule(err, "SIGNATURE") || is_rule(err, "KEY") || is_rule(err, "HASH");
    /* The key is refused, not the file, when the file itself is correct. */
    overridable = overridable && penta_cvbc_objection(module);
    if (overridable && !container_option(c, "require-signature") && container_option(c, "sign-key"))
        snprintf(err->note, sizeof err->note, "if the contents are what you mean: --resign");
    return ok;
}

void command_SIGN(struct cli *c)
{
    struct input in;
    if (!container_open(c, c->words[0], &in)) return;
    if (!has_target(c)) {
        input_close(&in);
        return;
    }
    penta_error err = {0};
    penta_buffer out = {0};
    struct finding_sink replaced;
    finding_sink_init(&replaced, c, in.name);
    replaced.module = in.module;
    if (sign_module(c, in.module, &replaced, &out, &err)) {
        sign_result(c, (penta_bytes){out.data, out.size});
        finding_sink_finish(&replaced);
    }
    finding_sink_drop(&replaced);
    if (err.code) cli_error(c, in.name, &err);
    penta_buffer_free(&out);
    input_close(&in);
}
