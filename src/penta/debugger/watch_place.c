/* Finds where the value of a watch is: in a register or variable that instructions name, or in
 * memory. When the place is known, the machine runs at full speed up to the instructions that
 * may access it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "core/debug/debug_info.h"
#include "core/debug/expression.h"
#include "penta/debugger/watch.h"

void penta_vm_accesses(const penta_vm *vm, uint64_t pc, penta_access_report *report, void *user)
{
    const struct debug_info *info = debug_info_of(vm->module);
    if (info->accesses) info->accesses(vm, pc, report, user);
}

struct variable_search {
    penta_bytes name;
    bool found;
    penta_variable variable;
};

/* Keeps the last of several variables with the name, as expressions do. */
static void watch_place_match(void *user, const penta_variable *v)
{
    struct variable_search *s = user;
    if (!bytes_equal(s->name, bytes_of(v->value.name))) return;
    s->found = true;
    s->variable = *v;
}

static bool set_name(struct watch *w, penta_bytes name)
{
    w->name = strndup((const char *)name.data, name.size);
    w->place = w->name ? WATCH_NAME : WATCH_ANYWHERE;
    return w->name;
}

/* Finds the register or variable that the text names. For a path in the machine's tree it is the register that the
 * value is in. */
static void find_name(const penta_vm *vm, struct watch *w)
{
    static const char registers[] = "/registers/";
    const char *text = w->what + (*w->what == '$');
    struct variable_search s = {0};
    penta_frame frame;
    if (w->path) {
        if (strncmp(w->path, registers, sizeof registers - 1)) return;
        text = w->path + sizeof registers - 1;
    }
    s.name = (penta_bytes){(const uint8_t *)text, w->path ? strcspn(text, "/") : strlen(text)};
    penta_vm_variables(vm, 0, watch_place_match, &s);
    bool is_register =
        w->path && vm->module->driver->is_register && vm->module->driver->is_register(s.name);
    if (s.found && s.variable.in_memory) {
        w->place = WATCH_MEMORY;
        w->at = s.variable.address;
        w->size = s.variable.size;
    } else if (!(s.found || is_register) || !set_name(w, s.name)) {
        return;
    }
    if (!s.found || s.variable.scope != PENTA_VARIABLE_LOCAL) return;
    penta_vm_frames(vm, &frame, 1);
    w->local = true;
    w->depth = frame.depth;
}

static bool no_name(void *user, penta_bytes name, penta_value *value, penta_error *err)
{
    return (void)user, (void)name, (void)value, (void)err, false;
}

static bool no_peek(void *user, uint64_t address, uint8_t *into, size_t size)
{
    return (void)user, (void)address, (void)into, (void)size, false;
}

/* Finds the memory of u32[E]. E is evaluated each time to find a change, so the address is fixed only if E is
 * constant. */
static bool find_memory(const penta_vm *vm, struct watch *w)
{
    struct expression_scope constant = {.name = no_name, .path = no_name, .peek = no_peek};
    struct expression_scope now = vm_scope(vm);
    struct expression_memory m;
    if (!expression_is_memory(w->what, w->kind == PENTA_POINT_WATCH ? &constant : &now, &m))
        return false;
    w->place = WATCH_MEMORY;
    w->at = m.address;
    w->size = m.bytes;
    return true;
}

struct code_walk {
    const penta_vm *vm;
    struct watch *watch;
    bool failed;
};

/* Tells whether the watch is about this access. Engines that watch guards report accesses to memory themselves. */
static bool watch_place_concerns(const penta_vm *vm, const struct watch *w, const penta_access *a)
{
    if (w->place == WATCH_NAME) return a->name && !strcmp(a->name, w->name);
    if (a->name || vm->engine->heeds_guards) return false;
    return a->address - w->at < w->size || w->at - a->address < a->size;
}

struct access_search {
    const penta_vm *vm;
    struct watch *watch;
    bool found;
};

static void may_concern(void *user, const penta_access *a)
{
    struct access_search *s = user;
    bool memory =
        s->watch->place == WATCH_MEMORY && !a->name && a->moves && !s->vm->engine->heeds_guards;
    if (a->host ? s->watch->kind != PENTA_POINT_READ
                : memory || watch_place_concerns(s->vm, s->watch, a))
        s->found = true;
}

static void watch_place_collect(void *user, const penta_part *part)
{
    struct code_walk *k = user;
    struct watch *w = k->watch;
    if (part->kind != PENTA_PART_CODE) return;
    for (uint64_t pc = part->from, next; pc < part->to && !k->failed; pc = next) {
        struct access_search s = {k->vm, w, false};
        penta_vm_accesses(k->vm, pc, may_concern, &s);
        if (s.found && !ARRAY_RESERVE(w->pcs, w->pc_capacity, w->pc_count + 1))
            k->failed = true;
        else if (s.found)
            w->pcs[w->pc_count++] = pc;
        if (!penta_next_pc(k->vm->module, pc, &next)) break;
    }
}

static int by_pc(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

bool watch_find_place(const penta_vm *vm, struct watch *w, penta_error *err)
{
    const struct debug_info *info = debug_info_of(vm->module);
    bool known = info->accesses;
    if (!w->expression && !w->path) {
        w->place = WATCH_MEMORY;
        w->at = w->address;
        w->size = w->length;
    } else if (!w->expression || !find_memory(vm, w)) {
        find_name(vm, w);
    }
    if (w->place == WATCH_MEMORY && !vm->engine->heeds_guards && !info->accesses_memory)
        known = false;
    if (!known) w->place = WATCH_ANYWHERE;
    if (w->kind != PENTA_POINT_WATCH && !known)
        return error_at(err, BASE_UNSUPPORTED, 0,
                        "this machine does not tell what its instructions read and write there");
    if (w->kind != PENTA_POINT_WATCH && w->place == WATCH_ANYWHERE)
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "'%.40s' is no register, variable or memory, so nothing reads or writes it",
                        w->what);
    struct code_walk k = {.vm = vm, .watch = w};
    if (w->place != WATCH_ANYWHERE) penta_parts(vm->module, watch_place_collect, &k);
    if (k.failed) return error_at(err, BASE_MEMORY, 0, "no memory for the watch");
    if (w->pc_count) qsort(w->pcs, w->pc_count, sizeof *w->pcs, by_pc);
    return true;
}

bool watch_wants(const struct watch *w, uint64_t pc)
{
    size_t i;
    ARRAY_SEARCH(i, 0, w->pc_count, w->pcs[i] >= pc);
    return i < w->pc_count && w->pcs[i] == pc;
}

bool watch_in_frame(const penta_vm *vm, const struct watch *w)
{
    penta_frame frame;
    if (!w->local) return true;
    penta_vm_frames(vm, &frame, 1);
    return frame.depth == w->depth;
}

static void watch_place_note(void *user, const penta_access *a)
{
    struct access_search *s = user;
    if (a->host) s->watch->asks = true;
    if (a->host || !watch_place_concerns(s->vm, s->watch, a)) return;
    s->watch->reads |= !a->write;
    s->watch->writes |= a->write;
}

void watch_note(const penta_vm *vm, struct watch *w, uint64_t pc)
{
    struct access_search s = {vm, w, false};
    w->reads = w->writes = w->asks = false;
    if (w->place == WATCH_ANYWHERE || !watch_wants(w, pc) || !watch_in_frame(vm, w)) return;
    penta_vm_accesses(vm, pc, watch_place_note, &s);
}
