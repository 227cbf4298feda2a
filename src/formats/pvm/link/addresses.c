/* Follows addresses of code that have no relocation (LINK 5.4). Without relaxation the assembler
 * computes distances inside a section by itself. Such an address starts at an auipc, and a later
 * instruction adds its low 12 bits; moves, jumps and branches may be in between. The value of the
 * auipc is followed over all paths until each of its registers is written again. An instruction
 * that uses it must get it on every path, and must complete it to an address; anything else is
 * refused. Addresses of labels are followed, too. Assemblers turn differences of labels into
 * numbers, with relaxation where no code between them can be relaxed. A function that does
 * arithmetic with them keeps its distances: all of its instructions get entries in the jump table,
 * one for every two bytes (LINK 5.5). */
#include "base/array.h"
#include "pvm/link/elf_names.h"
#include "pvm/link/lower.h"
#include <stdlib.h>

enum { WALK_MAX = 4096, EDGES = 2 };
#define WORK_MAX (UINT64_C(1) << 26) /* the most instructions that are looked at in one link */

enum { A0 = 1u << 10, A1 = 1u << 11, ARGUMENTS = 0x3fu << 10 };

#define RELAX_NOTE "compile and assemble with -mrelax: then every address of code has a relocation"

/* A struct step says what one instruction does to the registers. Sets of registers have one bit
 * for each x register. */
struct step {
    struct riscv_insn in;
    uint64_t next[EDGES];
    unsigned count, size;
    uint16_t reads, writes;
    uint16_t from;          /* the register whose value goes to the written ones, or 0 */
    bool relocated, leaves; /* leaves: the instruction is a call, or the end of the function */
};

struct node {
    struct step step;
    uint64_t offset;
    /* `may` has the registers that hold the address on some path, `must` those that hold it on
     * every path. */
    uint16_t may, must;
    uint32_t into[EDGES];
    bool waits;
};

struct walk {
    struct link *l;
    uint32_t section;
    struct followed *f;
    uint8_t *starts;   /* for each halfword of the section: 1 when an instruction starts there */
    uint8_t *ways;     /* for each halfword: how many ways of control lead to it, at most 255 */
    uint32_t *node_at; /* for each halfword: 1 + the index of its node, or 0 */
    struct node *nodes;
    size_t count;
    uint32_t *stack; /* nodes whose followers must be looked at again */
    size_t waiting;
};

static uint16_t register_bit(uint8_t x) { return x && x < 16 ? (uint16_t)(1u << x) : 0; }

static bool reloc_counts(uint32_t type)
{
    return type != R_NONE && type != R_RELAX && type != R_ALIGN;
}

static bool insn_is_add(const struct riscv_insn *in, unsigned bits)
{
    return in->op == (bits == 64 ? PVM_OP_add_64 : PVM_OP_add_32);
}
static bool insn_is_add_imm(const struct riscv_insn *in, unsigned bits)
{
    return in->kind == RISCV_IMM && in->op == (bits == 64 ? PVM_OP_add_imm_64 : PVM_OP_add_imm_32);
}

static void step_to(const struct walk *w, struct step *s, uint64_t offset)
{
    if (offset < w->l->sections[w->section].data.size) s->next[s->count++] = offset;
}

/* Adds the places in this section to which a jump or branch can go. */
static void step_jump(const struct walk *w, struct step *s, uint64_t offset,
                      const struct link_reloc *r)
{
    struct link_place to = {w->section, (int64_t)offset + s->in.imm};
    if (r && !link_target(w->l, w->section, r, &to)) return;
    if (to.section == w->section && to.offset >= 0) step_to(w, s, (uint64_t)to.offset);
}

