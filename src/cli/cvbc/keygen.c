/* The command keygen makes a private key and writes it to a new file that only its owner can read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cvbc/container.h"

/* Creates the file and never replaces one; from the start only its owner can read it. */
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

static void keygen_tell(struct cli *c, const char *path, const penta_cvbc_key *key)
{
    penta_bytes print = {key->fingerprint, sizeof key->fingerprint};
    const char *type = type_name(key->type - 1);
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "file", path);
        json_text(&c->json, "type", type);
        json_hex(&c->json, "fingerprint", print);
    } else if (!c->value[OPT_QUIET]) {
        struct writer line = {0};
        writer_print(&line, "%s key ", type);
        writer_hex(&line, print);
        writer_char(&line, '\n');
        cli_stderr(c, writer_view(&line));
        writer_free(&line);
    }
}

void command_KEYGEN(struct cli *c)
{
    const char *path = c->value[OPT_OUTPUT],
               *name = c->value[OPT_TYPE] ? c->value[OPT_TYPE] : "ed25519";
    uint32_t type = (uint32_t)value_index(name, type_name) + 1;
    c->value[OPT_OUTPUT] = NULL; /* written here, with mode 0600 */
    penta_error err = {0};
    if (!path || !strcmp(path, "-")) {
        cli_usage(c, NULL, "penta keygen needs -o FILE: a private key is not printed");
        return;
    }
    penta_buffer pem = {0};
    penta_cvbc_key key;
    if (penta_cvbc_key_generate(type, &pem, &err) &&
        penta_cvbc_key_read((penta_bytes){pem.data, pem.size}, &key, &err) &&
        write_secret(path, (penta_bytes){pem.data, pem.size}, &err))
        keygen_tell(c, path, &key);
    else
        cli_error(c, NULL, &err);
    penta_cvbc_wipe(&pem);
}
