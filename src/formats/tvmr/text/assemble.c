/* Assembles lines and sections (TVMR 10.1). The language goes line by line and has its own rules
 * for quotes and comments, so the assembler does not use the lexer of src/text:
 *
 *     .meta        name "x"                    .registers   C0: ternary[2, 3] key="w" frozen=true
 *     .requires    tensor [0x0001]             .program     relu H1, H0      ext.mnemonic A, B
 *     .projection  target x                                 label:           jump label
 *
 * `.image` has what these sections cannot express, so that every file can be written as text (assemble_image.c). */
#include "base/suggest.h"
#include "tvmr/text/assemble.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *asm_grow(struct assembly *a, void *items, size_t count, size_t *capacity, size_t item)
{
    if (count < *capacity) return items;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *grown = arena_alloc(&a->arena, more, item, &a->err);
    if (!grown) return NULL;
    if (count) memcpy(grown, items, count * item);
    *capacity = more;
    return grown;
}

static bool tvmr_assemble_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

struct span span_trim(struct span s)
{
    while (s.size && tvmr_assemble_blank(s.at[0])) s.at++, s.size--;
    while (s.size && tvmr_assemble_blank(s.at[s.size - 1])) s.size--;
    return s;
}

struct span span_word(struct span *rest)
{
    struct span word = {rest->at, 0};
    while (word.size < rest->size && !tvmr_assemble_blank(word.at[word.size])) word.size++;
    *rest = span_trim((struct span){rest->at + word.size, rest->size - word.size});
    return word;
}

bool span_is(struct span s, const char *text)
{
    if (s.size != strlen(text)) return false;
    for (size_t i = 0; i < s.size; i++)
        if (tolower(s.at[i]) != tolower((unsigned char)text[i])) return false;
    return true;
}

bool span_uint(struct span s, uint64_t max, uint64_t *out)
{
    bool hex = s.size > 2 && s.at[0] == '0' && tolower(s.at[1]) == 'x';
    uint64_t value = 0;
    size_t i = hex ? 2 : 0;
    if (i == s.size) return false;
    for (; i < s.size; i++) {
        int digit = hex_digit(s.at[i]);
        if (digit < 0 || (!hex && digit > 9)) return false;
        if (value > (max - (unsigned)digit) / (hex ? 16 : 10)) return false;
        value = value * (hex ? 16 : 10) + (unsigned)digit;
    }
    *out = value;
    return value <= max;
}

bool span_register(struct span s, uint8_t *reg)
{
    static const char letters[] = "HCPST";
    uint64_t index;
    if (span_is(s, "null")) {
        *reg = TVMR_NULL;
        return true;
    }
    const char *bank = s.size ? strchr(letters, toupper(s.at[0])) : NULL;
    if (!bank || !*bank || !span_uint((struct span){s.at + 1, s.size - 1}, 63, &index))
        return false;
    unsigned number = *bank == 'T' ? 0 : (unsigned)(bank - letters);
    *reg = (uint8_t)(number << 6 | index);
    return true;
}

/* Copies a span into the arena. Returns NULL when memory ran out. */
static char *span_copy(struct assembly *a, struct span s, bool lower)
{
    char *text = arena_copy(&a->arena, (penta_bytes){s.at, s.size}, &a->err);
    for (char *p = text; lower && p && *p; p++) *p = (char)tolower((unsigned char)*p);
    return text;
}

static struct span tvmr_assemble_unquoted(struct span s)
{
    while (s.size && s.at[0] == '"') s.at++, s.size--;
    while (s.size && s.at[s.size - 1] == '"') s.size--;
    return s;
}

#define QUOTE(s) (int)((s).size > 60 ? 60 : (s).size), (const char *)(s).at

