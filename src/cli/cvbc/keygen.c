/* The command keygen makes a private key, or takes signatures from an LMS key for another signer, and writes it to a new
 * file that only its owner can read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cvbc/container.h"

/* Creates the file, and never replaces one. Only its owner can read it, from the start. */
static bool write_secret(const char *path, penta_bytes text, penta_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        error_at(err, BASE_IO, 0, "cannot create '%.60s': %s", path, strerror(errno));
        return errno == EEXIST ? error_note(err, "keys are never overwritten; choose another name")
                               : false;
    }
    bool ok = write(fd, text.data, text.size) == (ssize_t)text.size && !fsync(fd);
    if (!ok) error_at(err, BASE_IO, 0, "cannot write '%.60s': %s", path, strerror(errno));
    if (close(fd)) ok = false;
    if (!ok) unlink(path);
    return ok;
}

static const char *type_name(size_t i) { return penta_cvbc_key_name((uint32_t)i + 1); }

const char *key_type_words(enum command command, const char *only, size_t i)
{
    (void)command, (void)only;
    return type_name(i);
}

static void keygen_tell(struct cli *c, const char *path, const penta_cvbc_key *key, uint64_t left)
{
    penta_bytes print = {key->fingerprint, sizeof key->fingerprint};
    const char *type = type_name(key->type - 1);
    bool limited = left != UINT64_MAX;
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "file", path);
        json_text(&c->json, "type", type);
        json_hex(&c->json, "fingerprint", print);
        if (limited) json_uint(&c->json, "signatures", left);
    } else if (!c->value[OPT_QUIET]) {
        struct writer line = {0};
        writer_print(&line, "%s key ", type);
        writer_hex(&line, print);
        if (limited) writer_print(&line, ", good for %llu signatures", (unsigned long long)left);
        writer_char(&line, '\n');
        cli_stderr(c, writer_view(&line));
        writer_free(&line);
    }
}

/* Makes the key, or takes it from another key. */
static bool keygen_make(struct cli *c, penta_buffer *pem, penta_error *err)
{
    const char *name = c->value[OPT_TYPE]  ? c->value[OPT_TYPE]
                       : c->value[OPT_LMS] ? "lms"
                                           : "ed25519";
    if (c->value[OPT_RESERVE]) {
        return penta_cvbc_key_reserve(c->value[OPT_FROM_KEY], c->value[OPT_KEYGEN_STATE],
                                      cli_number(c, OPT_RESERVE, 0), pem, err);
    }
    return penta_cvbc_key_generate_lms((uint32_t)value_index(name, type_name) + 1,
                                       c->value[OPT_LMS], pem, err);
}

/* Tells whether the options fit together. Returns false when an error has been reported. */
static bool keygen_fits(struct cli *c)
{
    const char *path = c->value[OPT_OUTPUT];
    bool reserve = c->value[OPT_RESERVE], from = c->value[OPT_FROM_KEY];
    if (!path || !strcmp(path, "-"))
        cli_usage(c, NULL, "penta keygen needs -o FILE: a private key is not printed");
    else if (reserve != from)
        cli_usage(c, NULL,
                  "--reserve and --from belong together: the signatures are taken from that key");
    else if (reserve && (c->value[OPT_TYPE] || c->value[OPT_LMS]))
        cli_usage(c, NULL, "a key that is taken from another key has the type of that key");
    else
        return true;
    return false;
}

void command_KEYGEN(struct cli *c)
{
    const char *path = c->value[OPT_OUTPUT];
    penta_error err = {0};
    uint64_t left;
    if (!keygen_fits(c)) return;
    c->value[OPT_OUTPUT] = NULL; /* The file is written here, with mode 0600. */
    /* This is checked before signatures are taken, which would be lost. */
    if (!access(path, F_OK)) {
        error_at(&err, BASE_IO, 0, "cannot create '%.60s': %s", path, strerror(EEXIST));
        error_note(&err, "keys are never overwritten; choose another name");
        cli_error(c, NULL, &err);
        return;
    }
    penta_buffer pem = {0};
    penta_cvbc_key key;
    if (keygen_make(c, &pem, &err) &&
        penta_cvbc_key_read((penta_bytes){pem.data, pem.size}, &key, &err) &&
        penta_cvbc_key_left((penta_bytes){pem.data, pem.size}, &left, &err) &&
        write_secret(path, (penta_bytes){pem.data, pem.size}, &err))
        keygen_tell(c, path, &key, left);
    else
        cli_error(c, NULL, &err);
    penta_cvbc_wipe(&pem);
}
