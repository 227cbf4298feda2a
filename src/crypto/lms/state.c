/* Keeps the state of private HSS keys: the key's own file, and a reservation for each key in a
 * folder of this host (state.h). Relies on file_write, which replaces whole files and returns
 * when they are on the disk. */
#include "crypto/lms/state.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/file/lock.h"
#include "crypto/pem.h"

enum { KEY_FILE_MAX = 64 << 20, RESERVATION_MAX = 4096, LOCK_SECONDS = 60 };

/* A struct hss_change is a key that is being changed. The texts are those of its file, with the
 * key between them. */
struct hss_change {
    const struct hss_file *file;
    char folder[PATH_MAX], reservation[PATH_MAX + 80];
    int lock;
    penta_buffer text;
    struct hss_key key;
    uint8_t print[HASH_BYTES]; /* the SHA-256 of the public key */
};

static bool state_folder_name(const char *named, char out[PATH_MAX], penta_error *err)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = named                      ? snprintf(out, PATH_MAX, "%s", named)
            : state && state[0] == '/' ? snprintf(out, PATH_MAX, "%s/penta/lms", state)
            : home && home[0] == '/'   ? snprintf(out, PATH_MAX, "%s/.local/state/penta/lms", home)
                                       : 0;
    if (n > 0 && n < PATH_MAX - 80) return true;
    error_at(err, BASE_IO, 0,
             n ? "the path of the reservations is too long"
               : "no folder for the reservations of the key");
    return error_note(err, "set HOME or XDG_STATE_HOME, or name a folder with option 'key-state'");
}

/* Makes the folder, and the folders in which it lies. */
static bool state_folder_make(char *path, penta_error *err)
{
    for (char *slash = path + 1;; slash++) {
        slash += strcspn(slash, "/");
        char kept = *slash;
        *slash = 0;
        bool ok = !mkdir(path, 0700) || errno == EEXIST;
        if (!ok)
            error_at(err, BASE_IO, 0, "cannot make the folder '%.80s': %s", path, strerror(errno));
        *slash = kept;
        if (!ok || !kept) return ok;
    }
}

/* Reads the reserved place. When there is no reservation, nothing is reserved. */
static bool reservation_read(const struct hss_change *c, uint64_t *next, penta_error *err)
{
    penta_buffer text = {0};
    penta_error missing = {0};
    struct stat st;
    unsigned long long value;
    *next = 0;
    if (stat(c->reservation, &st) && errno == ENOENT) return true;
    if (!file_read_regular(c->reservation, RESERVATION_MAX - 1, &text, &missing)) {
        *err = missing;
        return false;
    }
    char line[RESERVATION_MAX];
    bytes_copy(line, (penta_bytes){text.data, text.size});
    line[text.size] = 0;
    penta_buffer_free(&text);
    int used = 0;
    bool ok = sscanf(line, "next %llu\n%n", &value, &used) == 1 && used && !line[used];
    *next = value;
    if (ok) return true;
    error_at(err, BASE_IO, 0, "the reservation '%.80s' is damaged", c->reservation);
    return error_note(err, "write 'next N' into it, where N is above every place that has signed");
}

static bool reservation_write(const struct hss_change *c, penta_error *err)
{
    char line[60];
    int n = snprintf(line, sizeof line, "next %llu\n", (unsigned long long)c->key.next);
    return file_write(c->reservation, (penta_bytes){(const uint8_t *)line, (size_t)n}, err);
}

static void state_print(const struct hss_key *key, uint8_t print[HASH_BYTES],
                        struct writer *public_key)
{
    hss_key_public(key, public_key);
    hash_sha256(writer_view(public_key), print);
}

static bool change_read(struct hss_change *c, penta_error *err)
{
    uint8_t bytes[HSS_PUBLIC_MAX];
    struct writer w = writer_into(bytes, sizeof bytes);
    if (!file_read(c->file->path, KEY_FILE_MAX, &c->text, err)) return false;
    if (!hss_key_read((penta_bytes){c->text.data, c->text.size}, &c->key, c->file->rule, err)) {
        error_note(err, "in '%.80s'", c->file->path);
        return false;
    }
    state_print(&c->key, c->print, &w);
    char name[33];
    for (int i = 0; i < 16; i++) snprintf(name + 2 * i, 3, "%02x", c->print[i]);
    snprintf(c->reservation, sizeof c->reservation, "%s/%s-%llu", c->folder, name,
             (unsigned long long)c->key.first);
    return true;
}

