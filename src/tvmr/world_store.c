/* What outlives a run: bytes under names, in memory or in a folder, held back by transactions; and
 * weights among them. */
#include "base/file.h"
#include "tvmr/ops.h"
#include "tvmr/world_parts.h"
#include <stdlib.h>

/* ---- named bytes, in memory or in the folder ---- */

struct named *named_find(struct tvmr_world *w, const char *name)
{
    for (struct named *n = w->named; n; n = n->next)
        if (!strcmp(n->name, name)) return n;
    return NULL;
}

static bool path_of(const struct tvmr_world *w, const char *name, char *path, size_t size)
{
    size_t n = (size_t)snprintf(path, size, "%s/", w->folder);
    for (const char *p = name; *p && n + 4 < size; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || *p == '-' || *p == '.';
        n += (size_t)snprintf(path + n, size - n, plain ? "%c" : "_%02x", (unsigned char)*p);
    }
    return n + 4 < size;
}

/* A pending transaction holds its names back from the folder. */
static bool named_flush(struct tvmr_world *w, struct named *n, penta_error *err)
{
    char path[4096];
    if (!w->folder || n->transaction) return true;
    if (!path_of(w, n->name, path, sizeof path))
        return error_at(err, BASE_IO, 0, "the name is too long");
    return file_write(path, (penta_bytes){n->bytes.data, n->bytes.size}, err);
}

bool named_put(struct tvmr_world *w, const char *name, struct writer *bytes, penta_error *err)
{
    struct named *n = w->transaction ? NULL : named_find(w, name);
    if (!n) {
        n = calloc(1, sizeof *n);
        if (!n) return error_at(err, BASE_MEMORY, 0, "no memory for '%.40s'", name);
        snprintf(n->name, sizeof n->name, "%s", name);
        n->next = w->named; /* in front of an older one, which a rollback brings back */
        n->transaction = w->transaction;
        w->named = n;
    }
    penta_buffer_free(&n->bytes);
    n->bytes = bytes->out;
    *bytes = (struct writer){0};
    return named_flush(w, n, err);
}

bool named_get(struct tvmr_world *w, const char *name, penta_bytes *out)
{
    struct named *n = named_find(w, name);
    char path[4096];
    penta_error err = {0};
    penta_buffer file = {0};
    if (!n && w->folder && path_of(w, name, path, sizeof path) &&
        file_read(path, 256 << 20, &file, &err)) {
        struct writer bytes = {.out = file};
        unsigned transaction = w->transaction;
        char *folder = w->folder;
        w->folder = NULL; /* it is there already */
        w->transaction = 0;
        named_put(w, name, &bytes, &err);
        w->folder = folder;
        w->transaction = transaction;
        n = named_find(w, name);
    }
    if (!n || !n->bytes.size) return false;
    *out = (penta_bytes){n->bytes.data, n->bytes.size};
    return true;
}

bool world_end_transaction(struct tvmr_world *w, unsigned id, bool commit, penta_error *err)
{
    bool ok = true;
    for (struct named **at = &w->named; *at;) {
        struct named *n = *at;
        if (n->transaction != id + 1) {
            at = &n->next;
        } else if (commit) {
            n->transaction = 0;
            ok &= named_flush(w, n, err);
            at = &n->next;
        } else {
            *at = n->next;
            penta_buffer_free(&n->bytes);
            free(n);
        }
    }
    if (w->transaction == id + 1) w->transaction = 0;
    return ok;
}

/* ---- weights ---- */

void world_weights_name(const struct tvmr_cold *c, uint64_t reg, char *name, size_t size)
{
    if (c->key_size)
        snprintf(name, size, "weights-%.*s", (int)c->key_size, (const char *)c->key);
    else
        snprintf(name, size, "weights-register-%u", INDEX((unsigned)reg));
}

bool world_weights_put(struct tvmr_world *w, struct tvmr_vm *vm, uint64_t reg, const char *name,
                       penta_error *err)
{
    const struct tvmr_cold *c = cold_at(vm, (uint8_t)reg);
    struct writer out = {0};
    if (!c) return error_at(err, BASE_STATE, 0, "C%u is not allocated", INDEX((unsigned)reg));
    for (size_t i = 0; i < c->count; i++) {
        writer_uint(&out, (uint8_t)c->weights[i].polarity, 1);
        writer_uint(&out, c->weights[i].magnitude, 1);
    }
    if (c->temps) writer_bytes(&out, c->temps, c->count);
    if (!out.failed) writer_uint(&out, tvmr_xxh64(writer_view(&out)), 8);
    return writer_ok(&out, err) && named_put(w, name, &out, err);
}

/* True when the register has the weights now; what does not fit is left alone. */
bool world_weights_get(struct tvmr_world *w, struct tvmr_vm *vm, uint64_t reg, const char *name)
{
    struct tvmr_cold *c = cold_at(vm, (uint8_t)reg);
    penta_bytes bytes;
    if (!c || !named_get(w, name, &bytes) || bytes.size < 8) return false;
    penta_bytes body = bytes_slice(bytes, 0, bytes.size - 8);
    bool temps = body.size == c->count * 3;
    if (get64(bytes.data + body.size) != tvmr_xxh64(body) || (!temps && body.size != c->count * 2))
        return false;
    for (size_t i = 0; i < c->count; i++)
        c->weights[i] = (struct tvmr_signal){(int8_t)body.data[2 * i], body.data[2 * i + 1]};
    return tvmr_temps_set(vm, c, temps ? body.data + c->count * 2 : NULL);
}