static bool meta_line(struct assembly *a, struct span line)
{
    static const char *const skulls[] = {"skull_x", "skull_y", "skull_z"};
    struct span key = span_word(&line), value = tvmr_assemble_unquoted(line);
    uint64_t n = 0;
    if (span_is(key, "name")) {
        a->has_name = true;
        return (a->meta.name = span_copy(a, value, false)) != NULL;
    }
    if (span_is(key, "domain")) return (a->meta.domain = span_copy(a, value, false)) != NULL;
    if (span_is(key, "version")) {
        if (!span_uint(value, UINT32_MAX, &n))
            return asm_fail(a, BASE_NUMBER, line.at, "invalid version: %.*s", QUOTE(line));
        a->meta.version = (uint32_t)n;
        a->has_version = true;
        return true;
    }
    bool input = span_is(key, "input_dim"), output = span_is(key, "output_dim");
    if (input || output) {
        if (!span_uint(value, UINT32_MAX, &n))
            return asm_fail(a, BASE_NUMBER, line.at, "invalid dimension: %.*s", QUOTE(line));
        *(input ? &a->meta.input_dim : &a->meta.output_dim) = (int64_t)n;
        return true;
    }
    for (int i = 0; i < 3; i++) {
        if (!span_is(key, skulls[i])) continue;
        if (!span_uint(value, UINT16_MAX, &n))
            return asm_fail(a, BASE_NUMBER, line.at, "invalid %s: %.*s", skulls[i], QUOTE(line));
        a->meta.skull[i] = (int64_t)n;
        a->skull[i] = true;
        return true;
    }
    return true; /* Other keys belong to other tools. */
}

static bool projection_line(struct assembly *a, struct span line)
{
    struct tvmr_projection *p = &a->projection;
    struct span key = span_word(&line), value = tvmr_assemble_unquoted(line);
    uint64_t n;
    if (span_is(key, "target")) return (p->target = span_copy(a, value, false)) != NULL;
    if (span_is(key, "bundle")) return (p->bundle = span_copy(a, value, false)) != NULL;
    if (span_is(key, "mapping")) return (p->mapping = span_copy(a, value, true)) != NULL;
    if (span_is(key, "modulator")) {
        p->modulator = span_is(value, "none") ? NULL : span_copy(a, value, true);
        return true;
    }
    if (span_is(key, "weight")) {
        bool minus = value.size && value.at[0] == '-', plus = value.size && value.at[0] == '+';
        struct span digits = {value.at + (minus || plus), value.size - (minus || plus)};
        if (!span_uint(digits, minus ? 128 : 127, &n))
            return asm_fail(a, BASE_NUMBER, line.at, "invalid projection weight: %.*s",
                            QUOTE(line));
        p->weight = (int8_t)(minus ? -(int64_t)n : (int64_t)n);
    } else if (span_is(key, "delay")) {
        if (!span_uint(value, 255, &n))
            return asm_fail(a, BASE_NUMBER, line.at, "invalid projection delay: %.*s", QUOTE(line));
        p->delay = (uint8_t)n;
    } else if (span_is(key, "density")) {
        char *end, *text = span_copy(a, value, false);
        if (!text) return false;
        strtod(text, &end);
        if (end == text || *end)
            return asm_fail(a, BASE_NUMBER, line.at, "invalid projection density: %.*s",
                            QUOTE(line));
        p->density = text;
    }
    return true;
}

/* Ends a .projection section, which must have a target and a bundle. */
static bool end_projection(struct assembly *a, const uint8_t *at)
{
    if (!a->in_projection) return true;
    a->in_projection = false;
    struct tvmr_projection *p = &a->projection;
    if (!p->target || !p->bundle)
        return asm_fail(a, BASE_SYNTAX, at, ".projection has no '%s'",
                        p->target ? "bundle" : "target");
    a->meta.projections = asm_grow(a, a->meta.projections, a->meta.projection_count,
                                   &a->projection_capacity, sizeof *p);
    if (!a->meta.projections) return false;
    a->meta.projections[a->meta.projection_count++] = *p;
    return true;
}

/* Tells whether two names are the same, ignoring case. */
static bool same_name(struct span a, struct span b)
{
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; i++)
        if (tolower(a.at[i]) != tolower(b.at[i])) return false;
    return true;
}

/* Checks a line of .requires. The id in the line is used even when the name is registered with
 * another id. */
