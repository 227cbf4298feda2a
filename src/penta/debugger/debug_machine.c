/* Finds parts of a machine by name, for debuggers: frames, variables, values of its tree,
 * expressions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "core/debug/debug_info.h"
#include "core/debug/expression.h"
#include "core/driver.h"
#include "core/views/views.h"
#include "penta/debugger/debugger_struct.h"

void penta_vm_variables(const penta_vm *vm, size_t frame, penta_variable_report *report, void *user)
{
    const struct debug_info *info = debug_info_of(vm->module);
    if (info->variables) info->variables(vm, frame, report, user);
}

void penta_vm_regions(const penta_vm *vm, penta_region_report *report, void *user)
{
    const struct debug_info *info = debug_info_of(vm->module);
    if (info->regions) info->regions(vm, report, user);
}

struct value_search {
    const char *wanted;
    struct path path;
    unsigned inside; /* how many levels are open, counted from the wanted node */
    bool found;
    struct writer scratch, *out;
    penta_value *number; /* the value of the single field at the wanted path, or NULL */
    bool is_number;
};

static bool number_of(const penta_field *f, penta_value *v)
{
    if (f->kind == PENTA_TEXT || f->kind == PENTA_RAW) return false;
    *v = (penta_value){.kind = f->kind, .as.u = f->as.u};
    if (f->kind == PENTA_FLOAT) v->as.f = f->as.f;
    return true;
}

/* Tells where the walk is: 0 elsewhere, 1 above the wanted place, 2 at or below it. */
static int debug_machine_place(struct value_search *s, const char *leaf)
{
    if (s->inside) return 2;
    s->scratch.out.size = 0;
    path_print(&s->path, leaf, &s->scratch);
    penta_bytes at = writer_view(&s->scratch);
    if (!at.size || strncmp(s->wanted, (const char *)at.data, at.size)) return 0;
    return !s->wanted[at.size] ? 2 : s->wanted[at.size] == '/';
}

static bool search_enter(void *user, const penta_node *node)
{
    struct value_search *s = user;
    path_enter(&s->path, node->name, node->list);
    int there = debug_machine_place(s, NULL);
    if (there == 2) s->inside++;
    if (there == 2) s->found = true;
    if (!there) path_leave(&s->path);
    return there;
}

static void search_field(void *user, const penta_field *field)
{
    struct value_search *s = user;
    if (debug_machine_place(s, field->name) == 2) {
        if (s->out->out.size) writer_char(s->out, ' ');
        view_value(s->out, field, SIZE_MAX);
        if (s->number && !s->inside) s->is_number = number_of(field, s->number);
        s->found = true;
    }
    path_leaf(&s->path);
}

static void search_leave(void *user, const penta_node *node)
{
    struct value_search *s = user;
    (void)node;
    path_leave(&s->path);
    if (s->inside) s->inside--;
}

static bool debug_machine_search(const penta_vm *vm, struct value_search *s)
{
    penta_visitor visitor = {s, search_enter, search_field, search_leave};
    penta_vm_describe(vm, &visitor);
    s->out->failed |= s->scratch.failed;
    writer_free(&s->scratch);
    return s->found;
}

bool vm_value(const penta_vm *vm, const char *path, struct writer *out)
{
    struct value_search s = {.wanted = path, .out = out};
    return debug_machine_search(vm, &s);
}

bool penta_vm_value(const penta_vm *vm, const char *path, penta_buffer *out)
{
    struct writer w = {0};
    penta_error err = {0};
    return writer_give(&w, vm_value(vm, path, &w), out, &err);
}

static bool path_number(const penta_vm *vm, const char *path, penta_value *value, penta_error *err)
{
    struct writer text = {0};
    struct value_search s = {.wanted = path, .out = &text, .number = value};
    debug_machine_search(vm, &s);
    bool whole = writer_ok(&text, err);
    writer_free(&text);
    return whole && s.is_number;
}

size_t penta_vm_frames(const penta_vm *vm, penta_frame *frames, size_t max)
{
    penta_value pc = {0};
    const struct debug_info *info = debug_info_of(vm->module);
    if (info->frames) return info->frames(vm, frames, max);
    penta_error err = {0};
    path_number(vm, "/pc", &pc, &err);
    if (max) frames[0] = (penta_frame){.pc = pc.as.u};
    return 1;
}

struct name_search {
    penta_bytes name;
    bool found;
    penta_value *value;
    penta_variable *variable; /* gets the variable, unless it is NULL */
};

/* Keeps the last of several variables with the name, because inner scopes come after outer ones. */
static void match_variable(void *user, const penta_variable *v)
{
    struct name_search *s = user;
    penta_value value;
    if (!bytes_equal(s->name, bytes_of(v->value.name)) || !number_of(&v->value, &value)) return;
    s->found = true;
    *s->value = value;
    if (s->variable) *s->variable = *v;
}

static void match_part(void *user, const penta_part *part)
{
    struct name_search *s = user;
    if (s->found || part->kind == PENTA_PART_CODE || part->kind == PENTA_PART_IMPORT ||
        !bytes_equal(part->name, s->name))
        return;
    s->found = true;
    *s->value = (penta_value){.kind = PENTA_UINT, .as.u = part->from};
}

