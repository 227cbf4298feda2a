/* Builds the list of instructions from what a driver reports, then cuts it at jumps, targets and names into blocks
 * and functions. */
#include "core/structure/code_map.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/sanitize.h"
#include "core/debug/debug_info.h"

struct building {
    struct code_map *map;
    penta_part *code; /* the ranges of the code, in the order of their pcs */
    size_t code_count, code_capacity;
    struct named {
        uint64_t pc, to;
        penta_part_kind kind;
        const char *name;
    } * names; /* in the order of their pcs; the better one of two at the same pc is last */
    size_t name_count, name_capacity;
    struct writer scratch;
    penta_error *err;
};

size_t code_map_find(const struct code_map *map, uint64_t pc)
{
    size_t i;
    ARRAY_SEARCH(i, 0, map->count, map->insns[i].pc >= pc);
    return i < map->count && map->insns[i].pc == pc ? i : map->count;
}

static void take_part(void *user, const penta_part *part)
{
    struct building *b = user;
    if (b->err->code || part->kind == PENTA_PART_IMPORT) return;
    if (part->kind == PENTA_PART_CODE) {
        if (part->to > part->from && ARRAY_GROW(b->code, b->code_capacity, b->code_count, b->err))
            b->code[b->code_count++] = *part;
        return;
    }
    b->scratch.out.size = 0;
    writer_safe(&b->scratch, part->name);
    char *name = arena_copy(&b->map->names, writer_view(&b->scratch), b->err);
    if (name && ARRAY_GROW(b->names, b->name_capacity, b->name_count, b->err))
        b->names[b->name_count++] = (struct named){part->from, part->to, part->kind, name};
}

