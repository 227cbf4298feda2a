/* Compiles calls of an address. The compiled code compares the address with the addresses of
 * functions that occur in the code or data of the program, and calls the function it finds
 * directly. The interpreter handles all other addresses. */
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"
#include <stdlib.h>

/* If more functions than this have their address taken, the interpreter does all calls of
 * addresses. */
enum { MOST = 64 };

static uint32_t function_at(const struct coil_program *p, uint64_t address)
{
    uint32_t cell;
    if (!coil_program_cell(p, address, &cell) || !p->starts[cell]) return UINT32_MAX;
    return p->starts[cell] - 1;
}

static void indirect_take(struct coil_jit *j, uint64_t address)
{
    const struct coil_program *p = &j->vm.program;
    uint32_t function = function_at(p, address);
    uint32_t at = j->callable_count;
    if (function == UINT32_MAX || at > MOST) return;
    for (uint32_t i = 0; i < at; i++)
        if (j->callable[i] == function) return;
    for (; at && p->functions[j->callable[at - 1]].address > address; at--)
        j->callable[at] = j->callable[at - 1];
    j->callable[at] = function;
    j->callable_count++;
}

static void take_from_code(struct coil_jit *j)
{
    const struct coil_program *p = &j->vm.program;
    for (uint32_t c = 0; c < p->count; c++) {
        const struct coil_step *s = p->steps[c];
        bool jumps = s && (coil_ops[s->opcode].group == COIL_G_FLOW);
        for (unsigned i = 0; s && !jumps && i < s->count; i++) {
            const struct coil_place *a = &s->places[i];
            if (a->at == COIL_AT_CONST && a->form == COIL_ADDR) indirect_take(j, a->value);
            if (a->at == COIL_AT_MEMORY && a->base.at == COIL_AT_CONST)
                indirect_take(j, a->base.value + a->value);
        }
    }
}

static void take_from_data(struct coil_jit *j)
{
    const struct coil_program *p = &j->vm.program;
    const struct coil_module *m = j->vm.m;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < p->function_count; i++) {
        if (p->functions[i].address < low) low = p->functions[i].address;
        if (p->functions[i].address > high) high = p->functions[i].address;
    }
    for (size_t i = 0; i < m->section_count; i++) {
        if (!coil_is_data(&m->sections[i])) continue;
        const struct coil_region *r = coil_region_at(&j->vm, p->sections[i]);
        for (uint64_t at = 0; r && at + 8 <= r->size; at += 8) {
            uint64_t word = bytes_uint(r->bytes + at, 8, false);
            if (word >= low && word <= high) indirect_take(j, word);
        }
    }
}

bool coil_calls_address(const struct coil_program *p, uint32_t cell)
{
    const struct coil_step *s = p->steps[cell];
    return p->cells[cell].op == COIL_CELL_INDIRECT && s->opcode == COIL_OP_CALL && s->count == 1 &&
           s->places[0].form != COIL_ADDR;
}

bool coil_find_callable(struct coil_jit *j)
{
    const struct coil_program *p = &j->vm.program;
    uint32_t c = 0;
    while (c < p->count && !coil_calls_address(p, c)) c++;
    if (c == p->count) return true;
    j->callable = malloc((MOST + 2) * sizeof *j->callable);
    if (!j->callable) return false;
    take_from_code(j);
    take_from_data(j);
    if (j->callable_count > MOST) j->callable_count = 0;
    return true;
}

struct choice {
    struct coil_lower *l;
    const struct coil_jit *j;
    /* `next` is the block after the call. `other` is the block for addresses of no known
     * function. */
    uint32_t address, next, other;
};

static void indirect_begin(struct coil_lower *l, uint32_t block)
{
    ssa_start(l->f, block);
    ssa_seal(l->f, block);
    coil_hold_nothing(l);
}

/* Makes a binary search for the address among the functions from..to-1, which are sorted by
 * address. */
static void indirect_choose(const struct choice *c, uint32_t from, uint32_t to)
{
    struct coil_lower *l = c->l;
    uint32_t middle = (from + to) / 2, first = l->extra++;
    const struct coil_function *f = &l->p->functions[c->j->callable[middle]];
    uint32_t address = ssa_const(l->f, (int64_t)f->address);
    if (to - from == 1) {
        ssa_branch(l->f, SSA_BRANCH, SSA_EQ, false, c->address, address, first, c->other);
        indirect_begin(l, first);
        coil_lower_call(l, c->j->callable[from]);
        ssa_jump(l->f, c->next);
        return;
    }
    uint32_t second = l->extra++;
    ssa_branch(l->f, SSA_BRANCH, SSA_B, false, c->address, address, first, second);
    indirect_begin(l, first);
    indirect_choose(c, from, middle);
    indirect_begin(l, second);
    indirect_choose(c, middle, to);
}

uint32_t coil_callable_blocks(const struct coil_lower *l)
{
    return 3 * ((const struct coil_jit *)l->vm)->callable_count + 1;
}

/* Makes a call of an address. `next` is the block after the call. Afterwards the current block
 * is the one that handles all other addresses. */
bool coil_lower_call_address(struct coil_lower *l, uint32_t next)
{
    const struct coil_jit *j = (const struct coil_jit *)l->vm;
    const struct coil_step *s = l->p->steps[l->cell];
    if (l->native || !j->callable_count || !coil_calls_address(l->p, l->cell)) return false;
    uint8_t type = coil_type_at(s, 0);
    struct choice c = {.l = l, .j = j, .next = next};
    c.address = coil_is_int(type) ? coil_lower_place(l, &s->places[0], type, COIL_T_UNT64) : 0;
    if (!c.address) return false;
    c.other = l->extra++;
    indirect_choose(&c, 0, j->callable_count);
    indirect_begin(l, c.other);
    l->flags.opcode = 0;
    return true;
}
