/* Executes the directives of the text form (COIL 10.3, COIL 10.5), which select sections, define
 * symbols and data, and set fields of the file. A table at the end of this file lists them. */
#include "base/array.h"
#include "base/number.h"
#include "base/suggest.h"
#include "coil/format/section_layout.h"
#include "coil/text/assemble.h"
#include "coil/format/target.h"
#include <stdlib.h>

static bool name_list(struct coil_asm *a, bool (*each)(struct coil_asm *a, size_t symbol))
{
    struct source *s = a->s;
    do {
        struct token t = source_next(s);
        if (t.kind != TOKEN_NAME && t.kind != TOKEN_DIRECTIVE)
            return source_unexpected(s, t, "a name");
        int64_t i = asm_symbol(a, asm_local_name(a, token_text(s, t)));
        if (i < 0 || !each(a, (size_t)i)) return false;
    } while (source_accept(s, ','));
    return true;
}

static bool directives_bind(struct coil_asm *a, size_t i, uint16_t how)
{
    a->object.symbols[i].head.bind = how;
    a->bind_set[i] = 1;
    return true;
}
static bool bind_global(struct coil_asm *a, size_t i) { return directives_bind(a, i, COIL_GLOBAL); }
static bool bind_weak(struct coil_asm *a, size_t i) { return directives_bind(a, i, COIL_WEAK); }
static bool bind_local(struct coil_asm *a, size_t i) { return directives_bind(a, i, COIL_LOCAL); }
static bool directives_mentioned(struct coil_asm *a, size_t i)
{
    (void)a, (void)i;
    return true;
}
static bool directives_hidden(struct coil_asm *a, size_t i)
{
    a->object.symbols[i].head.visibility = COIL_HIDDEN;
    return true;
}

static bool d_global(struct coil_asm *a) { return name_list(a, bind_global); }
static bool d_weak(struct coil_asm *a) { return name_list(a, bind_weak); }
static bool d_local(struct coil_asm *a) { return name_list(a, bind_local); }
static bool d_hidden(struct coil_asm *a) { return name_list(a, directives_hidden); }
static bool d_extern(struct coil_asm *a) { return name_list(a, directives_mentioned); }

/* Reads one of some words, or a number. */
static bool directives_choice(struct coil_asm *a, const char *const *words, const uint32_t *values,
                              size_t count, uint32_t *out, const char *what)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    if (t.kind == TOKEN_INT && t.as.u <= UINT32_MAX) {
        *out = (uint32_t)t.as.u;
        return true;
    }
    struct suggest near = {.word = token_text(s, t)};
    for (size_t i = 0; t.kind == TOKEN_NAME && i < count; i++) {
        if (token_is(s, t, words[i])) {
            *out = values ? values[i] : (uint32_t)i;
            return true;
        }
        suggest_offer(&near, words[i]);
    }
    source_unexpected(s, t, what);
    if (near.best) error_note(s->err, "did you mean %s?", near.best);
    return false;
}

static bool empty_object(const struct coil_asm *a)
{
    for (size_t i = 0; i < a->object.section_count; i++)
        if (coil_out_size(&a->object.sections[i])) return false;
    return true;
}

static bool d_endian(struct coil_asm *a)
{
    static const char *const words[] = {"little", "big"};
    uint32_t big;
    if (!empty_object(a))
        return error_at(a->s->err, COIL_DIRECTIVE, a->s->pos, ".endian comes before any content");
    if (!directives_choice(a, words, NULL, 2, &big, "little or big")) return false;
    a->object.big_endian = big;
    for (size_t i = 0; i < a->object.section_count; i++)
        a->object.sections[i].data.big_endian = big;
    return true;
}

static bool d_target(struct coil_asm *a)
{
    const char *modes[32];
    uint32_t numbers[32], count = 0;
    for (const struct coil_mode *m = coil_modes; m->name && count < 32; m++, count++) {
        modes[count] = m->name;
        numbers[count] = m->number;
    }
    struct coil_header *h = &a->object.header;
    if (!directives_choice(a, coil_unit_names, NULL, COIL_UNITS, &h->target_pu,
                           "a unit: cpu gpu npu dsp any"))
        return false;
    source_accept(a->s, ',');
    if (!directives_choice(a, coil_arch_names, NULL, COIL_ARCHS, &h->target_arch,
                           "an architecture: any x86 arm riscv"))
        return false;
    source_accept(a->s, ',');
    return directives_choice(a, modes, numbers, count, &h->target_mode,
                             "a mode: any x64 a64 rv64 v64");
}

