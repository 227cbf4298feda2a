/* Makes basic blocks from the instructions, and finds the blocks that the exports can reach. */
#include "base/array.h"
#include "pvm/link/forms.h"
#include <stdlib.h>

struct link_insn *link_last(const struct link_block *b)
{
    return b->count && pvm_ends_block(b->insns[b->count - 1].op) ? &b->insns[b->count - 1] : NULL;
}

uint32_t link_through(const struct link *l, uint32_t block)
{
    enum { HOPS = 16 };
    uint32_t to = block;
    for (unsigned i = 0; i < HOPS && to != LINK_NONE; i++) {
        const struct link_block *b = &l->blocks[to];
        if (b->count || b->next == LINK_NONE) return to;
        to = b->next;
    }
    return block;
}

/* Returns the instruction at a place of code, or LINK_NONE when none starts there. */
static uint32_t insn_at(const struct link *l, struct link_place place)
{
    const struct link_section *s = &l->sections[place.section];
    if (place.offset < 0 || place.offset & 1 || (uint64_t)place.offset > s->data.size ||
        !s->insn_at)
        return LINK_NONE;
    return s->insn_at[place.offset / 2] - 1; /* When insn_at is 0, the result is LINK_NONE. */
}

uint32_t link_block_at(const struct link *l, struct link_place place)
{
    uint32_t insn = insn_at(l, place);
    return insn == LINK_NONE ? LINK_NONE : l->block_of[insn];
}

uint32_t link_block_from(const struct link *l, struct link_place place)
{
    uint32_t insn = insn_at(l, place);
    if (insn == LINK_NONE || insn >= l->insn_count) return LINK_NONE;
    uint32_t block = l->block_of[insn];
    return insn && l->block_of[insn - 1] == block ? LINK_NONE : block;
}

/* Marks the instruction at a place as a leader, which is the first of a block. */
static bool blocks_lead(struct link *l, struct link_place place, uint8_t *leaders, uint32_t section,
                        uint64_t offset)
{
    char where[100];
    uint32_t insn = insn_at(l, place);
    if (insn != LINK_NONE) {
        leaders[insn] = 1;
        return true;
    }
    link_report(l, PVM_LINK_JUMP, section, offset, NULL,
                "an address inside of an instruction, or outside of the code, is used %s",
                link_where(l, section, offset, where, sizeof where));
    return false;
}

struct leading {
    uint8_t *leaders;
    uint32_t section;
};

static bool lead_data(struct link *l, struct link_place place, void *user)
{
    struct leading *w = user;
    if (place.section == LINK_NONE || l->sections[place.section].use != LINK_CODE) return true;
    return blocks_lead(l, place, w->leaders, w->section, 0);
}

static bool find_leaders(struct link *l, uint8_t *leaders)
{
    bool ok = true;
    for (size_t i = 0; i < l->insn_count; i++) {
        const struct link_insn *in = &l->insns[i];
        if (pvm_has_target(in->op))
            ok &= blocks_lead(l, (struct link_place){in->to, in->imm2}, leaders, in->section,
                              in->offset);
        if (in->ref == REF_CODE)
            ok &= blocks_lead(l, (struct link_place){in->to, in->imm1}, leaders, in->section,
                              in->offset);
        if (pvm_ends_block(in->op)) leaders[i + 1] = 1;
    }
    for (size_t i = 0; i < l->export_count; i++)
        ok &= blocks_lead(l, l->exports[i].place, leaders, l->exports[i].section,
                          l->exports[i].offset);
    for (size_t i = 0; i < l->span_count; i++)
        for (uint64_t at = l->spans[i].from; at < l->spans[i].to; at += 2) {
            uint32_t insn = insn_at(l, (struct link_place){l->spans[i].section, (int64_t)at});
            if (insn != LINK_NONE) leaders[insn] = 1;
        }
    for (uint32_t i = 0; i < l->section_count; i++) {
        struct leading w = {leaders, i};
        if (link_is_data(l->sections[i].use)) ok &= link_data_targets(l, i, lead_data, &w);
    }
    return ok;
}

/* Replaces the places in instructions by the blocks that start there. */
static void blocks_bind(struct link *l)
{
    for (size_t i = 0; i < l->insn_count; i++) {
        struct link_insn *in = &l->insns[i];
        if (in->ref == REF_CODE) {
            in->to = link_block_at(l, (struct link_place){in->to, in->imm1});
            in->imm1 = 0;
        } else if (pvm_has_target(in->op)) {
            in->to = link_block_at(l, (struct link_place){in->to, in->imm2});
            in->imm2 = 0;
        }
    }
    for (size_t i = 0; i < l->export_count; i++)
        l->exports[i].block = link_block_at(l, l->exports[i].place);
}

