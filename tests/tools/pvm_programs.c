#include "pvm_maker.h"
#include <string.h>

const char *const pattern_names[PATTERN_COUNT] = {
#define P(name) #name,
    PATTERNS(P)
#undef P
};

/* clang-format off */
static const uint64_t edges[] = {
    0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000,
    0xffff, 0x10000, 0x10ff8, 0x10ffc, 0x10fff, 0x20000, 0x20010, 0x2fff8, 0x30000, 0x30ffd,
    0x31ff9, 0x32000, 0x3ffc, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xffff0000,
    0xfffffff8, 0xfffffffc, 0xfffffffe, 0xffffffff, UINT64_C(0x100000000),
    UINT64_C(0x100030000), UINT64_C(0x7fffffffffffffff), UINT64_C(0x8000000000000000),
    UINT64_C(0x8000000000000001), UINT64_C(0xffffffff80000000), UINT64_C(0xffffffff7fffffff),
    UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 7, UINT64_MAX - 0xfff};
/* clang-format on */
enum { EDGES = sizeof edges / sizeof *edges };

uint64_t choices_next(struct choices *c)
{
    uint64_t steer = c->at < c->size ? c->data[c->at++] : 0;
    c->state ^= steer + UINT64_C(0x9e3779b97f4a7c15);
    c->state ^= c->state << 13;
    c->state ^= c->state >> 7;
    c->state ^= c->state << 17;
    return c->state * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

uint64_t choices_number(struct choices *c)
{
    switch (choices_below(c, 3)) {
    case 0: return edges[choices_below(c, EDGES)];
    case 1: {
        uint64_t small = choices_below(c, 256);
        return small - 128 * choices_below(c, 2);
    }
    default: {
        uint64_t high = choices_next(c) << 16;
        return high ^ choices_next(c);
    }
    }
}

/* Chooses a register to write. ra and sp have good addresses and are seldom written. */
unsigned maker_destination(struct maker *m)
{
    for (;;) {
        unsigned r = any_register(m->c);
        if (r < 2 && choices_below(m->c, 16)) r += 5;
        if (!(m->avoid >> r & 1)) return r;
    }
}

static bool pvm_programs_accesses(uint8_t op)
{
    const char *name = pvm_ops[op].name;
    return (!strncmp(name, "load_", 5) && strncmp(name, "load_imm", 8)) ||
           !strncmp(name, "store_", 6);
}

/* Chooses where slot `from` may jump, mostly to the start of a block. */
static unsigned pvm_programs_target(struct maker *m, unsigned from)
{
    const struct program *p = m->p;
    unsigned low = p->forward ? from + 1 : 0;
    unsigned to = low + (unsigned)choices_below(m->c, p->count - low);
    for (unsigned k = to; k > low; k--)
        if (pvm_ends_block(p->slots[k - 1].op)) {
            to = k;
            break;
        }
    while (p->forward && to + 1 < p->count && p->slots[to].head) to++;
    return to;
}

struct slot *maker_add(struct maker *m, uint8_t op, enum pattern pattern)
{
    struct slot *s = &m->p->slots[m->p->count++];
    m->left--;
    *s = (struct slot){.op = op, .pattern = (uint8_t)pattern, .to = -1};
    return s;
}

/* Chooses the operands of any instruction. The target is chosen when all slots exist. */
static void pvm_programs_operands(struct maker *m, struct slot *s)
{
    struct choices *c = m->c;
    bool access = pvm_programs_accesses(s->op), store = !strncmp(pvm_ops[s->op].name, "store", 5);
    bool absolute = pvm_ops[s->op].shape == PVM_IMM_IMM || pvm_ops[s->op].shape == PVM_REG_IMM;
    s->a = (uint8_t)(store || pvm_has_target(s->op) ? any_register(c) : maker_destination(m));
    s->b = (uint8_t)any_register(c);
    s->d = (uint8_t)maker_destination(m);
    s->x = choices_number(c);
    s->y = choices_number(c);
    switch ((enum pvm_shape)pvm_ops[s->op].shape) {
    case PVM_REG_REG:
    case PVM_REG_REG_REG: s->a = (uint8_t)any_register(c); break;
    case PVM_REG_IMM_OFFSET:
        if (s->op == PVM_OP_load_imm_and_jump) s->a = (uint8_t)maker_destination(m);
        break;
    case PVM_REG_IMM_IMM:
        if (choices_below(c, 8)) s->a = (uint8_t)choices_below(c, 2);
        break;
    case PVM_REG_REG_IMM:
        if (!access && !choices_below(c, 3)) s->b = s->a;
        break;
    case PVM_IMM: s->x = choices_below(c, 8); break;
    default: break;
    }
    if (access && choices_below(c, 8)) s->b = (uint8_t)choices_below(c, 2);
    if (access && choices_below(c, 4))
        s->x = absolute ? 0x30000 + choices_below(c, 0x2000) : choices_below(c, 64);
    if (pvm_ops[s->op].flow == PVM_FLOW_DYNAMIC) {
        bool second = s->op == PVM_OP_load_imm_and_jump_indirect;
        if (choices_below(c, 3)) *(second ? &s->y : &s->x) = 2 * choices_below(c, TABLE_MAX + 2);
    }
}

void maker_any(struct maker *m, bool inside_block)
{
    const struct program *p = m->p;
    for (;;) {
        uint8_t op = (uint8_t)(1 + choices_below(m->c, PVM_OPS - 1));
        bool dynamic = pvm_ops[op].flow == PVM_FLOW_DYNAMIC;
        if (!program_has(p, op) || (p->forward && dynamic)) continue;
        if (inside_block && pvm_ops[op].flow != PVM_FLOW_NEXT) continue;
        if ((op == PVM_OP_trap || op == PVM_OP_memset || dynamic) && choices_below(m->c, 8))
            continue;
        if (op == PVM_OP_memset && m->avoid) continue;
        pvm_programs_operands(m, maker_add(m, op, PATTERN_none));
        return;
    }
}

/* Chooses in how many bytes a number is written: mostly as few as hold it. Outside of patterns,
 * where the value does not matter, it is sometimes fewer. */
static unsigned length_of(struct choices *c, const struct slot *s, uint64_t v)
{
    unsigned least = 0;
    int64_t value = (int64_t)(int32_t)(uint32_t)v;
    while (least < 4 && (least ? value >> (8 * least - 1) != value >> 63 : value != 0)) least++;
    if (s->pattern == PATTERN_none && !choices_below(c, 4)) return (unsigned)choices_below(c, 5);
    return least + (choices_below(c, 2) ? 0 : (unsigned)choices_below(c, 5 - least));
}

static uint8_t *pvm_programs_put(uint8_t *at, uint64_t v, unsigned length)
{
    for (unsigned i = 0; i < length; i++) *at++ = (uint8_t)(v >> 8 * i);
    return at;
}

/* Returns a nibble for a register. Nibbles above 12 mean the last register. */
static unsigned pvm_programs_nibble(struct choices *c, unsigned reg)
{
    return reg == 12 && !choices_below(c, 4) ? 12 + (unsigned)choices_below(c, 4) : reg;
}

/* Writes an instruction without its target, which is written when all offsets are known. */
static uint8_t *pvm_programs_encode(struct choices *c, const struct program *p,
                                    const struct slot *s, uint8_t *at)
{
    unsigned first, a = pvm_programs_nibble(c, s->a), b = pvm_programs_nibble(c, s->b),
                    d = pvm_programs_nibble(c, s->d);
    *at++ = (uint8_t)pvm_ops[s->op].number[p->isa];
    switch ((enum pvm_shape)pvm_ops[s->op].shape) {
    case PVM_IMM: return pvm_programs_put(at, s->x, length_of(c, s, s->x));
    case PVM_IMM_IMM:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)first;
        return pvm_programs_put(pvm_programs_put(at, s->x, first), s->y, length_of(c, s, s->y));
    case PVM_REG_IMM: *at++ = (uint8_t)a; return pvm_programs_put(at, s->x, length_of(c, s, s->x));
    case PVM_REG_IMM_IMM:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)(a | first << 4);
        return pvm_programs_put(pvm_programs_put(at, s->x, first), s->y, length_of(c, s, s->y));
    case PVM_REG_IMM_OFFSET:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)(a | first << 4);
        return pvm_programs_put(at, s->x, first);
    case PVM_REG_IMM64:
        *at++ = (uint8_t)a;
        return pvm_programs_put(pvm_programs_put(at, s->x, 4), s->y >> choices_below(c, 33), 4);
    case PVM_REG_REG: *at++ = (uint8_t)(d | a << 4); return at;
    case PVM_REG_REG_IMM:
        *at++ = (uint8_t)(a | b << 4);
        return pvm_programs_put(at, s->x, length_of(c, s, s->x));
    case PVM_REG_REG_OFFSET: *at++ = (uint8_t)(a | b << 4); return at;
    case PVM_REG_REG_IMM_IMM:
        first = length_of(c, s, s->x);
        *at++ = (uint8_t)(a | b << 4);
        *at++ = (uint8_t)first;
        return pvm_programs_put(pvm_programs_put(at, s->x, first), s->y, length_of(c, s, s->y));
    case PVM_REG_REG_REG:
        *at++ = (uint8_t)(a | b << 4);
        *at++ = (uint8_t)d;
        return at;
    default: return at;
    }
}

