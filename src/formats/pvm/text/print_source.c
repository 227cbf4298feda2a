/* Text that assembles to the same bytes. The text is assembled in memory and compared with the
 * file. If they differ, the next attempt states the sizes of instructions that came out shorter,
 * later ones give more and more as hex: all instructions, then the whole file. */
#include <stdio.h>
#include <stdlib.h>
#include "pvm/format/encode.h"
#include "pvm/text/print.h"
#include "text/hex.h"
#include "text/quote.h"

enum level {
    LEVEL_TEXT,  /* instructions as text, those in `sized` with their size */
    LEVEL_SIZES, /* all jumps with their size */
    LEVEL_BYTES, /* instructions as hex */
    LEVEL_FILE,  /* the whole file as hex */
};

enum { NAMES_MAX = 64, ENTRIES = 8, SIZE_ROUNDS = 8 };

struct printer {
    const struct pvm_print *p;
    struct writer *out;
    enum level level;
    uint8_t *labels; /* bit per pc: a label is printed here */
    uint8_t *sized;  /* bit per pc: this jump would come out shorter, so its size is printed */
    const struct pvm_export *named[NAMES_MAX]; /* exports whose names serve as labels */
    size_t named_count;
};

/* ---- labels ---- */

static void add_label(struct printer *s, uint64_t pc)
{
    if (pc <= UINT32_MAX && pvm_starts(&s->p->m->program.code, (uint32_t)pc))
        s->labels[pc / 8] |= (uint8_t)(1u << pc % 8);
}

/* Whether a name can be a label: one word for the lexer, and not L and digits, which the labels
 * without a name are called. */
static bool name_fits(penta_bytes name)
{
    bool digits = name.size > 1 && name.data[0] == 'L';
    if (!name.size || name.size > 100) return false;
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && c != '_' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) return false;
        if (i && !digit) digits = false;
    }
    return !digits;
}

static void choose_names(struct printer *s)
{
    const struct pvm_program *program = &s->p->m->program;
    if (program->export_count > NAMES_MAX) return;
    for (size_t i = 0; i < program->export_count; i++) {
        const struct pvm_export *e = &program->exports[i];
        bool unique = name_fits(e->name) && pvm_starts(&program->code, e->pc);
        for (size_t k = 0; k < program->export_count && unique; k++) {
            const struct pvm_export *other = &program->exports[k];
            unique = k == i || other->name.size != e->name.size ||
                     memcmp(other->name.data, e->name.data, e->name.size);
        }
        if (unique) s->named[s->named_count++] = e;
    }
}

static void find_labels(struct printer *s)
{
    const struct pvm_program *program = &s->p->m->program;
    const struct pvm_code *code = &program->code;
    struct pvm_insn in;
    for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
        pvm_decode(code, pc, &in);
        if (pvm_has_target(in.op)) add_label(s, in.target);
    }
    for (size_t i = 0; i < program->export_count; i++) add_label(s, program->exports[i].pc);
    for (uint32_t i = 0; code->table_entry && i < code->table_count; i++) {
        uint64_t pc =
            bytes_uint(code->table.data + (size_t)i * code->table_entry, code->table_entry, false);
        add_label(s, pc);
    }
    choose_names(s);
}

static void print_label(void *user, struct writer *out, uint32_t pc)
{
    const struct printer *s = user;
    if (!pvm_starts(&s->p->m->program.code, pc)) {
        writer_dec(out, pc);
        return;
    }
    writer_char(out, '@');
    for (size_t i = 0; i < s->named_count; i++) {
        if (s->named[i]->pc != pc) continue;
        writer_bytes(out, s->named[i]->name.data, s->named[i]->name.size);
        return;
    }
    writer_char(out, 'L');
    writer_dec(out, pc);
}

/* ---- the container ---- */

static void print_hex(struct printer *s, const char *name, penta_bytes bytes)
{
    char first[40], next[40];
    snprintf(first, sizeof first, "%%%s = ", name);
    snprintf(next, sizeof next, "%%%s += ", name);
    hex_rows(s->out, first, next, bytes);
}

