/* Writes the blocks as bytes. It decides which jumps are needed, what gets an entry in the jump
 * table, and at which offset each instruction is. */
#include "base/array.h"
#include "pvm/format/encode.h"
#include "pvm/link/forms.h"
#include <stdlib.h>

enum { DISPATCH_BYTES = 5 };

/* Marks the blocks that something jumps to. They must come after an instruction that ends a
 * block. */
static void mark_targets(struct link *l, uint8_t *targeted)
{
    for (size_t i = 0; i < l->block_count; i++) {
        struct link_block *b = &l->blocks[i];
        b->taken = b->in_data && b->reached;
        targeted[i] = b->in_data || b->exported;
    }
    for (size_t i = 0; i < l->block_count; i++) {
        const struct link_block *b = &l->blocks[i];
        for (uint32_t k = 0; b->reached && k < b->count; k++) {
            const struct link_insn *in = &b->insns[k];
            if (in->ref == REF_CODE) l->blocks[in->to].taken = true;
            if (in->ref == REF_CODE || pvm_has_target(in->op)) targeted[in->to] = 1;
            if (in->op == PVM_OP_load_imm_and_jump || in->op == PVM_OP_load_imm_and_jump_indirect) {
                l->blocks[b->next].taken = true;
                targeted[b->next] = 1;
            }
        }
    }
    /* An entry of the jump table for an empty block leads to the block with instructions after
     * it. */
    for (uint32_t i = 0; i < l->block_count; i++)
        if (targeted[i]) targeted[link_through(l, i)] = 1;
    /* A block whose next block is not written right after it will get a jump to it. */
    for (size_t i = 0; i < l->sequence_count; i++) {
        uint32_t next = link_through(l, l->blocks[l->sequence[i]].next);
        bool beside = i + 1 < l->sequence_count && l->sequence[i + 1] == next;
        if (next != LINK_NONE && !beside) targeted[next] = 1;
    }
}

static bool add_item(struct link *l, struct link_item item)
{
    if (!ARRAY_GROW(l->items, l->item_capacity, l->item_count, &l->err)) return false;
    l->items[l->item_count++] = item;
    return true;
}

static struct link_item insn_item(const struct link *l, const struct link_block *b,
                                  const struct link_insn *in)
{
    struct link_item item = {.in = {.op = in->op,
                                    .a = in->a,
                                    .b = in->b,
                                    .d = in->d,
                                    .imm1 = (uint64_t)in->imm1,
                                    .imm2 = (uint64_t)in->imm2},
                             .target = pvm_has_target(in->op) ? link_through(l, in->to) : LINK_NONE,
                             .section = in->section,
                             .offset = in->offset};
    if (in->ref == REF_CODE) item.in.imm1 = 2 * l->blocks[in->to].table;
    if (in->ref == REF_IMPORT) item.in.imm1 = l->imports[in->imm1].index;
    if (in->op == PVM_OP_load_imm_and_jump || in->op == PVM_OP_load_imm_and_jump_indirect)
        item.in.imm1 = 2 * l->blocks[b->next].table;
    return item;
}

/* Adds a jump to block `to` at the end of block b. Control goes on there, but `to` is not
 * written right after b. */
static bool add_jump(struct link *l, const struct link_block *b, uint32_t to)
{
    const struct link_insn *from = b->count ? &b->insns[b->count - 1] : NULL;
    return add_item(l, (struct link_item){.in = {.op = PVM_OP_jump},
                                          .target = to,
                                          .section = from ? from->section : LINK_NONE,
                                          .offset = from ? from->offset : 0});
}

