/* The command block runs one or more blocks of JAM over a state. */
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file/file.h"
#include "base/options.h"
#include "base/sanitize.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "penta/jam.h"

struct block {
    struct cli *cli;
    penta_jam_host *host;
    penta_jam_state *state;
};

static const char *block_option(const struct cli *c, const char *key)
{
    return option_text(c->format_options, c->format_option_count, key);
}

static const char *folder_of(const char *path, char *copy, size_t size)
{
    snprintf(copy, size, "%s", path);
    return dirname(copy);
}

/* Reads the parameters of the chain: a name that the library knows, or the text of a file. */
static bool read_chain(struct cli *c, const char *chain, penta_buffer *text)
{
    penta_error err = {0};
    if (!strcmp(chain, "full") || !strcmp(chain, "tiny")) return true;
    if (!file_read(chain, 1 << 20, text, &err)) {
        cli_error(c, chain, &err);
        return false;
    }
    uint8_t *ended = realloc(text->data, text->size + 1);
    if (!ended) return false;
    ended[text->size] = 0;
    text->data = ended;
    return true;
}

static bool open_state(struct block *b, const char *path)
{
    struct cli *c = b->cli;
    struct input in;
    penta_error err = {0};
    penta_buffer chain = {0};
    penta_option options[3];
    size_t count = 0;
    char folder[4096];
    const char *named = block_option(c, "chain");
    if (named && !read_chain(c, named, &chain)) return false;
    if (!input_read(c, path, &in)) {
        penta_buffer_free(&chain);
        return false;
    }
    if (named)
        options[count++] = (penta_option){"chain", chain.data ? (const char *)chain.data : named};
    if (block_option(c, "gp")) options[count++] = (penta_option){"version", block_option(c, "gp")};
    if (c->value[OPT_ENGINE]) options[count++] = (penta_option){"engine", c->value[OPT_ENGINE]};
    b->host = penta_jam_host_new(input_bytes(&in), options, count, &err);
    if (b->host) b->state = penta_jam_state_new(b->host, NULL, &err);
    bool ok = b->state &&
              penta_jam_state_read(b->state, input_bytes(&in),
                                   folder_of(path, folder, sizeof folder), &err) &&
              penta_jam_state_commit(b->state, &err);
    if (!ok) cli_error(c, path, &err);
    penta_buffer_free(&chain);
    input_close(&in);
    return ok;
}

static void block_called(void *user, uint32_t service, const char *line)
{
    struct cli *c = user;
    writer_print(&c->out, "service %" PRIu32 " ", service);
    writer_safe(&c->out, (penta_bytes){(const uint8_t *)line, strlen(line)});
    writer_char(&c->out, '\n');
}

static void block_logged(void *user, uint32_t service, uint64_t level, penta_bytes target,
                         penta_bytes message)
{
    struct cli *c = user;
    writer_print(&c->out, "service %" PRIu32 " log %" PRIu64 " ", service, level);
    writer_safe(&c->out, target);
    writer_text(&c->out, target.size ? ": " : "");
    writer_safe(&c->out, message);
    writer_char(&c->out, '\n');
}

static void tell_text(struct block *b, const char *path, const penta_jam_outcome *o)
{
    struct cli *c = b->cli;
    penta_buffer diff = {0};
    penta_error err = {0};
    writer_safe(&c->out, (penta_bytes){(const uint8_t *)path, strlen(path)});
    writer_print(&c->out, ": %u reports in %u rounds, %u runs\n", o->reports, o->rounds, o->runs);
    for (size_t i = 0; i < o->service_count; i++)
        writer_print(&c->out, "service %" PRIu32 " items %" PRIu64 " gas %" PRIu64 "\n",
                     o->services[i].service, o->services[i].items, o->services[i].gas);
    writer_text(&c->out, "outputs root ");
    writer_hex(&c->out, (penta_bytes){o->root, sizeof o->root});
    writer_char(&c->out, '\n');
    if (!c->value[OPT_QUIET] && penta_jam_state_diff(b->state, false, &diff, &err))
        writer_bytes(&c->out, diff.data, diff.size);
    penta_buffer_free(&diff);
}

