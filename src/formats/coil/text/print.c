/* The disassembler makes a listing in memory and assembles it. If the result differs from the
 * file, it prints the file as hex instead, with the listing before it as comments. */
#include "coil/coil.h"
#include "coil/format/proto.h"
#include "coil/format/section_layout.h"
#include "core/assembles.h"
#include "core/describe.h"
#include "text/hex.h"
#include "text/lexer.h"
#include "text/quote.h"
#include <stdlib.h>

struct placed {
    uint64_t offset;
    size_t index;
};

static int by_offset(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

struct row { /* struct row has a row of the section .coil.line */
    uint32_t section, offset, file, line;
};

struct listing {
    const struct coil_module *m;
    struct writer *out;
    penta_error *err;
    struct coil_insn *insn;
    struct placed *placed; /* symbols of the section that is being printed, by offset */
    size_t placed_count, next;
    uint8_t *explicit_;        /* per symbol: 1 if it is printed as .symbol */
    uint8_t *starts;           /* per byte of the file: 1 if an instruction begins there */
    size_t line_section;       /* index of the section .coil.line, or SIZE_MAX */
    size_t name_section;       /* index of the section .coil.var, or SIZE_MAX */
    size_t line_row, name_row; /* next rows of .coil.line and .coil.var to print */
    size_t reloc;              /* next relocation to print */
    uint64_t function_end;     /* offset at which the open .func ends */
    bool function_open;
};

static void print_name(struct listing *l, size_t symbol)
{
    penta_bytes text = coil_symbol_name(l->m, symbol);
    writer_bytes(l->out, text.data, text.size);
}

static uint64_t base_of(const struct coil_module *m, size_t section)
{
    return m->header.flags & COIL_FILE_EXEC ? m->sections[section].addr : 0;
}

/* Tells whether a label can be written where a symbol is: in bytes that the listing shows, and
 * not inside an instruction. */
static bool print_placeable(const struct listing *l, const struct coil_symbol *s)
{
    const struct coil_module *m = l->m;
    size_t section = s->section_idx - 1u;
    if (!s->section_idx || s->section_idx > m->section_count || section == l->line_section ||
        section == l->name_section)
        return false;
    uint64_t offset = s->value - base_of(m, section);
    if (offset > m->sections[section].size) return false;
    if (!coil_is_code(&m->sections[section])) return true;
    return offset == m->sections[section].size || l->starts[m->sections[section].offset + offset];
}

static bool symbol_is_plain(const struct listing *l, size_t i)
{
    const struct coil_symbol *s = &l->m->symbols[i];
    if (!l->m->plain[i] || s->reserved || s->type >= COIL_SYMBOL_TYPES || s->bind == COIL_UNIQUE ||
        s->bind > 3 || s->visibility > 1)
        return false;
    if (s->section_idx) return print_placeable(l, s);
    if (s->type == COIL_COMMON) return s->bind == COIL_GLOBAL && s->value && s->value <= UINT32_MAX;
    return !s->value && (s->bind == COIL_GLOBAL || s->bind == COIL_WEAK);
}

static void print_header(struct listing *l)
{
    const struct coil_header *h = &l->m->header;
    struct writer *out = l->out;
    if (h->version != COIL_VERSION_1)
        writer_print(out, ".coil %u.%u.%u\n", (unsigned)(h->version >> 16 & 255),
                     (unsigned)(h->version >> 8 & 255), (unsigned)(h->version & 255));
    if (l->m->big_endian) writer_text(out, ".endian big\n");
    if (l->m->natural) writer_text(out, ".layout natural\n");
    if (h->flags != COIL_FILE_RELOC) writer_print(out, ".fileflags 0x%x\n", (unsigned)h->flags);
    if (h->target_pu != 1 || h->target_arch || h->target_mode != 0x83)
        writer_print(out, ".target %u, %u, 0x%x\n", (unsigned)h->target_pu,
                     (unsigned)h->target_arch, (unsigned)h->target_mode);
    penta_bytes first = l->m->section_count ? coil_string(l->m, l->m->sections[0].name_idx)
                                            : (penta_bytes){NULL, 0};
    if (first.size != 5 || memcmp(first.data, ".text", 5)) writer_text(out, ".layout bare\n");
}

static const char *print_declaration(const struct coil_symbol *s)
{
    static const char *const words[] = {".local ", ".global ", ".weak "};
    if (!s->section_idx && s->type != COIL_COMMON && s->bind == COIL_GLOBAL) return ".extern ";
    return words[s->bind];
}

/* Prints all names in the order of the symbol table, because the order in which names first
 * appear gives symbols their numbers. */
static void print_names(struct listing *l)
{
    const struct coil_module *m = l->m;
    const char *last = NULL;
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        if (l->explicit_[i]) {
            if (last) writer_char(l->out, '\n');
            last = NULL;
            writer_text(l->out, ".symbol ");
            writer_quoted(l->out, coil_symbol_name(m, i));
            writer_print(l->out, ", %u, %u, %u, 0x%x, 0x%llx, %llu", s->bind, s->visibility,
                         s->type, (unsigned)s->section_idx, (unsigned long long)s->value,
                         (unsigned long long)s->size);
            if (s->reserved) writer_print(l->out, ", %u", s->reserved);
            writer_char(l->out, '\n');
            continue;
        }
        const char *word = print_declaration(s);
        if (word == last) {
            writer_text(l->out, ", ");
        } else {
            if (last) writer_char(l->out, '\n');
            writer_text(l->out, word);
        }
        print_name(l, i);
        last = word;
    }
    if (last) writer_char(l->out, '\n');
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        if (l->explicit_[i]) continue;
        if (s->visibility == COIL_HIDDEN) {
            writer_text(l->out, ".hidden ");
            print_name(l, i);
            writer_char(l->out, '\n');
        }
        if (s->type == COIL_COMMON && !s->section_idx) {
            writer_text(l->out, ".comm ");
            print_name(l, i);
            writer_print(l->out, ", %llu, %llu\n", (unsigned long long)s->size,
                         (unsigned long long)s->value);
        }
    }
    bool exec = m->header.flags & COIL_FILE_EXEC;
    for (size_t i = 0; i < m->symbol_count && m->header.entry_point; i++)
        if (m->plain[i] && !l->explicit_[i] && m->symbols[i].type == COIL_FUNC &&
            (m->symbols[i].value | (exec ? 0 : (uint64_t)m->symbols[i].section_idx << 32)) ==
                m->header.entry_point) {
            writer_text(l->out, ".entry ");
            print_name(l, i);
            writer_char(l->out, '\n');
            return;
        }
    if (m->header.entry_point)
        writer_print(l->out, ".entry 0x%llx\n", (unsigned long long)m->header.entry_point);
}