static const struct pvm_section *raw_section(const struct pvm_program *program, uint8_t id)
{
    for (size_t i = 0; i < program->section_count; i++) {
        const struct pvm_section *x = &program->sections[i];
        if (x->id == id && x->raw && !x->extra) return x;
    }
    return NULL;
}

static void print_sizes(struct printer *s)
{
    const struct pvm_program *p = &s->p->m->program;
    struct writer *out = s->out;
    if (p->dialect == PVM_JAM && !p->spi) return;
    if (p->ro_size != p->ro_data.size) writer_print(out, "%%ro_data_size = %u\n", p->ro_size);
    if (p->rw_size != p->rw_data.size) writer_print(out, "%%rw_data_size = %u\n", p->rw_size);
    if (p->heap_pages) writer_print(out, "%%heap_pages = %u\n", p->heap_pages);
    if (p->stack_size) writer_print(out, "%%stack_size = %u\n", p->stack_size);
    if (p->has_metadata && !p->metadata.size) writer_text(out, "%metadata =\n");
    print_hex(s, "metadata", p->metadata);
    print_hex(s, "ro_data", p->ro_data);
    print_hex(s, "rw_data", p->rw_data);
}

static void print_names(struct printer *s)
{
    const struct pvm_program *p = &s->p->m->program;
    struct writer *out = s->out;
    for (size_t i = 0; i < p->import_count && !raw_section(p, PVM_SECTION_IMPORTS); i++) {
        writer_text(out, "%import ");
        writer_quoted(out, p->imports[i].name);
        if (p->dialect == PVM_DOC) writer_print(out, " = %u", (unsigned)p->imports[i].pc);
        writer_char(out, '\n');
    }
    for (size_t i = 0; i < p->export_count && !raw_section(p, PVM_SECTION_EXPORTS); i++) {
        writer_text(out, "%export ");
        writer_quoted(out, p->exports[i].name);
        writer_text(out, " = ");
        print_label(s, out, p->exports[i].pc);
        writer_char(out, '\n');
    }
}

static void print_table(struct printer *s)
{
    const struct pvm_code *code = &s->p->m->program.code;
    unsigned widest = 0;
    for (uint32_t i = 0; code->table_entry && i < code->table_count; i++) {
        uint64_t pc =
            bytes_uint(code->table.data + (size_t)i * code->table_entry, code->table_entry, false);
        unsigned n = pc ? 8 - (unsigned)__builtin_clzll(pc) / 8 : 0;
        if (n > widest) widest = n;
        if (i % ENTRIES == 0) writer_text(s->out, "%jump_table =");
        writer_char(s->out, ' ');
        if (pc <= UINT32_MAX)
            print_label(s, s->out, (uint32_t)pc);
        else
            writer_0x(s->out, pc);
        if (i % ENTRIES == ENTRIES - 1 || i + 1 == code->table_count) writer_char(s->out, '\n');
    }
    bool empty = !code->table_entry && code->table_count;
    unsigned usual = code->doc && code->table_count               ? pvm_isas[code->isa].bits / 8u
                     : !code->doc && code->table_count && !widest ? 1
                                                                  : widest;
    if (usual < widest) usual = widest;
    if (code->table_entry != usual || empty)
        writer_print(s->out, "%%jump_table_entry_size = %u\n", code->table_entry);
    if (empty || (s->p->m->program.has_code && !code->bytes.size && !code->table_count))
        writer_print(s->out, "%%jump_table_count = %u\n", (unsigned)code->table_count);
}

/* What no writer would make but the file has. */
static void print_oddities(struct printer *s)
{
    const struct pvm_program *p = &s->p->m->program;
    struct writer *out = s->out;
    static const char *const fields[] = {"bitmask", "import_offsets", "import_symbols", "exports",
                                         "debug"};
    if (p->length_wrong) writer_print(out, "%%length = %llu\n", (unsigned long long)p->length);
    for (size_t i = 0; i < p->section_count; i++) {
        const struct pvm_section *x = &p->sections[i];
        if (!x->raw && !x->extra) continue;
        writer_print(out, "%%section %u = ", x->id);
        writer_hex(out, x->payload);
        writer_char(out, '\n');
    }
    for (size_t i = 0; i < p->varint_count; i++) {
        writer_print(out, "%%varint %u = ", (unsigned)p->varints[i].index);
        writer_hex(out, (penta_bytes){p->varints[i].bytes, p->varints[i].size});
        writer_char(out, '\n');
    }
    if (p->dialect == PVM_DOC) writer_print(out, "%%fields = %s\n", fields[p->doc_end]);
    print_hex(s, "debug_strings", p->debug_strings);
    print_hex(s, "debug_lines", p->debug_lines);
    print_hex(s, "debug_ranges", p->debug_ranges);
    print_hex(s, "trailing", p->trailing);
}