static bool scope_path(void *user, penta_bytes path, penta_value *value, penta_error *err)
{
    char text[200];
    if (path.size >= sizeof text) return false;
    bytes_copy(text, path);
    text[path.size] = 0;
    return path_number(user, text, value, err);
}

static bool scope_name(void *user, penta_bytes name, penta_value *value, penta_error *err)
{
    const penta_vm *vm = user;
    struct name_search s = {.name = name, .value = value};
    char path[100];
    penta_vm_variables(vm, 0, match_variable, &s);
    if (!s.found && name.size < sizeof path - 1) {
        snprintf(path, sizeof path, "/%.*s", (int)name.size, (const char *)name.data);
        s.found = path_number(vm, path, value, err);
    }
    if (!s.found && !err->code && vm->module) penta_parts(vm->module, match_part, &s);
    return s.found;
}

static bool scope_peek(void *user, uint64_t address, uint8_t *into, size_t size)
{
    return penta_vm_peek(user, address, into, size);
}

struct expression_scope vm_scope(const penta_vm *vm)
{
    return (struct expression_scope){.user = (penta_vm *)vm,
                                     .name = scope_name,
                                     .path = scope_path,
                                     .peek = scope_peek,
                                     .big_endian = vm->big_endian};
}

bool penta_vm_eval(const penta_vm *vm, const char *expression, penta_value *value, penta_error *err)
{
    *err = (penta_error){0};
    struct expression_scope scope = vm_scope(vm);
    return expression_eval(expression, &scope, value, err);
}

bool penta_value_text(const penta_value *v, unsigned base, penta_buffer *out)
{
    struct writer w = {0};
    penta_error err = {0};
    bool word = base ? base == 16 : v->kind == PENTA_WORD;
    if (v->kind == PENTA_FLOAT) {
        penta_field field = {.kind = PENTA_FLOAT, .as.f = v->as.f};
        view_value(&w, &field, 0);
    } else if (word) {
        writer_0x(&w, v->as.u);
    } else if (v->kind == PENTA_BOOL) {
        writer_text(&w, v->as.u ? "true" : "false");
    } else if (v->kind == PENTA_SINT) {
        writer_print(&w, "%" PRId64, v->as.i);
    } else {
        writer_dec(&w, v->as.u);
    }
    return writer_give(&w, true, out, &err);
}

static bool debug_machine_poke(penta_vm *vm, uint64_t address, unsigned bytes, uint64_t bits)
{
    uint8_t data[8];
    for (unsigned i = 0; i < bytes; i++)
        data[vm->big_endian ? bytes - 1 - i : i] = (uint8_t)(bits >> 8 * i);
    return penta_vm_poke(vm, address, data, bytes);
}

static uint64_t bits_of(const penta_value *v, bool real, unsigned bytes)
{
    float single = (float)value_real(v);
    double wide = value_real(v);
    uint32_t half;
    uint64_t bits;
    memcpy(&half, &single, sizeof half);
    memcpy(&bits, &wide, sizeof bits);
    return !real ? value_integer(v) : bytes == 4 ? half : bits;
}

/* Strips the node from a path such as "/registers/r1", since registers and variables may be given by their paths. */
static const char *without_node(const char *what)
{
    static const char *const nodes[] = {"/registers/", "/variables/"};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        if (!strncmp(what, nodes[i], strlen(nodes[i]))) return what + strlen(nodes[i]);
    return what;
}

bool vm_set(penta_vm *vm, const char *text, const penta_value *value, penta_error *err)
{
    const char *what = without_node(text);
    struct expression_scope scope = vm_scope(vm);
    struct expression_memory m;
    if (expression_is_memory(what, &scope, &m))
        return debug_machine_poke(vm, m.address, m.bytes, bits_of(value, m.type == 'f', m.bytes)) ||
               error_at(err, BASE_RANGE, 0, "no %u bytes of memory are at 0x%" PRIx64, m.bytes,
                        m.address);
    penta_bytes name = bytes_of(what + (*what == '$'));
    penta_value old;
    penta_variable v = {0};
    struct name_search s = {.name = name, .value = &old, .variable = &v};
    penta_vm_variables(vm, 0, match_variable, &s);
    uint64_t bytes = v.elements ? v.size / v.elements : v.size;
    if (s.found && v.in_memory && bytes && bytes <= 8)
        return debug_machine_poke(vm, v.address, (unsigned)bytes,
                                  bits_of(value, v.value.kind == PENTA_FLOAT, (unsigned)bytes)) ||
               error_at(err, BASE_RANGE, 0, "'%.40s' cannot be written", what);
    const struct debug_info *info = debug_info_of(vm->module);
    if (info->set && info->set(vm, name, value)) return true;
    if (s.found) return error_at(err, BASE_RANGE, 0, "'%.40s' cannot be set to this", what);
    return error_at(err, BASE_NAME_UNKNOWN, 0,
                    "'%.40s' is no register, variable or memory that can be set", text);
}