/* Tells whether a section has the properties that the directive with its name alone would give
 * it. */
static bool print_usual(const struct coil_section *s, penta_bytes text)
{
    static const char *const directives[] = {".text", ".data", ".rodata", ".bss"};
    struct coil_section kind = coil_section_kind(text);
    bool named = false;
    for (int i = 0; i < 4; i++) named |= bytes_equal(text, bytes_of(directives[i]));
    return named && !s->addr && !s->link && !s->info && s->type == kind.type &&
           s->flags == kind.flags && s->align == kind.align;
}

static bool name_taken(const struct coil_module *m, size_t section)
{
    for (size_t i = 0; i < section; i++) {
        penta_bytes a = coil_string(m, m->sections[i].name_idx),
                    b = coil_string(m, m->sections[section].name_idx);
        if (a.size == b.size && !memcmp(a.data, b.data, a.size)) return true;
    }
    return false;
}

static void print_section_head(struct listing *l, size_t i)
{
    const struct coil_section *s = &l->m->sections[i];
    penta_bytes text = coil_string(l->m, s->name_idx);
    if (print_usual(s, text) && !name_taken(l->m, i)) {
        writer_bytes(l->out, text.data, text.size);
        writer_char(l->out, '\n');
        return;
    }
    writer_text(l->out, ".section ");
    writer_quoted(l->out, text);
    writer_print(l->out, ", %u, 0x%x, %llu", (unsigned)s->type, (unsigned)s->flags,
                 (unsigned long long)s->align);
    if (s->addr || s->link || s->info)
        writer_print(l->out, ", 0x%llx", (unsigned long long)s->addr);
    if (s->link || s->info) writer_print(l->out, ", %u, %u", (unsigned)s->link, (unsigned)s->info);
    writer_char(l->out, '\n');
}