static bool d_fileflags(struct coil_asm *a)
{
    uint64_t flags;
    if (!asm_unsigned(a, UINT32_MAX, &flags)) return false;
    a->object.header.flags = (uint32_t)flags;
    return true;
}

static bool d_layout(struct coil_asm *a)
{
    static const char *const words[] = {"packed", "natural", "bare"};
    uint32_t which;
    do {
        if (!directives_choice(a, words, NULL, 3, &which, "packed, natural or bare")) return false;
        if (which < 2) {
            a->object.natural = which;
            continue;
        }
        if (a->object.section_count != 1 || !empty_object(a))
            return error_at(a->s->err, COIL_DIRECTIVE, a->s->pos,
                            ".layout bare comes before any content");
        a->object.section_count = 0; /* A bare layout has no .text section at the start. */
        a->bare = true;
    } while (source_accept(a->s, ','));
    return true;
}

/* Reads a version such as 1.0.0. The lexer cannot do so: it would read a float and another
 * number. */
static bool d_coil(struct coil_asm *a)
{
    struct source *s = a->s;
    uint32_t parts[3] = {0};
    size_t from = (size_t)source_peek(s).offset, at = from;
    unsigned n = 0;
    while (n < 3) {
        size_t start = at;
        while (at < s->text.size && s->text.data[at] >= '0' && s->text.data[at] <= '9' &&
               at - start < 4)
            parts[n] = parts[n] * 10 + (uint32_t)(s->text.data[at++] - '0');
        if (at == start || parts[n] > 255)
            return error_at(s->err, BASE_SYNTAX, from, "expected a version like 1.0.0");
        n++;
        if (n == 3 || at >= s->text.size || s->text.data[at] != '.') break;
        at++;
    }
    s->pos = at;
    a->object.header.version = parts[0] << 16 | parts[1] << 8 | parts[2];
    return true;
}

static bool d_entry(struct coil_asm *a)
{
    struct token t = source_next(a->s);
    if (t.kind == TOKEN_INT) {
        a->object.header.entry_point = t.as.u;
        return true;
    }
    if (t.kind != TOKEN_NAME) return source_unexpected(a->s, t, "a name or an address");
    const uint8_t *name = arena_copy(&a->arena, token_text(a->s, t), a->s->err);
    a->entry = (penta_bytes){name, t.size};
    return name && asm_symbol(a, a->entry) >= 0;
}

static bool find_section(const struct coil_asm *a, penta_bytes name, size_t *index)
{
    const struct label *l = labels_find(&a->section_names, name);
    *index = l ? (size_t)l->value : 0; /* The section .text exists before any name is defined. */
    if (*index >= a->object.section_count) return false;
    penta_bytes have = a->object.sections[*index].name;
    return have.size == name.size && !memcmp(have.data, name.data, name.size);
}

static bool new_section(struct coil_asm *a, penta_bytes name, struct coil_section head)
{
    const uint8_t *copy = arena_copy(&a->arena, name, a->s->err);
    int64_t i =
        copy ? coil_object_section(&a->object, (penta_bytes){copy, name.size}, head, a->s->err)
             : -1;
    if (i < 0) return false;
    a->section = (size_t)i;
    size_t first; /* If several sections have a name, the name stands for the first of them. */
    return find_section(a, name, &first) ||
           labels_define(&a->section_names, (penta_bytes){copy, name.size}, (uint64_t)i, 0,
                         a->s->err);
}

static bool select_section(struct coil_asm *a, penta_bytes name)
{
    if (a->function >= 0)
        return error_at(a->s->err, COIL_FUNC_OPEN, a->s->pos, "a section within .func");
    return find_section(a, name, &a->section) || new_section(a, name, coil_section_kind(name));
}

static bool section_type(struct coil_asm *a, uint32_t *type)
{
    return directives_choice(a, coil_section_names, NULL, COIL_SECTION_TYPES, type,
                             "a section type");
}

static bool directives_wide(struct coil_asm *a, uint32_t *out)
{
    uint64_t value;
    if (!asm_unsigned(a, UINT32_MAX, &value)) return false;
    *out = (uint32_t)value;
    return true;
}