static void start_at(struct program *p, uint32_t at) { p->mask[at / 8] |= (uint8_t)(1u << at % 8); }

static void pvm_programs_layout(struct maker *m)
{
    struct program *p = m->p;
    uint8_t *targets[INSNS_MAX];
    for (unsigned i = 0; i < p->count; i++) {
        struct slot *s = &p->slots[i];
        p->starts[i] = p->size;
        start_at(p, p->size);
        uint8_t *end = pvm_programs_encode(m->c, p, s, p->code + p->size);
        targets[i] = end;
        if (pvm_has_target(s->op)) end += 2 + 2 * choices_below(m->c, 2);
        /* Extra bytes are not read, or change the value of the last number. */
        if (s->pattern == PATTERN_none && !choices_below(m->c, 64)) end += choices_below(m->c, 4);
        p->size = (uint32_t)(end - p->code);
    }
    for (unsigned i = 0; i < p->count; i++) {
        struct slot *s = &p->slots[i];
        if (!pvm_has_target(s->op)) continue;
        if (s->to < 0) s->to = (int)pvm_programs_target(m, i);
        uint32_t end = i + 1 < p->count ? p->starts[i + 1] : p->size;
        uint32_t distance = p->starts[s->to] - p->starts[i];
        pvm_programs_put(targets[i], (uint64_t)(int64_t)(int32_t)distance,
                         (uint32_t)(p->code + end - targets[i]));
    }
}