/* ---- the code ---- */

static void print_bytes(struct printer *s, const char *name, const struct pvm_insn *in)
{
    const struct pvm_code *code = &s->p->m->program.code;
    writer_print(s->out, "    %%%s ", name);
    writer_hex(s->out, bytes_slice(code->bytes, in->pc, in->length));
}

static void print_insn(struct printer *s, const struct pvm_insn *in)
{
    const struct pvm_program *program = &s->p->m->program;
    const struct pvm_code *code = &program->code;
    const uint8_t *bytes = code->bytes.data + in->pc;
    struct pvm_style style = {.target = print_label, .user = s};
    uint8_t again[PVM_INSN_BYTES];
    unsigned size = 0, n = 0;
    if (in->op != PVM_OP_invalid && s->level < LEVEL_BYTES) {
        bool sized =
            pvm_has_target(in->op) && (s->level == LEVEL_SIZES || pvm_bit(s->sized, in->pc));
        if (!sized) n = pvm_insn_write(code->isa, code->doc, in, 0, again);
        if (sized || n != in->length) {
            size = in->length;
            n = pvm_insn_write(code->isa, code->doc, in, size, again);
        }
    }
    if (n == in->length && !memcmp(again, bytes, n)) {
        writer_text(s->out, "    ");
        pvm_form_print(s->out, in, code->isa, &style);
        if (size) writer_print(s->out, " %%size %u", size);
    } else {
        print_bytes(s, "insn", in);
        if (in->op != PVM_OP_invalid) {
            writer_text(s->out, " // ");
            style = (struct pvm_style){0};
            pvm_form_print(s->out, in, code->isa, &style);
        }
    }
    if (in->op == PVM_OP_ecalli && (uint32_t)in->imm1 < program->import_count) {
        writer_text(s->out, " // ");
        pvm_print_name(s->out, program->imports[(uint32_t)in->imm1].name);
    }
    writer_char(s->out, '\n');
}

static void print_code(struct printer *s)
{
    const struct pvm_program *program = &s->p->m->program;
    const struct pvm_code *code = &program->code;
    struct pvm_print_lines lines = {.program = program};
    struct pvm_insn in;
    bool falls = false, block = true; /* control comes from above; a block starts */
    for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
        pvm_decode(code, pc, &in);
        if (!pvm_starts(code, pc)) {
            print_bytes(s, "hole", &in);
            writer_char(s->out, '\n');
            falls = false;
            block = true;
            continue;
        }
        if (pvm_bit(s->labels, pc)) {
            print_label(s, s->out, pc);
            writer_text(s->out, falls ? ": %no_fallthrough\n" : ":\n");
        }
        uint32_t cost = 0;
        if (s->p->gas && block &&
            pvm_block_cost(code, pc, s->p->model, s->p->cmov_reads_old, &cost))
            writer_print(s->out, "    // gas: %u\n", (unsigned)cost);
        if (s->p->source) pvm_print_place(&lines, pc, s->out);
        print_insn(s, &in);
        /* the assembler decides by the opcode byte alone, even if the operands are malformed */
        enum pvm_op op = pvm_isas[code->isa].op[code->bytes.data[pc]];
        falls = !pvm_ends_block(op);
        block = pvm_ends_block(in.op);
    }
}

/* Whether the assembler would make the same bitmask for this doc program. */
static bool mask_follows(const struct printer *s)
{
    const struct pvm_code *code = &s->p->m->program.code;
    struct pvm_insn in;
    bool block = true;
    for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
        pvm_decode(code, pc, &in);
        bool expected = block || pvm_bit(s->labels, pc);
        for (uint32_t i = 0; i < in.length; i++)
            if (pvm_bit(code->mask.data, pc + i) != (!i && expected)) return false;
        block = pvm_ends_block(pvm_isas[code->isa].op[code->bytes.data[pc]]);
    }
    size_t size = code->bytes.size;
    return !(size % 8 && code->mask.data[size / 8] >> size % 8);
}