/* Executes .section NAME[, type, flags, align[, addr[, link, info]]]. */
static bool d_section(struct coil_asm *a)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    penta_bytes name = token_text(s, t);
    if (t.kind == TOKEN_STRING) {
        if (!token_string(s, t, &a->arena, &name)) return false;
    } else if (t.kind != TOKEN_NAME && t.kind != TOKEN_DIRECTIVE) {
        return source_unexpected(s, t, "the name of a section");
    }
    if (!source_accept(s, ',')) return select_section(a, name);
    if (a->function >= 0)
        return error_at(s->err, COIL_FUNC_OPEN, t.offset, "a section within .func");
    struct coil_section head = {0};
    if (!section_type(a, &head.type) || !source_expect(s, ',') ||
        !directives_wide(a, &head.flags) || !source_expect(s, ',') ||
        !asm_unsigned(a, UINT64_MAX, &head.align))
        return false;
    if (source_accept(s, ',') && !asm_unsigned(a, UINT64_MAX, &head.addr)) return false;
    if (source_accept(s, ',') && (!directives_wide(a, &head.link) || !source_expect(s, ',') ||
                                  !directives_wide(a, &head.info)))
        return false;
    size_t known;
    bool first = !a->bare && find_section(a, name, &known) && !known &&
                 !coil_out_size(&a->object.sections[0]);
    if (!first) return new_section(a, name, head);
    /* Section 0 is the .text section that exists from the start. */
    a->object.sections[0].head = head;
    a->section = 0;
    return true;
}

static bool d_text(struct coil_asm *a) { return select_section(a, bytes_of(".text")); }
static bool d_data(struct coil_asm *a) { return select_section(a, bytes_of(".data")); }
static bool d_rodata(struct coil_asm *a) { return select_section(a, bytes_of(".rodata")); }
static bool d_bss(struct coil_asm *a) { return select_section(a, bytes_of(".bss")); }

static bool d_func(struct coil_asm *a)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    if (t.kind != TOKEN_NAME) return source_unexpected(s, t, "the name of a function");
    if (a->function >= 0) {
        error_at(s->err, COIL_FUNC_OPEN, t.offset, ".func within .func");
        a->function = -1;
        return false;
    }
    penta_bytes name = token_text(s, t);
    int64_t i = asm_symbol(a, name);
    if (i < 0) return false;
    if (a->defined_at[i])
        return error_at(s->err, COIL_SYM_DUP, t.offset, "'%.*s' is defined already",
                        BYTES_ARG(name, 60));
    a->defined_at[i] = t.offset + 1;
    struct coil_symbol *symbol = &a->object.symbols[i].head;
    symbol->section_idx = (uint32_t)a->section + 1;
    symbol->type = COIL_FUNC;
    symbol->value = a->function_offset = coil_out_size(asm_section(a));
    a->function = i;
    a->function_at = t.offset;
    a->variable_count = 0;
    coil_scopes_clear(&a->scopes);
    a->depth = 0;
    a->next_id = 0;
    return true;
}

static bool d_endfunc(struct coil_asm *a)
{
    if (a->function < 0)
        return error_at(a->s->err, COIL_FUNC_OPEN, a->s->pos, ".endfunc without .func");
    a->object.symbols[a->function].head.size = coil_out_size(asm_section(a)) - a->function_offset;
    a->function = -1;
    a->variable_count = 0;
    coil_scopes_clear(&a->scopes);
    a->depth = 0;
    a->next_id = 0;
    return true;
}

static bool symbol_then(struct coil_asm *a, int64_t *i)
{
    struct token t = source_next(a->s);
    if (t.kind != TOKEN_NAME && t.kind != TOKEN_DIRECTIVE)
        return source_unexpected(a->s, t, "a name");
    *i = asm_symbol(a, asm_local_name(a, token_text(a->s, t)));
    return *i >= 0 && source_expect(a->s, ',');
}

static bool d_type(struct coil_asm *a)
{
    int64_t i = -1;
    uint32_t type;
    if (!symbol_then(a, &i) || !directives_choice(a, coil_symbol_names, NULL, COIL_SYMBOL_TYPES,
                                                  &type, "func, object or notype"))
        return false;
    a->object.symbols[i].head.type = (uint16_t)type;
    return true;
}

static bool d_size(struct coil_asm *a)
{
    int64_t i = -1;
    return symbol_then(a, &i) && asm_unsigned(a, UINT64_MAX, &a->object.symbols[i].head.size);
}