static int part_order(const void *a, const void *b)
{
    const penta_part *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int name_order(const void *a, const void *b)
{
    /* The name of a function is better than the name of an export, which is better than a label. */
    static const int rank[] = {
        [PENTA_PART_LABEL] = 0, [PENTA_PART_EXPORT] = 1, [PENTA_PART_FUNCTION] = 2};
    const struct named *x = a, *y = b;
    if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
    return rank[x->kind] - rank[y->kind];
}

/* Tells whether the code ends at pc: no instruction can be printed there. Returns false when one
 * is there, and when memory ran out. */
static bool ends_at(struct building *b, uint64_t pc)
{
    const penta_module *module = b->map->module;
    struct writer text = {0};
    bool there = module->driver->print_at && module->driver->print_at(module, pc, &text);
    bool no_memory = there || text.failed;
    writer_free(&text);
    return !no_memory || error_at(b->err, BASE_MEMORY, 0, "no memory for an instruction");
}

static bool add_range(struct building *b, const penta_part *code)
{
    struct code_map *m = b->map;
    const struct driver *driver = m->module->driver;
    uint64_t from = code->from;
    if (m->count && from < m->insns[m->count - 1].next) from = m->insns[m->count - 1].next;
    for (uint64_t pc = from, next; pc < code->to; pc = next) {
        next = driver->next_pc ? driver->next_pc(m->module, pc) : pc + 1;
        if (next <= pc) return ends_at(b, pc);
        if (!ARRAY_GROW(m->insns, m->capacity, m->count, b->err)) return false;
        struct code_insn *in = &m->insns[m->count++];
        *in = (struct code_insn){.pc = pc, .next = next, .branch = {.next = true}};
        if (driver->debug && driver->debug->branch &&
            !driver->debug->branch(m->module, pc, &in->branch) && !ends_at(b, pc))
            return false;
    }
    return true;
}

static void code_map_mark(struct code_map *m, uint64_t pc, bool function)
{
    size_t i = code_map_find(m, pc);
    if (i == m->count) return;
    m->insns[i].starts_block = true;
    m->insns[i].starts_function |= function;
}

static void mark_starts(struct building *b)
{
    struct code_map *m = b->map;
    for (size_t i = 0; i < b->code_count; i++) code_map_mark(m, b->code[i].from, true);
    for (size_t i = 0; i < b->name_count; i++)
        if (b->names[i].kind != PENTA_PART_LABEL) code_map_mark(m, b->names[i].pc, true);
    for (size_t i = 0; i < m->count; i++) {
        const penta_branch *br = &m->insns[i].branch;
        if (br->has_target) code_map_mark(m, br->target, br->call);
        bool ends = br->jump || br->call || br->ret || !br->next;
        if (ends && i + 1 < m->count) m->insns[i + 1].starts_block = true;
    }
    /* A gap between two ranges of code ends a block, and a function with it. */
    for (size_t i = 1; i < m->count; i++)
        if (m->insns[i].pc != m->insns[i - 1].next) code_map_mark(m, m->insns[i].pc, true);
}

static const char *name_of(struct building *b, uint64_t pc, bool *named)
{
    size_t i;
    char text[24];
    ARRAY_SEARCH(i, 0, b->name_count, b->names[i].pc > pc);
    *named = i && b->names[i - 1].pc == pc;
    if (*named) return b->names[i - 1].name;
    snprintf(text, sizeof text, "@%" PRIu64, pc);
    const char *copy = arena_copy(&b->map->names, bytes_of(text), b->err);
    return copy ? copy : "";
}

static bool code_map_cut(struct building *b)
{
    struct code_map *m = b->map;
    size_t blocks = 0, functions = 0;
    if (m->count) m->insns[0].starts_block = m->insns[0].starts_function = true;
    for (size_t i = 0; i < m->count; i++) {
        blocks += m->insns[i].starts_block;
        functions += m->insns[i].starts_function;
    }
    m->blocks = calloc(blocks + 1, sizeof *m->blocks);
    m->functions = calloc(functions + 1, sizeof *m->functions);
    if (!m->blocks || !m->functions || blocks > UINT32_MAX)
        return error_at(b->err, BASE_MEMORY, 0, "no memory for %zu blocks", blocks);
    for (size_t i = 0; i < m->count; i++) {
        struct code_insn *in = &m->insns[i];
        if (in->starts_function) {
            penta_function *f = &m->functions[m->function_count++];
            *f = (penta_function){.from = in->pc, .first_block = m->block_count};
            f->name = name_of(b, in->pc, &f->named);
        }
        if (in->starts_block)
            m->blocks[m->block_count++] =
                (penta_block){.from = in->pc, .function = m->function_count - 1};
        penta_function *f = &m->functions[m->function_count - 1];
        penta_block *block = &m->blocks[m->block_count - 1];
        in->block = (uint32_t)(m->block_count - 1);
        block->instructions++;
        block->to = f->to = in->next;
        block->last = in->pc;
        f->instructions++;
        f->blocks += in->starts_block;
    }
    return !b->err->code;
}

static bool code_map_build(struct building *b)
{
    struct code_map *m = b->map;
    m->module->driver->parts(m->module, take_part, b);
    if (b->code_count) qsort(b->code, b->code_count, sizeof *b->code, part_order);
    if (b->name_count) qsort(b->names, b->name_count, sizeof *b->names, name_order);
    for (size_t i = 0; i < b->code_count && !b->err->code; i++)
        if (!add_range(b, &b->code[i])) return false;
    if (b->err->code || !writer_ok(&b->scratch, b->err)) return false;
    mark_starts(b);
    return code_map_cut(b);
}

struct code_map *code_map_new(const penta_module *module, penta_error *err)
{
    const struct driver *driver = module->driver;
    if (module->damage.code) {
        *err = module->damage;
        return NULL;
    }
    if (!driver->parts) {
        error_at(err, BASE_UNSUPPORTED, 0, "%s files have no code that can be taken apart",
                 driver->name);
        return NULL;
    }
    struct building b = {.map = calloc(1, sizeof *b.map), .err = err};
    if (!b.map) {
        error_at(err, BASE_MEMORY, 0, "no memory for the structure of the code");
        return NULL;
    }
    b.map->module = module;
    bool ok = code_map_build(&b);
    free(b.code);
    free(b.names);
    writer_free(&b.scratch);
    if (ok) return b.map;
    code_map_free(b.map);
    return NULL;
}

void code_map_free(struct code_map *m)
{
    if (!m) return;
    free(m->insns);
    free(m->blocks);
    free(m->functions);
    arena_free(&m->names);
    free(m);
}
