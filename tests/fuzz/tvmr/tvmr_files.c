/* Reads any bytes as a host script or, depending on the first byte, as the manifest of an
 * extension. Manifests are given an error at the end, because one without errors would stay for
 * the life of the process. */
#include "fuzz.h"
#include "tvmr/host/script.h"
#include <sys/mman.h>
#include <unistd.h>

void fuzz_one(const uint8_t *data, size_t size)
{
    static const char broken[] = "\nextension";
    char path[40];
    penta_error err = {0};
    int file = size ? memfd_create("fuzz", 0) : -1;
    if (file < 0) return;
    bool manifest = data[0] & 1;
    bool written = write(file, data + 1, size - 1) == (ssize_t)(size - 1) &&
                   (!manifest || write(file, broken, sizeof broken - 1) > 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (written && manifest) {
        if (tvmr_manifest_load(path, &err)) check_failed("a broken manifest was loaded", size, 0);
    } else if (written) {
        struct tvmr_script *script = tvmr_script_open(path, &err);
        if (!script == !err.code) check_failed("a script and an error", err.code, 0);
        tvmr_script_close(script);
    }
    if (written && manifest && !err.code) check_failed("refused without an error", 0, 0);
    close(file);
}