static void check_required(struct assembly *a, struct span name, const struct tvmr_extension *e,
                           unsigned id)
{
    if (e && e->id != id)
        asm_warn(a, TVMR_REQUIRES, name.at, "%s is extension 0x%04x, here it has the id 0x%04x",
                 e->name, e->id, id);
    for (size_t i = 0; i < a->required_count; i++)
        if (same_name(a->required[i].name, name))
            asm_warn(a, TVMR_REQUIRES, name.at, "'%.*s' has the ids 0x%04x and 0x%04x", QUOTE(name),
                     a->required[i].entry.id, id);
}

static bool requires_line(struct assembly *a, struct span line)
{
    struct span name = span_word(&line), id = span_word(&line);
    uint64_t number = 0;
    const struct tvmr_extension *e = tvmr_extension_named((penta_bytes){name.at, name.size});
    if (id.size) {
        if (!span_uint(id, UINT16_MAX, &number))
            return asm_fail(a, BASE_NUMBER, id.at, "invalid extension id: %.*s", QUOTE(id));
    } else if (!e) {
        struct suggest near = {.word = {name.at, name.size}};
        for (size_t i = 1; (e = tvmr_extension_at(i)); i++) suggest_offer(&near, e->name);
        asm_fail(a, BASE_NAME_UNKNOWN, name.at, "unknown extension: %.*s", QUOTE(name));
        return near.best ? error_note(&a->err, "did you mean '%s'?", near.best) : false;
    } else {
        number = e->id;
    }
    for (size_t i = 0; i < a->required_count; i++)
        if (a->required[i].entry.id == number)
            return asm_fail(a, BASE_NAME_TWICE, name.at, "extension 0x%04x is required twice",
                            (unsigned)number);
    check_required(a, name, e, (unsigned)number);
    a->required =
        asm_grow(a, a->required, a->required_count, &a->required_capacity, sizeof *a->required);
    if (!a->required) return false;
    a->required[a->required_count++] =
        (struct required){name, tvmr_required_version((uint16_t)number)};
    return true;
}

/* Reads dimensions such as "2, 3]" into dims. *rest becomes what follows the bracket. */
static bool tvmr_assemble_dimensions(struct assembly *a, struct span *rest, uint16_t *dims,
                                     unsigned *count)
{
    const uint8_t *close = memchr(rest->at, ']', rest->size);
    if (!close) return asm_fail(a, BASE_SYNTAX, rest->at - 1, "missing ']' in the type");
    struct span list = {rest->at, (size_t)(close - rest->at)};
    *rest = span_trim((struct span){close + 1, rest->size - list.size - 1});
    *count = 0;
    for (;;) {
        const uint8_t *comma = memchr(list.at, ',', list.size);
        struct span item =
            span_trim((struct span){list.at, comma ? (size_t)(comma - list.at) : list.size});
        uint64_t n;
        if (!span_uint(item, UINT16_MAX, &n) || (item.size > 1 && tolower(item.at[1]) == 'x')) {
            asm_fail(a, BASE_NUMBER, list.at, "invalid dimension: %.*s", QUOTE(item));
            return error_note(&a->err, "dimensions are 0 to 65535");
        }
        if (*count == 255) return asm_fail(a, BASE_RANGE, list.at, "more than 255 dimensions");
        dims[(*count)++] = (uint16_t)n;
        if (!comma) return true;
        list.size -= (size_t)(comma + 1 - list.at);
        list.at = comma + 1;
    }
}

/* Reads key="..." and frozen=true, which may stand anywhere outside quotes. */
static bool tvmr_assemble_attributes(struct assembly *a, struct span rest, struct span *key,
                                     bool *frozen)
{
    while (rest.size) {
        if (rest.size >= 5 && !memcmp(rest.at, "key=\"", 5)) {
            const uint8_t *close = memchr(rest.at + 5, '"', rest.size - 5);
            if (!close) {
                asm_warn(a, TVMR_QUOTE, rest.at + 4, "the quote is never closed");
                return true;
            }
            *key = (struct span){rest.at + 5, (size_t)(close - rest.at) - 5};
            if (key->size > 255)
                return asm_fail(a, BASE_RANGE, key->at, "a key has 255 bytes or less");
            rest = span_trim((struct span){close + 1, rest.size - key->size - 6});
            continue;
        }
        struct span word = span_word(&rest);
        if (span_is(word, "frozen=true")) *frozen = true;
    }
    return true;
}