static bool write_block(struct link *l, uint32_t index, uint32_t after, const uint8_t *targeted)
{
    struct link_block *b = &l->blocks[index];
    const struct link_item *before = l->item_count ? &l->items[l->item_count - 1] : NULL;
    if (targeted[index] && before && !pvm_ends_block(before->in.op) &&
        !add_item(l, (struct link_item){.in = {.op = PVM_OP_fallthrough},
                                        .target = LINK_NONE,
                                        .section = before->section,
                                        .offset = before->offset}))
        return false;
    b->first = (uint32_t)l->item_count;
    const struct link_insn *last = link_last(b);
    uint32_t next = link_through(l, b->next);
    for (uint32_t i = 0; i < b->count; i++) {
        struct link_item item = insn_item(l, b, &b->insns[i]);
        /* Here a branch would skip a jump. The opposite branch needs no jump. */
        if (&b->insns[i] == last && link_is_branch(last->op) && item.target == after &&
            next != after) {
            item.in.op = link_opposite(last->op);
            item.target = next;
            if (!add_item(l, item)) return false;
            return true;
        }
        if (!add_item(l, item)) return false;
    }
    bool falls = next != LINK_NONE && (!last || link_is_branch(last->op));
    return !falls || next == after || add_jump(l, b, next);
}

/* The functions below make the entry points at fixed offsets. */

static uint32_t export_block(const struct link *l, const char *name, size_t size)
{
    for (size_t i = 0; i < l->export_count; i++)
        if (l->exports[i].name.size == size && !memcmp(l->exports[i].name.data, name, size))
            return l->exports[i].block;
    return LINK_NONE;
}

static bool add_dispatch(struct link *l)
{
    for (const char *p = l->dispatch; p && *p;) {
        size_t size = strcspn(p, ",");
        uint32_t block = export_block(l, p, size);
        if (block == LINK_NONE) {
            link_report(l, PVM_LINK_NO_EXPORTS, LINK_NONE, 0, NULL,
                        "option 'dispatch' names %.*s, which is not exported",
                        (int)(size > 60 ? 60 : size), p);
            return false;
        }
        p += size;
        p += *p == ',';
        if (!add_item(l, (struct link_item){.in = {.op = PVM_OP_jump},
                                            .target = link_through(l, block),
                                            .size = *p ? DISPATCH_BYTES : 0,
                                            .section = LINK_NONE}))
            return false;
    }
    return true;
}

/* Numbers the entries of a function that keeps its distances, one for each halfword, and gives
 * them to its blocks. */
static void number_span(struct link *l, const struct link_span *s)
{
    for (uint64_t at = s->from; at < s->to; at += 2) {
        uint32_t b = link_block_from(l, (struct link_place){s->section, (int64_t)at});
        l->table_count++;
        if (b != LINK_NONE && l->blocks[b].taken) l->blocks[b].table = l->table_count;
    }
}

/* Numbers the entries of the jump table in the order of the objects' code, not of the program's: so
 * comparisons and differences of code addresses keep their sign. */
static bool number_blocks(struct link *l)
{
    /* For each block, `starts` has the span that starts with it, or NULL. */
    const struct link_span **starts = NULL;
    if (l->span_count) {
        starts = calloc(l->block_count, sizeof(const struct link_span *));
        if (!starts) return error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    }
    for (size_t i = 0; i < l->span_count; i++) {
        const struct link_span *s = &l->spans[i];
        uint32_t b = link_block_from(l, (struct link_place){s->section, (int64_t)s->from});
        if (b != LINK_NONE && l->blocks[b].taken) starts[b] = s;
    }
    for (uint32_t i = 0; i < l->block_count; i++) {
        if (starts && starts[i]) number_span(l, starts[i]);
        struct link_block *b = &l->blocks[i];
        if (b->reached && b->taken && !b->table) b->table = ++l->table_count;
    }
    free(starts);
    return true;
}

static bool make_items(struct link *l)
{
    uint8_t *targeted = calloc(l->block_count + 1, 1);
    if (!targeted) return error_at(&l->err, BASE_MEMORY, 0, "no memory for blocks");
    mark_targets(l, targeted);
    for (const char *p = l->dispatch; p && *p;) {
        size_t size = strcspn(p, ",");
        uint32_t block = export_block(l, p, size);
        if (block != LINK_NONE) targeted[link_through(l, block)] = 1;
        p += size;
        p += *p == ',';
    }
    bool ok = number_blocks(l) && add_dispatch(l);
    for (size_t i = 0; ok && i < l->sequence_count; i++)
        ok = write_block(l, l->sequence[i],
                         i + 1 < l->sequence_count ? l->sequence[i + 1] : LINK_NONE, targeted);
    free(targeted);
    return ok;
}