static void step_registers(struct step *s)
{
    const struct riscv_insn *in = &s->in;
    uint16_t rd = register_bit(in->rd), rs1 = register_bit(in->rs1), rs2 = register_bit(in->rs2);
    switch (in->kind) {
    case RISCV_BRANCH:
    case RISCV_STORE: s->reads = rs1 | rs2; break;
    case RISCV_NO:
    case RISCV_NOTHING:
    case RISCV_TRAP: break;
    case RISCV_LUI:
    case RISCV_AUIPC:
    case RISCV_JAL:
    case RISCV_HEAP: s->writes = rd; break;
    case RISCV_LOAD:
    case RISCV_IMM:
    case RISCV_SHIFT:
    case RISCV_UNARY:
    case RISCV_ORC_B:
    case RISCV_LR:
    case RISCV_SBRK:
    case RISCV_JALR:
        s->reads = rs1;
        s->writes = rd;
        break;
    case RISCV_MEMSET: s->reads = s->writes = A0 | A1 | 1u << 12; break;
    case RISCV_IMPORT: s->writes = A0 | A1; break;
    case RISCV_CCMOV:
        s->reads = rs1 | rs2 | register_bit(in->rs3);
        s->writes = rd;
        break;
    case RISCV_CMOV: /* A conditional move keeps the destination when the condition is false. */
        s->reads = rs1 | rs2 | rd;
        s->writes = rd;
        break;
    default:
        s->reads = rs1 | rs2;
        s->writes = rd;
        break;
    }
}

static void step_read(const struct walk *w, uint64_t offset, struct step *s)
{
    const struct link_section *code = &w->l->sections[w->section];
    unsigned bits = w->l->bits;
    *s = (struct step){.count = 0};
    riscv_decode(bytes_slice(code->data, (size_t)offset, 4), bits, &s->in);
    s->size = s->in.size ? s->in.size : 4;
    const struct link_reloc *r = link_reloc_at(code, offset, reloc_counts);
    s->relocated = r != NULL;
    step_registers(s);
    bool low = r && (r->type == R_PCREL_LO12_I || r->type == R_LO12_I);
    if (insn_is_add_imm(&s->in, bits) && (low || (!r && !s->in.imm)))
        s->from = register_bit(s->in.rs1);
    if (s->in.kind == RISCV_REG && insn_is_add(&s->in, bits) && !s->in.rs1)
        s->from = register_bit(s->in.rs2);
    switch (s->in.kind) {
    case RISCV_TRAP:
    case RISCV_NO: s->leaves = true; return;
    case RISCV_JALR:
    case RISCV_JAL:
        s->leaves = s->in.rd || s->in.kind == RISCV_JALR;
        if (!s->in.rd) {
            if (s->in.kind == RISCV_JAL) step_jump(w, s, offset, r);
            s->leaves = !s->count;
            return;
        }
        s->writes |= A0 | A1; /* A call returns its results in a0 and a1. */
        break;
    case RISCV_BRANCH: step_jump(w, s, offset, r); break;
    case RISCV_IMPORT:
        s->size = 4 + bits / 8;
        s->leaves = true;
        break;
    default: break;
    }
    step_to(w, s, offset + s->size);
}

static uint16_t step_apply(const struct step *s, uint16_t mask)
{
    uint16_t after = mask & (uint16_t)~s->writes;
    return s->from & mask ? after | s->writes : after;
}

/* Notes that the registers of `mask` hold the address when control comes to the offset. */
static bool walk_reach(struct walk *w, uint64_t offset, uint16_t mask, uint32_t *out)
{
    *out = LINK_NONE;
    if (!mask) return true;
    uint32_t i = w->node_at[offset / 2] - 1;
    if (i == LINK_NONE) {
        if (w->count == WALK_MAX || ++w->l->followed > WORK_MAX) return false;
        i = (uint32_t)w->count++;
        w->nodes[i] = (struct node){.offset = offset, .into = {LINK_NONE, LINK_NONE}};
        step_read(w, offset, &w->nodes[i].step);
        w->node_at[offset / 2] = i + 1;
    }
    *out = i;
    uint16_t more = w->nodes[i].may | mask;
    if (more == w->nodes[i].may) return true;
    w->nodes[i].may = w->nodes[i].must = more;
    if (!w->nodes[i].waits) w->stack[w->waiting++] = i;
    w->nodes[i].waits = true;
    return true;
}

