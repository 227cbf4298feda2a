/* Stores what outlives a run (TVMR 18): bytes under names, in memory or in a folder. Weights are stored in this
 * way, too. A transaction holds changes back. A folder belongs to one process at a time. Each file is replaced as a
 * whole. A commit first writes a journal of all its names; when it is cut short, the next run finishes it by the
 * journal. */
#include "base/codec/checksum.h"
#include "base/file/file.h"
#include "base/file/lock.h"
#include "tvmr/vm/ops.h"
#include "tvmr/host/domain_state.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 256 << 20, STORE_MAX = 1 << 30 };
static const char journal_name[] = "journal", version_name[] = "version";

static bool path_of(const struct tvmr_domain *w, const char *name, char *path, size_t size,
                    penta_error *err)
{
    int n = snprintf(path, size, "%s/%s", w->folder, name);
    return (n > 0 && (size_t)n < size) || error_at(err, BASE_IO, 0, "the path is too long");
}

static bool write_file(const struct tvmr_domain *w, const char *name, penta_bytes bytes,
                       penta_error *err)
{
    char path[4096];
    if (!path_of(w, name, path, sizeof path, err)) return false;
    if (bytes.size) return file_write(path, bytes, err);
    return file_remove(path, err);
}

static struct named *named_find(struct tvmr_domain *w, const char *name)
{
    for (struct named *n = w->named; n; n = n->next)
        if (!strcmp(n->name, name)) return n;
    return NULL;
}

static penta_bytes named_bytes(const struct named *n)
{
    return (penta_bytes){n->bytes.data, n->bytes.size};
}

/* Adds an entry, which hides an older one of the same name. A rollback shows the older one
 * again. */
static struct named *named_add(struct tvmr_domain *w, const char *name, unsigned transaction)
{
    struct named *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    snprintf(n->name, sizeof n->name, "%s", name);
    n->next = w->named;
    n->transaction = transaction;
    return w->named = n;
}

static bool named_fits(const struct tvmr_domain *w, const struct writer *bytes)
{
    uint64_t total = bytes->out.size;
    for (const struct named *n = w->named; n; n = n->next) total += n->bytes.size;
    return total <= STORE_MAX;
}

bool named_put(struct tvmr_domain *w, const char *name, struct writer *bytes, penta_error *err)
{
    struct named *n = named_find(w, name);
    if (!writer_ok(bytes, err) || !named_fits(w, bytes)) {
        writer_free(bytes);
        return error_at(err, BASE_LIMIT, 0, "the host keeps %d bytes of weights at most",
                        STORE_MAX);
    }
    if (!n || n->transaction != w->transaction) n = named_add(w, name, w->transaction);
    if (!n) {
        writer_free(bytes);
        return error_at(err, BASE_MEMORY, 0, "no memory for '%.40s'", name);
    }
    penta_buffer_free(&n->bytes);
    n->bytes = bytes->out;
    *bytes = (struct writer){0};
    return !w->folder || n->transaction || write_file(w, name, named_bytes(n), err);
}

bool named_get(struct tvmr_domain *w, const char *name, penta_bytes *out)
{
    struct named *n = named_find(w, name);
    char path[4096];
    penta_error err = {0};
    penta_buffer file = {0};
    if (!n && w->folder && path_of(w, name, path, sizeof path, &err) &&
        file_read(path, FILE_MAX, &file, &err)) {
        n = named_add(w, name, 0);
        if (n)
            n->bytes = file;
        else
            penta_buffer_free(&file);
    }
    if (!n || !n->bytes.size) return false;
    *out = named_bytes(n);
    return true;
}

bool domain_begin_transaction(struct tvmr_domain *w, unsigned id, penta_error *err)
{
    if (w->transaction) return error_at(err, BASE_STATE, 0, "a transaction is open already");
    w->transaction = id + 1;
    return true;
}

/* Writes the journal: for each name its length u8, the name, the length of its bytes u32 and the
 * bytes; XXH64 is at the end. */
