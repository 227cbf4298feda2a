/* Checks every rule of an object (COIL 8, COIL 11): tables, symbols and relocations, then the
 * code, function by function. The rules of single instructions are in check/. */
#include "coil/format/proto.h"
#include "coil/format/check/check.h"
#include "base/array.h"
#include "base/long_work.h"
#include "coil/format/pieces.h"
#include "coil/format/target.h"
#include <stdlib.h>

static void verify_header(const struct coil_module *m, struct findings *f)
{
    const struct coil_header *h = &m->header;
    unsigned kinds = (h->flags & COIL_FILE_EXEC ? 1u : 0u) +
                     (h->flags & COIL_FILE_SHARED ? 1u : 0u) +
                     (h->flags & COIL_FILE_RELOC ? 1u : 0u);
    if (kinds != 1)
        findings_add(f, COIL_ENUM, 8, NULL,
                     "file flags 0x%x: a file is one of EXEC, SHARED and RELOC",
                     (unsigned)h->flags);
    if (h->flags & ~UINT32_C(0x1ff))
        findings_add(f, COIL_FILE_FLAGS, 8, NULL, "unknown file flags 0x%x",
                     (unsigned)(h->flags & ~UINT32_C(0x1ff)));
    coil_verify_target(h, f);
    if (m->strings.size && (m->strings.data[0] || m->strings.data[m->strings.size - 1]))
        findings_add(f, COIL_STRTAB, h->string_offset, NULL,
                     "the string table does not start and end with a zero byte");
    if (!m->strings.size && (m->section_count || m->symbol_count))
        findings_add(f, COIL_STRTAB, h->string_offset, NULL, "the string table is empty");
}

static void verify_name(const struct coil_module *m, struct findings *f, uint64_t at,
                        uint32_t offset)
{
    if (offset >= m->strings.size && (offset || m->strings.size))
        findings_add(f, COIL_STR_OFFSET, at, NULL,
                     "a name at %u of the string table, which has %zu bytes", (unsigned)offset,
                     m->strings.size);
}

static void verify_sections(const struct coil_module *m, struct findings *f)
{
    for (size_t i = 0; i < m->section_count; i++) {
        const struct coil_section *s = &m->sections[i];
        uint64_t at =
            m->header.section_offset + i * (m->natural ? COIL_NATURAL_SECTION : coil_section_bytes);
        if (s->type >= COIL_SECTION_TYPES)
            findings_add(f, COIL_ENUM, at, NULL, "section %zu has type %u", i + 1,
                         (unsigned)s->type);
        if (s->align & (s->align - 1))
            findings_add(f, COIL_ALIGN, at + 32, NULL, "section %zu has alignment %llu", i + 1,
                         (unsigned long long)s->align);
        if (s->size > UINT32_MAX && s->type != COIL_S_BSS)
            findings_add(f, COIL_SECTION_RANGE, at + 16, NULL, "section %zu has more than 4 GiB",
                         i + 1);
        verify_name(m, f, at + 40, s->name_idx);
    }
}

/* Checks that what a symbol defines lies within its section. The value of the symbol is an
 * offset, or an address in an executable. */
static void verify_place(const struct coil_module *m, size_t i, struct findings *f)
{
    const struct coil_symbol *s = &m->symbols[i];
    if (!s->section_idx || s->section_idx > m->section_count) return;
    const struct coil_section *in = &m->sections[s->section_idx - 1];
    uint64_t offset = s->value - (m->header.flags & COIL_FILE_EXEC ? in->addr : 0);
    penta_bytes name = coil_symbol_name(m, i);
    if (offset > in->size || s->size > in->size - offset)
        findings_add(f, COIL_SYM_RANGE, m->header.symbol_offset + i * coil_symbol_bytes + 8, NULL,
                     "'%.*s' has %llu bytes at 0x%llx of a section of %llu bytes",
                     BYTES_ARG(name, 40), (unsigned long long)s->size, (unsigned long long)offset,
                     (unsigned long long)in->size);
}

/* Tells whether a symbol is undefined and no other file can define it. */
static bool stays_undefined(const struct coil_symbol *s, bool exec)
{
    if (s->section_idx || s->type == COIL_FILE || s->type == COIL_SECTION) return false;
    return exec ? s->bind != COIL_WEAK : s->bind == COIL_LOCAL && s->type != COIL_COMMON;
}