/* Prints the end of a function that ends at this offset, then the labels and functions that
 * begin there. */
static void print_labels(struct listing *l, size_t section, uint64_t at)
{
    if (l->function_open && at >= l->function_end) {
        writer_text(l->out, ".endfunc\n");
        l->function_open = false;
    }
    for (; l->next < l->placed_count && l->placed[l->next].offset <= at; l->next++) {
        size_t i = l->placed[l->next].index;
        const struct coil_symbol *s = &l->m->symbols[i];
        uint64_t size = l->m->sections[section].size, end = at + s->size;
        bool code = coil_is_code(&l->m->sections[section]);
        bool fits = code && s->type == COIL_FUNC && !l->function_open && s->size && end <= size &&
                    (end == size || l->starts[l->m->sections[section].offset + end]);
        if (fits) {
            writer_text(l->out, ".func ");
            print_name(l, i);
            writer_char(l->out, '\n');
            l->function_open = true;
            l->function_end = end;
            continue;
        }
        print_name(l, i);
        writer_text(l->out, ":\n");
        if (s->type) {
            writer_text(l->out, ".type ");
            print_name(l, i);
            writer_print(l->out, ", %u\n", s->type);
        }
        if (s->size) {
            writer_text(l->out, ".size ");
            print_name(l, i);
            writer_print(l->out, ", %llu\n", (unsigned long long)s->size);
        }
    }
}

static void print_bytes(struct listing *l, penta_bytes bytes)
{
    size_t zeros = 0;
    while (zeros < bytes.size && !bytes.data[zeros]) zeros++;
    if (zeros == bytes.size && zeros > 8)
        writer_print(l->out, "    .zero %zu\n", zeros);
    else
        hex_rows(l->out, "    .bytes ", "    .bytes ", bytes);
}

/* Prints a word that has a relocation, if there is a directive for it. Returns the width of the
 * word, or 0 if nothing was printed. */
static size_t print_reloc(struct listing *l, size_t section, uint64_t at, penta_bytes rest)
{
    const struct coil_module *m = l->m;
    if (l->reloc >= m->reloc_count) return 0;
    const struct coil_reloc *r = &m->relocs[l->reloc];
    static const struct {
        uint32_t type;
        const char *word;
        size_t width;
    } kinds[] = {
        {0x1, ".addr ", 8}, {0x401, ".addr32 ", 4}, {0x402, ".rel32 ", 4}, {0x2, ".rel64 ", 8}};
    if (r->offset != ((uint64_t)(section + 1) << 32 | at)) return 0;
    for (int i = 0; i < 4; i++) {
        if (r->type != kinds[i].type || rest.size < kinds[i].width ||
            bytes_uint(rest.data, kinds[i].width, false))
            continue;
        writer_print(l->out, "    %s@", kinds[i].word);
        if (r->symbol_idx < m->symbol_count && m->plain[r->symbol_idx])
            print_name(l, r->symbol_idx);
        else
            writer_print(l->out, "#%u", (unsigned)r->symbol_idx);
        int64_t addend = (int64_t)r->addend;
        if (addend)
            writer_print(
                l->out, " %c %llu", addend < 0 ? '-' : '+',
                (unsigned long long)(addend < 0 ? 0 - (uint64_t)addend : (uint64_t)addend));
        writer_char(l->out, '\n');
        l->reloc++;
        return kinds[i].width;
    }
    return 0;
}

