/* link: objects to one file. Reads the inputs, with the members of archives and folders; the first
 * object decides which linker gets them all. */
#include "coil/link/link.h"
#include "base/archive.h"
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/output.h"
#include "cli/terminal/progress.h"
#include "penta/pvm.h"
#include "pvm/pvm.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct piece { /* an object: a file, or a member of an archive or folder */
    char *name;
    penta_bytes bytes;
    bool member;
};
struct pieces {
    struct cli *cli;
    struct piece *items;
    size_t count, capacity;
    penta_buffer *buffers; /* own the bytes */
    size_t buffer_count;
};

static bool fail(struct cli *c, const char *file, uint32_t code, const char *what)
{
    penta_error err = {0};
    error_at(&err, code, 0, "%s", what);
    cli_error(c, file, &err);
    return false;
}

static bool add(struct pieces *p, const char *name, size_t name_size, penta_bytes bytes,
                bool member)
{
    if (p->count == p->capacity) {
        size_t more = p->capacity ? p->capacity * 2 : 64;
        void *moved = realloc(p->items, more * sizeof *p->items);
        if (!moved) return fail(p->cli, NULL, BASE_MEMORY, "no memory for inputs");
        p->items = moved;
        p->capacity = more;
    }
    char *copy = strndup(name, name_size);
    if (!copy) return fail(p->cli, NULL, BASE_MEMORY, "no memory for inputs");
    p->items[p->count++] = (struct piece){copy, bytes, member};
    return true;
}

/* Names in a map come from the objects, and people read it on a terminal. */
static bool write_map(struct cli *c, penta_bytes map)
{
    struct writer safe = {0};
    writer_safe_lines(&safe, map, NULL);
    bool ok = output_write(c, c->value[OPT_MAP_FILE], writer_view(&safe));
    writer_free(&safe);
    return ok;
}

static bool read_file(struct pieces *p, const char *path, penta_bytes *bytes)
{
    struct input in;
    if (!input_read(p->cli, path, &in)) return false;
    void *moved = realloc(p->buffers, (p->buffer_count + 1) * sizeof *p->buffers);
    if (!moved) {
        penta_buffer_free(&in.bytes);
        return fail(p->cli, path, BASE_MEMORY, "no memory for inputs");
    }
    p->buffers = moved;
    p->buffers[p->buffer_count++] = in.bytes;
    *bytes = input_bytes(&in);
    return true;
}

/* ---- archives and folders ---- */

/* LIBRARY(MEMBER), as linkers write it. */
static bool add_member(void *user, const char *path, penta_bytes name, penta_bytes bytes)
{
    struct pieces *p = user;
    char *text = malloc(strlen(path) + name.size + 3);
    if (!text) return fail(p->cli, path, BASE_MEMORY, "no memory for inputs");
    int n = sprintf(text, "%s(%.*s)", path, (int)name.size, (const char *)name.data);
    bool ok = add(p, text, (size_t)n, bytes, true);
    free(text);
    return ok;
}

static bool add_archive(struct pieces *p, const char *path, penta_bytes bytes)
{
    penta_error err = {0};
    if (archive_each(bytes, path, add_member, p, &err)) return true;
    if (err.code) cli_error(p->cli, path, &err);
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_folder(struct pieces *p, const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) return fail(p->cli, path, BASE_IO, "the folder cannot be read");
    char **names = NULL;
    size_t count = 0;
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(folder));) {
        size_t n = strlen(e->d_name);
        if (n < 6 || strcmp(e->d_name + n - 5, ".coil")) continue;
        char **moved = realloc(names, (count + 1) * sizeof *names);
        ok = moved != NULL;
        if (!ok) break;
        names = moved;
        names[count] = malloc(strlen(path) + n + 2);
        ok = names[count] != NULL;
        if (ok) {
            strcpy(names[count], path);
            strcat(strcat(names[count], "/"), e->d_name);
            count++;
        }
    }
    closedir(folder);
    if (count) qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        penta_bytes bytes;
        ok =
            ok && read_file(p, names[i], &bytes) && add(p, names[i], strlen(names[i]), bytes, true);
        free(names[i]);
    }
    free(names);
    return ok;
}

static bool collect(struct pieces *p)
{
    for (size_t i = 0; i < p->cli->word_count; i++) {
        const char *path = p->cli->words[i];
        struct stat st;
        penta_bytes bytes;
        if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode)) {
            if (!add_folder(p, path)) return false;
            continue;
        }
        if (!read_file(p, path, &bytes)) return false;
        if (archive_probe(bytes) ? !add_archive(p, path, bytes)
                                 : !add(p, path, strlen(path), bytes, false))
            return false;
    }
    return true;
}

/* ---- COIL objects ---- */

static bool open_objects(struct pieces *p, struct coil_link_input *inputs, penta_module **modules)
{
    bool ok = true;
    for (size_t i = 0; i < p->count; i++) {
        penta_error err = {0};
        modules[i] = penta_open(p->items[i].bytes, "coil", NULL, 0, &err);
        if (!modules[i]) cli_error(p->cli, p->items[i].name, &err);
        ok = ok && modules[i];
        inputs[i] = (struct coil_link_input){.name = p->items[i].name,
                                             .module = (const struct coil_module *)modules[i],
                                             .archive = p->items[i].member};
    }
    return ok;
}