/* Finds the places that the address reaches, and the registers that hold it there on some path. */
static bool walk_forward(struct walk *w)
{
    while (w->waiting) {
        uint32_t i = w->stack[--w->waiting], to;
        w->nodes[i].waits = false;
        uint16_t after = step_apply(&w->nodes[i].step, w->nodes[i].may);
        for (unsigned k = 0; k < w->nodes[i].step.count; k++) {
            if (!walk_reach(w, w->nodes[i].step.next[k], after, &to)) return false;
            w->nodes[i].into[k] = to;
        }
    }
    return true;
}

/* Finds the registers that hold the address on every path, also on paths that come from
 * elsewhere in the section or from outside of it. */
static bool walk_meet(struct walk *w, uint32_t start)
{
    uint16_t *meet = malloc(w->count * sizeof *meet);
    uint8_t *ways = malloc(w->count);
    bool ok = meet && ways;
    if (!ok) error_at(&w->l->err, BASE_MEMORY, 0, "no memory for addresses");
    for (bool changed = ok; changed;) {
        changed = false;
        w->l->followed += w->count;
        for (size_t i = 0; i < w->count; i++) {
            meet[i] = w->nodes[i].must;
            ways[i] = i == start;
        }
        for (size_t i = 0; i < w->count; i++)
            for (unsigned k = 0; k < EDGES; k++) {
                uint32_t to = w->nodes[i].into[k];
                if (to == LINK_NONE) continue;
                meet[to] &= step_apply(&w->nodes[i].step, w->nodes[i].must);
                if (ways[to] < UINT8_MAX) ways[to]++;
            }
        for (size_t i = 0; i < w->count; i++) {
            if (ways[i] < w->ways[w->nodes[i].offset / 2]) meet[i] = 0;
            changed = changed || meet[i] != w->nodes[i].must;
            w->nodes[i].must = meet[i];
        }
    }
    free(meet);
    free(ways);
    return ok;
}

/* Follows over all paths the value that an instruction leaves in a register. */
static bool walk_paths(struct walk *w, uint64_t offset)
{
    struct step s;
    uint32_t start = LINK_NONE;
    for (size_t i = 0; i < w->count; i++) w->node_at[w->nodes[i].offset / 2] = 0;
    w->count = w->waiting = 0;
    step_read(w, offset, &s);
    for (unsigned k = 0; k < s.count; k++)
        if (!walk_reach(w, s.next[k], s.writes, &start)) return false;
    return !w->count || (walk_forward(w) && walk_meet(w, start));
}

static bool followed_fail(struct walk *w, uint64_t offset, const char *note, const char *what)
{
    char where[100];
    link_report(w->l, PVM_LINK_NO_RELOCS, w->section, offset, note, "%s %s", what,
                link_where(w->l, w->section, offset, where, sizeof where));
    return false;
}

/* Returns the note for an address without a relocation: a linked program has lost the
 * relocation, an object never had it. */
static const char *lost_note(const struct walk *w)
{
    const struct link *l = w->l;
    return l->objects[l->sections[w->section].object].relocatable ? RELAX_NOTE : LINK_RELOCS_NOTE;
}

static bool followed_add(struct walk *w, uint64_t offset, int64_t place, bool label)
{
    struct followed *f = w->f;
    if (!ARRAY_GROW(f->list, f->capacity, f->count, &w->l->err)) return false;
    f->list[f->count++] = (struct followed_address){offset, place, label};
    return true;
}

/* Tells whether a place of code is inside of a function, so that only a label can name it. */
static bool place_is_label(struct walk *w, struct link_place to)
{
    if (to.section == LINK_NONE || w->l->sections[to.section].use != LINK_CODE) return false;
    const struct link_symbol *f = link_function_at(w->l, to.section, (uint64_t)to.offset);
    return f && f->function && f->value != (uint64_t)to.offset;
}