static void print_data(struct listing *l, size_t section)
{
    penta_bytes bytes = coil_contents(l->m, section);
    for (uint64_t at = 0;;) {
        print_labels(l, section, at);
        if (at >= bytes.size) break;
        size_t word = print_reloc(l, section, at, bytes_slice(bytes, (size_t)at, bytes.size));
        if (word) {
            at += word;
            continue;
        }
        uint64_t end = bytes.size;
        if (l->next < l->placed_count && l->placed[l->next].offset < end)
            end = l->placed[l->next].offset;
        for (size_t r = l->reloc; r < l->m->reloc_count && r < l->reloc + 1; r++) {
            uint64_t place = l->m->relocs[r].offset;
            if (place >> 32 == section + 1 && (place & UINT32_MAX) > at &&
                (place & UINT32_MAX) < end)
                end = place & UINT32_MAX;
        }
        print_bytes(l, bytes_slice(bytes, (size_t)at, (size_t)(end - at)));
        at = end;
    }
}

static void print_zeros(struct listing *l, size_t section)
{
    uint64_t size = l->m->sections[section].size;
    for (uint64_t at = 0;;) {
        print_labels(l, section, at);
        if (at >= size) return;
        uint64_t end = size;
        if (l->next < l->placed_count && l->placed[l->next].offset < end)
            end = l->placed[l->next].offset;
        writer_print(l->out, "    .zero %llu\n", (unsigned long long)(end - at));
        at = end;
    }
}

/* Prints prototypes as directives. Returns false if the assembler would write the section
 * differently. */
static bool print_protos(struct listing *l, size_t section)
{
    const struct coil_module *m = l->m;
    const struct coil_section *s = &m->sections[section];
    penta_error err = {0};
    struct coil_proto p;
    struct writer text = {0};
    size_t at = 0;
    bool usual_head = coil_is_proto(m, section) && s->type == COIL_S_COMMENT &&
                      s->flags == COIL_INFO && s->align == 4 && s->size && !s->addr && !s->link &&
                      !s->info && !l->placed_count && !name_taken(m, section);
    while (usual_head && coil_proto_next(m, section, &at, &p, &err)) {
        if (!m->plain[p.symbol]) break;
        penta_bytes symbol = coil_symbol_name(m, p.symbol);
        writer_text(&text, ".proto ");
        writer_bytes(&text, symbol.data, symbol.size);
        writer_text(&text, ", ");
        coil_proto_print(&text, &p);
        writer_char(&text, '\n');
    }
    bool ok = usual_head && at == s->size;
    if (ok) writer_append(l->out, &text);
    l->out->failed |= text.failed;
    writer_free(&text);
    return ok;
}

/* Prints as directives all rows up to a place in the code. A row of .coil.line has a line
 * number, and a row of .coil.var has none. */
static void print_rows(struct listing *l, size_t from, size_t section, uint64_t at, size_t *row)
{
    bool lines = from == l->line_section;
    if (from == SIZE_MAX) return;
    penta_bytes rows = coil_contents(l->m, from);
    for (; (*row + 1) * 16 <= rows.size; ++*row) {
        const uint8_t *p = rows.data + *row * 16;
        uint64_t s = bytes_uint(p, 4, l->m->big_endian),
                 offset = bytes_uint(p + 4, 4, l->m->big_endian);
        if (s != section + 1 || offset > at) return;
        writer_text(l->out, lines ? "    .line " : "    .name ");
        writer_quoted(l->out, coil_string(l->m, bytes_uint(p + 8, 4, l->m->big_endian)));
        if (lines)
            writer_print(l->out, ", %llu",
                         (unsigned long long)bytes_uint(p + 12, 4, l->m->big_endian));
        writer_char(l->out, '\n');
    }
}

/* Tells whether the text of one instruction assembles to the bytes of the instruction. Symbols
 * are printed as indices, so that the instruction can be assembled alone. */
