/* Writes what debuggers and exceptions need: .eh_frame (frames), .debug_line (source lines), and
 * .debug_info and .debug_abbrev, which name the functions and point to the lines. The version of
 * DWARF is 4, because every debugger reads its line tables. */
#include "coil/native/native.h"
#include "base/array.h"
#include <stdlib.h>

static void dwarf_uleb(struct writer *w, uint64_t value)
{
    do {
        writer_uint(w, (value & 0x7f) | (value > 0x7f ? 0x80 : 0), 1);
        value >>= 7;
    } while (value);
}

static void dwarf_sleb(struct writer *w, int64_t value)
{
    for (;;) {
        bool last = (value >= 0 && value < 0x40) || (value < 0 && value >= -0x40);
        writer_uint(w, ((uint64_t)value & 0x7f) | (last ? 0 : 0x80), 1);
        if (last) return;
        value >>= 7;
    }
}

enum {
    CFA_ADVANCE4 = 4,
    CFA_REMEMBER = 10,
    CFA_RESTORE_STATE = 11,
    CFA_DEF = 12,
    CFA_REGISTER = 13,
    CFA_OFFSET = 14,
    CFA_SAVED = 0x80,
    CFA_RESTORE = 0xc0
};
/* These are the numbers that DWARF gives to registers. */
enum { D_RBX = 3, D_RBP = 6, D_RSP = 7, D_R12 = 12, D_RETURN = 16 };

struct unwinding {
    struct coil_native *n;
    struct writer *w;
    uint32_t section, text;
    uint32_t at; /* offset in the code that the rows have reached */
};

static void dwarf_advance(struct unwinding *u, uint32_t to)
{
    if (to == u->at) return;
    writer_uint(u->w, CFA_ADVANCE4, 1);
    writer_uint(u->w, to - u->at, 4);
    u->at = to;
}

static void dwarf_define(struct unwinding *u, unsigned reg, uint64_t offset)
{
    writer_uint(u->w, CFA_DEF, 1);
    dwarf_uleb(u->w, reg);
    dwarf_uleb(u->w, offset);
}

static void dwarf_common(struct unwinding *u)
{
    struct writer *w = u->w;
    writer_uint(w, 20, 4);
    writer_uint(w, 0, 4);
    writer_uint(w, 1, 1);
    writer_bytes(w, "zR", 3);
    dwarf_uleb(w, 1);
    dwarf_sleb(w, -8);
    dwarf_uleb(w, D_RETURN);
    dwarf_uleb(w, 1);
    writer_uint(w, 0x1b, 1); /* encoding of addresses: 4 bytes, relative to their own place */
    dwarf_define(u, D_RSP, 8);
    writer_uint(w, CFA_SAVED | D_RETURN, 1);
    dwarf_uleb(w, 1);
    writer_fill(w, 0, 2);
}

static size_t begin_range(struct unwinding *u, uint32_t from, uint32_t to)
{
    size_t start = u->w->out.size;
    writer_uint(u->w, 0, 4);
    writer_uint(u->w, start + 4, 4);
    coil_elf_reloc(&u->n->elf, u->section,
                   (struct coil_elf_reloc){start + 8, u->text, COIL_ELF_PC32, from});
    writer_uint(u->w, 0, 4);
    writer_uint(u->w, to - from, 4);
    dwarf_uleb(u->w, 0);
    u->at = from;
    return start;
}

static void end_range(struct unwinding *u, size_t start)
{
    while ((u->w->out.size - start - 4) % 8 != 4) writer_uint(u->w, 0, 1);
    writer_patch(u->w, start, u->w->out.size - start - 4, 4);
}

/* Writes rows which say that the frame is removed before each return instruction. */
static void dwarf_returns(struct unwinding *u, uint32_t first, uint32_t count, uint32_t to)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = u->n->code.returns[first + i];
        dwarf_advance(u, place);
        writer_uint(u->w, CFA_REMEMBER, 1);
        writer_uint(u->w, CFA_RESTORE | D_RBP, 1);
        dwarf_define(u, D_RSP, 8);
        if (place + 1 >= to) return;
        dwarf_advance(u, place + 1);
        writer_uint(u->w, CFA_RESTORE_STATE, 1);
    }
}