static void verify_symbols(const struct coil_module *m, struct findings *f)
{
    bool exec = m->header.flags & COIL_FILE_EXEC;
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        uint64_t at = m->header.symbol_offset + i * coil_symbol_bytes;
        penta_bytes name = coil_symbol_name(m, i);
        if (s->type >= COIL_SYMBOL_TYPES)
            findings_add(f, COIL_ENUM, at + 24, NULL, "symbol %zu has type %u", i, s->type);
        if (s->bind > 3)
            findings_add(f, COIL_ENUM, at + 26, NULL, "symbol %zu has binding %u", i, s->bind);
        if (s->visibility > 3)
            findings_add(f, COIL_ENUM, at + 28, NULL, "symbol %zu has visibility %u", i,
                         s->visibility);
        if (s->reserved)
            findings_add(f, COIL_PADDING, at + 30, NULL, "reserved bytes 0x%04x of symbol %zu",
                         s->reserved, i);
        if (s->section_idx > m->section_count && s->section_idx != COIL_ABSOLUTE)
            findings_add(f, COIL_SYM_SECTION, at + 4, NULL, "symbol %zu is in section %u, of %zu",
                         i, (unsigned)s->section_idx, m->section_count);
        verify_name(m, f, at, s->name_idx);
        verify_place(m, i, f);
        if (stays_undefined(s, exec))
            findings_add(f, COIL_UNDEFINED, at + 4, NULL, "'%.*s' is %s", BYTES_ARG(name, 60),
                         exec ? "not defined in an executable"
                              : "local and not defined: no other file can define it");
    }
}

static void verify_relocs(const struct coil_module *m, struct findings *f)
{
    uint64_t table = m->header.reloc_offset;
    if (m->header.flags & COIL_FILE_EXEC && m->reloc_count)
        findings_add(f, COIL_RELOC_LEFT, table, NULL, "an executable with %zu relocations",
                     m->reloc_count);
    for (size_t i = 0; i < m->reloc_count; i++) {
        const struct coil_reloc *r = &m->relocs[i];
        uint64_t at = table + i * coil_reloc_bytes, section = r->offset >> 32,
                 offset = r->offset & UINT32_MAX;
        uint32_t kind = r->type & 255, width = r->type >> 8;
        if (kind > 7 || (width != 0 && width != 1 && width != 2 && width != 4 && width != 8)) {
            findings_add(f, COIL_RELOC_TYPE, at + 12, NULL, "relocation %zu has type 0x%x", i,
                         (unsigned)r->type);
            width = 1;
        }
        if (r->symbol_idx >= m->symbol_count)
            findings_add(f, COIL_RELOC_SYM, at + 8, NULL, "relocation %zu names symbol %u, of %zu",
                         i, (unsigned)r->symbol_idx, m->symbol_count);
        if (!section || section > m->section_count || m->sections[section - 1].type == COIL_S_BSS)
            findings_add(f, COIL_RELOC_SECTION, at, NULL, "relocation %zu is in section %u", i,
                         (unsigned)section);
        else if (offset + (width ? width : 8) > m->sections[section - 1].size)
            findings_add(f, COIL_RELOC_RANGE, at, NULL,
                         "relocation %zu is at 0x%llx of a section of %llu bytes", i,
                         (unsigned long long)offset,
                         (unsigned long long)m->sections[section - 1].size);
    }
}

static void verify_entry(const struct coil_module *m, struct findings *f)
{
    if (!(m->header.flags & COIL_FILE_EXEC)) return;
    for (size_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].type == COIL_FUNC && m->symbols[i].section_idx &&
            m->symbols[i].value == m->header.entry_point && m->header.entry_point)
            return;
    findings_add(f, COIL_ENTRY, 24, NULL, "entry point 0x%llx is no function",
                 (unsigned long long)m->header.entry_point);
}

static void verify_extensions(const struct coil_module *m, struct findings *f)
{
    for (size_t i = 0; i < m->section_count; i++) {
        penta_bytes name = coil_string(m, m->sections[i].name_idx), data = coil_contents(m, i);
        if (name.size != 9 || memcmp(name.data, ".coil.ext", 9) || data.size < 4) continue;
        uint64_t count = bytes_uint(data.data, 4, m->big_endian), seen = 0;
        for (uint64_t k = 0; k < count && 8 + 4 * k <= data.size; k++) {
            uint64_t id = bytes_uint(data.data + 4 + 4 * k, 4, m->big_endian);
            if (id < 64) seen |= UINT64_C(1) << id;
        }
        if ((seen >> 3 & 3) == 3)
            findings_add(f, COIL_EXT_PROFILE, m->sections[i].offset, NULL,
                         ".coil.ext lists ABI and Preproc, which share opcodes");
    }
}

