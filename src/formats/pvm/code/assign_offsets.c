/* Gives every instruction its offset. Immediates are stored in their shortest form, so the
 * length of a jump depends on distances, and distances depend on lengths. So the lengths are
 * computed again and again until nothing moves. */
#include "pvm/code/assembly.h"
#include "pvm/format/encode.h"

enum { FREE_ROUNDS = 64 }; /* After so many rounds lengths only grow, so that the loop ends. */

static bool unknown_label(const struct pvm_assembly *a, int64_t label, uint64_t offset,
                          penta_error *err)
{
    penta_bytes name = a->labels.items[label].name;
    return error_at(err, BASE_NAME_UNKNOWN, offset, "'%.*s' is not defined", BYTES_ARG(name, 60));
}

static uint32_t label_pc(const struct pvm_assembly *a, int64_t label)
{
    uint64_t item = a->labels.items[label].value;
    if (item < a->count) return a->items[item].in.pc;
    const struct pvm_insn *last = a->count ? &a->items[a->count - 1].in : NULL;
    if (!last) return 0;
    return last->pc + (a->items[a->count - 1].kind == PVM_ITEM_INSN ? last->length
                                                                    : a->items[a->count - 1].size);
}

bool pvm_reference_pc(const struct pvm_assembly *a, const struct pvm_reference *r, uint64_t *pc,
                      penta_error *err)
{
    *pc = r->value;
    if (r->label < 0) return true;
    if (!a->labels.items[r->label].defined) return unknown_label(a, r->label, r->offset, err);
    *pc = label_pc(a, r->label);
    return true;
}

static bool assign_offsets_resolve(struct pvm_assembly *a, penta_error *err)
{
    for (size_t i = 0; i < a->count; i++) {
        struct pvm_item *item = &a->items[i];
        if (item->label >= 0 && !a->labels.items[item->label].defined)
            return unknown_label(a, item->label, item->offset, err);
        if (item->entry) item->in.imm1 = 2 * (a->table_count + item->entry);
    }
    return true;
}

/* Tells whether the instruction fits where it is now. *moved says whether its length changed. */
static bool assign_offsets_measure(struct pvm_assembly *a, struct pvm_item *item, bool shrink,
                                   bool *moved)
{
    uint8_t bytes[PVM_INSN_BYTES];
    if (item->kind != PVM_ITEM_INSN) return true;
    if (item->label >= 0) item->in.target = label_pc(a, item->label);
    unsigned n =
        pvm_insn_write(a->program.code.isa, a->program.code.doc, &item->in, item->size, bytes);
    unsigned length = n ? n : item->size; /* A later round may make the instruction fit. */
    if (length != item->in.length && (shrink || length > item->in.length)) {
        item->in.length = (uint8_t)length;
        *moved = true;
    }
    return n;
}

static bool assign_offsets_place(struct pvm_assembly *a, penta_error *err)
{
    /* `misfit` is an item that did not fit in this round; only the last round counts. */
    const struct pvm_item *misfit = NULL;
    bool moved = true;
    for (unsigned round = 0; moved; round++) {
        uint64_t pc = 0;
        for (size_t i = 0; i < a->count; i++) {
            a->items[i].in.pc = (uint32_t)pc;
            pc += a->items[i].kind == PVM_ITEM_INSN ? a->items[i].in.length : a->items[i].size;
        }
        if (pc > PVM_CODE_MAX)
            return error_at(err, PVM_TOO_LARGE, 0, "more than %d bytes of code", PVM_CODE_MAX);
        moved = false;
        misfit = NULL;
        for (size_t i = 0; i < a->count; i++)
            if (!assign_offsets_measure(a, &a->items[i], round < FREE_ROUNDS, &moved) && !misfit)
                misfit = &a->items[i];
    }
    return !misfit || error_at(err, BASE_NUMBER, misfit->offset,
                               "the instruction does not fit %u bytes", (unsigned)misfit->size);
}

static void assign_offsets_mark(struct pvm_assembly *a, uint64_t pc)
{
    if (pc / 8 < a->code_mask.out.size) a->code_mask.out.data[pc / 8] |= (uint8_t)(1u << pc % 8);
}

