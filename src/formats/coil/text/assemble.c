/* The assembler: it reads lines, defines labels, and writes the object at the end. After an error
 * it goes on with the next line, so that one run reports all errors. It does not judge the program,
 * which is the task of verify.c, because the listing of an object with wrong instructions must
 * assemble too. */
#include "coil/text/assemble.h"
#include <stdlib.h>
#include "base/array.h"

bool asm_room(struct coil_asm *a)
{
    if (a->object.symbol_count <= a->symbol_room) return true;
    size_t room = a->object.symbol_capacity;
    void *at = realloc(a->defined_at, room * sizeof *a->defined_at);
    if (at) a->defined_at = at;
    void *set = realloc(a->bind_set, room);
    if (set) a->bind_set = set;
    if (!at || !set) return error_at(a->s->err, BASE_MEMORY, 0, "no memory for %zu symbols", room);
    memset(a->defined_at + a->symbol_room, 0, (room - a->symbol_room) * sizeof *a->defined_at);
    memset(a->bind_set + a->symbol_room, 0, room - a->symbol_room);
    a->symbol_room = room;
    return true;
}

int64_t asm_symbol(struct coil_asm *a, penta_bytes name)
{
    penta_error *err = a->s->err;
    int64_t i = labels_intern(&a->names, name, err);
    if (i < 0) return -1;
    struct label *known = &a->names.items[i];
    if (!known->defined) {
        int64_t index = coil_object_symbol(&a->object, known->name, (struct coil_symbol){0}, err);
        if (index < 0) return -1;
        known->defined = true;
        known->value = (uint64_t)index;
    }
    return asm_room(a) ? (int64_t)known->value : -1;
}

penta_bytes asm_local_name(struct coil_asm *a, penta_bytes name)
{
    if (!name.size || name.data[0] != '.' || a->function < 0) return name;
    penta_bytes function = a->object.symbols[a->function].name;
    uint8_t *text = arena_alloc(&a->arena, function.size + name.size + 1, 1, a->s->err);
    if (!text) return name;
    bytes_copy(text, function);
    bytes_copy(text + function.size, name);
    return (penta_bytes){text, function.size + name.size};
}

static bool coil_assemble_label(struct coil_asm *a, struct token t)
{
    penta_bytes name = asm_local_name(a, token_text(a->s, t));
    int64_t i = asm_symbol(a, name);
    if (i < 0) return false;
    if (a->defined_at[i]) {
        error_at(a->s->err, COIL_SYM_DUP, t.offset, "'%.*s' is defined already",
                 BYTES_ARG(name, 60));
        return error_note(a->s->err, "the first definition is on line %llu",
                          (unsigned long long)source_place(a->s->text, a->defined_at[i] - 1).line);
    }
    struct coil_symbol *s = &a->object.symbols[i].head;
    s->section_idx = (uint32_t)a->section + 1;
    s->value = coil_out_size(asm_section(a));
    a->defined_at[i] = t.offset + 1;
    return true;
}