static bool write_journal(struct tvmr_domain *w, unsigned transaction, penta_error *err)
{
    struct writer out = {0};
    for (const struct named *n = w->named; n; n = n->next) {
        if (n->transaction != transaction) continue;
        writer_uint(&out, strlen(n->name), 1);
        writer_text(&out, n->name);
        writer_uint(&out, n->bytes.size, 4);
        writer_bytes(&out, n->bytes.data, n->bytes.size);
    }
    if (!out.failed) writer_uint(&out, checksum_xxh64(writer_view(&out)), 8);
    bool ok = writer_ok(&out, err) && write_file(w, journal_name, writer_view(&out), err);
    writer_free(&out);
    return ok;
}

/* Finishes a commit that was interrupted. A journal gets its name only when it is complete, so a damaged one was
 * not written by a commit. */
static bool replay_journal(struct tvmr_domain *w, penta_error *err)
{
    penta_bytes all;
    if (!named_get(w, journal_name, &all)) return true;
    penta_bytes body = bytes_slice(all, 0, all.size < 8 ? 0 : all.size - 8);
    if (all.size < 8 || bytes_get64(body.data + body.size) != checksum_xxh64(body))
        return error_at(err, BASE_RANGE, 0, "the journal in '%.60s' is damaged", w->folder);
    struct reader r = {.in = body, .err = err};
    while (reader_left(&r) && !err->code) {
        char name[256];
        penta_bytes text = reader_bytes(&r, (size_t)reader_uint(&r, 1));
        penta_bytes bytes = reader_bytes(&r, (size_t)reader_uint(&r, 4));
        if (err->code) break;
        snprintf(name, sizeof name, "%.*s", BYTES_ARG(text, INT_MAX));
        if (strchr(name, '/') || !strcmp(name, "lock") || !strcmp(name, journal_name))
            error_at(err, BASE_RANGE, 0, "the journal in '%.60s' names no file of it", w->folder);
        else
            write_file(w, name, bytes, err);
    }
    struct writer none = {0};
    return !err->code && named_put(w, journal_name, &none, err);
}

bool domain_end_transaction(struct tvmr_domain *w, unsigned id, bool commit, penta_error *err)
{
    if (w->transaction != id + 1)
        return true; /* This transaction has nothing to write or to drop. */
    bool ok = !commit || !w->folder || write_journal(w, id + 1, err);
    w->transaction = 0;
    for (struct named **at = &w->named; *at;) {
        struct named *n = *at;
        if (n->transaction != id + 1) {
            at = &n->next;
        } else if (commit && ok) {
            n->transaction = 0;
            if (w->folder) ok = write_file(w, n->name, named_bytes(n), err);
            at = &n->next;
        } else {
            *at = n->next;
            penta_buffer_free(&n->bytes);
            free(n);
        }
    }
    return ok && (!commit || !w->folder || write_file(w, journal_name, (penta_bytes){0}, err));
}

/* Tells whether the key is a name under which a register without a key is stored. */
static bool names_register(penta_bytes key)
{
    char text[16];
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        int n = snprintf(text, sizeof text, "register-%u", i);
        if (key.size == (size_t)n && !memcmp(key.data, text, key.size)) return true;
    }
    return false;
}

/* Writes the name of a key, which is also a file name (TVMR 18.2). A key with anything but small letters, digits, -
 * and . gets its hash appended, and so does a key that looks like the name of a register without a key. */