static bool d_comm(struct coil_asm *a)
{
    int64_t i = -1;
    uint64_t align = 8, size;
    if (!symbol_then(a, &i) || !asm_unsigned(a, UINT64_MAX, &size)) return false;
    if (source_accept(a->s, ',') && !asm_unsigned(a, UINT32_MAX, &align)) return false;
    struct coil_symbol *s = &a->object.symbols[i].head;
    s->type = COIL_COMMON;
    if (!a->bind_set[i]) s->bind = COIL_GLOBAL;
    s->value = align;
    s->size = size;
    return true;
}

/* Executes .symbol NAME, bind, visibility, type, section, value, size[, reserved], which writes
 * an entry of the symbol table with exactly these values. */
static bool d_symbol(struct coil_asm *a)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    penta_bytes name = token_text(s, t);
    if (t.kind == TOKEN_STRING ? !token_string(s, t, &a->arena, &name)
                               : t.kind != TOKEN_NAME && t.kind != TOKEN_DIRECTIVE)
        return s->err->code ? false : source_unexpected(s, t, "a name");
    const uint8_t *copy = arena_copy(&a->arena, name, s->err);
    uint32_t bind_, visibility, type;
    uint64_t reserved = 0;
    struct coil_symbol head = {0};
    if (!copy || !source_expect(s, ',') ||
        !directives_choice(a, coil_bind_names, NULL, COIL_BINDINGS, &bind_, "a binding") ||
        !source_expect(s, ',') ||
        !directives_choice(a, coil_visibility_names, NULL, COIL_VISIBILITIES, &visibility,
                           "a visibility") ||
        !source_expect(s, ',') ||
        !directives_choice(a, coil_symbol_names, NULL, COIL_SYMBOL_TYPES, &type, "a symbol type") ||
        !source_expect(s, ',') || !directives_wide(a, &head.section_idx) ||
        !source_expect(s, ',') || !asm_unsigned(a, UINT64_MAX, &head.value) ||
        !source_expect(s, ',') || !asm_unsigned(a, UINT64_MAX, &head.size))
        return false;
    if (source_accept(s, ',') && !asm_unsigned(a, UINT16_MAX, &reserved)) return false;
    head.bind = (uint16_t)bind_;
    head.visibility = (uint16_t)visibility;
    head.type = (uint16_t)type;
    head.reserved = (uint16_t)reserved;
    penta_bytes kept = {copy, name.size};
    if (coil_is_identifier(kept) && !labels_find(&a->names, kept)) {
        int64_t i = asm_symbol(a, kept);
        if (i < 0) return false;
        a->object.symbols[i].head = head;
        a->bind_set[i] = 1;
        return true;
    }
    /* Another symbol has this name already, or the name cannot be written in text. Operands
     * refer to this symbol by its number. */
    int64_t i = coil_object_symbol(&a->object, kept, head, s->err);
    if (i < 0 || !asm_room(a)) return false;
    a->bind_set[i] = 1;
    return true;
}

static bool no_bytes(struct coil_asm *a)
{
    if (asm_section(a)->head.type != COIL_S_BSS) return false;
    error_at(a->s->err, COIL_DIRECTIVE, a->s->pos, "data in a section without bytes");
    error_note(a->s->err, "use .zero, or another section");
    return true;
}

/* If source lines are wanted, notes that the bytes from offset `from` on are elements of a type. */
static bool note_data(struct coil_asm *a, uint8_t type, uint64_t from)
{
    struct coil_out_section *s = asm_section(a);
    struct asm_data d = {(uint32_t)a->section + 1, from, s->data.out.size, type};
    if (!a->lines_wanted || from == d.end || coil_is_code(&s->head)) return true;
    struct asm_data *last = a->data_count ? &a->data[a->data_count - 1] : NULL;
    if (last && last->section == d.section && last->end == from && last->type == type) {
        last->end = d.end;
        return true;
    }
    if (!ARRAY_GROW(a->data, a->data_capacity, a->data_count, a->s->err)) return false;
    a->data[a->data_count++] = d;
    return true;
}

static bool directives_values(struct coil_asm *a, uint8_t type)
{
    if (no_bytes(a)) return false;
    uint64_t from = asm_section(a)->data.out.size;
    do {
        uint64_t bits;
        if (!asm_number(a, type, &bits)) return false;
        writer_uint(&asm_section(a)->data, bits, coil_types[type].bytes);
    } while (source_accept(a->s, ','));
    return note_data(a, type, from);
}

