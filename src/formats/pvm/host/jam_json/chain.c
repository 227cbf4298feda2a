/* Reads and writes a chain as a JSON object that holds the differences from a known chain, and
 * makes the host that a state asks for. */
#include "base/bytes.h"
#include "base/options.h"
#include "pvm/host/jam_json/json.h"
#include <string.h>

struct replace {
    struct jam_chain *chain;
    penta_error *err;
};

static void chain_member(void *user, const char *key, const struct json_object *value)
{
    struct replace *r = user;
    uint64_t number;
    if (!strcmp(key, "base")) return;
    if (json_as_uint(value, &number))
        jam_chain_replace(r->chain, key, number, r->err);
    else
        error_at(r->err, BASE_OPTION_VALUE, 0, "%.40s is not a number", key);
}

static bool read_object(const struct json_object *v, struct jam_chain *out, penta_error *err)
{
    const struct json_object *base = json_get(v, "base");
    struct replace replace = {out, err};
    if (!jam_chain_named(base ? json_as_text(base) : "full", out, err)) return false;
    json_each(v, chain_member, &replace);
    return !err->code && jam_chain_usable(out, err);
}

bool jam_chain_read(const char *text, struct jam_chain *out, penta_error *err)
{
    if (*text != '{') return jam_chain_named(text, out, err);
    struct json_doc *doc = json_parse(bytes_of(text), err);
    if (doc) read_object(json_root(doc), out, err);
    json_doc_free(doc);
    return !err->code;
}

void jam_chain_write(const struct jam_chain *chain, struct json *j)
{
    struct jam_chain base;
    penta_error err = {0};
    uint8_t ours[JAM_PARAMETERS], theirs[JAM_PARAMETERS];
    const char *const names[] = {"full", "tiny"};
    jam_chain_encode(chain, ours);
    for (unsigned i = 0; i < 2; i++) {
        jam_chain_named(names[i], &base, &err);
        jam_chain_encode(&base, theirs);
        if (memcmp(ours, theirs, JAM_PARAMETERS)) continue;
        json_text(j, "chain", names[i]);
        return;
    }
    json_object(j, "chain");
    json_text(j, "base", "full");
#define PARAM(bytes, name, full, ...)                                                              \
    if (chain->name != (uint64_t)(full)) json_uint(j, #name, chain->name);
#include "pvm/host/jam/params.def"
    json_end(j);
}

penta_jam_host *penta_jam_host_new(penta_bytes state, const penta_option *options, size_t count,
                                   penta_error *err)
{
    penta_option all[3];
    if (!state.size) return jam_host_new(options, count, err);
    *err = (penta_error){0};
    struct json_doc *doc = json_parse(state, err);
    const struct json_object *root = doc ? json_root(doc) : NULL;
    const struct json_object *chain = json_get(root, "chain");
    const char *version = json_as_text(json_get(root, "version"));
    const char *named = option_text(options, count, "version"), *text = json_as_text(chain);
    size_t n = 0;
    if (json_get(root, "version") && !version)
        error_at(err, BASE_JSON, 0, "version is not a string");
    if (chain && !text && !json_is_object(chain))
        error_at(err, BASE_JSON, 0, "chain is not a name or an object");
    if (named || version) all[n++] = (penta_option){"version", named ? named : version};
    named = option_text(options, count, "chain");
    if (named || text) all[n++] = (penta_option){"chain", named ? named : text};
    if (option_text(options, count, "engine"))
        all[n++] = (penta_option){"engine", option_text(options, count, "engine")};
    struct penta_jam_host *host = err->code ? NULL : jam_host_new(all, n, err);
    if (host && !named && json_is_object(chain)) {
        if (read_object(chain, &host->chain, err)) {
            if (host->version->bundle_size && !json_get(chain, "bundle_size"))
                host->chain.bundle_size = host->version->bundle_size;
            jam_chain_encode(&host->chain, host->parameters);
        } else {
            penta_jam_host_free(host);
            host = NULL;
        }
    }
    json_doc_free(doc);
    return host;
}