static const struct asm_origin *origin_of(const struct coil_asm *a, uint64_t at)
{
    size_t low = 0, high = a->origin_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (a->origins[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return a->origin_count ? &a->origins[low] : NULL;
}

struct line_counter {
    uint64_t at;
    uint32_t line;
};

static uint32_t count_lines(const struct coil_asm *a, struct line_counter *c, uint64_t at)
{
    for (; c->at < at && c->at < a->s->text.size; c->at++)
        c->line += a->s->text.data[c->at] == '\n';
    return c->line;
}

static bool note_line(struct coil_asm *a, struct line_counter *counter, uint64_t at)
{
    struct asm_line line = {(uint32_t)a->section + 1, a->line_number, asm_section(a)->data.out.size,
                            a->line_file};
    if (!line.line) {
        if (!a->lines_wanted) return true;
        const struct asm_origin *origin = origin_of(a, at);
        const char *name = option_text(a->options, a->option_count, "source-name");
        line.file = origin && origin->file.size ? origin->file
                                                : bytes_of(name         ? name
                                                           : a->s->name ? a->s->name
                                                                        : "source");
        line.line = origin ? origin->line : count_lines(a, counter, at) + 1;
    }
    a->line_number = 0;
    if (!ARRAY_GROW(a->lines, a->line_capacity, a->line_count, a->s->err)) return false;
    a->lines[a->line_count++] = line;
    return true;
}

/* Stores the name of the variable that the instruction has declared, for the section .coil.var. */
static bool note_name(struct coil_asm *a, uint64_t offset)
{
    penta_bytes name = a->variable_name;
    if (a->insn->opcode != COIL_OP_VAR || !a->insn->count) return true;
    a->variable_name = (penta_bytes){0};
    if (!name.size && a->lines_wanted && a->variable_count)
        name = a->variables[a->variable_count - 1].name;
    if (!name.size) return true;
    if (!ARRAY_GROW(a->variable_names, a->name_capacity, a->name_count, a->s->err)) return false;
    uint32_t id = (uint32_t)a->insn->operands[0].value;
    a->variable_names[a->name_count++] =
        (struct asm_line){(uint32_t)a->section + 1, id, offset, name};
    return true;
}

static int by_place(const void *x, const void *y)
{
    const struct asm_line *a = x, *b = y;
    if (a->section != b->section) return a->section < b->section ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int by_data(const void *x, const void *y)
{
    const struct asm_data *a = x, *b = y;
    if (a->section != b->section) return a->section < b->section ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Writes .coil.type: the types of the data that directives wrote. Conversions of the byte order
 * need them. */
static bool write_types(struct coil_asm *a, penta_error *err)
{
    if (!a->data_count) return true;
    qsort(a->data, a->data_count, sizeof *a->data, by_data);
    struct coil_section head = {.type = COIL_S_DEBUG, .flags = COIL_INFO, .align = 4};
    int64_t section = coil_object_section(&a->object, bytes_of(".coil.type"), head, err);
    if (section < 0) return false;
    struct writer *w = &a->object.sections[section].data;
    for (size_t i = 0; i < a->data_count; i++) {
        const struct asm_data *d = &a->data[i];
        writer_uint(w, d->section, 4);
        writer_uint(w, d->from, 4);
        writer_uint(w, d->type, 4);
        writer_uint(w, (d->end - d->from) / coil_types[d->type].bytes, 4);
    }
    return true;
}

/* Returns the section of this name if the text has it already, or adds a new one at the end. */
static int64_t row_section(struct coil_asm *a, const char *name, penta_error *err)
{
    struct coil_section head = {.type = COIL_S_DEBUG, .flags = COIL_INFO, .align = 4};
    for (size_t i = 0; i < a->object.section_count; i++)
        if (bytes_equal(a->object.sections[i].name, bytes_of(name)) &&
            !coil_out_size(&a->object.sections[i]))
            return (int64_t)i;
    return coil_object_section(&a->object, bytes_of(name), head, err);
}

static bool write_row(struct coil_asm *a, int64_t section, const struct asm_line *l,
                      penta_error *err)
{
    struct writer *w = &a->object.sections[section].data;
    writer_uint(w, l->section, 4);
    writer_uint(w, l->offset, 4);
    struct coil_literal literal = {(size_t)section, w->out.size, 4, l->file};
    writer_uint(w, 0, 4);
    writer_uint(w, l->line, 4);
    return coil_object_literal(&a->object, literal, err);
}

/* Writes .coil.var: the names of variables in the source. */
static bool write_names(struct coil_asm *a, penta_error *err)
{
    if (!a->name_count) return true;
    qsort(a->variable_names, a->name_count, sizeof *a->variable_names, by_place);
    int64_t section = row_section(a, ".coil.var", err);
    bool ok = section >= 0;
    for (size_t i = 0; ok && i < a->name_count; i++)
        ok = write_row(a, section, &a->variable_names[i], err);
    return ok;
}

static bool write_lines(struct coil_asm *a, penta_error *err)
{
    if (!write_types(a, err)) return false;
    if (!a->line_count) return write_names(a, err);
    if (a->lines_wanted) a->object.header.flags |= COIL_FILE_DEBUG;
    qsort(a->lines, a->line_count, sizeof *a->lines, by_place);
    int64_t section = row_section(a, ".coil.line", err);
    if (section < 0) return false;
    const struct asm_line *last = NULL;
    for (size_t i = 0; i < a->line_count; i++) {
        const struct asm_line *l = &a->lines[i];
        if (a->lines_wanted && last && last->section == l->section && last->line == l->line)
            continue;
        if (!write_row(a, section, l, err)) return false;
        last = l;
    }
    return write_names(a, err);
}

/* Chooses the error code for a bad number. A number of more than 64 bits is out of range; other
 * bad numbers are bad syntax. */
static void coil_assemble_refine(struct coil_asm *a, penta_error *err)
{
    if (err->code != BASE_NUMBER) return;
    const uint8_t *p = a->s->text.data + err->offset;
    bool digits = true;
    for (size_t i = 0; err->offset + i < a->s->text.size &&
                       (p[i] == '_' || hex_digit(p[i]) >= 0 || (p[i] | 32) == 'x');
         i++)
        digits = digits && i < 400;
    size_t i = 0;
    bool hex = p[0] == '0' && err->offset + 1 < a->s->text.size && (p[1] | 32) == 'x';
    for (i = hex ? 2 : 0; err->offset + i < a->s->text.size; i++) {
        uint8_t c = p[i];
        if (c == '_' || (hex ? hex_digit(c) >= 0 : c >= '0' && c <= '9')) continue;
        digits = digits && !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.');
        break;
    }
    err->code = digits && i > (hex ? 2u : 0u) ? (uint32_t)COIL_IMM_RANGE : (uint32_t)BASE_SYNTAX;
}

static bool coil_assemble_line(struct coil_asm *a, struct line_counter *counter)
{
    struct source *s = a->s;
    for (;;) {
        struct token t = source_next(s);
        if (s->err->code) return false;
        if (t.kind == TOKEN_LINE || t.kind == TOKEN_END) return true;
        if (t.kind != TOKEN_NAME && t.kind != TOKEN_DIRECTIVE)
            return source_unexpected(s, t, "an instruction, label or directive");
        if (source_accept(s, ':')) {
            if (!coil_is_identifier(token_text(s, t)) && t.kind == TOKEN_NAME)
                return source_unexpected(s, t, "a label");
            if (!asm_inside(a, t) || !coil_assemble_label(a, t)) return false;
            continue;
        }
        bool ok;
        if (t.kind == TOKEN_DIRECTIVE && !token_is(s, t, ".opcode")) {
            ok = asm_directive(a, t);
        } else {
            ok = asm_inside(a, t) && note_line(a, counter, t.offset);
            size_t lines = a->line_count, offset = asm_section(a)->data.out.size;
            a->insn->opcode = COIL_OP_NOP;
            ok = ok && (t.kind == TOKEN_DIRECTIVE ? asm_opcode(a) : coil_asm_instruction(a, t));
            ok = ok && note_name(a, offset) && (!a->aligned || asm_align_code(a, t.offset));
            if (!ok && lines && a->line_count == lines && s->err->code) a->line_count = lines;
        }
        return ok && source_end_of_line(s);
    }
}

static void coil_assemble_report(struct coil_asm *a, penta_error *err)
{
    const struct asm_origin *origin = origin_of(a, err->offset);
    coil_assemble_refine(a, err);
    if (origin) {
        if (origin->file.size) {
            error_note(err, "in %.*s, line %u", BYTES_ARG(origin->file, 80), origin->line);
            err->offset = origin->original;
        } else {
            uint64_t column = err->offset - origin->at;
            err->offset = origin->original + column;
        }
    }
    findings_pass(a->findings, err);
}

static void finish_symbols(struct coil_asm *a)
{
    bool exec = a->object.header.flags & COIL_FILE_EXEC;
    for (size_t i = 0; i < a->object.symbol_count; i++) {
        struct coil_symbol *s = &a->object.symbols[i].head;
        bool labelled = i < a->symbol_room && a->defined_at[i];
        if (exec && labelled) s->value += a->object.sections[s->section_idx - 1].head.addr;
        if (!s->section_idx && s->type != COIL_COMMON && i < a->symbol_room && !a->bind_set[i])
            s->bind = COIL_GLOBAL;
    }
    if (!a->entry.size) return;
    const struct label *l = labels_find(&a->names, a->entry);
    if (!l || !l->defined) return;
    const struct coil_symbol *s = &a->object.symbols[l->value].head;
    /* The entry point of a relocatable file has the form that coil_reloc_entry reads. */
    uint64_t place = exec ? 0 : (uint64_t)s->section_idx << 32;
    a->object.header.entry_point = place | s->value;
}

static bool coil_assemble_finish(struct coil_asm *a, struct writer *out)
{
    penta_error err = {0};
    if (a->function >= 0) {
        error_at(&err, COIL_FUNC_OPEN, a->function_at, ".func without .endfunc");
        coil_assemble_report(a, &err);
    }
    err = (penta_error){0};
    if (a->findings->errors) return false;
    if (a->image_bytes.out.data) {
        writer_append(out, &a->image_bytes);
    } else if (a->raw) {
        writer_append(out, &a->object.sections[0].data);
    } else {
        finish_symbols(a);
        a->object.linked = a->object.header.flags & COIL_FILE_EXEC;
        if (write_lines(a, &err)) coil_object_write(&a->object, out, &err);
    }
    if (!err.code) writer_ok(out, &err);
    if (err.code) findings_pass(a->findings, &err);
    return !a->findings->errors;
}

static bool coil_assemble_prepare(struct coil_asm *a, penta_error *err)
{
    const char *endian = option_text(a->options, a->option_count, "endian");
    a->raw = option_text(a->options, a->option_count, "raw") != NULL;
    a->lines_wanted = option_text(a->options, a->option_count, "debug-lines") != NULL;
    if (endian && strcmp(endian, "little") && strcmp(endian, "big"))
        return error_at(err, BASE_OPTION_VALUE, 0, "endian '%.20s' is neither little nor big",
                        endian);
    coil_object_init(&a->object);
    a->object.big_endian = endian && !strcmp(endian, "big");
    a->function = -1;
    a->insn = calloc(1, sizeof *a->insn);
    if (!a->insn) return error_at(err, BASE_MEMORY, 0, "no memory for an assembler");
    struct coil_section text = {.type = COIL_S_TEXT, .flags = COIL_ALLOC | COIL_EXEC, .align = 1};
    return coil_object_section(&a->object, bytes_of(".text"), text, err) >= 0;
}

static void coil_assemble_release(struct coil_asm *a)
{
    coil_object_free(&a->object);
    labels_free(&a->names);
    labels_free(&a->section_names);
    coil_type_ids_free(&a->ids);
    arena_free(&a->arena);
    writer_free(&a->image_bytes);
    free(a->defined_at);
    free(a->bind_set);
    free(a->variables);
    coil_scopes_free(&a->scopes);
    free(a->lines);
    free(a->variable_names);
    free(a->data);
    free((void *)a->origins);
    free(a->insn);
}

bool coil_assemble(struct source *source, const penta_option *options, size_t count,
                   struct writer *out, struct findings *findings)
{
    struct source s = *source;
    struct coil_asm a = {.s = &s, .findings = findings, .options = options, .option_count = count};
    penta_error err = {0};
    struct line_counter counter = {0};
    penta_bytes expanded = source->text;
    s.err = &err;
    if (!coil_assemble_prepare(&a, &err))
        findings_pass(findings, &err);
    else if (asm_preprocess(&a, source->text, &expanded)) {
        s.text = expanded;
        s.pos = 0;
        while (s.pos < s.text.size) {
            err = (penta_error){0};
            if (coil_assemble_line(&a, &counter)) continue;
            coil_assemble_report(&a, &err);
            source_skip_line(&s);
        }
    }
    bool ok = coil_assemble_finish(&a, out);
    coil_assemble_release(&a);
    return ok;
}
