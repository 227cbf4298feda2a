/* Implements the command link, which makes one file of objects. The first input decides which
 * linker gets them all. */
#include "base/array.h"
#include "base/sanitize.h"
#include "cli/output.h"
#include "cli/terminal/progress.h"
#include "penta/coil.h"
#include "penta/pvm.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct objects {
    struct cli *cli;
    penta_object *items; /* each item owns its name and bytes */
    size_t count, capacity;
};

static bool link_fail(struct cli *c, const char *file, uint32_t code, const char *what)
{
    penta_error err = {0};
    error_at(&err, code, 0, "%s", what);
    cli_error(c, file, &err);
    return false;
}

static bool add_file(struct objects *o, const char *path, bool member)
{
    struct input in;
    if (!input_read(o->cli, path, &in)) return false;
    char *name = strdup(path);
    if (!name || !ARRAY_RESERVE(o->items, o->capacity, o->count + 1)) {
        free(name);
        penta_buffer_free(&in.bytes);
        return link_fail(o->cli, path, BASE_MEMORY, "no memory for inputs");
    }
    o->items[o->count++] = (penta_object){name, input_bytes(&in), member};
    return true;
}

static int is_object(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 5 && !strcmp(e->d_name + n - 5, ".coil");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Adds the objects of a folder, which are like members of an archive. */
static bool add_folder(struct objects *o, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_object, by_name);
    if (count < 0) return link_fail(o->cli, path, BASE_IO, "the folder cannot be read");
    bool ok = true;
    for (int i = 0; i < count; i++) {
        struct writer name = {0};
        writer_print(&name, "%s/%s%c", path, entries[i]->d_name, 0);
        ok = ok && !name.failed && add_file(o, (const char *)name.out.data, true);
        writer_free(&name);
        free(entries[i]);
    }
    free(entries);
    return ok;
}

static bool add_inputs(struct objects *o)
{
    for (size_t i = 0; i < o->cli->word_count; i++) {
        const char *path = o->cli->words[i];
        struct stat st;
        bool folder = strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode);
        if (!(folder ? add_folder(o, path) : add_file(o, path, false))) return false;
    }
    return o->count || link_fail(o->cli, NULL, BASE_UNKNOWN_FORMAT, "there is nothing to link");
}

/* Returns the options of the formats, and those of the tool that are also a linker's. */
static penta_option *options_of(const struct cli *c, size_t *count)
{
    static const struct {
        enum option option;
        const char *key;
    } shared[] = {
        {OPT_OPTIMIZE, "optimize"}, {OPT_RELOCATABLE, "relocatable"}, {OPT_ENTRY, "entry"}};
    enum { SHARED = sizeof shared / sizeof *shared };
    penta_option *all = calloc(c->format_option_count + SHARED, sizeof *all);
    *count = 0;
    for (size_t i = 0; all && i < c->format_option_count; i++)
        all[(*count)++] = c->format_options[i];
    for (size_t i = 0; all && i < SHARED; i++)
        if (c->value[shared[i].option])
            all[(*count)++] = (penta_option){shared[i].key, c->value[shared[i].option]};
    return all;
}

struct link_sink {
    struct finding_sink findings;
    char **names; /* the names of objects, with which the linker's findings start */
    size_t count, capacity;
};

static const char *keep_name(struct link_sink *sink, const char *name)
{
    if (!name || (sink->count && !strcmp(sink->names[sink->count - 1], name)))
        return name ? sink->names[sink->count - 1] : NULL;
    char *copy = strdup(name);
    if (!copy || !ARRAY_RESERVE(sink->names, sink->capacity, sink->count + 1)) {
        free(copy);
        return NULL;
    }
    return sink->names[sink->count++] = copy;
}

static void add_finding(void *user, const char *object, const penta_error *finding)
{
    struct link_sink *sink = user;
    sink->findings.part = keep_name(sink, object);
    finding_sink_add(&sink->findings, finding);
}

/* Writes a map. The names in it come from the objects, and people read it on a terminal, so it
 * is made safe to print. */
static bool write_map(struct cli *c, penta_bytes map)
{
    struct writer safe = {0};
    writer_safe_lines(&safe, map, NULL);
    bool ok = output_write(c, c->value[OPT_MAP_FILE], writer_view(&safe));
    writer_free(&safe);
    return ok;
}

static const struct linker {
    bool (*accepts)(penta_bytes file);
    bool (*link)(const penta_object *objects, size_t count, const penta_option *options,
                 size_t option_count, penta_buffer *out, penta_buffer *map,
                 penta_link_report *report, void *user);
} linkers[] = {{penta_coil_links, penta_coil_link}, {penta_pvm_links, penta_pvm_link}};

static void link_all(const struct objects *o, const struct linker *linker)
{
    struct cli *c = o->cli;
    const char *map_file = c->value[OPT_MAP_FILE];
    penta_buffer out = {0}, map = {0};
    size_t count;
    penta_option *options = options_of(c, &count);
    struct link_sink sink = {.names = NULL};
    finding_sink_init(&sink.findings, c, o->count == 1 ? o->items[0].name : "link");
    bool ok = linker->link(o->items, o->count, options, count, &out, map_file ? &map : NULL,
                           add_finding, &sink);
    finding_sink_finish(&sink.findings);
    if (!ok)
        cli_fail(c, EXIT_NO);
    else if (!map_file || write_map(c, (penta_bytes){map.data, map.size}))
        cli_bytes(c, (penta_bytes){out.data, out.size});
    penta_buffer_free(&out);
    penta_buffer_free(&map);
    for (size_t i = 0; i < sink.count; i++) free(sink.names[i]);
    free(sink.names);
    free(options);
}

void command_LINK(struct cli *c)
{
    struct objects o = {.cli = c};
    const struct linker *linker = linkers, *end = linkers + sizeof linkers / sizeof *linkers;
    progress_begin(c, "linking", false);
    if (add_inputs(&o)) {
        while (linker < end && !linker->accepts(o.items[0].bytes)) linker++;
        if (linker < end)
            link_all(&o, linker);
        else
            link_fail(c, o.items[0].name, BASE_UNKNOWN_FORMAT,
                      o.items[0].bytes.size ? "no linker knows this kind of object"
                                            : "the file is empty");
    }
    for (size_t i = 0; i < o.count; i++) {
        free((char *)o.items[i].name);
        free((uint8_t *)o.items[i].bytes.data);
    }
    free(o.items);
}