struct link_sink {
    struct finding_sink findings;
    struct coil_link link;
};

static void add_finding(void *user, const penta_error *finding)
{
    struct link_sink *sink = user;
    sink->findings.part = sink->link.where;
    finding_sink_add(&sink->findings, finding);
}

static void link_coil(struct pieces *p)
{
    struct cli *c = p->cli;
    struct coil_link_input *inputs = calloc(p->count + 1, sizeof *inputs);
    penta_module **modules = calloc(p->count + 1, sizeof *modules);
    struct writer out = {0}, map = {0};
    struct link_sink sink;
    if (inputs && modules && open_objects(p, inputs, modules)) {
        sink.link = (struct coil_link){.inputs = inputs,
                                       .count = p->count,
                                       .relocatable = c->value[OPT_RELOCATABLE] != NULL,
                                       .entry = c->value[OPT_ENTRY],
                                       .map = c->value[OPT_MAP_FILE] ? &map : NULL};
        finding_sink_init(&sink.findings, c, p->count == 1 ? p->items[0].name : "link");
        struct findings f = {.rules = coil_rules, .report = add_finding, .user = &sink};
        bool ok = coil_link(&sink.link, &out, &f);
        finding_sink_finish(&sink.findings);
        if (!ok)
            cli_fail(c, EXIT_NO);
        else if (!sink.link.map || write_map(c, writer_view(&map)))
            cli_bytes(c, writer_view(&out));
    }
    for (size_t i = 0; modules && i < p->count; i++) penta_close(modules[i]);
    writer_free(&out);
    writer_free(&map);
    free(inputs);
    free(modules);
}

/* ---- ELF objects ---- */

static void add_elf_finding(void *user, const char *object, const penta_error *finding)
{
    struct finding_sink *sink = user;
    sink->part = object;
    finding_sink_add(sink, finding);
}

static void link_elf(struct pieces *p)
{
    struct cli *c = p->cli;
    penta_pvm_object *objects = calloc(p->count + 1, sizeof *objects);
    size_t count = 0;
    penta_option *options = options_for(c, &pvm_driver, OPTION_LINK, &count);
    penta_option *all = options ? realloc(options, (count + 1) * sizeof *all) : NULL;
    penta_buffer out = {0}, map = {0};
    if (objects && all) {
        const char *map_file = c->value[OPT_MAP_FILE];
        struct finding_sink sink;
        if (c->value[OPT_OPTIMIZE])
            all[count++] = (penta_option){"optimize", c->value[OPT_OPTIMIZE]};
        for (size_t i = 0; i < p->count; i++)
            objects[i] =
                (penta_pvm_object){p->items[i].name, p->items[i].bytes, p->items[i].member};
        finding_sink_init(&sink, c, p->count == 1 ? p->items[0].name : "link");
        bool ok = penta_pvm_link(objects, p->count, all, count, &out, map_file ? &map : NULL,
                                 add_elf_finding, &sink);
        finding_sink_finish(&sink);
        if (!ok)
            cli_fail(c, EXIT_NO);
        else if (!map_file || write_map(c, (penta_bytes){map.data, map.size}))
            cli_bytes(c, (penta_bytes){out.data, out.size});
    }
    penta_buffer_free(&out);
    penta_buffer_free(&map);
    free(all ? all : options);
    free(objects);
}

/* Or bitcode, which its linker refuses with a reason. */
static bool is_elf(penta_bytes bytes)
{
    return bytes.size >= 4 &&
           (!memcmp(bytes.data, "\177ELF", 4) || !memcmp(bytes.data, "BC\xc0\xde", 4));
}

static bool is_coil(penta_bytes bytes) { return coil_probe(bytes, NULL) > 0; }

static const struct linker { /* the first that recognises the first object links them all */
    bool (*accepts)(penta_bytes bytes);
    void (*link)(struct pieces *p);
} linkers[] = {{is_coil, link_coil}, {is_elf, link_elf}};

void command_LINK(struct cli *c)
{
    struct pieces p = {.cli = c};
    progress_begin(c, "linking", false);
    bool done = !collect(&p);
    if (!done && !p.count) done = !fail(c, NULL, BASE_UNKNOWN_FORMAT, "there is nothing to link");
    for (size_t i = 0; !done && i < sizeof linkers / sizeof *linkers; i++)
        if (linkers[i].accepts(p.items[0].bytes)) {
            linkers[i].link(&p);
            done = true;
        }
    if (!done) fail(c, p.items[0].name, BASE_UNKNOWN_FORMAT, "no linker knows this kind of object");
    for (size_t i = 0; i < p.count; i++) free(p.items[i].name);
    for (size_t i = 0; i < p.buffer_count; i++) penta_buffer_free(&p.buffers[i]);
    free(p.items);
    free(p.buffers);
}