static void print_all(struct printer *s)
{
    const struct pvm_program *p = &s->p->m->program;
    if (s->level == LEVEL_FILE) {
        writer_print(s->out, "%%isa = %s\n", pvm_isas[p->code.isa].name);
        print_hex(s, "file", s->p->m->base.file);
        return;
    }
    if (p->dialect != PVM_POLKAVM)
        writer_print(s->out, "%%dialect = %s\n", pvm_dialect_names[p->dialect]);
    writer_print(s->out, "%%isa = %s\n", pvm_isas[p->code.isa].name);
    if (p->dialect == PVM_JAM && !p->spi) writer_text(s->out, "%form = generic\n");
    print_sizes(s);
    print_names(s);
    print_table(s);
    print_oddities(s);
    if (p->code.doc && !mask_follows(s)) print_hex(s, "bitmask", p->code.mask);
    writer_char(s->out, '\n');
    print_code(s);
}

/* ---- until the text assembles to the file ---- */

static void ignore(void *user, const penta_error *finding)
{
    (void)user;
    (void)finding;
}

static bool assemble_again(const struct writer *text, struct writer *bytes)
{
    struct findings f = {.rules = pvm_rules, .report = ignore};
    struct source source = {.name = "", .text = writer_view(text), .comment = "//"};
    return pvm_assemble(&source, NULL, 0, bytes, &f);
}

static bool same_bytes(penta_bytes a, penta_bytes b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

/* The assembler makes jumps as short as possible, the file may have longer ones. Marks those that
 * came out shorter; true if there are new ones. */
static bool mark_sizes(struct printer *s, penta_bytes assembled)
{
    const struct pvm_program *program = &s->p->m->program;
    const struct pvm_code *code = &program->code;
    penta_option dialect = {"dialect", pvm_dialect_names[program->dialect]};
    penta_error err = {0};
    penta_module *module = pvm_parse(assembled, &dialect, 1, &err);
    if (!module) return false;
    const struct pvm_code *other = &pvm_module(module)->program.code;
    struct pvm_insn in, out;
    uint32_t at = 0;
    bool found = false;
    for (uint32_t pc = 0; pc < code->bytes.size && at < other->bytes.size;
         pc += in.length, at += out.length) {
        pvm_decode(code, pc, &in);
        pvm_decode(other, at, &out);
        if (in.length <= out.length || !pvm_has_target(in.op) || pvm_bit(s->sized, pc)) continue;
        s->sized[pc / 8] |= (uint8_t)(1u << pc % 8);
        found = true;
    }
    pvm_close(module);
    return found;
}

static void print_exactly(struct printer *s)
{
    struct writer bytes = {0};
    unsigned rounds = 0;
    for (s->level = LEVEL_TEXT; s->level <= LEVEL_FILE;) {
        s->out->out.size = bytes.out.size = 0;
        print_all(s);
        bool ok = !s->out->failed && assemble_again(s->out, &bytes);
        if (s->out->failed || (ok && same_bytes(writer_view(&bytes), s->p->m->base.file))) break;
        if (ok && s->level == LEVEL_TEXT && rounds++ < SIZE_ROUNDS &&
            mark_sizes(s, writer_view(&bytes)))
            continue;
        s->level++;
    }
    writer_free(&bytes);
}

bool pvm_print_source(const struct pvm_print *p, penta_error *err)
{
    struct writer text = {0};
    struct printer s = {.p = p, .out = &text};
    size_t bits = p->m->program.code.bytes.size / 8 + 1;
    s.labels = calloc(bits, 1);
    s.sized = calloc(bits, 1);
    if (s.labels && s.sized) {
        find_labels(&s);
        print_exactly(&s);
        writer_bytes(p->out, text.out.data, text.out.size);
        p->out->failed |= text.failed;
    } else {
        error_at(err, BASE_MEMORY, 0, "no memory for the labels");
    }
    writer_free(&text);
    free(s.labels);
    free(s.sized);
    return !err->code && writer_ok(p->out, err);
}