struct change_list {
    struct json *json;
};

static void tell_change(void *user, const uint8_t *key, penta_bytes name, const penta_bytes *before,
                        const penta_bytes *now)
{
    struct change_list *list = user;
    struct json *j = list->json;
    json_object(j, NULL);
    json_hex(j, "key", (penta_bytes){key, PENTA_JAM_KEY});
    if (name.size) json_hex(j, "name", name);
    if (before)
        json_hex(j, "before", *before);
    else
        json_null(j, "before");
    if (now)
        json_hex(j, "now", *now);
    else
        json_null(j, "now");
    json_end(j);
}

static void services_json(struct json *j, const penta_jam_outcome *o)
{
    json_list(j, "services");
    for (size_t i = 0; i < o->service_count; i++) {
        json_object(j, NULL);
        json_uint(j, "service", o->services[i].service);
        json_uint(j, "items", o->services[i].items);
        json_uint(j, "gas", o->services[i].gas);
        json_end(j);
    }
    json_end(j);
}

static void tell_json(struct block *b, const char *path, const penta_jam_outcome *o)
{
    struct json *j = &b->cli->json;
    struct change_list list = {j};
    json_object(j, NULL);
    json_text(j, "file", path);
    json_uint(j, "reports", o->reports);
    json_uint(j, "rounds", o->rounds);
    json_uint(j, "runs", o->runs);
    services_json(j, o);
    json_hex(j, "outputs", (penta_bytes){o->outputs.data, o->outputs.size});
    json_hex(j, "outputs_root", (penta_bytes){o->root, sizeof o->root});
    json_list(j, "changes");
    if (!penta_jam_state_changes(b->state, tell_change, &list)) j->out->failed = true;
    json_end(j);
    json_end(j);
}

static bool run_block(struct block *b, const char *path)
{
    struct cli *c = b->cli;
    struct input in;
    penta_error err = {0};
    penta_jam_outcome outcome = {0};
    char folder[4096];
    if (!input_read(c, path, &in)) return false;
    bool ok = penta_jam_block_json(b->host, b->state, input_bytes(&in),
                                   folder_of(path, folder, sizeof folder), &outcome, &err);
    if (ok) {
        if (c->value[OPT_JSON])
            tell_json(b, path, &outcome);
        else
            tell_text(b, path, &outcome);
        ok = penta_jam_state_commit(b->state, &err);
    }
    if (!ok) cli_error(c, path, &err);
    penta_jam_outcome_free(&outcome);
    input_close(&in);
    return ok;
}

static void block_save(struct block *b, const char *path)
{
    penta_buffer out = {0};
    penta_error err = {0};
    if (penta_jam_state_write(b->state, &out, &err))
        output_write(b->cli, path, (penta_bytes){out.data, out.size});
    else
        cli_error(b->cli, path, &err);
    penta_buffer_free(&out);
}

void command_BLOCK(struct cli *c)
{
    struct block b = {.cli = c};
    bool ok = open_state(&b, c->words[0]);
    if (ok && !c->value[OPT_JSON]) {
        if (c->value[OPT_HOST_LOG]) penta_jam_on_call(b.host, block_called, c);
        if (!c->value[OPT_QUIET]) penta_jam_on_log(b.host, block_logged, c);
    }
    if (c->value[OPT_JSON]) json_list(&c->json, "blocks");
    for (size_t i = 1; ok && i < c->word_count; i++) ok = run_block(&b, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
    if (ok && block_option(c, "save-state")) block_save(&b, block_option(c, "save-state"));
    penta_jam_state_free(b.state);
    penta_jam_host_free(b.host);
}