static bool directives_text(struct coil_asm *a, bool zero)
{
    if (no_bytes(a)) return false;
    uint64_t from = asm_section(a)->data.out.size;
    do {
        penta_bytes bytes;
        if (!token_string(a->s, source_next(a->s), &a->arena, &bytes)) return false;
        writer_bytes(&asm_section(a)->data, bytes.data, bytes.size);
        if (zero) writer_uint(&asm_section(a)->data, 0, 1);
    } while (source_accept(a->s, ','));
    return note_data(a, COIL_T_UNT8, from);
}
static bool d_ascii(struct coil_asm *a) { return directives_text(a, false); }
static bool d_asciz(struct coil_asm *a) { return directives_text(a, true); }

/* Reads a list of @symbol [+n], and adds a relocation of this type for each item. */
static bool directives_addresses(struct coil_asm *a, uint32_t type, size_t width)
{
    struct source *s = a->s;
    if (no_bytes(a)) return false;
    do {
        struct token t = source_next(s);
        uint64_t index, addend = 0;
        if (t.kind != TOKEN_NAME || s->text.data[t.offset] != '@')
            return source_unexpected(s, t, "@ and a symbol");
        if (!asm_symbol_operand(a, t, &index)) return false;
        bool plus = source_accept(s, '+'), minus = !plus && source_accept(s, '-');
        if ((plus || minus) && !asm_unsigned(a, UINT64_MAX, &addend)) return false;
        struct writer *w = &asm_section(a)->data;
        struct coil_reloc reloc = {((uint64_t)a->section + 1) << 32 | w->out.size, (uint32_t)index,
                                   type, minus ? 0 - addend : addend};
        if (!coil_object_reloc(&a->object, reloc, s->err)) return false;
        writer_uint(w, 0, width);
    } while (source_accept(s, ','));
    return true;
}
static bool d_addr(struct coil_asm *a) { return directives_addresses(a, COIL_RELOC_ABS, 8); }
static bool d_addr32(struct coil_asm *a)
{
    return directives_addresses(a, COIL_RELOC_ABS | 4 << 8, 4);
}
static bool d_rel32(struct coil_asm *a)
{
    return directives_addresses(a, COIL_RELOC_REL | 4 << 8, 4);
}
static bool d_rel64(struct coil_asm *a) { return directives_addresses(a, COIL_RELOC_REL, 8); }

static bool d_zero(struct coil_asm *a)
{
    uint64_t n;
    struct token t = source_peek(a->s);
    if (!asm_unsigned(a, UINT64_MAX, &n)) return false;
    struct coil_out_section *s = asm_section(a);
    if (s->head.type == COIL_S_BSS) {
        if (n > (UINT64_C(1) << 40) - s->zeros)
            return error_at(a->s->err, BASE_LIMIT, t.offset, "more than 1 TiB of zeros");
        s->zeros += n;
        return true;
    }
    if (!coil_object_count_filler(&a->object, n, t.offset, a->s->err)) return false;
    writer_fill(&s->data, 0, (size_t)n);
    return true;
}

/* Pads the current section, if it contains code, to a place where the target allows an
 * instruction to start. */
bool asm_align_code(struct coil_asm *a, uint64_t at)
{
    struct coil_out_section *s = asm_section(a);
    unsigned n = coil_target_align(&a->object.header);
    if (n == 1 || !coil_is_code(&s->head)) return true;
    if (n > s->head.align) s->head.align = n;
    return coil_object_count_filler(&a->object, coil_pad(s, n), at, a->s->err);
}

/* Executes .align N, which pads the section once, or .align code, which aligns every instruction
 * after it. */
static bool d_align(struct coil_asm *a)
{
    uint64_t n;
    struct token t = source_peek(a->s);
    if (asm_word(a->s, t, "code")) {
        source_next(a->s);
        a->aligned = true;
        return asm_align_code(a, t.offset);
    }
    if (!asm_unsigned(a, UINT64_MAX, &n)) return false;
    if (!n || n & (n - 1) || n > 1 << 20)
        return error_at(a->s->err, COIL_ALIGN, t.offset,
                        "alignment %llu is not a power of two up to 2^20", (unsigned long long)n);
    struct coil_out_section *s = asm_section(a);
    if (n > s->head.align) s->head.align = n;
    uint64_t gap = (n - coil_out_size(s) % n) % n;
    if (s->head.type != COIL_S_BSS &&
        !coil_object_count_filler(&a->object, gap, t.offset, a->s->err))
        return false;
    coil_pad(s, n);
    return true;
}