/* Looks at the instructions that use the value of an auipc. */
static bool complete_uses(struct walk *w, uint64_t auipc, int64_t value)
{
    unsigned bits = w->l->bits;
    bool escapes = false;
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        const struct step *s = &n->step;
        uint16_t used = s->reads & n->may;
        escapes = escapes || (s->leaves && n->may & ARGUMENTS);
        if (!used || s->from) continue;
        bool sum = insn_is_add_imm(&s->in, bits);
        bool completes = !s->relocated && (sum || s->in.kind == RISCV_JALR);
        struct link_place place = {w->section, value + s->in.imm};
        bool inside =
            place.offset >= 0 && (uint64_t)place.offset <= w->l->sections[w->section].data.size;
        if (!completes || !inside || used & ~n->must)
            return followed_fail(w, n->offset, lost_note(w), "an address without a relocation");
        if (!followed_add(w, n->offset, place.offset, sum && place_is_label(w, place)))
            return false;
    }
    /* An address is made where its low half is added. The auipc is listed, too, if its value
     * alone is the place of an instruction and leaves the function. */
    bool start = value >= 0 && (uint64_t)value < w->l->sections[w->section].data.size &&
                 !(value & 1) && w->starts[value / 2];
    return !escapes || !start || followed_add(w, auipc, value, false);
}

/* Notes that the function around a label keeps its distances. Functions that overlap keep them
 * together. */
static bool spans_add(struct link *l, struct link_place label)
{
    const struct link_symbol *f = link_function_at(l, label.section, (uint64_t)label.offset);
    uint64_t end = l->sections[label.section].data.size, from = f ? f->value : 0;
    if (f && f->size && f->size < end - from) end = from + f->size;
    for (size_t i = 0; i < l->span_count; i++) {
        struct link_span *s = &l->spans[i];
        if (s->section != label.section || s->from >= end || from >= s->to) continue;
        if (s->from <= from && end <= s->to) return true;
        if (s->from < from) from = s->from;
        if (s->to > end) end = s->to;
        *s = l->spans[--l->span_count];
        i = (size_t)-1;
    }
    if (!ARRAY_GROW(l->spans, l->span_capacity, l->span_count, &l->err)) return false;
    l->spans[l->span_count++] = (struct link_span){label.section, from, end};
    return true;
}

/* Looks for arithmetic with the address of a label, after which its function must keep its
 * distances. */
static bool label_uses(struct walk *w, struct link_place label)
{
    for (size_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        const struct step *s = &n->step;
        bool adds = s->in.kind == RISCV_REG || s->in.kind == RISCV_IMM;
        if (adds && s->reads & n->may && !s->from) return spans_add(w->l, label);
    }
    return true;
}

static void ways_add(struct walk *w, uint64_t offset, unsigned ways)
{
    if (offset >= w->l->sections[w->section].data.size) return;
    unsigned sum = w->ways[offset / 2] + ways;
    w->ways[offset / 2] = (uint8_t)(sum > UINT8_MAX ? UINT8_MAX : sum);
}

/* Counts the ways that lead to each instruction. A place that a symbol or a relocation names can
 * be reached from outside, so it counts as the end of very many ways. */
static void ways_count(struct walk *w)
{
    struct link *l = w->l;
    const struct link_object *o = &l->objects[l->sections[w->section].object];
    struct step s;
    for (uint64_t at = 0; at < l->sections[w->section].data.size; at += s.size) {
        w->starts[at / 2] = 1;
        step_read(w, at, &s);
        for (unsigned k = 0; k < s.count; k++) ways_add(w, s.next[k], 1);
    }
    for (size_t i = 0; i < o->symbol_count; i++)
        if (o->symbols[i].place == LINK_DEFINED && o->symbols[i].section == w->section &&
            !o->symbols[i].section_symbol)
            ways_add(w, o->symbols[i].value, UINT8_MAX);
    for (uint32_t i = 0; i < o->section_count; i++) {
        const struct link_section *from = &l->sections[o->section_first + i];
        for (size_t k = 0; link_is_data(from->use) && k < from->reloc_count; k++) {
            const struct link_symbol *to = &o->symbols[from->relocs[k].symbol];
            if (to->section_symbol && to->section == w->section && from->relocs[k].addend >= 0)
                ways_add(w, (uint64_t)from->relocs[k].addend, UINT8_MAX);
        }
    }
}

