/* Prints listings as PolkaVM's disassembler does: flat, or with basic blocks. A hole in the code
 * appears as `invalid` where control can run into it; elsewhere it does not appear. */
#include <stdlib.h>
#include "pvm/text/print.h"
#include "base/array.h"

struct listing {
    const struct pvm_code *code;
    uint32_t pc;
    bool falls, done;
};

/* Gives the next instruction. Returns false at the end of the listing. */
static bool print_listing_next(struct listing *l, struct pvm_insn *in)
{
    size_t size = l->code->bytes.size;
    for (; l->pc < size; l->pc += in->length) {
        pvm_decode(l->code, l->pc, in);
        bool start = pvm_starts(l->code, l->pc);
        if (!start && !l->falls) continue;
        l->falls = start && pvm_falls_through(in->op);
        l->pc += in->length;
        return true;
    }
    if (l->done || !l->falls || !size) return false;
    l->done = true; /* Control runs off the end of the code, so an `invalid` follows. */
    *in = (struct pvm_insn){.pc = l->pc, .length = 1};
    return true;
}

static struct listing print_listing_start(const struct pvm_code *code)
{
    return (struct listing){.code = code, .falls = true};
}

static void print_pc(struct writer *out, uint32_t pc)
{
    char digits[12];
    size_t n = 0;
    uint32_t v = pc;
    do digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    if (n < 6) writer_fill(out, ' ', 6 - n);
    while (n) writer_char(out, digits[--n]);
    writer_text(out, ": ");
}

bool pvm_print_flat(const struct pvm_print *p, penta_error *err)
{
    const struct pvm_program *program = &p->m->program;
    const struct pvm_code *code = &program->code;
    struct writer *out = p->out;
    writer_print(out, "isa=%s ro=%zu/%u rw=%zu/%u stack=%u code=%zu jt=%u\n",
                 pvm_isas[code->isa].name, program->ro_data.size, (unsigned)program->ro_size,
                 program->rw_data.size, (unsigned)program->rw_size, (unsigned)program->stack_size,
                 code->bytes.size, (unsigned)(code->table_entry ? code->table_count : 0));
    for (size_t i = 0; i < program->import_count; i++) {
        writer_print(out, "import %zu ", i);
        pvm_print_name(out, program->imports[i].name);
        writer_char(out, '\n');
    }
    for (size_t i = 0; i < program->export_count; i++) {
        writer_print(out, "export %u ", (unsigned)program->exports[i].pc);
        pvm_print_name(out, program->exports[i].name);
        writer_char(out, '\n');
    }
    struct pvm_style style = {.upstream = true};
    struct pvm_print_lines lines = {.program = program};
    struct listing l = print_listing_start(code);
    for (struct pvm_insn in; print_listing_next(&l, &in);) {
        if (p->source) pvm_print_place(&lines, in.pc, out);
        print_pc(out, in.pc);
        pvm_form_print(out, &in, code->isa, &style);
        writer_char(out, '\n');
    }
    return writer_ok(out, err);
}

struct blocks {
    uint32_t *starts; /* the pcs of blocks, ascending */
    size_t count;
    uint64_t *entries; /* pc << 32 | index in the jump table, ascending */
    size_t entry_count;
    uint64_t *exports; /* pc << 32 | index of the export, ascending */
    size_t export_count;
};

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void free_blocks(struct blocks *b)
{
    free(b->starts);
    free(b->entries);
    free(b->exports);
}

static size_t count_blocks(const struct pvm_code *code, uint32_t *into)
{
    struct listing l = print_listing_start(code);
    size_t count = 0;
    bool block = true;
    for (struct pvm_insn in; print_listing_next(&l, &in); block = pvm_ends_block(in.op)) {
        if (!block) continue;
        if (into) into[count] = in.pc;
        count++;
    }
    return count;
}