static void name_of_key(penta_bytes key, unsigned reg, char *name, size_t size)
{
    char text[49];
    size_t n = 0;
    bool plain = key.size < sizeof text && !names_register(key);
    if (!key.size) {
        snprintf(name, size, "weights-register-%u", INDEX(reg));
        return;
    }
    for (size_t i = 0; i < key.size && n + 1 < sizeof text; i++) {
        uint8_t b = key.data[i];
        bool usual = (b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') || b == '-' || b == '.';
        text[n++] = usual ? (char)b : '_';
        plain &= usual;
    }
    text[n] = 0;
    if (plain)
        snprintf(name, size, "weights-%s", text);
    else
        snprintf(name, size, "weights-%s_%016llx", text, (unsigned long long)checksum_xxh64(key));
}

void domain_weights_name(const struct tvmr_cold *c, uint64_t reg, char *name, size_t size)
{
    name_of_key((penta_bytes){c->key, c->key_size}, (unsigned)reg, name, size);
}

/* Finds a register by its number. 0xff is no register, although it would be the number of the
 * last register of the last bank. */
static struct tvmr_cold *storage_register(struct tvmr_vm *vm, uint64_t reg)
{
    return reg == TVMR_NULL ? NULL : cold_at(vm, (uint8_t)reg);
}

bool domain_weights_put(struct tvmr_domain *w, struct tvmr_vm *vm, uint64_t reg, const char *name,
                        penta_error *err)
{
    const struct tvmr_cold *c = storage_register(vm, reg);
    struct writer out = {0};
    if (reg == TVMR_NULL) return error_at(err, BASE_STATE, 0, "the null register has no weights");
    if (!c) return error_at(err, BASE_STATE, 0, "C%u is not allocated", INDEX((unsigned)reg));
    for (size_t i = 0; i < c->count; i++) {
        writer_uint(&out, (uint8_t)c->weights[i].polarity, 1);
        writer_uint(&out, c->weights[i].magnitude, 1);
    }
    if (c->temps) writer_bytes(&out, c->temps, c->count);
    if (!out.failed) writer_uint(&out, checksum_xxh64(writer_view(&out)), 8);
    return writer_ok(&out, err) && named_put(w, name, &out, err);
}

enum found domain_weights_get(struct tvmr_domain *w, struct tvmr_vm *vm, uint64_t reg,
                              const char *name)
{
    struct tvmr_cold *c = storage_register(vm, reg);
    penta_bytes bytes;
    if (!c || !named_get(w, name, &bytes)) return FOUND_NOTHING;
    penta_bytes body = bytes_slice(bytes, 0, bytes.size < 8 ? 0 : bytes.size - 8);
    if (bytes.size < 8 || bytes_get64(bytes.data + body.size) != checksum_xxh64(body))
        return FOUND_DAMAGED;
    bool temps = c->count && body.size == c->count * 3;
    if (!temps && body.size != c->count * 2) return FOUND_OTHER_SIZE;
    for (size_t i = 0; i < c->count; i++)
        c->weights[i] = (struct tvmr_signal){(int8_t)body.data[2 * i], body.data[2 * i + 1]};
    return tvmr_temps_set(vm, c, temps ? body.data + c->count * 2 : NULL) ? FOUND : FOUND_NOTHING;
}

/* Copies weights in folders without a version. Such a folder has the weights of C0 and of the
 * key "register-0" in one file. After the copy each has its own file. */
static bool separate_registers(struct tvmr_domain *w, penta_error *err)
{
    penta_bytes bytes;
    struct writer version = {0};
    if (access(w->folder, W_OK) || named_get(w, version_name, &bytes)) return true;
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        char key[16], by_register[128], by_key[128];
        snprintf(key, sizeof key, "register-%u", i);
        name_of_key((penta_bytes){NULL, 0}, i, by_register, sizeof by_register);
        name_of_key(bytes_of(key), i, by_key, sizeof by_key);
        if (named_get(w, by_register, &bytes) && !write_file(w, by_key, bytes, err)) return false;
    }
    writer_text(&version, "2\n");
    return writer_ok(&version, err) && named_put(w, version_name, &version, err);
}

bool domain_store_open(struct tvmr_domain *w, penta_error *err)
{
    struct stat st;
    bool made = !mkdir(w->folder, 0777);
    if (!made && errno != EEXIST)
        return error_at(err, BASE_IO, 0, "cannot make the folder '%.60s': %s", w->folder,
                        strerror(errno));
    if (stat(w->folder, &st) || !S_ISDIR(st.st_mode))
        return error_at(err, BASE_IO, 0, "'%.60s' is no folder", w->folder);
    if (made && !file_sync_folder_of(w->folder, err)) return false;
    return folder_lock(w->folder, &w->lock, err) && replay_journal(w, err) &&
           separate_registers(w, err);
}

void domain_store_free(struct tvmr_domain *w)
{
    while (w->named) {
        struct named *n = w->named;
        w->named = n->next;
        penta_buffer_free(&n->bytes);
        free(n);
    }
    folder_unlock(w->lock);
}
