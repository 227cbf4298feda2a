#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/cli.h"
#include "cvbc/cvbc.h"

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

const char *key_type_words(enum command command, const struct driver *only, size_t i)
{
    (void)command, (void)only;
    return i + 1 < KEY_TYPES ? key_type_name((enum key_type)(i + 1)) : NULL;
}

static const char *type_name(size_t i) { return key_type_words(COMMAND_KEYGEN, NULL, i); }

void command_KEYGEN(struct cli *c)
{
    const char *path = c->value[OPT_OUTPUT],
               *name = c->value[OPT_TYPE] ? c->value[OPT_TYPE] : "ed25519";
    c->value[OPT_OUTPUT] = NULL; /* written here, with mode 0600 */
    enum key_type type = key_type_of(name);
    if (type == KEY_NONE) {
        penta_error err = {0};
        error_not_in(&err, "key type", name, type_name);
        cli_error(c, NULL, &err);
        return;
    }
    if (!path || !strcmp(path, "-")) {
        cli_usage(c, NULL, "penta keygen needs -o FILE: a private key is not printed");
        return;
    }
    penta_error err = {0};
    struct private_key *key = key_generate(type, &err);
    struct writer pem = {0};
    if (key) key_private_pem(key, &pem);
    if (!key || !writer_ok(&pem, &err) || !write_secret(path, writer_view(&pem), &err)) {
        cli_error(c, NULL, &err);
    } else {
        uint8_t print[32];
        key_fingerprint(key_public_of(key), print);
        if (c->value[OPT_JSON]) {
            json_text(&c->json, "file", path);
            json_text(&c->json, "type", name);
            json_hex(&c->json, "fingerprint", (penta_bytes){print, sizeof print});
        } else if (!c->value[OPT_QUIET]) {
            struct writer line = {0};
            writer_print(&line, "%s key ", name);
            writer_hex(&line, (penta_bytes){print, sizeof print});
            writer_char(&line, '\n');
            cli_stderr(c, writer_view(&line));
            writer_free(&line);
        }
    }
    if (pem.out.data) cvbc_wipe(pem.out.data, pem.out.capacity);
    writer_free(&pem);
    key_private_free(key);
}