static bool walk_open(struct walk *w)
{
    size_t size = w->l->sections[w->section].data.size / 2 + 2;
    if (w->ways) return true;
    w->ways = calloc(size, sizeof *w->ways);
    w->starts = calloc(size, sizeof *w->starts);
    w->node_at = calloc(size, sizeof *w->node_at);
    w->nodes = malloc(WALK_MAX * sizeof *w->nodes);
    w->stack = malloc(WALK_MAX * sizeof *w->stack);
    if (!w->ways || !w->starts || !w->node_at || !w->nodes || !w->stack)
        return error_at(&w->l->err, BASE_MEMORY, 0, "no memory for addresses");
    ways_count(w);
    return true;
}

static bool followed_paths(struct walk *w, uint64_t at)
{
    if (walk_paths(w, at)) return true;
    if (w->l->err.code) return false;
    return followed_fail(w, at, lost_note(w), "an address without a relocation, used far away");
}

/* Follows an auipc or a lui, which has one half of an address without a relocation, or the
 * address of a label. */
static bool follow_half(struct walk *w, uint64_t at)
{
    struct step s;
    struct link_place to;
    const struct link_reloc *r = link_reloc_at(&w->l->sections[w->section], at, reloc_counts);
    if (r) {
        bool high = r->type == R_PCREL_HI20 || r->type == R_HI20;
        if (!high || !link_target(w->l, w->section, r, &to) || !place_is_label(w, to)) return true;
        return walk_open(w) && followed_paths(w, at) && label_uses(w, to);
    }
    step_read(w, at, &s);
    if (s.in.kind != RISCV_AUIPC || !s.writes) return true;
    size_t first = w->f->count;
    if (!walk_open(w) || !followed_paths(w, at) || !complete_uses(w, at, (int64_t)at + s.in.imm))
        return false;
    for (size_t i = first, end = w->f->count; i < end; i++) {
        to = (struct link_place){w->section, w->f->list[i].place};
        if (w->f->list[i].label && (!followed_paths(w, w->f->list[i].offset) || !label_uses(w, to)))
            return false;
    }
    return true;
}

static int followed_by_offset(const void *a, const void *b)
{
    const struct followed_address *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

bool lower_follow(struct link *l, uint32_t section, struct followed *f)
{
    struct walk w = {.l = l, .section = section, .f = f};
    penta_bytes code = l->sections[section].data;
    bool ok = true;
    for (size_t at = 0; at + 4 <= code.size && !l->err.code;) {
        uint32_t word = bytes_get32(code.data + at);
        if ((word & 0x7f) == 0x17 || (word & 0x7f) == 0x37) ok = follow_half(&w, at) && ok;
        at += (word & 3) != 3 ? 2 : word == 0xb ? 4 + l->bits / 8 : 4;
    }
    if (f->count) qsort(f->list, f->count, sizeof *f->list, followed_by_offset);
    for (size_t i = 1; i < f->count; i++)
        if (f->list[i].offset == f->list[i - 1].offset && f->list[i].place != f->list[i - 1].place)
            ok = followed_fail(&w, f->list[i].offset, lost_note(&w),
                               "one of two addresses without a relocation");
    free(w.ways);
    free(w.starts);
    free(w.node_at);
    free(w.nodes);
    free(w.stack);
    return ok && !l->err.code;
}

const struct followed_address *lower_followed(const struct followed *f, uint64_t offset)
{
    size_t low;
    ARRAY_SEARCH(low, 0, f->count, f->list[low].offset >= offset);
    return low < f->count && f->list[low].offset == offset ? &f->list[low] : NULL;
}
