/* Finds source files: the names in the line table, and the paths by which an editor knows them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "cli/dap/dap.h"

/* Writes the path of a file. A relative name starts at the folder of the program, or at the
 * current folder. */
static void path_of(const struct dap *d, penta_bytes file, struct writer *out)
{
    const char *slash = strrchr(d->program, '/');
    char *here = realpath(".", NULL);
    if (file.size && file.data[0] != '/' && slash)
        writer_bytes(out, d->program, (size_t)(slash - d->program) + 1);
    writer_bytes(out, file.data, file.size);
    writer_char(out, 0);
    if (!out->failed && access((const char *)out->out.data, R_OK)) {
        out->out.size = 0;
        writer_bytes(out, file.data, file.size);
        writer_char(out, 0);
    }
    if (!out->failed && out->out.data[0] != '/' && here) {
        struct writer whole = {0};
        writer_print(&whole, "%s/%s", here, (const char *)out->out.data);
        writer_char(&whole, 0);
        writer_free(out);
        *out = whole;
    }
    free(here);
}

static penta_bytes base_name(penta_bytes path)
{
    for (size_t i = path.size; i--;)
        if (path.data[i] == '/') return bytes_slice(path, i + 1, path.size);
    return path;
}

void dap_source_ref(const struct dap *d, struct json *j, const char *key, penta_bytes file)
{
    struct writer path = {0};
    path_of(d, file, &path);
    json_object(j, key);
    json_string(j, "name", base_name(file));
    if (!path.failed) json_text(j, "path", (const char *)path.out.data);
    json_end(j);
    writer_free(&path);
}

struct files {
    penta_bytes *list;
    size_t count, capacity;
};

static void take_file(void *user, const penta_line *line)
{
    struct files *f = user;
    for (size_t i = f->count; i--;)
        if (bytes_equal(f->list[i], line->file)) return;
    if (ARRAY_RESERVE(f->list, f->capacity, f->count + 1)) f->list[f->count++] = line->file;
}

/* Finds a file of the line table by its path, else a file whose name ends the path, else one
 * with the same file name. */
penta_bytes dap_table_file(const struct dap *d, const char *path)
{
    struct files f = {0};
    penta_bytes wanted = bytes_of(path), best = {0};
    int rank = 0;
    penta_lines(d->module, take_file, &f);
    for (size_t i = 0; i < f.count; i++) {
        penta_bytes name = f.list[i];
        struct writer whole = {0};
        path_of(d, name, &whole);
        bool same = !whole.failed && !strcmp((const char *)whole.out.data, path);
        writer_free(&whole);
        bool ends = wanted.size > name.size && wanted.data[wanted.size - name.size - 1] == '/' &&
                    bytes_equal(bytes_slice(wanted, wanted.size - name.size, name.size), name);
        int now = same || bytes_equal(name, wanted)                 ? 3
                  : ends                                            ? 2
                  : bytes_equal(base_name(name), base_name(wanted)) ? 1
                                                                    : 0;
        if (now <= rank) continue;
        rank = now;
        best = name;
    }
    free(f.list);
    return best;
}

void dap_loadedSources(struct dap *d, struct dap_answer *a)
{
    struct files f = {0};
    penta_lines(d->module, take_file, &f);
    json_list(a->body, "sources");
    for (size_t i = 0; i < f.count; i++) dap_source_ref(d, a->body, NULL, f.list[i]);
    json_end(a->body);
    free(f.list);
}

/* Sends the text of a source. Every source has a path, which an editor opens itself, so this is
 * for clients that ask. Only files of the line table are read. */
void dap_source(struct dap *d, struct dap_answer *a)
{
    const char *path = dap_text(json_get(a->args, "source"), "path");
    penta_buffer text = {0};
    if (!path || !dap_table_file(d, path).size)
        error_at(&a->err, BASE_NAME_UNKNOWN, 0, "the program has no such source");
    else if (d->io->file(d->io->user, path, &text, &a->err))
        json_string(a->body, "content", (penta_bytes){text.data, text.size});
    penta_buffer_free(&text);
}
