/* Reads any bytes as an archive among the sources of a batch. Every source must have a name,
 * members must stay within their limit, a damaged archive must end with one source that reports
 * it, and the same bytes must give the same sources again. */
#include "fuzz.h"
#include <unistd.h>
#include "base/writer.h"
#include "batch/list/source.h"

enum { MEMBER_MAX = 1 << 16, SOURCES_MAX = 64 };

/* Appends all names and sizes, and the errors of sources. */
static void list_all(const char *path, struct writer *out)
{
    const char *words[] = {path};
    struct source_list list = {.words = words, .word_count = 1, .member_bytes = MEMBER_MAX};
    struct source source;
    penta_error err = {0};
    struct sources *s = sources_open(&list, &err);
    CHECK(s);
    for (uint64_t n = 0; n < SOURCES_MAX && sources_next(s, &source, &err); n++) {
        CHECK(source.position == n && source.name && *source.name);
        CHECK(source.kind == SOURCE_MEMBER || source.error.code);
        CHECK(source.bytes.size <= MEMBER_MAX);
        writer_print(out, "%s %zu %u\n", source.name, source.bytes.size, source.error.code);
    }
    CHECK(!err.code);
    sources_close(s);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    /* The name ends like that of an archive and tells libarchive what to try, but the content
     * decides. */
    char path[64];
    struct writer first = {0}, again = {0};
    snprintf(path, sizeof path, "/tmp/penta-fuzz-%d.tar", (int)getpid());
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && !fclose(file));
    list_all(path, &first);
    list_all(path, &again);
    CHECK(same_buffer(&first.out, &again.out));
    writer_free(&first);
    writer_free(&again);
    unlink(path);
}
