/* Links as include/penta/coil.h declares: opens the objects, takes archives apart, and calls the
 * linker. */
#include "base/archive.h"
#include "base/array.h"
#include "coil/link/link.h"
#include "penta/coil.h"
#include <stdlib.h>
#include <string.h>

struct inputs {
    struct coil_link link; /* arguments of the linker; its inputs are `items` */
    struct coil_link_input *items;
    size_t capacity;
    penta_link_report *report;
    void *user;
    struct findings findings;
};

static void finding_pass_on(void *user, const penta_error *finding)
{
    struct inputs *in = user;
    if (in->report) in->report(in->user, in->link.where, finding);
}

static bool link_inputs_fail(struct inputs *in, const char *object, const penta_error *err)
{
    in->link.where = object;
    findings_pass(&in->findings, err);
    in->link.where = NULL;
    return false;
}

static bool out_of_memory(struct inputs *in)
{
    penta_error err = {0};
    error_at(&err, BASE_MEMORY, 0, "no memory for inputs");
    return link_inputs_fail(in, NULL, &err);
}

/* Adds an input. The list takes ownership of the input's name. */
static bool link_inputs_add(struct inputs *in, char *name, penta_bytes bytes, bool member)
{
    penta_error err = {0};
    if (!name || !ARRAY_RESERVE(in->items, in->capacity, in->link.count + 1)) {
        free(name);
        return out_of_memory(in);
    }
    penta_module *module = coil_driver.parse(bytes, NULL, 0, &err);
    in->items[in->link.count++] = (struct coil_link_input){
        .name = name, .module = (const struct coil_module *)module, .archive = member};
    return module || link_inputs_fail(in, name, &err);
}

static bool add_member(void *user, const char *archive, penta_bytes name, penta_bytes bytes)
{
    char *text = malloc(strlen(archive) + name.size + 3);
    if (text) archive_member_name(text, archive, name);
    return link_inputs_add(user, text, bytes, true);
}

static bool add_object(struct inputs *in, const penta_object *object)
{
    penta_error err = {0};
    if (!archive_probe(object->bytes))
        return link_inputs_add(in, strdup(object->name), object->bytes, object->member);
    if (archive_each(object->bytes, object->name, add_member, in, &err)) return true;
    return err.code ? link_inputs_fail(in, object->name, &err) : false;
}

static bool read_inputs(struct inputs *in, const penta_object *objects, size_t count,
                        const penta_option *options, size_t option_count)
{
    penta_error err = {0};
    if (!options_check(options, option_count, coil_driver.options, OPTION_LINK, &err))
        return link_inputs_fail(in, NULL, &err);
    in->link.relocatable = option_text(options, option_count, "relocatable");
    in->link.entry = option_text(options, option_count, "entry");
    bool ok = true;
    for (size_t i = 0; i < count; i++) ok = add_object(in, &objects[i]) && ok;
    in->link.inputs = in->items;
    return ok;
}

bool penta_coil_link(const penta_object *objects, size_t count, const penta_option *options,
                     size_t option_count, penta_buffer *out, penta_buffer *map,
                     penta_link_report *report, void *user)
{
    struct inputs in = {.report = report, .user = user};
    struct writer file = {0}, list = {0};
    penta_error err = {0};
    size_t before = out->size;
    in.findings = (struct findings){.rules = coil_rules, .report = finding_pass_on, .user = &in};
    in.link.map = map ? &list : NULL;
    bool ok = read_inputs(&in, objects, count, options, option_count) &&
              coil_link(&in.link, &file, &in.findings);
    ok = writer_give(&file, ok, out, &err);
    if (map) ok = writer_give(&list, ok, map, &err);
    if (err.code) link_inputs_fail(&in, NULL, &err);
    if (!ok) out->size = before;
    for (size_t i = 0; i < in.link.count; i++) {
        if (in.items[i].module) coil_driver.close((penta_module *)in.items[i].module);
        free((char *)in.items[i].name);
    }
    free(in.items);
    return ok;
}

bool penta_coil_links(penta_bytes file)
{
    penta_bytes first = archive_first(file);
    return first.size && coil_probe(first, NULL) > 0;
}