static void pushed_rbp(struct unwinding *u, uint32_t from)
{
    dwarf_advance(u, from + 1);
    dwarf_define(u, D_RSP, 16);
    writer_uint(u->w, CFA_SAVED | D_RBP, 1);
    dwarf_uleb(u->w, 2);
}

/* Describes the frame of the entry code of coil_native_entry: push rbp; mov rbp, rsp; push rbx,
 * r12, r13, r14, r15. */
static void dwarf_entry(struct unwinding *u, const struct coil_native_range *r)
{
    static const uint8_t saved[] = {D_RBX, D_R12, D_R12 + 1, D_R12 + 2, D_R12 + 3};
    size_t start = begin_range(u, r->from, r->body);
    pushed_rbp(u, r->from);
    dwarf_advance(u, r->from + 4);
    dwarf_define(u, D_RBP, 16);
    dwarf_advance(u, r->from + 4 + 9);
    for (unsigned i = 0; i < sizeof saved; i++) {
        writer_uint(u->w, CFA_SAVED | saved[i], 1);
        dwarf_uleb(u->w, 3 + i);
    }
    dwarf_returns(u, r->first_return, 1, r->body);
    end_range(u, start);
}

/* Describes the frame of the code of ssa_native_begin: push rbp; sub rsp, frame; mov rbp, rsp. */
static void dwarf_body(struct unwinding *u, const struct coil_native_range *r)
{
    bool entered = r->body != r->from;
    uint32_t frame = (r->frame + 15) & ~UINT32_C(15), sub = frame ? 7 : 0;
    size_t start = begin_range(u, r->body, r->to);
    pushed_rbp(u, r->body);
    if (frame) {
        dwarf_advance(u, r->body + 1 + sub);
        dwarf_define(u, D_RSP, 16 + (uint64_t)frame);
    }
    dwarf_advance(u, r->body + 4 + sub);
    dwarf_define(u, D_RBP, 16 + (uint64_t)frame);
    dwarf_returns(u, r->first_return + entered, r->return_count - entered, r->to);
    end_range(u, start);
}

static uint32_t section_symbol(struct coil_native *n, uint32_t section)
{
    return coil_elf_symbol(&n->elf, bytes_of(""),
                           (struct coil_elf_symbol){.section = section, .type = COIL_ELF_SECTION});
}

void coil_native_unwind(struct coil_native *n, const struct coil_native_range *ranges, size_t count)
{
    struct unwinding u = {.n = n, .text = section_symbol(n, n->text)};
    u.section = coil_elf_section(&n->elf, ".eh_frame", COIL_ELF_UNWIND, COIL_ELF_ALLOC, 8);
    if (n->elf.failed) return;
    struct writer w = {0};
    u.w = &w;
    dwarf_common(&u);
    for (size_t i = 0; i < count; i++) {
        if (ranges[i].body != ranges[i].from) dwarf_entry(&u, &ranges[i]);
        dwarf_body(&u, &ranges[i]);
    }
    n->elf.sections[u.section].data = w;
}

struct row { /* struct row has a row of the section .coil.line */
    uint32_t section, offset, file, line;
};
struct lines {
    struct coil_native *n;
    struct row *rows;
    size_t count, capacity;
    /* Names of files as offsets of strings, each once, in the order of first use. */
    uint32_t *files;
    size_t file_count, file_capacity;
    uint32_t text; /* symbol of the section that has the code */
};

static int by_place(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->section != y->section) return x->section < y->section ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool read_rows(struct lines *l)
{
    const struct coil_module *m = l->n->m;
    for (size_t i = 0; i < m->section_count; i++) {
        penta_bytes rows = coil_contents(m, i);
        if (!bytes_equal(coil_string(m, m->sections[i].name_idx), bytes_of(".coil.line"))) continue;
        for (size_t at = 0; at + 16 <= rows.size; at += 16) {
            uint32_t words[4];
            for (unsigned k = 0; k < 4; k++)
                words[k] = (uint32_t)bytes_uint(rows.data + at + 4 * k, 4, m->big_endian);
            if (!words[0] || words[0] > m->section_count) continue;
            if (!ARRAY_RESERVE(l->rows, l->capacity, l->count + 1)) return false;
            l->rows[l->count++] = (struct row){words[0] - 1, words[1], words[2], words[3]};
        }
    }
    if (l->count) qsort(l->rows, l->count, sizeof *l->rows, by_place);
    return true;
}