static bool said_by_text(struct listing *l, penta_bytes bytes)
{
    struct coil_module alone = {.big_endian = l->m->big_endian, .raw = true, .abi = l->m->abi};
    alone.header.target_pu = l->m->header.target_pu;
    const struct coil_insn *insn = l->insn;
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_operand *o = &insn->operands[i];
        static const uint8_t usual_ext[] = {[COIL_VARID] = 0,
                                            [COIL_ADDR] = COIL_SYMBOL,
                                            [COIL_DEFID] = COIL_DEFINITION,
                                            [COIL_STRING] = 0};
        if ((o->form == COIL_VARID || o->form == COIL_ADDR || o->form == COIL_DEFID ||
             o->form == COIL_STRING) &&
            o->ext != usual_ext[o->form])
            return false;
        if ((o->form == COIL_REGISTER || o->form == COIL_MEASURE) && o->ext) return false;
        if (o->op == COIL_T_VOID && o->form != COIL_TYPE_ONLY) return false;
        if (o->type && o->type->ext && o->form == COIL_MEM) return false;
        if (o->type && coil_types[o->op].data == COIL_D_NONE && o->form == COIL_IMM &&
            !coil_is_scalar(o->op))
            return false;
        for (unsigned k = 0; k < o->parts_count; k++) {
            const struct coil_operand *p = &o->parts[k];
            bool scale = k == 2, disp = k && k == o->parts_count - 1u && k != 2;
            if (scale && p->op != COIL_T_UNT8) return false;
            if (disp && p->op != COIL_T_INT64) return false;
            if (p->form == COIL_IMM && (p->ext != COIL_IMMEDIATE || (!k && p->op != COIL_T_UNT64)))
                return false;
            if (p->form == COIL_ADDR && p->ext != COIL_SYMBOL) return false;
            if (p->form == COIL_REGISTER && p->ext) return false;
        }
    }
    /* Simple instructions always assemble to their bytes. Others are assembled here to find out. */
    bool plain = true;
    for (unsigned i = 0; i < insn->count; i++)
        plain &= coil_is_scalar(insn->operands[i].op) || insn->operands[i].form >= COIL_ADDR;
    if (plain) return true;
    struct writer text = {0};
    coil_print_insn(&text, &alone, insn);
    static const penta_option options[] = {{"raw", "1"}, {"endian", "little"}},
                              big[] = {{"raw", "1"}, {"endian", "big"}};
    bool same = writer_ok(&text, l->err) &&
                assembles_to(&coil_driver, writer_view(&text), l->m->big_endian ? big : options, 2,
                             bytes, l->err);
    writer_free(&text);
    return same;
}

static void print_code(struct listing *l, size_t section)
{
    penta_error err = {0};
    struct reader r = coil_code_reader(l->m, section, &err);
    while (reader_left(&r)) {
        size_t from = r.pos;
        print_labels(l, section, from);
        print_rows(l, l->line_section, section, from, &l->line_row);
        print_rows(l, l->name_section, section, from, &l->name_row);
        if (!coil_insn_read(&r, l->insn)) {
            print_bytes(l, bytes_slice(r.in, from, r.in.size));
            break;
        }
        penta_bytes bytes = bytes_slice(r.in, from, l->insn->size);
        if (said_by_text(l, bytes)) {
            writer_text(l->out, "    ");
            coil_print_insn(l->out, l->m, l->insn);
            writer_char(l->out, '\n');
        } else {
            writer_text(l->out, "    .bytes ");
            writer_hex(l->out, bytes);
            writer_text(l->out, " ; ");
            struct writer text = {0};
            coil_print_insn(&text, l->m, l->insn);
            writer_append(l->out, &text);
            writer_free(&text);
            writer_char(l->out, '\n');
        }
    }
    print_labels(l, section, r.in.size);
}

static void mark_starts(struct listing *l)
{
    for (size_t i = 0; i < l->m->section_count; i++) {
        if (!coil_is_code(&l->m->sections[i])) continue;
        penta_error err = {0};
        struct reader r = coil_code_reader(l->m, i, &err);
        while (reader_left(&r)) {
            size_t at = r.pos;
            if (!coil_insn_read(&r, l->insn)) {
                l->starts[r.origin + at] = 1; /* The bytes that cannot be decoded begin here. */
                break;
            }
            l->starts[r.origin + at] = 1;
        }
    }
}

static void place_symbols(struct listing *l, size_t section)
{
    l->placed_count = l->next = 0;
    for (size_t i = 0; i < l->m->symbol_count; i++)
        if (!l->explicit_[i] && l->m->symbols[i].section_idx == section + 1)
            l->placed[l->placed_count++] =
                (struct placed){l->m->symbols[i].value - base_of(l->m, section), i};
    qsort(l->placed, l->placed_count, sizeof *l->placed, by_offset);
}

/* Tells whether rows are sorted by section and offset. Rows in another order cannot be printed
 * as directives. */