static void assign_offsets_emit(struct pvm_assembly *a)
{
    for (size_t i = 0; i < a->count; i++) {
        struct pvm_item *item = &a->items[i];
        uint8_t bytes[PVM_INSN_BYTES];
        if (item->kind != PVM_ITEM_INSN) {
            writer_bytes(&a->code, a->raw.out.data + item->raw, item->size);
            continue;
        }
        unsigned n = pvm_insn_write(a->program.code.isa, a->program.code.doc, &item->in,
                                    item->in.length, bytes);
        writer_bytes(&a->code, bytes, n);
    }
}

/* Makes the bitmask. It marks where instructions start; in doc programs it marks the legal
 * targets of jumps. */
static void emit_mask(struct pvm_assembly *a)
{
    bool doc = a->program.code.doc, block = true;
    writer_fill(&a->code_mask, 0, (a->code.out.size + 7) / 8);
    for (size_t i = 0; i < a->count; i++) {
        const struct pvm_item *item = &a->items[i];
        bool start = item->kind != PVM_ITEM_HOLE;
        if (start && (!doc || block)) assign_offsets_mark(a, item->in.pc);
        block = item->kind == PVM_ITEM_HOLE || pvm_ends_block(item->in.op);
    }
    for (size_t i = 0; doc && !a->blocks_only && i < a->labels.count; i++)
        if (a->labels.items[i].defined && a->labels.items[i].value < a->count)
            assign_offsets_mark(a, label_pc(a, (int64_t)i));
}

static unsigned bytes_of_value(uint64_t value)
{
    unsigned n = 0;
    for (; value; value >>= 8) n++;
    return n;
}

static bool emit_table(struct pvm_assembly *a, penta_error *err)
{
    struct pvm_code *code = &a->program.code;
    size_t count = a->table_count + a->taken_count;
    unsigned widest = 0, size = a->entry_size;
    for (size_t i = 0; i < count; i++) {
        struct pvm_reference *r = i < a->table_count ? &a->table[i] : &a->taken[i - a->table_count];
        if (!pvm_reference_pc(a, r, &r->value, err)) return false;
        if (bytes_of_value(r->value) > widest) widest = bytes_of_value(r->value);
    }
    if (!a->entry_size_given) {
        size = count && !widest ? 1 : widest;
        if (code->doc && count) size = pvm_isas[code->isa].bits / 8u;
        if (widest > size) size = widest;
    }
    if (widest > size && size)
        return error_at(err, PVM_ENTRY_SIZE, 0,
                        "a jump table entry needs %u bytes, and entries have %u", widest, size);
    if (size > 4 && a->program.dialect == PVM_POLKAVM)
        return error_at(err, PVM_ENTRY_SIZE, 0,
                        "a jump table entry has %u bytes, and at most 4 are allowed", size);
    for (size_t i = 0; i < count; i++)
        writer_uint(&a->code_table,
                    i < a->table_count ? a->table[i].value : a->taken[i - a->table_count].value,
                    size);
    code->table_entry = (uint8_t)size;
    code->table_count = a->table_count_given ? a->table_count_wanted : (uint32_t)count;
    return true;
}

/* Makes code and bitmask from the items, or takes them as they were given. */
static bool place_items(struct pvm_assembly *a, penta_error *err)
{
    struct pvm_code *code = &a->program.code;
    if (a->given) {
        code->bytes = a->given->bytes;
        code->mask = a->mask.given ? writer_view(&a->mask.bytes) : a->given->mask;
        return true;
    }
    if (!assign_offsets_resolve(a, err) || !assign_offsets_place(a, err)) return false;
    assign_offsets_emit(a);
    emit_mask(a);
    code->bytes = writer_view(&a->code);
    code->mask = a->mask.given ? writer_view(&a->mask.bytes) : writer_view(&a->code_mask);
    return true;
}

bool pvm_place_code(struct pvm_assembly *a, penta_error *err)
{
    struct pvm_code *code = &a->program.code;
    if (!place_items(a, err) || !emit_table(a, err) || !writer_ok(&a->code, err) ||
        !writer_ok(&a->code_mask, err) || !writer_ok(&a->code_table, err))
        return false;
    code->table = writer_view(&a->code_table);
    code->starts = code->mask.data;
    if (code->mask.size != (code->bytes.size + 7) / 8)
        return error_at(err, PVM_BITMASK_LENGTH, 0,
                        "the bitmask has %zu bytes, which do not fit %zu bytes of code",
                        code->mask.size, code->bytes.size);
    return true;
}