static bool find_blocks(const struct pvm_program *p, struct blocks *b)
{
    uint32_t entries = p->code.table_entry ? p->code.table_count : 0;
    b->count = count_blocks(&p->code, NULL);
    b->starts = malloc((b->count + 1) * sizeof *b->starts);
    b->entries = malloc(((size_t)entries + 1) * sizeof *b->entries);
    b->exports = malloc((p->export_count + 1) * sizeof *b->exports);
    if (!b->starts || !b->entries || !b->exports) return false;
    count_blocks(&p->code, b->starts);
    for (uint32_t i = 0; i < entries; i++) {
        uint64_t pc;
        if (pvm_table_entry(&p->code, i, &pc) && pc <= UINT32_MAX)
            b->entries[b->entry_count++] = pc << 32 | i;
    }
    for (size_t i = 0; i < p->export_count; i++)
        b->exports[b->export_count++] = (uint64_t)p->exports[i].pc << 32 | (uint32_t)i;
    qsort(b->entries, b->entry_count, sizeof *b->entries, compare_u64);
    qsort(b->exports, b->export_count, sizeof *b->exports, compare_u64);
    return true;
}

static void print_target(void *user, struct writer *out, uint32_t pc)
{
    const struct blocks *b = user;
    size_t low;
    ARRAY_SEARCH(low, 0, b->count, b->starts[low] >= pc);
    bool found = low < b->count && b->starts[low] == pc;
    if (found) writer_char(out, '@');
    writer_dec(out, found ? low : pc);
}

struct cursor {
    size_t block, entry, export;
};

static void print_label(const struct pvm_print *p, const struct blocks *b, struct cursor *c,
                        uint32_t pc)
{
    const struct pvm_program *program = &p->m->program;
    writer_text(p->out, "      : @");
    writer_dec(p->out, c->block++);
    for (; c->entry < b->entry_count && b->entries[c->entry] >> 32 <= pc; c->entry++)
        if (b->entries[c->entry] >> 32 == pc)
            writer_print(p->out, " [@dyn %u]", (unsigned)(uint32_t)b->entries[c->entry] + 1);
    for (; c->export < b->export_count && b->exports[c->export] >> 32 <= pc; c->export ++) {
        if (b->exports[c->export] >> 32 != pc) continue;
        uint32_t export = (uint32_t)b->exports[c->export];
        writer_print(p->out, " [export #%u: ", (unsigned)export);
        pvm_print_name(p->out, program->exports[export].name);
        writer_char(p->out, ']');
    }
    uint32_t cost = 0;
    if (p->gas && pvm_block_cost(&program->code, pc, p->model, p->cmov_reads_old, &cost))
        writer_print(p->out, " (gas: %u)", (unsigned)cost);
    writer_char(p->out, '\n');
}

static void print_insn(const struct pvm_print *p, const struct pvm_insn *in,
                       const struct pvm_style *style)
{
    const struct pvm_program *program = &p->m->program;
    print_pc(p->out, in->pc);
    pvm_form_print(p->out, in, program->code.isa, style);
    if (in->op == PVM_OP_ecalli && (uint32_t)in->imm1 < program->import_count) {
        writer_text(p->out, " // ");
        pvm_print_name(p->out, program->imports[(uint32_t)in->imm1].name);
    }
    writer_char(p->out, '\n');
}

bool pvm_print_upstream(const struct pvm_print *p, penta_error *err)
{
    const struct pvm_program *program = &p->m->program;
    struct blocks b = {0};
    if (!find_blocks(program, &b)) {
        free_blocks(&b);
        return error_at(err, BASE_MEMORY, 0, "no memory for the basic blocks");
    }
    struct pvm_insn in;
    size_t count = 0;
    for (struct listing l = print_listing_start(&program->code); print_listing_next(&l, &in);)
        count++;
    writer_print(p->out,
                 "// RO data = %zu/%u bytes\n// RW data = %zu/%u bytes\n"
                 "// Stack size = %u bytes\n\n// Instructions = %zu\n// Code size = %zu bytes\n\n",
                 program->ro_data.size, (unsigned)program->ro_size, program->rw_data.size,
                 (unsigned)program->rw_size, (unsigned)program->stack_size, count,
                 program->code.bytes.size);
    struct pvm_style style = {.upstream = true, .target = print_target, .user = &b};
    struct pvm_print_lines lines = {.program = program};
    struct cursor c = {0};
    bool block = true;
    for (struct listing l = print_listing_start(&program->code); print_listing_next(&l, &in);) {
        if (block) print_label(p, &b, &c, in.pc);
        if (p->source) pvm_print_place(&lines, in.pc, p->out);
        print_insn(p, &in, &style);
        block = pvm_ends_block(in.op);
    }
    free_blocks(&b);
    return writer_ok(p->out, err);
}