/* Writes random bytes with random starts of instructions. */
static void pvm_programs_noise(struct maker *m)
{
    struct program *p = m->p;
    unsigned each = 1 + (unsigned)choices_below(m->c, 6);
    p->size = 1 + (uint32_t)choices_below(m->c, 400);
    p->forward = false;
    for (uint32_t i = 0; i < p->size; i++) {
        uint8_t op = (uint8_t)(1 + choices_below(m->c, PVM_OPS - 1));
        bool start = !i || !choices_below(m->c, each);
        p->code[i] = (uint8_t)choices_next(m->c);
        if (start && program_has(p, op) && choices_below(m->c, 16))
            p->code[i] = (uint8_t)pvm_ops[op].number[p->isa];
        if (start) start_at(p, i);
        if (start && p->count < INSNS_MAX) p->starts[p->count++] = i;
    }
}

static void jump_table(struct maker *m)
{
    struct program *p = m->p;
    for (unsigned i = 0; i < TABLE_MAX; i++) {
        unsigned to = (unsigned)choices_below(m->c, p->count);
        while (to && !pvm_ends_block(p->slots[to - 1].op) && choices_below(m->c, 16)) to--;
        pvm_programs_put(p->table + 2 * i, p->starts[to] + !choices_below(m->c, 32), 2);
    }
}

void program_generate(struct choices *c, struct program *p)
{
    struct maker m = {.c = c, .p = p};
    memset(p, 0, sizeof *p);
    p->isa = (enum pvm_isa)choices_below(c, PVM_ISAS);
    p->forward = !choices_below(c, 3);
    if (!choices_below(c, 24)) {
        pvm_programs_noise(&m);
    } else {
        unsigned wanted = 1 + (unsigned)choices_below(
                                  c, choices_below(c, 2) ? 12 : INSNS_MAX - PATTERN_SLOTS - 1);
        m.left = INSNS_MAX - 1;
        while (p->count < wanted) {
            if (choices_below(c, 3))
                maker_any(&m, false);
            else
                maker_pattern(&m);
        }
        maker_add(&m, PVM_OP_trap, PATTERN_none);
        pvm_programs_layout(&m);
        if (choices_below(c, 2))
            p->size += 100; /* No jump leads to these bytes, so the end is far away. */
    }
    jump_table(&m);
    p->view = (struct pvm_code){.isa = p->isa,
                                .bytes = {p->code, p->size},
                                .mask = {p->mask, (p->size + 7) / 8},
                                .starts = p->mask,
                                .table = {p->table, 2 * TABLE_MAX},
                                .table_count = TABLE_MAX,
                                .table_entry = 2};
}
