/* Reads tables of SWITCH that cannot change. Each table is read once, even if many instructions
 * use it. */
#include "coil/jit/jit.h"
#include "base/array.h"
#include <stdlib.h>

enum { SWITCH_MAX = 4096 };

static bool table_named(const struct coil_program *p, uint32_t cell, uint64_t *address)
{
    const struct coil_step *s = p->steps[cell];
    if (!s || s->opcode != COIL_OP_SWITCH || s->places[1].at != COIL_AT_CONST) return false;
    *address = s->places[1].value;
    return true;
}

/* Reads the cells to which a table leads, with the default at the end, and finds the one
 * function that contains all of them. If there is no such function, the table has no cells.
 * Returns false if there is no memory. */
static bool table_read(struct coil_vm *vm, struct coil_table *t)
{
    struct coil_region *r = coil_region_at(vm, t->address);
    if (!r || r->writable || t->address % 8 || r->size - (t->address - r->base) < 16) return true;
    const uint8_t *at = r->bytes + (t->address - r->base);
    uint64_t count = bytes_uint(at, 8, false);
    if (count > SWITCH_MAX || r->size - (t->address - r->base) < 16 + 8 * count) return true;
    uint32_t *cells = malloc((size_t)(count + 1) * sizeof *cells);
    if (!cells) return false;
    for (uint64_t i = 0; i <= count; i++) {
        uint64_t to = bytes_uint(at + (i < count ? 16 + 8 * i : 8), 8, false);
        bool there = coil_program_cell(&vm->program, to, &cells[i]);
        if (there && !i) t->owner = vm->program.owners[cells[0]];
        if (!there || vm->program.owners[cells[i]] != t->owner) {
            free(cells);
            return true;
        }
    }
    t->cells = cells;
    t->count = (uint32_t)count + 1;
    return true;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct coil_table *)a)->address,
             y = ((const struct coil_table *)b)->address;
    return x < y ? -1 : x > y;
}

bool coil_tables_find(struct coil_vm *vm)
{
    const struct coil_program *p = &vm->program;
    struct coil_table t = {0};
    size_t capacity = 0, n = 0;
    if (vm->tables || vm->m->big_endian) return true;
    for (uint32_t c = 0; c < p->count; c++) {
        if (!table_named(p, c, &t.address)) continue;
        if (n && vm->tables[n - 1].address == t.address) continue;
        if (!ARRAY_RESERVE(vm->tables, capacity, n + 1)) return false;
        vm->tables[n++] = t;
        vm->table_count = n;
    }
    if (!n) return true;
    qsort(vm->tables, n, sizeof *vm->tables, by_address);
    vm->table_count = 1;
    for (size_t i = 1; i < n; i++)
        if (vm->tables[i].address != vm->tables[vm->table_count - 1].address)
            vm->tables[vm->table_count++] = vm->tables[i];
    for (size_t i = 0; i < vm->table_count; i++)
        if (!table_read(vm, &vm->tables[i])) return false;
    return true;
}

const struct coil_table *coil_table_of(const struct coil_vm *vm, uint32_t cell)
{
    uint64_t address;
    size_t low;
    if (!vm->table_count || !table_named(&vm->program, cell, &address)) return NULL;
    ARRAY_SEARCH(low, 0, vm->table_count, vm->tables[low].address >= address);
    const struct coil_table *t = &vm->tables[low];
    bool found = low < vm->table_count && t->address == address && t->cells;
    return found && t->owner == vm->program.owners[cell] ? t : NULL;
}