/* Reads hex digits. Bytes that come from repetitions (00*4096) count as filler. There is one
 * limit for all filler of the object, including that of included texts. */
static bool counted_hex(struct coil_asm *a, struct writer *out)
{
    uint64_t runs = a->s->runs, at = a->s->pos;
    return source_hex(a->s, out) &&
           coil_object_count_filler(&a->object, a->s->runs - runs, at, a->s->err);
}

static bool d_bytes(struct coil_asm *a)
{
    /* The bytes may be of any type, so no type is noted for them. */
    return !no_bytes(a) && counted_hex(a, &asm_section(a)->data);
}
static bool d_image(struct coil_asm *a) { return counted_hex(a, &a->image_bytes); }

/* Executes .line "file", n, which gives the source line of the next instruction. */
static bool d_line(struct coil_asm *a)
{
    uint64_t number;
    if (!token_string(a->s, source_next(a->s), &a->arena, &a->line_file) ||
        !source_expect(a->s, ',') || !asm_unsigned(a, UINT32_MAX, &number))
        return false;
    a->line_number = (uint32_t)number;
    return true;
}

/* Executes .name "count", which gives the name that the variable of the next VAR has in the
 * source. */
static bool d_name(struct coil_asm *a)
{
    return token_string(a->s, source_next(a->s), &a->arena, &a->variable_name);
}

static bool d_raw(struct coil_asm *a)
{
    a->raw = true;
    return true;
}

static const struct directive {
    const char *name;
    bool (*run)(struct coil_asm *a);
    bool inside; /* true if the directive adds something to the current section */
} directives[] = {
    {".endian", d_endian, false},
    {".target", d_target, false},
    {".section", d_section, false},
    {".text", d_text, false},
    {".data", d_data, false},
    {".rodata", d_rodata, false},
    {".bss", d_bss, false},
    {".func", d_func, true},
    {".endfunc", d_endfunc, false},
    {".global", d_global, false},
    {".weak", d_weak, false},
    {".local", d_local, false},
    {".hidden", d_hidden, false},
    {".extern", d_extern, false},
    {".type", d_type, false},
    {".size", d_size, false},
    {".comm", d_comm, false},
    {".align", d_align, true},
    {".zero", d_zero, true},
    {".ascii", d_ascii, true},
    {".asciz", d_asciz, true},
    {".string", d_asciz, true},
    {".addr", d_addr, true},
    {".addr32", d_addr32, true},
    {".rel32", d_rel32, true},
    {".rel64", d_rel64, true},
    {".entry", d_entry, false},
    {".coil", d_coil, false},
    {".fileflags", d_fileflags, false},
    {".layout", d_layout, false},
    {".symbol", d_symbol, false},
    {".bytes", d_bytes, true},
    {".image", d_image, false},
    {".line", d_line, false},
    {".name", d_name, false},
    {".proto", asm_proto, false},
    {".raw", d_raw, false},
};
enum { DIRECTIVES = sizeof directives / sizeof *directives };

bool asm_directive(struct coil_asm *a, struct token t)
{
    struct source *s = a->s;
    char second = t.size > 1 ? (char)(s->text.data[t.offset + 1] | 32) : 0;
    for (int i = 0; i < DIRECTIVES; i++) {
        if (directives[i].name[1] != second || !token_is(s, t, directives[i].name)) continue;
        return (!directives[i].inside || asm_inside(a, t)) && directives[i].run(a);
    }
    for (int op = 0; op < 256; op++) {
        if (!coil_is_scalar((uint8_t)op) || op == COIL_T_BIT) continue;
        struct token stem = {.kind = TOKEN_NAME, .offset = t.offset + 1, .size = t.size - 1};
        if (token_is(s, stem, coil_types[op].text))
            return asm_inside(a, t) && directives_values(a, (uint8_t)op);
    }
    struct suggest near = {.word = token_text(s, t)};
    for (int i = 0; i < DIRECTIVES; i++) suggest_offer(&near, directives[i].name);
    error_at(s->err, COIL_DIRECTIVE, t.offset, "unknown directive '%.*s'",
             BYTES_ARG(near.word, 40));
    if (near.best) error_note(s->err, "did you mean %s?", near.best);
    return false;
}