static void no_memory(struct findings *f)
{
    findings_add(f, BASE_MEMORY, 0, NULL, "no memory to check the file");
}

/* Zeros between pieces are padding for alignment. Other bytes that belong to no piece may be
 * hidden data, so they are reported. */
static void verify_unused(const struct coil_module *m, struct findings *f)
{
    penta_bytes file = m->base.file;
    size_t count;
    struct coil_piece *pieces = coil_pieces(m, &count);
    uint64_t end = 0;
    if (!pieces) no_memory(f);
    for (size_t i = 0; pieces && i < count; i++) {
        size_t at = (size_t)end, to = (size_t)pieces[i].from;
        while (at < to && !file.data[at]) at++;
        if (at < to)
            findings_add(f, COIL_UNUSED, at, NULL,
                         "%zu bytes, not all zero, belong to no table or section", to - at);
        end = pieces[i].from + pieces[i].size;
    }
    if (pieces && end < file.size)
        findings_add(f, COIL_UNUSED, end, NULL, "%llu bytes after the last table and section",
                     (unsigned long long)(file.size - end));
    free(pieces);
}

struct target { /* a branch; it is checked when it is known where instructions start */
    uint64_t symbol, at;
    uint32_t function; /* number of the function that contains the branch */
    bool call;
};

struct code_walk {
    const struct coil_module *m;
    struct findings *f;
    size_t section;
    uint64_t base;       /* number to subtract from the value of a symbol to get an offset */
    uint64_t *starts;    /* one bit per byte of the section: 1 if an instruction starts there */
    uint64_t *functions; /* offsets of the FUNC symbols, in ascending order */
    size_t function_count;
    struct target *targets;
    size_t target_count, target_capacity;
};

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool collect_functions(struct code_walk *w)
{
    const struct coil_module *m = w->m;
    w->functions = malloc((m->symbol_count + 1) * sizeof *w->functions);
    if (!w->functions) return false;
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        if (s->type == COIL_FUNC && s->section_idx == w->section + 1)
            w->functions[w->function_count++] = s->value - w->base;
    }
    qsort(w->functions, w->function_count, sizeof *w->functions, by_value);
    size_t n = 0;
    for (size_t i = 0; i < w->function_count; i++)
        if (!n || w->functions[n - 1] != w->functions[i]) w->functions[n++] = w->functions[i];
    w->function_count = n;
    return true;
}

static bool is_start(const struct code_walk *w, uint64_t offset)
{
    return offset < w->m->sections[w->section].size && w->starts[offset / 64] >> offset % 64 & 1;
}

/* Returns the number of the function that contains an offset, counted from 1, or 0 if the offset
 * is before the first function. */
static uint32_t function_at(const struct code_walk *w, uint64_t offset)
{
    size_t low;
    ARRAY_SEARCH(low, 0, w->function_count, w->functions[low] > offset);
    return (uint32_t)low;
}

static void coil_verify_judge(struct code_walk *w, const struct target *t)
{
    const struct coil_symbol *s = &w->m->symbols[t->symbol];
    if (!s->section_idx || s->section_idx == COIL_ABSOLUTE || s->section_idx > w->m->section_count)
        return;
    bool ok = s->type == COIL_FUNC && coil_is_code(&w->m->sections[s->section_idx - 1]);
    uint64_t offset = s->value - w->base;
    if (s->section_idx == w->section + 1) {
        uint32_t function = function_at(w, offset);
        bool first = function && w->functions[function - 1] == offset;
        ok = is_start(w, offset) && (first || (!t->call && function == t->function) ||
                                     (t->call && !offset && !w->function_count));
    }
    if (ok) return;
    penta_bytes name = coil_symbol_name(w->m, (size_t)t->symbol);
    findings_add(w->f, COIL_TARGET, t->at, NULL,
                 t->call ? "'%.*s' is no function"
                         : "'%.*s' is no instruction of this function and no function",
                 BYTES_ARG(name, 60));
}

static bool keep_target(struct code_walk *w, const struct coil_insn *insn, uint64_t origin,
                        uint32_t function)
{
    bool branch = insn->opcode == COIL_OP_BR || insn->opcode == COIL_OP_JMP,
         call = insn->opcode == COIL_OP_CALL;
    if (!(branch || call) || !insn->count) return true;
    const struct coil_operand *o = &insn->operands[insn->count - 1];
    if (o->form != COIL_ADDR || o->value >= w->m->symbol_count) return true;
    if (!ARRAY_RESERVE(w->targets, w->target_capacity, w->target_count + 1)) return false;
    w->targets[w->target_count++] = (struct target){o->value, origin + o->at, function, call};
    return true;
}