static const struct row *row_of(const struct lines *l, uint32_t cell)
{
    const struct coil_program *p = &l->n->vm->program;
    if (cell >= p->count) return NULL;
    uint64_t pc = p->pcs[cell];
    for (uint32_t i = 0; i < l->n->m->section_count; i++) {
        const struct coil_section *s = &l->n->m->sections[i];
        if (!coil_is_code(s) || pc - p->sections[i] >= s->size) continue;
        uint32_t offset = (uint32_t)(pc - p->sections[i]);
        size_t low;
        ARRAY_SEARCH(low, 0, l->count,
                     l->rows[low].section > i ||
                         (l->rows[low].section == i && l->rows[low].offset > offset));
        return low && l->rows[low - 1].section == i ? &l->rows[low - 1] : NULL;
    }
    return NULL;
}

static uint32_t file_number(struct lines *l, uint32_t file)
{
    for (size_t i = 0; i < l->file_count; i++)
        if (l->files[i] == file) return (uint32_t)i + 1;
    if (!ARRAY_RESERVE(l->files, l->file_capacity, l->file_count + 1)) {
        l->n->elf.failed = true;
        return 1;
    }
    l->files[l->file_count++] = file;
    return (uint32_t)l->file_count;
}

enum { BASE = -5, RANGE = 14, FIRST_SPECIAL = 13 };

static void line_header(struct lines *l, struct writer *w)
{
    static const uint8_t lengths[FIRST_SPECIAL - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    writer_uint(w, 0, 4); /* The size is filled in at the end. */
    writer_uint(w, 4, 2);
    size_t at = w->out.size;
    writer_uint(w, 0, 4);
    writer_uint(w, 1, 1);
    writer_uint(w, 1, 1);
    writer_uint(w, 1, 1);
    writer_uint(w, (uint8_t)BASE, 1);
    writer_uint(w, RANGE, 1);
    writer_uint(w, FIRST_SPECIAL, 1);
    writer_bytes(w, lengths, sizeof lengths);
    writer_uint(w, 0, 1); /* The list of folders is empty. */
    for (size_t i = 0; i < l->file_count; i++) {
        penta_bytes name = coil_string(l->n->m, l->files[i]);
        if (!name.size) name = bytes_of("source");
        writer_bytes(w, name.data, name.size);
        writer_fill(w, 0, 4);
    }
    writer_uint(w, 0, 1);
    writer_patch(w, at, w->out.size - at - 4, 4);
}

static void dwarf_extended(struct writer *w, uint8_t op, unsigned size)
{
    writer_uint(w, 0, 1);
    dwarf_uleb(w, 1u + size);
    writer_uint(w, op, 1);
}

static void line_program(struct lines *l, struct writer *w, uint32_t section)
{
    enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, END_SEQUENCE = 1, SET_ADDRESS };
    const struct ssa_code *c = &l->n->code;
    uint32_t file = 1, end = (uint32_t)l->n->elf.sections[l->n->text].data.out.size, at = 0;
    int64_t line = 1;
    dwarf_extended(w, SET_ADDRESS, 8);
    coil_elf_reloc(&l->n->elf, section,
                   (struct coil_elf_reloc){w->out.size, l->text, COIL_ELF_64, 0});
    writer_uint(w, 0, 8);
    for (size_t i = 0; i < c->line_count; i++) {
        const struct row *row = row_of(l, c->lines[i].position);
        if (!row) continue;
        uint32_t number = file_number(l, row->file);
        if (number != file) writer_uint(w, SET_FILE, 1), dwarf_uleb(w, number);
        file = number;
        writer_uint(w, ADVANCE_PC, 1);
        dwarf_uleb(w, c->lines[i].native - at);
        at = c->lines[i].native;
        writer_uint(w, ADVANCE_LINE, 1);
        dwarf_sleb(w, (int64_t)row->line - line);
        line = row->line;
        writer_uint(w, COPY, 1);
    }
    writer_uint(w, ADVANCE_PC, 1);
    dwarf_uleb(w, end - at);
    dwarf_extended(w, END_SEQUENCE, 0);
}

