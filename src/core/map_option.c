/* Parses the option 'map' and reads the file that it names. */
#include "core/map_option.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"

/* Takes the part before the next colon. *rest becomes what follows the colon, or NULL at the end. */
static penta_bytes map_option_part(const char **rest)
{
    const char *from = *rest, *colon = strchr(from, ':');
    *rest = colon ? colon + 1 : NULL;
    return bytes_slice(bytes_of(from), 0, colon ? (size_t)(colon - from) : strlen(from));
}

static bool map_option_contents(const char *file, struct map_option *out, penta_error *err)
{
    bool hex = !strncmp(file, "hex=", 4);
    uint64_t limit = hex ? 4 * out->length + 4096 : out->length;
    if (!file_read(hex ? file + 4 : file, limit, &out->contents, err)) return false;
    if (hex) {
        penta_buffer bytes = {0};
        bytes.data =
            hex_parse((penta_bytes){out->contents.data, out->contents.size}, &bytes.size, err);
        penta_buffer_free(&out->contents);
        out->contents = bytes;
        if (!bytes.data) return error_at(err, BASE_OPTION_VALUE, 0, "'%.60s' is not hex", file + 4);
    }
    if (out->contents.size <= out->length) return true;
    penta_buffer_free(&out->contents);
    return error_at(err, BASE_OPTION_VALUE, 0, "'%.60s' is longer than its map", file);
}

bool map_option_parse(const char *text, struct map_option *out, penta_error *err)
{
    *out = (struct map_option){0};
    const char *rest = text;
    penta_bytes address = map_option_part(&rest), length = {0};
    if (rest) length = map_option_part(&rest);
    char digits[32] = "";
    if (length.size < sizeof digits)
        memcpy(digits, length.data ? (const char *)length.data : "", length.size);
    if (!number_parse_bytes(address, &out->address) || !number_parse_size(digits, &out->length))
        return error_at(err, BASE_OPTION_VALUE, 0, "map '%.40s' is not ADDR:LEN[:ro|rw][:FILE]",
                        text);
    if (rest && (!strncmp(rest, "ro", 2) || !strncmp(rest, "rw", 2)) &&
        (!rest[2] || rest[2] == ':')) {
        out->read_only = rest[1] == 'o';
        rest = rest[2] ? rest + 3 : NULL;
    }
    return !rest || map_option_contents(rest, out, err);
}