static bool coil_verify_ends(const struct coil_insn *insn)
{
    switch (insn->opcode) {
    case COIL_OP_RET: return insn->count == 0;
    case COIL_OP_BR: return insn->count == 1;
    case COIL_OP_JMP:
    case COIL_OP_HALT:
    case COIL_OP_TRAP:
    case COIL_OP_SWITCH: return true;
    default: return false;
    }
}

static bool is_padding(const struct coil_insn *insn)
{
    return (insn->opcode == COIL_OP_NOP || (insn->opcode == COIL_OP_VENDOR && !insn->extended)) &&
           !insn->count;
}

static void end_function(struct code_walk *w, struct coil_check *c, uint64_t last, bool any,
                         bool ended)
{
    c->errors = 0;
    coil_check_function_end(c, last);
    if (any && !ended && !w->m->raw)
        findings_add(w->f, COIL_FALLTHROUGH, c->origin + last, NULL,
                     "the function can run past its end");
}

enum { INSN_UNITS = 2 }; /* units of work for checking one instruction */

static void verify_code(struct code_walk *w, struct coil_check *c, struct coil_insn *insn)
{
    const struct coil_module *m = w->m;
    penta_error err = {0};
    struct reader r = coil_code_reader(m, w->section, &err);
    uint32_t function = 0;
    uint64_t last = 0;
    bool any = false, ended = true;
    c->origin = r.origin;
    coil_check_function(c);
    while (reader_left(&r)) {
        while (function < w->function_count && w->functions[function] <= r.pos) {
            if (any) end_function(w, c, last, any, ended);
            function++;
            any = false;
            coil_check_function(c);
        }
        if (!coil_insn_read(&r, insn)) {
            findings_pass(w->f, &err);
            return;
        }
        w->starts[insn->at / 64] |= UINT64_C(1) << insn->at % 64;
        unsigned align = coil_target_align(&c->target);
        if (m->align > align) align = m->align;
        if (insn->at % align && !is_padding(insn))
            findings_add(w->f, COIL_CODE_ALIGN, r.origin + insn->at,
                         "'.align code' in the text pads instructions",
                         "an instruction at 0x%x, not a multiple of %u", (unsigned)insn->at, align);
        coil_check_insn(c, insn);
        if (long_work_over(w->f->work, INSN_UNITS)) return;
        if (c->removed) continue;
        if (!is_padding(insn) || (function && !any)) {
            last = insn->at;
            ended = coil_verify_ends(insn);
            any = true;
        }
        if (!keep_target(w, insn, r.origin, function)) {
            no_memory(w->f);
            return;
        }
    }
    end_function(w, c, last, any, ended);
    coil_check_section_end(c, last);
    for (size_t i = 0; i < w->target_count; i++) coil_verify_judge(w, &w->targets[i]);
}

static void verify_section(const struct coil_module *m, size_t i, struct coil_check *c,
                           struct coil_insn *insn, struct findings *f)
{
    struct code_walk w = {.m = m,
                          .f = f,
                          .section = i,
                          .base = m->header.flags & COIL_FILE_EXEC ? m->sections[i].addr : 0};
    w.starts = calloc((size_t)m->sections[i].size / 64 + 1, 8);
    if (w.starts && collect_functions(&w))
        verify_code(&w, c, insn);
    else
        no_memory(f);
    free(w.starts);
    free(w.functions);
    free(w.targets);
}

void coil_verify(const penta_module *module, struct findings *f)
{
    const struct coil_module *m = coil_module(module);
    if (module->damage.code) {
        findings_pass(f, &module->damage);
        return;
    }
    if (!m->raw) {
        verify_header(m, f);
        verify_sections(m, f);
        verify_symbols(m, f);
        verify_relocs(m, f);
        verify_entry(m, f);
        verify_extensions(m, f);
        coil_proto_verify(m, f);
        verify_unused(m, f);
    }
    struct coil_check check;
    struct coil_insn *insn = malloc(sizeof *insn);
    if (!insn) {
        no_memory(f);
        return;
    }
    insn->arena = (struct arena){0};
    insn->arena_used = 0;
    coil_check_init(&check, m, f);
    for (size_t i = 0; i < m->section_count; i++)
        if (coil_is_code(&m->sections[i]) && m->sections[i].size)
            verify_section(m, i, &check, insn, f);
    coil_check_fini(&check);
    coil_insn_free(insn);
    free(insn);
}