/* Computes the offsets of all items. Distances depend on lengths, and lengths on distances. The
 * loop ends because lengths only grow. */
static bool place_items(struct link *l)
{
    uint8_t bytes[PVM_INSN_BYTES];
    for (bool moved = true; moved;) {
        uint64_t pc = 0;
        moved = false;
        for (size_t i = 0; i < l->item_count; i++) {
            l->items[i].in.pc = (uint32_t)pc;
            pc += l->items[i].in.length;
        }
        if (pc > PVM_CODE_MAX) {
            link_report(l, PVM_LINK_MEMORY, LINK_NONE, 0, NULL, "more than %d bytes of code",
                        PVM_CODE_MAX);
            return false;
        }
        for (size_t i = 0; i < l->item_count; i++) {
            struct link_item *item = &l->items[i];
            if (item->in.length && item->target == LINK_NONE) continue;
            if (item->target != LINK_NONE)
                item->in.target = l->items[l->blocks[item->target].first].in.pc;
            unsigned n = pvm_insn_write(l->isa, false, &item->in, item->size, bytes);
            if (!n) {
                link_report(l, PVM_LINK_INSTRUCTION, item->section, item->offset, NULL,
                            "%s has no instruction %s", pvm_isas[l->isa].name,
                            pvm_ops[item->in.op].name);
                return false;
            }
            if (n <= item->in.length) continue;
            item->in.length = (uint8_t)n;
            moved = true;
        }
    }
    return true;
}

static bool write_code(struct link *l)
{
    uint8_t bytes[PVM_INSN_BYTES];
    const struct link_item *end = &l->items[l->item_count];
    size_t size = l->item_count ? end[-1].in.pc + end[-1].in.length : 0;
    writer_fill(&l->mask, 0, (size + 7) / 8);
    if (!writer_ok(&l->mask, &l->err)) return false;
    for (struct link_item *item = l->items; item < end; item++) {
        unsigned n = pvm_insn_write(l->isa, false, &item->in, item->in.length, bytes);
        l->mask.out.data[item->in.pc / 8] |= (uint8_t)(1u << item->in.pc % 8);
        writer_bytes(&l->code, bytes, n);
    }
    return writer_ok(&l->code, &l->err);
}

static bool write_table(struct link *l)
{
    uint32_t last = l->item_count ? l->items[l->item_count - 1].in.pc : 0;
    l->table_entry = l->table_count ? 1 : 0;
    while (l->table_entry && l->table_entry < 4 && last >> 8 * l->table_entry) l->table_entry++;
    for (size_t i = 0; i < l->sequence_count; i++) {
        struct link_block *b = &l->blocks[l->sequence[i]];
        b->pc = b->first < l->item_count ? l->items[b->first].in.pc : 0;
    }
    /* An entry for a halfword at which no instruction starts leads to the next block. */
    uint32_t written = 0;
    for (uint32_t i = 0; i < l->block_count; i++) {
        l->blocks[i].pc = l->blocks[link_through(l, i)].pc;
        for (; written < l->blocks[i].table; written++)
            writer_uint(&l->table, l->blocks[i].pc, l->table_entry);
    }
    for (; written < l->table_count; written++) writer_uint(&l->table, last, l->table_entry);
    return writer_ok(&l->table, &l->err);
}

/* The items have all that is written, so the memory of the instructions is free for what follows. */
static void release_insns(struct link *l)
{
    for (size_t i = 0; i < l->block_count; i++) l->blocks[i].insns = NULL;
    free(l->insns);
    l->insns = NULL;
}

bool link_emit_code(struct link *l)
{
    if (!make_items(l)) return false;
    release_insns(l);
    /* An empty block at the end needs an offset, too, so a trap is added. */
    bool open =
        !l->sequence_count || l->blocks[l->sequence[l->sequence_count - 1]].first >= l->item_count;
    struct link_item trap = {.in = {.op = PVM_OP_trap}, .target = LINK_NONE, .section = LINK_NONE};
    return (!open || add_item(l, trap)) && place_items(l) && write_code(l) && write_table(l);
}