/* Takes the lock and reads the key. A copy that is older than the reservation is refused. */
static bool change_begin(struct hss_change *c, penta_error *err)
{
    uint64_t reserved;
    c->lock = -1;
    if (!state_folder_name(c->file->folder, c->folder, err) || !state_folder_make(c->folder, err) ||
        !folder_lock_within(c->folder, LOCK_SECONDS, &c->lock, err) || !change_read(c, err) ||
        !reservation_read(c, &reserved, err))
        return false;
    if (reserved <= c->key.next) return true;
    error_at(err, c->file->rule, 0,
             "the key is an old copy: its next place is %llu, but place %llu has been taken",
             (unsigned long long)c->key.next, (unsigned long long)reserved - 1);
    return error_note(
        err, "use the newest file of this key; signing with a copy would let others forge");
}

/* Gives the text of the file before and after the key. */
static bool change_text(const struct hss_change *c, penta_bytes *before, penta_bytes *after)
{
    return pem_around((penta_bytes){c->text.data, c->text.size}, HSS_PEM_NAME, before, after);
}

/* Writes the changed key, then the reservation; both are on the disk when it returns true. */
static bool change_commit(struct hss_change *c, penta_error *err)
{
    struct writer pem = {0}, text = {0};
    penta_bytes before, after;
    hss_key_pem(&c->key, &pem);
    if (change_text(c, &before, &after)) {
        writer_bytes(&text, before.data, before.size);
        writer_append(&text, &pem);
        writer_bytes(&text, after.data, after.size);
    }
    bool ok = writer_ok(&text, err) && file_write(c->file->path, writer_view(&text), err) &&
              reservation_write(c, err);
    if (pem.out.data) secret_wipe(pem.out.data, pem.out.capacity);
    if (text.out.data) secret_wipe(text.out.data, text.out.capacity);
    writer_free(&pem);
    writer_free(&text);
    return ok;
}

static void change_end(struct hss_change *c)
{
    if (c->text.data) secret_wipe(c->text.data, c->text.capacity);
    penta_buffer_free(&c->text);
    hss_key_free(&c->key);
    folder_unlock(c->lock);
}

static bool change_used_up(const struct hss_change *c, uint64_t count, penta_error *err)
{
    uint64_t left = c->key.end - c->key.next;
    if (!left)
        return error_at(err, c->file->rule, 0, "the key is used up: all of its places have signed");
    return error_at(err, c->file->rule, 0, "the key has %llu places left, not %llu",
                    (unsigned long long)left, (unsigned long long)count);
}

bool hss_file_sign(const struct hss_file *file, penta_bytes public_key, penta_bytes message,
                   struct writer *out, uint64_t *left, penta_error *err)
{
    struct hss_change c = {.file = file};
    uint8_t print[HASH_BYTES];
    uint64_t place = 0;
    hash_sha256(public_key, print);
    bool ok = change_begin(&c, err);
    if (ok && memcmp(print, c.print, sizeof print))
        ok = error_at(err, file->rule, 0, "the file '%.60s' now has another key", file->path);
    if (ok && c.key.next == c.key.end) ok = change_used_up(&c, 1, err);
    if (ok) {
        place = c.key.next;
        ok = hss_key_prepare(&c.key, place, NULL, err);
        c.key.next = place + 1;
        ok = ok && change_commit(&c, err);
        *left = c.key.end - c.key.next;
    }
    if (ok) hss_key_sign(&c.key, place, message, out);
    change_end(&c);
    return ok && writer_ok(out, err);
}

bool hss_file_cut(const struct hss_file *file, uint64_t count, struct hss_key *part,
                  struct writer *rest, penta_error *err)
{
    struct hss_change c = {.file = file};
    penta_bytes before, after;
    *part = (struct hss_key){0};
    bool ok = change_begin(&c, err);
    if (ok && (!count || count > c.key.end - c.key.next)) ok = change_used_up(&c, count, err);
    if (ok) {
        ok = hss_key_copy(&c.key, part, err);
        part->first = part->next = c.key.next;
        part->end = c.key.next += count;
        change_text(&c, &before, &after);
        writer_bytes(rest, before.data, before.size);
        writer_bytes(rest, after.data, after.size);
        ok = ok && writer_ok(rest, err) && change_commit(&c, err);
    }
    if (!ok) hss_key_free(part);
    change_end(&c);
    return ok;
}