static bool register_line(struct assembly *a, struct span line)
{
    const uint8_t *colon = memchr(line.at, ':', line.size);
    if (!colon) return asm_fail(a, BASE_SYNTAX, line.at, "missing ':' in the register definition");
    struct span name = span_trim((struct span){line.at, (size_t)(colon - line.at)});
    struct span rest =
        span_trim((struct span){colon + 1, line.size - (size_t)(colon + 1 - line.at)});
    uint8_t reg;
    if (!span_register(name, &reg) || span_is(name, "null")) {
        asm_fail(a, BASE_SYNTAX, name.at, "invalid register: %.*s", QUOTE(name));
        return error_note(&a->err, "registers are H, C, P or S with a number 0..63");
    }
    struct span type = {rest.at, 0};
    while (type.size < rest.size && !tvmr_assemble_blank(rest.at[type.size]) &&
           rest.at[type.size] != '[')
        type.size++;
    rest = span_trim((struct span){rest.at + type.size, rest.size - type.size});
    const struct tvmr_type *t = tvmr_type_named((penta_bytes){type.at, type.size});
    if (!t) {
        struct suggest near = {.word = {type.at, type.size}};
        const struct tvmr_type *other;
        for (size_t i = 0; (other = tvmr_type_at(i)); i++) suggest_offer(&near, other->name);
        asm_fail(a, BASE_NAME_UNKNOWN, type.at, "unknown type: %.*s", QUOTE(type));
        return near.best ? error_note(&a->err, "did you mean '%s'?", near.best) : false;
    }
    uint16_t dims[255] = {1};
    unsigned count = 1;
    bool frozen = false;
    struct span key = {0};
    if (rest.size && rest.at[0] == '[') {
        rest.at++, rest.size--;
        if (!tvmr_assemble_dimensions(a, &rest, dims, &count)) return false;
    }
    if (!tvmr_assemble_attributes(a, rest, &key, &frozen)) return false;
    a->reg_starts =
        asm_grow(a, a->reg_starts, a->reg_count, &a->reg_capacity, sizeof *a->reg_starts);
    if (!a->reg_starts) return false;
    a->reg_starts[a->reg_count++] = a->regs.out.size;
    writer_uint(&a->regs, reg, 1);
    writer_uint(&a->regs, t->id, 2);
    writer_uint(&a->regs, TVMR_ALLOCATED | (frozen ? TVMR_FROZEN : 0), 1);
    writer_uint(&a->regs, count, 1);
    for (unsigned i = 0; i < count; i++) writer_uint(&a->regs, dims[i], 2);
    writer_uint(&a->regs, key.size, 1);
    writer_bytes(&a->regs, key.at, key.size);
    return true;
}

bool asm_registers_declared(const struct assembly *a, uint8_t reg, const uint8_t **def)
{
    for (size_t i = a->reg_count; i-- > 0;) {
        *def = a->regs.out.data + a->reg_starts[i];
        if (**def == reg) return true;
    }
    return false;
}

static const struct {
    const char *name;
    enum asm_section section;
} directives[] = {
    {".meta", ASM_META},       {".requires", ASM_REQUIRES}, {".registers", ASM_REGISTERS},
    {".program", ASM_PROGRAM}, {".code", ASM_PROGRAM},      {".projection", ASM_PROJECTION},
    {".aliases", ASM_SKIP},    {".config", ASM_SKIP},       {".image", ASM_IMAGE},
};

static bool tvmr_assemble_directive(struct assembly *a, struct span line)
{
    bool ended = end_projection(a, line.at);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        if (!span_is(line, directives[i].name)) continue;
        a->section = directives[i].section;
        if (a->section == ASM_PROJECTION) {
            a->in_projection = true;
            a->projection = (struct tvmr_projection){
                .weight = 50, .delay = 1, .density = "0.3", .mapping = "topographic"};
        }
        return ended;
    }
    struct suggest near = {.word = {line.at, line.size}};
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        suggest_offer(&near, directives[i].name);
    asm_fail(a, BASE_MNEMONIC, line.at, "unknown directive: %.*s", QUOTE(line));
    return near.best ? error_note(&a->err, "did you mean '%s'?", near.best) : false;
}

