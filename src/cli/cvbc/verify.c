#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cli.h"
#include "cvbc/format/build.h"

struct verification {
    struct cli *cli;
    struct finding_sink sink;
    const struct cvbc_module *m;
    const struct cvbc_opened *opened;
    const char *key; /* the file whose key matched */
    const char *status, *summary;
    uint8_t print[32];
    int exit;
};

/* The nth --trusted-key, as it was given. */
static const char *key_name(const struct cli *c, size_t n)
{
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!strcmp(c->format_options[i].key, "trusted-key") && !n--)
            return c->format_options[i].value;
    return "?";
}

static bool check_source(struct verification *v, const penta_option *options, size_t count)
{
    uint8_t digest[32];
    penta_error err = {0};
    if (!option_text(options, count, "source")) return true;
    if (!cvbc_source_hash(options, count, digest, &err)) {
        cli_error(v->cli, NULL, &err);
        v->exit = cli_exit_of(err.code);
        return false;
    }
    if (v->m->has_protection && !memcmp(digest, v->m->integrity.source_sha256, sizeof digest))
        return true;
    error_at(&err, CVBC_HASH,
             v->m->has_protection ? cvbc_offset(v->m, v->m->security.data) + cvbc_security_bytes
                                  : 0,
             "source_sha256 is not that of these sources");
    finding_sink_add(&v->sink, &err);
    v->status = "HASH";
    v->summary = "built from other sources";
    v->exit = EXIT_NO;
    return false;
}

/* Signed by a trusted key, but encrypted, and no key to decrypt it: not a success. */
static bool sealed_only(const struct cvbc_opened *o, const struct cvbc_module *m)
{
    return o->failure.code == CVBC_DECRYPT && o->signature_good && o->trust == CVBC_TRUST_KEY &&
           !m->policy.has_secret;
}

static void judge(struct verification *v, const penta_option *options, size_t count)
{
    const struct cvbc_opened *o = v->opened = cvbc_open(v->m);
    const penta_error *failure = &o->failure;
    struct public_key key;
    const char *why;
    v->status = "OK";
    v->summary = "signature and contents good";
    if (o->signature_good && o->trust == CVBC_TRUST_KEY) {
        key_fingerprint(&v->m->policy.trusted[o->trusted_key], v->print);
        v->key = key_name(v->cli, o->trusted_key);
    } else if (o->signature_good &&
               key_public_raw((enum key_type)v->m->protection.signature_algorithm, v->m->public_key,
                              &key, &why)) {
        key_fingerprint(&key, v->print);
    }
    if (!failure->code) {
        check_source(v, options, count);
        return;
    }
    finding_sink_add(&v->sink, failure);
    v->status = failure->code == CVBC_UNTRUSTED ? "KEY" : penta_code_name(failure->code);
    v->exit = cli_exit_of(failure->code);
    v->summary = failure->code == CVBC_UNTRUSTED ? "untrusted"
                 : sealed_only(o, v->m)          ? "signature good, contents not checked"
                                                 : "not verified";
}

static void say(struct verification *v, const char *name)
{
    struct cli *c = v->cli;
    const char *algorithm =
        v->opened->signature_good
            ? cvbc_name("signature_algorithm", v->m->protection.signature_algorithm)
            : NULL;
    penta_bytes print = {v->print, sizeof v->print};
    if (c->value[OPT_JSON]) {
        json_bool(&c->json, "verified", v->exit == EXIT_YES);
        json_text(&c->json, "status", v->status);
        json_text(&c->json, "summary", v->summary);
        json_text(&c->json, "algorithm", algorithm);
        json_bool(&c->json, "trusted", v->opened->trust == CVBC_TRUST_KEY);
        json_text(&c->json, "key", v->key);
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
        if (v->key) {
            writer_text(&c->out, " (");
            writer_safe(&c->out, bytes_of(v->key));
            writer_char(&c->out, ')');
        }
    }
    writer_char(&c->out, '\n');
}

static void one(struct cli *c, const char *name)
{
    struct input in;
    if (!input_open(c, name, &in)) return;
    if (in.module->driver != &cvbc_driver) {
        penta_error err = {0};
        error_at(&err, BASE_UNSUPPORTED, 0, "%s files have no signature", in.module->driver->name);
        cli_error(c, name, &err);
        input_close(&in);
        return;
    }
    struct cvbc_policy *policy = &((struct cvbc_module *)in.module)->policy; /* not used so far */
    policy->require_signature = true;
    policy->require_low_s |= c->value[OPT_STRICT] != NULL;
    struct verification v = {.cli = c, .m = cvbc_module(in.module)};
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
    }
    size_t count = 0;
    penta_option *options = options_for(c, in.module->driver, OPTION_VERIFY, &count);
    finding_sink_init(&v.sink, c, name);
    v.sink.module = in.module;
    judge(&v, options, count);
    finding_sink_finish(&v.sink);
    say(&v, name);
    cli_fail(c, v.exit);
    free(options);
    input_close(&in);
}

void command_VERIFY(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < c->word_count; i++) one(c, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
}
