/* Makes a policy from options. Keys come from files, and are overwritten when the module is
 * closed. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"
#include "crypto/hash.h"
#include "cvbc/format/hardware/board.h"

enum { KEY_FILE_MAX = 64 << 10 };

static void policy_wipe(penta_buffer *buffer)
{
    if (buffer->data) secret_wipe(buffer->data, buffer->capacity);
    penta_buffer_free(buffer);
}

static penta_bytes policy_view(const penta_buffer *b) { return (penta_bytes){b->data, b->size}; }

void cvbc_secret_free(struct cvbc_secret *secret)
{
    if (secret->bytes) secret_wipe(secret->bytes, secret->size);
    free(secret->bytes);
    *secret = (struct cvbc_secret){0};
}

/* Reads a secret (CVBC 8.8). A key is 32 bytes or 64 hex digits; a password is the contents of
 * the file without one newline at its end. */
bool cvbc_secret_read(const char *path, bool password, struct cvbc_secret *out, penta_error *err)
{
    penta_buffer file = {0};
    if (!file_read(path, KEY_FILE_MAX, &file, err)) return false;
    size_t size = file.size;
    if (size && file.data[size - 1] == '\n' && (password || size != 32)) size--;
    if (password && size && file.data[size - 1] == '\r') size--;
    *out = (struct cvbc_secret){0};
    if (!password && size == 64) {
        out->bytes = hex_parse(bytes_slice(policy_view(&file), 0, size), &out->size, err);
    } else if (password ? size > 0 : size == 32) {
        out->bytes = malloc(size);
        if (out->bytes)
            memcpy(out->bytes, file.data, size);
        else
            error_at(err, BASE_MEMORY, 0, "no memory for '%.60s'", path);
        out->size = size;
    }
    policy_wipe(&file);
    if (out->bytes) return true;
    return error_at(err, CVBC_KEY, 0,
                    password ? "'%.60s' holds no password"
                             : "'%.60s' holds neither 32 bytes nor 64 hex digits",
                    path);
}

bool cvbc_public_key_file(const char *path, struct public_key *out, penta_error *err)
{
    penta_buffer file = {0};
    if (!file_read(path, KEY_FILE_MAX, &file, err)) return false;
    bool ok = key_public_read(policy_view(&file), out, CVBC_KEY, err);
    if (!ok) error_note(err, "in '%.80s'", path);
    policy_wipe(&file);
    return ok;
}

struct private_key *cvbc_private_key_option(const penta_option *options, size_t count,
                                            penta_error *err)
{
    const char *path = option_text(options, count, "sign-key");
    penta_buffer file = {0};
    if (!file_read(path, KEY_FILE_MAX, &file, err)) return NULL;
    struct private_key *key = key_private_read(policy_view(&file), CVBC_KEY, err);
    if (!key) error_note(err, "in '%.80s'", path);
    policy_wipe(&file);
    if (!key || key_private_keep(key, path, option_text(options, count, "key-state"), err))
        return key;
    key_private_free(key);
    return NULL;
}

static bool size_option(const penta_option *options, size_t count, const char *key, uint64_t *out,
                        penta_error *err)
{
    const char *text = option_text(options, count, key);
    if (!text || number_parse_size(text, out)) return true;
    return error_at(err, BASE_OPTION_VALUE, 0, "option '%s': '%.40s' is not a number", key, text);
}

bool cvbc_policy_options(struct cvbc_policy *policy, const penta_option *options, size_t count,
                         penta_error *err)
{
    policy->inflate_max = CVBC_INFLATE_MAX;
    policy->iterations_max = CVBC_ITERATIONS_MAX;
    policy->require_signature = option_text(options, count, "require-signature") != NULL;
    policy->require_low_s = option_text(options, count, "require-low-s") != NULL;
    const char *board = option_text(options, count, "board");
    if (board && strcmp(board, "trace")) { /* The board 'trace' prints events and has no limits. */
        policy->board = malloc(sizeof *policy->board);
        if (!policy->board) return error_at(err, BASE_MEMORY, 0, "no memory for a board");
        if (!cvbc_board_find(board, policy->board, err)) return false;
    }
    const char *key = option_text(options, count, "key-file");
    const char *password = option_text(options, count, "password-file");
    if (key && password)
        return error_at(err, BASE_OPTION_VALUE, 0, "either a key-file or a password-file");
    if (!size_option(options, count, "max-inflate", &policy->inflate_max, err) ||
        !size_option(options, count, "max-iterations", &policy->iterations_max, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i].key, "trusted-key")) continue;
        struct public_key *more =
            realloc(policy->trusted, (policy->trusted_count + 1) * sizeof *more);
        if (!more) return error_at(err, BASE_MEMORY, 0, "no memory for a key");
        policy->trusted = more;
        if (!cvbc_public_key_file(options[i].value, &more[policy->trusted_count], err))
            return false;
        policy->trusted_count++;
    }
    if (!key && !password) return true;
    policy->has_secret = cvbc_secret_read(key ? key : password, !key, &policy->secret, err);
    return policy->has_secret;
}

void cvbc_policy_free(struct cvbc_policy *policy)
{
    cvbc_secret_free(&policy->secret);
    free(policy->trusted);
    free(policy->board);
    *policy = (struct cvbc_policy){0};
}
