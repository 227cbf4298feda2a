/* Reads archives with libarchive, from beginning to end, and gives the members in that order.
 * Nothing is unpacked to disk, so the name of a member decides nothing but its name in the
 * results. The library is loaded when the first archive is opened, because loading it with all
 * its dependencies would double the time that the tool takes to start. */
#include "batch/list/archive.h"
#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/array.h"
#include "base/writer.h"

enum { ARCHIVE_BLOCK = 1 << 18 };

struct archive_reader {
    struct archive *archive;
    struct writer bytes, name;
    double size;      /* size of the file in bytes */
    uint64_t unnamed; /* number of members so far whose name cannot be written */
};

static struct {
#define FUNCTION(name) __typeof__(name) *name;
#include "batch/list/archive.def"
} library;

static bool archive_load(penta_error *err)
{
    static const char file[] = "libarchive.so.13";
    static bool is_loaded;
    if (is_loaded) return true;
    void *loaded = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    bool ok = loaded != NULL;
#define FUNCTION(name) ok = ok && (library.name = (__typeof__(name) *)dlsym(loaded, #name));
#include "batch/list/archive.def"
    is_loaded = ok;
    if (ok) return true;
    error_at(err, BASE_UNSUPPORTED, 0, "archives cannot be read: %s is not installed", file);
    return error_note(err, "the package libarchive13 has it");
}

static bool archive_failed(struct archive_reader *a, penta_error *err)
{
    const char *why = library.archive_error_string(a->archive);
    return error_at(err, BASE_DAMAGED, 0, "the archive is damaged here: %.80s",
                    why ? why : "no reason given");
}

struct archive_reader *archive_reader_open(const char *path, penta_error *err)
{
    struct archive_reader *a = zeros_new(sizeof *a, "an archive", err);
    if (!a) return NULL;
    struct stat st;
    a->size = stat(path, &st) ? 0 : (double)st.st_size;
    if (!archive_load(err)) {
        free(a);
        return NULL;
    }
    a->archive = library.archive_read_new();
    if (!a->archive) {
        error_at(err, BASE_MEMORY, 0, "no memory for an archive");
    } else if (library.archive_read_support_filter_all(a->archive) >= ARCHIVE_WARN &&
               library.archive_read_support_format_tar(a->archive) == ARCHIVE_OK &&
               library.archive_read_support_format_zip(a->archive) == ARCHIVE_OK &&
               library.archive_read_open_filename(a->archive, path, ARCHIVE_BLOCK) == ARCHIVE_OK) {
        return a;
    } else if (library.archive_errno(a->archive) > 0) {
        error_at(err, BASE_IO, 0, "%.100s", library.archive_error_string(a->archive));
    } else {
        error_at(err, BASE_DAMAGED, 0, "this is no archive: %.80s",
                 library.archive_error_string(a->archive));
    }
    archive_reader_close(a);
    return NULL;
}

double archive_part(struct archive_reader *a)
{
    double read = (double)library.archive_filter_bytes(a->archive, -1);
    return a->size > read ? read / a->size : 1;
}

void archive_reader_close(struct archive_reader *a)
{
    if (!a) return;
    if (a->archive) library.archive_read_free(a->archive);
    writer_free(&a->bytes);
    writer_free(&a->name);
    free(a);
}

bool archive_member_next(struct archive_reader *a, const char **name, uint64_t *size,
                         penta_error *err)
{
    struct archive_entry *entry;
    for (;;) {
        int result = library.archive_read_next_header(a->archive, &entry);
        if (result == ARCHIVE_EOF) return false;
        if (result < ARCHIVE_WARN) return archive_failed(a, err);
        if (library.archive_entry_filetype(entry) == AE_IFREG) break;
    }
    *name = library.archive_entry_pathname(entry);
    if (!*name) {
        a->name.out.size = 0;
        writer_print(&a->name, "unnamed-%llu", (unsigned long long)a->unnamed++);
        writer_char(&a->name, 0);
        if (!writer_ok(&a->name, err)) return false;
        *name = (const char *)a->name.out.data;
    }
    *size =
        library.archive_entry_size_is_set(entry) ? (uint64_t)library.archive_entry_size(entry) : 0;
    return true;
}

/* Reads the bytes of a member. The size in its header is not believed: the buffer grows with the
 * bytes that were read. */
bool archive_member_read(struct archive_reader *a, uint64_t limit, penta_bytes *bytes,
                         penta_error *err)
{
    uint8_t block[16384];
    a->bytes.out.size = 0;
    for (;;) {
        la_ssize_t n = library.archive_read_data(a->archive, block, sizeof block);
        if (n < 0) return archive_failed(a, err);
        if (!n) break;
        if (a->bytes.out.size + (uint64_t)n > limit)
            return error_at(err, BASE_LIMIT, 0, "the member is larger than %llu bytes",
                            (unsigned long long)limit);
        writer_bytes(&a->bytes, block, (size_t)n);
    }
    *bytes = writer_view(&a->bytes);
    return writer_ok(&a->bytes, err);
}
