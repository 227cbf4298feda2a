/* Implements the command verify, which tells for each container whether its signature is valid
 * and which key made it. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cvbc/container.h"

struct verification {
    struct cli *cli;
    struct finding_sink sink;
    penta_cvbc_verdict verdict;
    const char *status, *summary;
    int exit;
};

/* Returns the nth value of --trusted-key, as the user wrote it. */
static const char *key_name(const struct cli *c, size_t n)
{
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!strcmp(c->format_options[i].key, "trusted-key") && !n--)
            return c->format_options[i].value;
    return "?";
}

static void check_source(struct verification *v, const penta_module *module)
{
    penta_error err;
    size_t count = 0;
    penta_option *options = options_for(v->cli, "cvbc", OPTION_VERIFY, &count);
    bool ok = penta_cvbc_check_source(module, options, count, &err);
    free(options);
    if (ok) return;
    v->exit = cli_exit_of(err.code);
    if (!is_rule(&err, "HASH")) {
        cli_error(v->cli, NULL, &err);
        return;
    }
    finding_sink_add(&v->sink, &err);
    v->status = "HASH";
    v->summary = "built from other sources";
}

static void verify_judge(struct verification *v, const penta_module *module)
{
    const penta_error *failure = &v->verdict.failure;
    penta_error warning;
    if (!penta_module_damage(module) && penta_cvbc_sealed_only(module, &warning))
        finding_sink_add(&v->sink, &warning);
    penta_cvbc_verify(module, true, v->cli->value[OPT_STRICT] != NULL, &v->verdict);
    v->summary = v->verdict.summary;
    v->status = !failure->code                  ? "OK"
                : is_rule(failure, "UNTRUSTED") ? "KEY"
                                                : penta_code_name(failure->code);
    if (!failure->code) {
        check_source(v, module);
        return;
    }
    finding_sink_add(&v->sink, failure);
    v->exit = cli_exit_of(failure->code);
}

static void verify_say(struct verification *v, const char *name)
{
    struct cli *c = v->cli;
    const penta_cvbc_verdict *found = &v->verdict;
    const char *algorithm =
        found->signature_good ? penta_cvbc_name("signature_algorithm", found->algorithm) : NULL;
    const char *key = found->signature_good && found->trust == PENTA_CVBC_TRUST_KEY
                          ? key_name(c, found->trusted_key)
                          : NULL;
    penta_bytes print = {found->fingerprint, sizeof found->fingerprint};
    if (c->value[OPT_JSON]) {
        json_bool(&c->json, "verified", v->exit == EXIT_YES);
        json_text(&c->json, "status", v->status);
        json_text(&c->json, "summary", v->summary);
        json_text(&c->json, "algorithm", algorithm);
        json_bool(&c->json, "trusted", found->trust == PENTA_CVBC_TRUST_KEY);
        json_text(&c->json, "key", key);
        if (algorithm)
            json_hex(&c->json, "fingerprint", print);
        else
            json_null(&c->json, "fingerprint");
        diagnostics_json(c);
        json_end(&c->json);
        return;
    }
    writer_safe(&c->out, bytes_of(name));
    writer_print(&c->out, ": %s", v->summary);
    if (algorithm) {
        writer_print(&c->out, ", %s key ", algorithm);
        writer_hex(&c->out, print);
        if (key) {
            writer_text(&c->out, " (");
            writer_safe(&c->out, bytes_of(key));
            writer_char(&c->out, ')');
        }
    }
    writer_char(&c->out, '\n');
}

static void verify_one(struct cli *c, const char *name)
{
    struct input in;
    if (!input_open(c, name, &in)) return;
    struct verification v = {.cli = c};
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
    }
    finding_sink_init(&v.sink, c, name);
    v.sink.module = in.module;
    verify_judge(&v, in.module);
    finding_sink_finish(&v.sink);
    verify_say(&v, name);
    cli_fail(c, v.exit);
    input_close(&in);
}

void command_VERIFY(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < c->word_count; i++) verify_one(c, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
}