static bool print_ascending(const struct coil_module *m, penta_bytes rows)
{
    uint64_t last = 0;
    for (size_t at = 0; at < rows.size; at += 16) {
        uint64_t place = bytes_uint(rows.data + at, 4, m->big_endian) << 32 |
                         bytes_uint(rows.data + at + 4, 4, m->big_endian);
        if (place < last) return false;
        last = place;
    }
    return true;
}

/* Returns the section whose rows are printed as .line or .name, or SIZE_MAX. The assembler
 * writes these rows to the section of this name that the text has, or else to a new one at the
 * end. */
static size_t find_rows(const struct coil_module *m, const char *name)
{
    for (size_t i = 0; i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        penta_bytes text = coil_string(m, s->name_idx);
        if (bytes_equal(text, bytes_of(name)) && s->type == COIL_S_DEBUG && s->flags == COIL_INFO &&
            s->align == 4 && s->size && s->size % 16 == 0 && !s->addr && !s->link && !s->info &&
            print_ascending(m, coil_contents(m, i)))
            return i;
    }
    return SIZE_MAX;
}

static void print_object(struct listing *l)
{
    print_header(l);
    print_names(l);
    for (size_t i = 0; i < l->m->section_count; i++) {
        bool rows = i == l->line_section || i == l->name_section;
        if (rows && i + 1 == l->m->section_count) continue;
        place_symbols(l, i);
        if (print_protos(l, i)) continue;
        print_section_head(l, i);
        if (rows) continue;
        if (coil_is_code(&l->m->sections[i]))
            print_code(l, i);
        else if (l->m->sections[i].type == COIL_S_BSS)
            print_zeros(l, i);
        else
            print_data(l, i);
        if (l->function_open) writer_text(l->out, ".endfunc\n");
        l->function_open = false;
    }
}

/* Prints the listing as comments, then the bytes of the file. */
static void print_image(struct writer *out, penta_bytes listing, penta_bytes file)
{
    size_t from = 0;
    for (size_t i = 0; i < listing.size; i++) {
        if (listing.data[i] != '\n') continue;
        writer_text(out, "; ");
        writer_bytes(out, listing.data + from, i + 1 - from);
        from = i + 1;
    }
    hex_rows(out, ".image ", ".image ", file);
}

bool coil_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err)
{
    (void)options, (void)count;
    const struct coil_module *m = coil_module(module);
    struct writer text = {0};
    struct listing l = {.m = m,
                        .out = &text,
                        .err = err,
                        .insn = calloc(1, sizeof *l.insn),
                        .placed = calloc(m->symbol_count + 1, sizeof *l.placed),
                        .explicit_ = calloc(m->symbol_count + 1, 1),
                        .starts = calloc(module->file.size + 1, 1),
                        .line_section = find_rows(m, ".coil.line"),
                        .name_section = find_rows(m, ".coil.var")};
    bool ok = l.insn && l.placed && l.explicit_ && l.starts;
    if (ok && m->raw) {
        writer_text(&text, m->big_endian ? ".endian big\n.raw\n" : ".raw\n");
        print_code(&l, 0);
        writer_append(out, &text);
    } else if (ok) {
        mark_starts(&l);
        for (size_t i = 0; i < m->symbol_count; i++) l.explicit_[i] = !symbol_is_plain(&l, i);
        print_object(&l);
        if (assembles_to(&coil_driver, writer_view(&text), NULL, 0, module->file, err))
            writer_append(out, &text);
        else
            print_image(out, writer_view(&text), module->file);
    } else {
        error_at(err, BASE_MEMORY, 0, "no memory for a listing");
    }
    if (l.insn) coil_insn_free(l.insn);
    free(l.insn);
    free(l.placed);
    free(l.explicit_);
    free(l.starts);
    out->failed |= text.failed;
    writer_free(&text);
    return ok && !err->code && writer_ok(out, err);
}

/* The functions below print single instructions, for traces and diagnostics. */

static void drop_insn(struct coil_insn *insn)
{
    coil_insn_free(insn);
    free(insn);
}

/* Returns the instruction at an address. It returns NULL if there is none, or if there is no
 * memory, which sets *err. The caller frees the instruction with drop_insn. */
