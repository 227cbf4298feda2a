/* What takes the bytes of a file: parts at the top of its tree, and functions. */
#include "base/json/json_visit.h"
#include "base/sanitize.h"
#include "core/driver.h"
#include "core/structure/code_map.h"

struct sizes {
    penta_size_report *report;
    void *user;
    struct writer name;
    bool failed;
};

static void tell(struct sizes *s, penta_size_kind kind, const char *name, uint64_t bytes)
{
    s->name.out.size = 0;
    writer_safe_text(&s->name, name);
    writer_char(&s->name, 0);
    s->failed |= s->name.failed;
    if (s->name.failed) return;
    s->report(s->user, &(penta_size){kind, (const char *)s->name.out.data, bytes});
}

static bool enter(void *user, const penta_node *node)
{
    if (node->size && !node->decoded) tell(user, PENTA_SIZE_SECTION, node->name, node->size);
    return false;
}

static void field(void *user, const penta_field *f)
{
    struct sizes *s = user;
    s->failed |= f->name == field_incomplete;
    if (f->size) tell(user, PENTA_SIZE_SECTION, f->name, f->size);
}

bool penta_sizes(const penta_module *module, penta_size_report *report, void *user,
                 penta_error *err)
{
    *err = (penta_error){0};
    struct sizes s = {.report = report, .user = user};
    penta_visitor visitor = {&s, enter, field, NULL};
    tell(&s, PENTA_SIZE_FILE, "file", module->file.size);
    module->driver->describe(module, &visitor);
    bool code = module->driver->parts && !module->damage.code;
    struct code_map *map = code ? code_map_new(module, err) : NULL;
    unsigned unit = module->driver->insn_bytes ? module->driver->insn_bytes : 1;
    for (size_t i = 0; map && i < map->function_count; i++)
        tell(&s, PENTA_SIZE_FUNCTION, map->functions[i].name,
             (map->functions[i].to - map->functions[i].from) * unit);
    code_map_free(map);
    writer_free(&s.name);
    if (s.failed) error_at(err, BASE_MEMORY, 0, "no memory for names");
    return !err->code;
}