bool link_make_blocks(struct link *l)
{
    uint8_t *leaders = calloc(l->insn_count + 2, 1);
    l->block_of = arena_alloc(&l->arena, l->insn_count + 1, sizeof *l->block_of, &l->err);
    if (!leaders) error_at(&l->err, BASE_MEMORY, 0, "no memory for basic blocks");
    bool ok = leaders && l->block_of && find_leaders(l, leaders);
    if (leaders) leaders[0] = 1;
    for (size_t i = 0; ok && i < l->insn_count; i++) {
        if (leaders[i]) {
            ok = ARRAY_GROW(l->blocks, l->block_capacity, l->block_count, &l->err);
            if (!ok) break;
            l->blocks[l->block_count++] =
                (struct link_block){.insns = &l->insns[i], .next = LINK_NONE};
        }
        struct link_block *b = &l->blocks[l->block_count - 1];
        l->block_of[i] = (uint32_t)l->block_count - 1;
        b->count++;
        uint8_t op = l->insns[i].op;
        bool goes_on = pvm_falls_through(op) || op == PVM_OP_load_imm_and_jump ||
                       op == PVM_OP_load_imm_and_jump_indirect;
        b->next = goes_on && i + 1 < l->insn_count ? (uint32_t)l->block_count : LINK_NONE;
    }
    free(leaders);
    if (ok) blocks_bind(l);
    return ok;
}

struct reaching {
    uint32_t *blocks, *sections; /* blocks and sections that must still be looked at */
    size_t block_count, section_count;
};

static void reach_block(struct link *l, struct reaching *w, uint32_t block)
{
    if (block == LINK_NONE || l->blocks[block].reached) return;
    l->blocks[block].reached = true;
    w->blocks[w->block_count++] = block;
}

static void reach_section(struct link *l, struct reaching *w, uint32_t section)
{
    if (section == LINK_NONE || l->sections[section].reached ||
        !link_is_data(l->sections[section].use))
        return;
    l->sections[section].reached = true;
    w->sections[w->section_count++] = section;
}

static bool reach_place(struct link *l, struct link_place place, void *user)
{
    struct reaching *w = user;
    if (place.section == LINK_NONE) return true;
    if (l->sections[place.section].use != LINK_CODE) {
        reach_section(l, w, place.section);
        return true;
    }
    uint32_t block = link_block_at(l, place);
    reach_block(l, w, block);
    if (block != LINK_NONE) l->blocks[block].in_data = true;
    return true;
}

static void follow_block(struct link *l, struct reaching *w, uint32_t index)
{
    const struct link_block *b = &l->blocks[index];
    for (uint32_t i = 0; i < b->count; i++) {
        const struct link_insn *in = &b->insns[i];
        if (in->ref == REF_DATA || in->ref == REF_DATA_HIGH || in->ref == REF_DATA_LOW)
            reach_section(l, w, in->to);
        if (in->ref == REF_CODE || pvm_has_target(in->op)) reach_block(l, w, in->to);
        if (in->ref == REF_IMPORT) l->imports[in->imm1].used = true;
    }
    reach_block(l, w, b->next);
}

/* Reaches all blocks of the functions that keep their distances, if one of these blocks is
 * reached. Returns whether there were new ones. */
static bool reach_spans(struct link *l, struct reaching *w)
{
    size_t before = w->block_count;
    for (size_t i = 0; i < l->span_count; i++) {
        const struct link_span *s = &l->spans[i];
        bool reached = false;
        for (int pass = 0; pass < 2; pass++)
            for (uint64_t at = s->from; at < s->to; at += 2) {
                uint32_t b = link_block_from(l, (struct link_place){s->section, (int64_t)at});
                if (b == LINK_NONE) continue;
                reached = reached || l->blocks[b].reached;
                if (!pass || !reached) continue;
                reach_block(l, w, b);
                l->blocks[b].in_data = true;
            }
    }
    return w->block_count > before;
}

bool link_reach(struct link *l)
{
    struct reaching w = {0};
    w.blocks = malloc((l->block_count + 1) * sizeof *w.blocks);
    w.sections = malloc((l->section_count + 1) * sizeof *w.sections);
    bool ok = w.blocks && w.sections;
    if (!ok) error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    for (size_t i = 0; ok && i < l->export_count; i++) {
        l->blocks[l->exports[i].block].exported = true;
        reach_block(l, &w, l->exports[i].block);
    }
    for (uint32_t i = 0; ok && !l->level && i < l->block_count; i++) reach_block(l, &w, i);
    for (uint32_t i = 0; ok && !l->level && i < l->spill; i++) reach_section(l, &w, i);
    while (ok && (w.block_count || w.section_count || reach_spans(l, &w))) {
        if (w.block_count)
            follow_block(l, &w, w.blocks[--w.block_count]);
        else
            ok = link_data_targets(l, w.sections[--w.section_count], reach_place, &w);
    }
    free(w.blocks);
    free(w.sections);
    return ok;
}
