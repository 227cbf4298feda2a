/* Tells which file names are those of archives. */
#include <string.h>
#include "base/bytes.h"
#include "batch/list/archive.h"

bool archive_named(const char *path)
{
    static const char *const ends[] = {".tar",     ".tar.gz",  ".tgz", ".tar.xz",
                                       ".tar.zst", ".tar.bz2", ".zip"};
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (size > end && !strcasecmp(path + size - end, ends[i])) return true;
    }
    return false;
}
