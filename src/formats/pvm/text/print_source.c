/* Prints text that assembles to the same bytes. To save memory the text is checked in parts, not
 * as a whole. Every line of code is assembled alone before it is printed, and is replaced by hex
 * when that gives other bytes. jump_sizes.c finds the jumps that need their size. The text
 * before the code is assembled around the code as it is. When that does not give the file, the
 * whole file is printed in hex. */
#include <stdio.h>
#include <stdlib.h>
#include "pvm/format/encode.h"
#include "pvm/text/assemble.h"
#include "pvm/text/print.h"
#include "text/hex.h"
#include "text/quote.h"

enum { NAMES_MAX = 64, ENTRIES = 8, LINES = 1024, LINE_ROOM = 80 };

/* A struct known_line is a line that was printed before. The bytes of the instruction give its
 * text, up to the label of a jump. */
struct known_line {
    /* `bytes` are those of the instruction; a length of 0 means that the entry is free. */
    uint8_t bytes[PVM_SKIP_MAX + 1], length;
    uint8_t size; /* the size that was printed with the instruction; 0: none was */
    bool sized, hex;
    uint8_t text_size; /* the size of the text that is kept; 0: no text is kept */
    char text[LINE_ROOM];
};

struct printer {
    const struct pvm_print *p;
    struct writer *out;
    struct writer line; /* the line that is being checked */
    /* `known` has lines that were printed before, found by the hash of their bytes. */
    struct known_line *known;
    uint8_t *labels; /* a bit for each pc: a label is printed here */
    uint8_t *sized;  /* a bit for each pc: this jump needs its size */
    /* Places in the code are printed as numbers, not as labels. */
    bool by_number;
    const struct pvm_export *named[NAMES_MAX]; /* exports whose names serve as labels */
    size_t named_count;
};

static void add_label(struct printer *s, uint64_t pc)
{
    if (pc <= UINT32_MAX && pvm_starts(&s->p->m->program.code, (uint32_t)pc))
        s->labels[pc / 8] |= (uint8_t)(1u << pc % 8);
}