static struct coil_insn *insn_at(const struct coil_module *m, uint64_t pc, penta_error *err)
{
    struct coil_insn *insn = malloc(sizeof *insn);
    if (!insn) {
        error_at(err, BASE_MEMORY, 0, "no memory for an instruction");
        return NULL;
    }
    insn->arena = (struct arena){0};
    insn->arena_used = 0;
    for (size_t i = 0; i < m->section_count && !m->base.damage.code; i++) {
        uint64_t address = coil_section_address(m, i);
        if (!coil_is_code(&m->sections[i]) || pc < address || pc - address >= m->sections[i].size)
            continue;
        struct reader r = coil_code_reader(m, i, err);
        r.pos = (size_t)(pc - address);
        if (coil_insn_read(&r, insn)) return insn;
        if (err->code != BASE_MEMORY) *err = (penta_error){0};
    }
    drop_insn(insn);
    return NULL;
}

bool coil_print_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    penta_error err = {0};
    struct coil_insn *insn = insn_at(coil_module(module), pc, &err);
    out->failed |= err.code == BASE_MEMORY;
    if (!insn) return false;
    coil_print_insn(out, coil_module(module), insn);
    drop_insn(insn);
    return true;
}

bool coil_flow_at(const struct coil_module *m, uint64_t pc, struct coil_flow_at *out)
{
    penta_error err = {0};
    struct coil_insn *insn = insn_at(m, pc, &err);
    if (!insn) return false;
    const struct coil_operand *last = insn->count ? &insn->operands[insn->count - 1] : NULL;
    *out = (struct coil_flow_at){.opcode = insn->opcode,
                                 .conditional = last && insn->operands[0].form == COIL_PARAM,
                                 .direct = last && last->form == COIL_ADDR,
                                 .symbol = last ? last->value : 0};
    drop_insn(insn);
    return true;
}

uint64_t coil_next_pc(const penta_module *module, uint64_t pc)
{
    penta_error err = {0};
    struct coil_insn *insn = insn_at(coil_module(module), pc, &err);
    if (!insn) return pc;
    uint64_t next = pc + insn->size;
    drop_insn(insn);
    return next;
}

bool coil_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset)
{
    const struct coil_module *m = coil_module(module);
    for (size_t i = 0; i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        uint64_t address = coil_section_address(m, i);
        if (!coil_is_code(s) || pc < address || pc - address >= s->size) continue;
        *offset = s->offset + (pc - address);
        return true;
    }
    return false;
}

bool coil_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    const struct coil_module *m = coil_module(module);
    struct coil_insn *insn = malloc(sizeof *insn);
    bool found = false;
    for (size_t i = 0; insn && i < m->section_count && !module->damage.code; i++) {
        const struct coil_section *s = &m->sections[i];
        if (!coil_is_code(s) || offset < s->offset || offset - s->offset >= s->size) continue;
        penta_error err = {0};
        struct reader r = coil_code_reader(m, i, &err);
        insn->arena = (struct arena){0};
        insn->arena_used = 0;
        while (reader_left(&r) && coil_insn_read(&r, insn)) {
            if (r.origin + r.pos <= offset) continue;
            *pc = coil_section_address(m, i) + insn->at;
            found = true;
            break;
        }
        coil_insn_free(insn);
    }
    free(insn);
    return found;
}

void coil_isa(const penta_visitor *v)
{
    for (unsigned code = 0; code < 256; code++) {
        const struct coil_op_info *op = &coil_ops[code];
        penta_node node = {.name = "instruction"};
        if (!op->name || !describe_enter(v, node)) continue;
        describe_word(v, "opcode", code);
        describe_text(v, "mnemonic", op->name);
        describe_text(v, "operands", op->forms);
        describe_text(v, "flags", op->flags);
        describe_text(v, "meaning", op->meaning);
        bool never =
            op->group == COIL_G_PREPROC || op->group == COIL_G_NEVER || op->group == COIL_G_DEVICE;
        /* The machine either executes an instruction of this kind or traps. */
        if (never) describe_bool(v, "runs", false);
        describe_leave(v, node);
    }
}
