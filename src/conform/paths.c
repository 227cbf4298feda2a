/* Runs files and folders of vectors and writes the results as JSON. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file/file.h"
#include "base/json/json_write.h"
#include "penta/conform.h"

struct walk {
    const penta_conform_options *options; /* options of the caller; may be NULL */
    penta_conform_counts *counts;
};

static void paths_unreadable(const struct walk *w, const char *path, const penta_error *err)
{
    w->counts->unreadable++;
    if (w->options && w->options->result)
        w->options->result(w->options->user,
                           &(penta_conform_result){
                               .path = path, .verdict = PENTA_CONFORM_UNREADABLE, .error = err});
}

static void paths_file(const struct walk *w, const char *path)
{
    uint64_t limit = w->options && w->options->input_max ? w->options->input_max : 1 << 30;
    penta_buffer bytes = {0};
    penta_error err = {0};
    if (file_read(path, limit, &bytes, &err))
        penta_conform_document(w->options, path, (penta_bytes){bytes.data, bytes.size}, w->counts);
    else
        paths_unreadable(w, path, &err);
    penta_buffer_free(&bytes);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void paths_folder(const struct walk *w, const char *path, unsigned depth)
{
    enum { DEPTH = 32 };
    struct dirent **entries = NULL;
    penta_error err = {0};
    int count = depth < DEPTH ? scandir(path, &entries, NULL, by_name) : 0;
    if (depth == DEPTH)
        error_at(&err, BASE_IO, 0, "the folder is not read: it lies more than %d deep", DEPTH);
    if (count < 0) error_at(&err, BASE_IO, 0, "the folder cannot be read: %s", strerror(errno));
    if (err.code) paths_unreadable(w, path, &err);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(path) + strlen(name) + 2, n = strlen(name);
        char *inner = name[0] != '.' ? malloc(length) : NULL;
        struct stat st;
        if (inner) snprintf(inner, length, "%s/%s", path, name);
        if (inner && !stat(inner, &st)) {
            if (S_ISDIR(st.st_mode))
                paths_folder(w, inner, depth + 1);
            else if (n > 5 && !strcmp(name + n - 5, ".json"))
                paths_file(w, inner);
        }
        free(inner);
        free(entries[i]);
    }
    free(entries);
}

void penta_conform_path(const penta_conform_options *options, const char *path,
                        penta_conform_counts *counts)
{
    struct walk w = {options, counts};
    struct stat st;
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        paths_folder(&w, path, 0);
    else
        paths_file(&w, path);
}

static void write_result(void *user, const penta_conform_result *r)
{
    struct json *j = user;
    json_object(j, NULL);
    json_text(j, "file", r->path);
    if (r->name) json_text(j, "case", r->name);
    json_text(j, "verdict", penta_conform_verdict_name(r->verdict));
    if (r->expected) json_text(j, "expected", r->expected);
    if (r->got) json_text(j, "got", r->got);
    if (r->error) json_text(j, "error", r->error->message);
    json_end(j);
}

bool penta_conform_json(const penta_conform_options *options, const char *path, penta_buffer *out,
                        penta_conform_counts *counts, penta_error *err)
{
    struct writer w = {0};
    struct json json = {.out = &w};
    penta_conform_options how = options ? *options : (penta_conform_options){0};
    how.result = write_result;
    how.user = &json;
    *err = (penta_error){0};
    json_list(&json, NULL);
    penta_conform_path(&how, path, counts);
    json_finish(&json);
    return writer_give(&w, true, out, err);
}