/* Tells whether a name can be a label. It must be one word for the lexer, and not L and digits,
 * because labels without a name are called so. */
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
    const uint8_t *op = pvm_isas[code->isa].op;
    struct pvm_insn in;
    for (uint32_t pc = 0; pc < code->bytes.size; pc++) {
        if (!pvm_has_target(op[code->bytes.data[pc]]) || !pvm_bit(code->starts, pc)) continue;
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
    if (s->by_number || !pvm_starts(&s->p->m->program.code, pc)) {
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

/* Prints the parts of the file that no writer would make. */
static void print_oddities(struct printer *s)
{
    const struct pvm_program *p = &s->p->m->program;
    struct writer *out = s->out;
    if (p->length_wrong) writer_print(out, "%%length = %llu\n", (unsigned long long)p->length);
    for (size_t i = 0; i < p->section_count; i++) {
        const struct pvm_section *x = &p->sections[i];
        bool foreign = x->extra && x->id < PVM_SECTION_OPTIONAL; /* No text can name it. */
        if ((!x->raw && !x->extra) || foreign) continue;
        writer_print(out, "%%section %u = ", x->id);
        writer_hex(out, x->payload);
        writer_char(out, '\n');
    }
    for (size_t i = 0; i < p->varint_count; i++) {
        writer_print(out, "%%varint %u = ", (unsigned)p->varints[i].index);
        writer_hex(out, (penta_bytes){p->varints[i].bytes, p->varints[i].size});
        writer_char(out, '\n');
    }
    if (p->dialect == PVM_DOC) writer_print(out, "%%fields = %s\n", pvm_doc_end_names[p->doc_end]);
    print_hex(s, "debug_strings", p->debug_strings);
    print_hex(s, "debug_lines", p->debug_lines);
    print_hex(s, "debug_ranges", p->debug_ranges);
    print_hex(s, "trailing", p->trailing);
}

static void print_bytes(struct printer *s, const char *name, const struct pvm_insn *in)
{
    const struct pvm_code *code = &s->p->m->program.code;
    writer_print(s->out, "    %%%s ", name);
    writer_hex(s->out, bytes_slice(code->bytes, in->pc, in->length));
}

static void print_line(struct printer *s, struct writer *out, const struct pvm_insn *in,
                       unsigned size)
{
    struct pvm_style style = {.target = print_label, .user = s};
    writer_text(out, "    ");
    pvm_form_print(out, in, s->p->m->program.code.isa, &style);
    if (size) writer_print(out, " %%size %u", size);
}

/* Tells whether the line alone assembles to the bytes of the instruction. */
static bool line_comes_back(struct printer *s, const struct pvm_insn *in, unsigned size)
{
    const struct pvm_code *code = &s->p->m->program.code;
    uint8_t bytes[PVM_INSN_BYTES];
    penta_error err = {0};
    struct pvm_line line;
    struct pvm_match match;
    s->line.out.size = 0;
    print_line(s, &s->line, in, size);
    struct source source = {
        .name = "", .text = writer_view(&s->line), .comment = "//", .err = &err};
    if (s->line.failed || !pvm_line_read(&source, &line) ||
        !pvm_line_match(&line, code->isa, &match, &err) || match.address ||
        !match.target != !pvm_has_target(in->op))
        return false;
    match.in.pc = in->pc;
    match.in.target = in->target;
    unsigned n = pvm_insn_write(code->isa, code->doc, &match.in, size, bytes);
    return n == in->length && !memcmp(bytes, code->bytes.data + in->pc, n);
}

static void learn_line(struct printer *s, const struct pvm_insn *in, bool sized,
                       struct known_line *k)
{
    const struct pvm_code *code = &s->p->m->program.code;
    uint8_t again[PVM_INSN_BYTES];
    *k = (struct known_line){.length = in->length, .sized = sized, .hex = true};
    memcpy(k->bytes, code->bytes.data + in->pc, in->length);
    if (in->op == PVM_OP_invalid) return;
    if (sized || pvm_insn_write(code->isa, code->doc, in, 0, again) != in->length)
        k->size = in->length;
    k->hex = !line_comes_back(s, in, k->size);
    penta_bytes text = writer_view(&s->line);
    if (k->hex || pvm_has_target(in->op) || text.size > sizeof k->text) return;
    bytes_copy(k->text, text);
    k->text_size = (uint8_t)text.size;
}

static struct known_line *known_line_of(struct printer *s, const struct pvm_insn *in)
{
    const struct pvm_code *code = &s->p->m->program.code;
    const uint8_t *bytes = code->bytes.data + in->pc;
    uint64_t word = 0;
    for (unsigned i = 0; i < in->length && i < 8; i++) word |= (uint64_t)bytes[i] << 8 * i;
    struct known_line *k = &s->known[word * UINT64_C(0x9e3779b97f4a7c15) >> 54];
    _Static_assert(LINES == 1 << (64 - 54), "as many as the hash has values");
    bool sized = pvm_bit(s->sized, in->pc);
    if (k->length != in->length || k->sized != sized || memcmp(k->bytes, bytes, in->length))
        learn_line(s, in, sized, k);
    return k;
}

static void print_insn(struct printer *s, const struct pvm_insn *in)
{
    const struct pvm_program *program = &s->p->m->program;
    const struct known_line *k = known_line_of(s, in);
    if (k->hex) {
        print_bytes(s, "insn", in);
        if (in->op != PVM_OP_invalid) {
            writer_text(s->out, " // ");
            pvm_form_print(s->out, in, program->code.isa, &(struct pvm_style){0});
        }
    } else if (k->text_size) {
        writer_bytes(s->out, k->text, k->text_size);
    } else {
        print_line(s, s->out, in, k->size);
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
    bool falls = false, block = true; /* falls: control comes from above; block: a block starts */
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
        /* The assembler decides whether control goes on by the opcode byte alone, even when the
         * operands are malformed. */
        enum pvm_op op = pvm_isas[code->isa].op[code->bytes.data[pc]];
        falls = !pvm_ends_block(op);
        block = pvm_ends_block(in.op);
    }
}

/* Tells whether the assembler would make the same bitmask for this doc program. */
static bool mask_follows(const struct printer *s)
{
    const struct pvm_code *code = &s->p->m->program.code;
    struct pvm_insn in;
    bool block = true;
    for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
        pvm_decode(code, pc, &in);
        bool start = pvm_starts(code, pc), expected = start && (block || pvm_bit(s->labels, pc));
        for (uint32_t i = 0; i < in.length; i++)
            if (pvm_bit(code->mask.data, pc + i) != (!i && expected)) return false;
        block = !start || pvm_ends_block(pvm_isas[code->isa].op[code->bytes.data[pc]]);
    }
    size_t size = code->bytes.size;
    return !(size % 8 && code->mask.data[size / 8] >> size % 8);
}

static void print_before_code(struct printer *s)
{
    const struct pvm_program *p = &s->p->m->program;
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
}

/* Tells whether the text before the code, assembled around the code as it is, gives the file. */
static bool text_gives_the_file(struct printer *s, penta_error *err)
{
    const struct pvm_program *p = &s->p->m->program;
    struct writer *out = s->out, text = {0}, bytes = {0};
    size_t size = p->code.bytes.size;
    /* `stray` says that the bitmask has bits after the end of the code. */
    bool stray = size % 8 && p->code.mask.data[size / 8] >> size % 8;
    if (size > PVM_CODE_MAX || (stray && !p->code.doc)) return false;
    s->out = &text;
    s->by_number = true;
    print_before_code(s);
    s->out = out;
    s->by_number = false;
    struct source source = {.name = "", .text = writer_view(&text), .comment = "//"};
    bool same = writer_ok(&text, err) && pvm_assemble_around(&source, &p->code, &bytes, err) &&
                bytes_equal(writer_view(&bytes), s->p->m->base.file);
    writer_free(&text);
    writer_free(&bytes);
    return same;
}

static void print_file(struct printer *s)
{
    writer_print(s->out, "%%isa = %s\n", pvm_isas[s->p->m->program.code.isa].name);
    print_hex(s, "file", s->p->m->base.file);
}

bool pvm_print_source(const struct pvm_print *p, penta_error *err)
{
    struct printer s = {.p = p, .out = p->out};
    size_t bits = p->m->program.code.bytes.size / 8 + 1;
    s.labels = calloc(bits, 1);
    s.sized = calloc(bits, 1);
    s.known = calloc(LINES, sizeof *s.known);
    bool ok = s.labels && s.sized && s.known && pvm_jump_sizes(&p->m->program.code, s.sized);
    if (!ok) error_at(err, BASE_MEMORY, 0, "no memory for the listing");
    if (ok) find_labels(&s);
    if (ok && text_gives_the_file(&s, err)) {
        print_before_code(&s);
        print_code(&s);
    } else if (ok && !err->code) {
        print_file(&s);
    }
    p->out->failed |= s.line.failed;
    writer_free(&s.line);
    free(s.known);
    free(s.labels);
    free(s.sized);
    return ok && !err->code && writer_ok(p->out, err);
}