static void dwarf_abbreviations(struct writer *w)
{
    static const uint8_t bytes[] = {
        /* Abbreviation 1 is DW_TAG_compile_unit and has children. */
        1, 0x11, 1,
        /* The attributes are DW_AT_producer, DW_AT_language, DW_AT_name. */
        0x25, 0x08, 0x13, 0x05, 0x03, 0x08,
        /* The attributes are DW_AT_stmt_list, DW_AT_low_pc, DW_AT_high_pc. */
        0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0,
        /* Abbreviation 2 is DW_TAG_subprogram and has no children. */
        2, 0x2e, 0,
        /* These attributes are DW_AT_name and DW_AT_external. */
        0x03, 0x08, 0x3f, 0x19,
        /* These attributes are DW_AT_low_pc and DW_AT_high_pc. */
        0x11, 0x01, 0x12, 0x07, 0, 0, 0};
    writer_bytes(w, bytes, sizeof bytes);
}

static void dwarf_address(struct lines *l, struct writer *w, uint32_t section, uint32_t symbol,
                          uint64_t value)
{
    coil_elf_reloc(&l->n->elf, section,
                   (struct coil_elf_reloc){w->out.size, symbol, COIL_ELF_64, (int64_t)value});
    writer_uint(w, 0, 8);
}

static void dwarf_info(struct lines *l, struct writer *w, uint32_t section, uint32_t line_symbol,
                       uint32_t abbrev_symbol, const struct coil_native_range *ranges, size_t count)
{
    enum { ASSEMBLER = 0x8001 };
    penta_bytes name = coil_string(l->n->m, l->files[0]);
    writer_uint(w, 0, 4);
    writer_uint(w, 4, 2);
    coil_elf_reloc(&l->n->elf, section,
                   (struct coil_elf_reloc){w->out.size, abbrev_symbol, COIL_ELF_32, 0});
    writer_uint(w, 0, 4);
    writer_uint(w, 8, 1);
    dwarf_uleb(w, 1);
    writer_bytes(w, "penta", 6);
    writer_uint(w, ASSEMBLER, 2);
    writer_bytes(w, name.data, name.size);
    writer_uint(w, 0, 1);
    coil_elf_reloc(&l->n->elf, section,
                   (struct coil_elf_reloc){w->out.size, line_symbol, COIL_ELF_32, 0});
    writer_uint(w, 0, 4);
    dwarf_address(l, w, section, l->text, 0);
    writer_uint(w, l->n->elf.sections[l->n->text].data.out.size, 8);
    for (size_t i = 0; i < count; i++) {
        dwarf_uleb(w, 2);
        const char *function = l->n->elf.symbols[l->n->function_symbols[i]].name;
        writer_bytes(w, function, strlen(function) + 1);
        dwarf_address(l, w, section, l->text, ranges[i].from);
        writer_uint(w, ranges[i].to - ranges[i].from, 8);
    }
    dwarf_uleb(w, 0);
    writer_patch(w, 0, w->out.size - 4, 4);
}

static void write_lines(struct lines *l, const struct coil_native_range *ranges, size_t count)
{
    struct coil_elf *o = &l->n->elf;
    struct writer program = {0}, header = {0};
    uint32_t sections[3];
    static const char *const names[] = {".debug_line", ".debug_abbrev", ".debug_info"};
    uint32_t symbols[3];
    for (int i = 0; i < 3; i++) {
        sections[i] = coil_elf_section(o, names[i], COIL_ELF_PROGBITS, 0, 1);
        symbols[i] = section_symbol(l->n, sections[i]);
    }
    l->text = section_symbol(l->n, l->n->text);
    if (o->failed) return;
    line_program(l, &program, sections[0]);
    if (l->file_count) {
        line_header(l, &header);
        for (size_t i = 0; i < o->sections[sections[0]].reloc_count; i++)
            o->sections[sections[0]].relocs[i].offset += header.out.size;
        writer_append(&header, &program);
        writer_patch(&header, 0, header.out.size - 4, 4);
        o->sections[sections[0]].data = header;
        dwarf_abbreviations(&o->sections[sections[1]].data);
        struct writer w = {0};
        dwarf_info(l, &w, sections[2], symbols[0], symbols[1], ranges, count);
        o->sections[sections[2]].data = w;
    } else {
        o->sections[sections[0]].reloc_count = 0;
    }
    writer_free(&program);
}

void coil_native_lines(struct coil_native *n, const struct coil_native_range *ranges, size_t count)
{
    struct lines l = {.n = n};
    if (!read_rows(&l)) n->elf.failed = true;
    if (l.count && !n->elf.failed) write_lines(&l, ranges, count);
    free(l.rows);
    free(l.files);
}