static bool label_line(struct assembly *a, struct span line)
{
    struct span name = span_trim((struct span){line.at, line.size - 1});
    int64_t index = labels_intern(&a->labels, (penta_bytes){name.at, name.size}, &a->err);
    if (index < 0) return false;
    struct label *l = &a->labels.items[index]; /* A repeated label takes its last position. */
    l->defined = true;
    l->value = a->code.out.size / TVMR_INSN;
    l->offset = (uint64_t)(name.at - a->s->text.data);
    return true;
}

static bool program_line(struct assembly *a, struct span line)
{
    if (line.size >= 7 && span_is((struct span){line.at, 7}, "include")) return true;
    if (line.at[line.size - 1] == ':') return label_line(a, line);
    return tvmr_asm_instruction(a, line);
}

static bool asm_line(struct assembly *a, struct span line)
{
    if (line.at[0] == '.') return tvmr_assemble_directive(a, line);
    switch (a->section) {
    case ASM_NONE:
        asm_fail(a, BASE_SYNTAX, line.at, "text outside of a section");
        return error_note(&a->err, "start with .registers or .program");
    case ASM_META: return meta_line(a, line);
    case ASM_REQUIRES: return requires_line(a, line);
    case ASM_REGISTERS: return register_line(a, line);
    case ASM_PROGRAM: return program_line(a, line);
    case ASM_PROJECTION: return projection_line(a, line);
    case ASM_IMAGE: return asm_image_line(a, line);
    case ASM_SKIP: return true;
    }
    return true;
}

static void tvmr_assemble_handed(struct assembly *a, bool ok)
{
    if (!ok && a->err.code) findings_pass(a->findings, &a->err);
    a->err = (penta_error){0};
}

/* Reports the errors that show only at the end of the text. Their place is the last line. */
static void report_end_errors(struct assembly *a)
{
    const uint8_t *last = a->s->text.data + a->last_line;
    tvmr_assemble_handed(a, end_projection(a, last));
    int skulls = a->skull[0] + a->skull[1] + a->skull[2];
    if (skulls && skulls < 3)
        tvmr_assemble_handed(a,
                             asm_fail(a, BASE_SYNTAX, last,
                                      "skull_x, skull_y and skull_z come together or not at all"));
    asm_resolve(a);
}

bool tvmr_assemble(struct source *s, const penta_option *options, size_t count, struct writer *out,
                   struct findings *findings)
{
    struct assembly a = {.s = s,
                         .findings = findings,
                         .version = -1,
                         .flags = -1,
                         .input_reg = -1,
                         .output_reg = -1};
    a.meta.version = 1;
    a.meta.input_dim = a.meta.output_dim = -1;
    s->err = &a.err;
    penta_bytes text = s->text;
    bool understood = tvmr_manifest_options(options, count, &a.err);
    if (!understood) tvmr_assemble_handed(&a, false);
    for (size_t from = 0; understood && from < text.size;) {
        const uint8_t *start = text.data + from, *newline = memchr(start, '\n', text.size - from);
        size_t size = newline ? (size_t)(newline - start) : text.size - from;
        a.last_line = from;
        from += size + 1;
        const uint8_t *comment = memchr(start, ';', size);
        struct span line =
            span_trim((struct span){start, comment ? (size_t)(comment - start) : size});
        if (line.size) tvmr_assemble_handed(&a, asm_line(&a, line));
    }
    report_end_errors(&a);
    bool metadata = option_text(options, count, "metadata"),
         compress = option_text(options, count, "compress");
    if (!writer_ok(&a.regs, &a.err) || !writer_ok(&a.code, &a.err)) tvmr_assemble_handed(&a, false);
    if (!findings->errors) tvmr_assemble_handed(&a, asm_finish(&a, metadata, compress, out));
    if (!writer_ok(out, &a.err)) tvmr_assemble_handed(&a, false);
    writer_free(&a.regs);
    writer_free(&a.code);
    labels_free(&a.labels);
    arena_free(&a.arena);
    return !findings->errors;
}
