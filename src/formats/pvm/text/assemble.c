/* Assembles source text (assemble.h): reads labels and instructions line by line into a list of
 * items, and then makes the program around the code. directives.c reads the lines with '%', and
 * code/assign_offsets.c gives the items their places. */
#include "pvm/text/assemble.h"
#include <stdlib.h>
#include "base/array.h"

bool pvm_reference_read(struct pvm_assembly *a, struct pvm_reference *out)
{
    struct token t = source_next(a->s);
    *out = (struct pvm_reference){.label = -1, .offset = t.offset};
    if (a->s->err->code) return false;
    if (t.kind == TOKEN_INT) {
        out->value = t.as.u;
        return true;
    }
    penta_bytes name = token_text(a->s, t);
    if (t.kind != TOKEN_NAME || name.data[0] != '@')
        return source_unexpected(a->s, t, "a label or a code offset");
    out->label = labels_intern(&a->labels, name, a->s->err);
    return out->label >= 0;
}

/* Tells whether control can go on from the last item to the next one. A label between them would
 * be inside a block then. */
static bool label_falls_in(const struct pvm_assembly *a)
{
    if (!a->count || a->items[a->count - 1].kind == PVM_ITEM_HOLE) return false;
    return !pvm_ends_block(a->items[a->count - 1].in.op);
}

static bool label_line(struct pvm_assembly *a, struct token t, bool is_public)
{
    struct source *s = a->s;
    bool insert = true;
    penta_bytes name = token_text(s, t);
    if (!source_expect(s, ':')) return false;
    if (source_accept(s, '%')) {
        struct token word = source_next(s);
        if (!token_is(s, word, "no_fallthrough"))
            return source_unexpected(s, word, "'no_fallthrough'");
        insert = false;
    }
    struct pvm_item fall = {.in.op = PVM_OP_fallthrough, .label = -1, .offset = t.offset};
    if (insert && label_falls_in(a) && !pvm_add_item(a, fall)) return false;
    if (!labels_define(&a->labels, name, a->count, t.offset, s->err)) return false;
    if (!is_public) return true;
    struct pvm_reference place = {.offset = t.offset};
    place.label = labels_intern(&a->labels, name, s->err);
    return pvm_add_export(a, bytes_slice(name, 1, name.size), place);
}

static bool match_line(struct pvm_assembly *a, struct pvm_line *line, struct pvm_match *match)
{
    struct source *s = a->s, start = *s;
    enum pvm_isa isa = a->program.code.isa;
    if (!a->isa_given && !a->isa_missed) {
        a->isa_missed = true; /* The missing ISA is reported once; latest64 is used after that. */
        findings_add(a->findings, BASE_NAME_UNKNOWN, source_peek(s).offset,
                     "start with %isa = latest64, or give option 'isa'",
                     "the ISA must be known before the first instruction");
    }
    bool ok = pvm_line_read(s, line) && pvm_line_match(line, isa, match, s->err);
    if (ok) return true;
    penta_error first = *s->err;
    size_t reached = s->pos;
    *s = start;
    *s->err = (penta_error){0};
    if (pvm_line_mnemonic(s, isa, line, match)) return true;
    if (s->err->code) return false;
    *s->err = first;
    s->pos = reached; /* The caller skips the rest of the line. */
    return false;
}

static bool pvm_assemble_instruction(struct pvm_assembly *a)
{
    struct source *s = a->s;
    struct pvm_line line;
    struct pvm_match match;
    if (!match_line(a, &line, &match)) return false;
    struct pvm_item item = {.in = match.in, .label = -1, .offset = line.offset};
    if (match.target && match.target->kind == PVM_OPERAND_LABEL) {
        item.label = labels_intern(&a->labels, match.target->label, s->err);
        if (item.label < 0) return false;
    } else if (match.target) {
        item.in.target = (uint32_t)match.target->value;
    }
    if (match.address) {
        struct pvm_reference taken = {.offset = match.address->offset};
        taken.label = labels_intern(&a->labels, match.address->label, s->err);
        if (taken.label < 0 || !ARRAY_GROW(a->taken, a->taken_capacity, a->taken_count, s->err))
            return false;
        a->taken[a->taken_count++] = taken;
        item.entry = a->taken_count;
    }
    /* The word "size" follows, because pvm_line_read stops at no other '%'. */
    if (source_accept(s, '%')) {
        source_next(s);
        struct token t = source_next(s);
        if (t.kind != TOKEN_INT || !t.as.u || t.as.u > PVM_SKIP_MAX + 1)
            return source_unexpected(s, t, "a size of 1 to 25");
        item.size = (uint32_t)t.as.u;
    }
    return pvm_add_item(a, item);
}

static bool pvm_assemble_line(struct pvm_assembly *a)
{
    struct source *s = a->s;
    struct source start = *s;
    struct token t = source_next(s);
    if (s->err->code || t.kind == TOKEN_LINE || t.kind == TOKEN_END) return !s->err->code;
    bool ok, is_public = t.kind == TOKEN_NAME && token_is(s, t, "pub");
    if (is_public) t = source_next(s);
    if (t.kind == TOKEN_PUNCT && t.as.punct == '%') {
        ok = pvm_directive(a);
    } else if (t.kind == TOKEN_NAME && s->text.data[t.offset] == '@') {
        ok = label_line(a, t, is_public);
    } else if (is_public) {
        return source_unexpected(s, t, "a label");
    } else {
        s->pos = start.pos;
        ok = pvm_assemble_instruction(a);
    }
    return ok && source_end_of_line(s);
}

static penta_bytes hex_bytes(const struct pvm_hex *h) { return writer_view(&h->bytes); }

static bool place_names(struct pvm_assembly *a, penta_error *err)
{
    struct pvm_program *p = &a->program;
    for (size_t i = 0; i < p->export_count; i++) {
        uint64_t pc = 0;
        if (!pvm_reference_pc(a, &a->export_places[i], &pc, err)) return false;
        a->exports[i].pc = (uint32_t)pc;
    }
    p->exports = a->exports;
    p->imports = a->imports;
    for (size_t i = 0; i < a->count && p->dialect == PVM_DOC; i++) {
        const struct pvm_insn *in = &a->items[i].in;
        uint64_t number = (uint32_t)in->imm1;
        if (a->items[i].kind != PVM_ITEM_INSN || in->op != PVM_OP_ecalli ||
            number >= p->import_count || a->import_given[number])
            continue;
        a->imports[number].pc = in->pc;
        a->import_given[number] = true;
    }
    return true;
}

/* Reports the parts of the program for which the dialect has no field. */
static bool check_dialect(const struct pvm_assembly *a, penta_error *err)
{
    const struct pvm_program *p = &a->program;
    bool jam = p->dialect == PVM_JAM, doc = p->dialect == PVM_DOC;
    if (doc && p->code.isa != PVM_LATEST32 && p->code.isa != PVM_LATEST64)
        return error_at(err, PVM_INEXPRESSIBLE, 0,
                        "the doc dialect has no %s, only latest32 and latest64",
                        pvm_isas[p->code.isa].name);
    if (doc && (p->ro_data.size != p->ro_size || p->rw_data.size != p->rw_size))
        return error_at(err, PVM_INEXPRESSIBLE, 0, "doc programs store all of their data");
    if (jam && (p->ro_data.size >> 24 || p->rw_data.size >> 24 || p->stack_size >> 24 ||
                p->heap_pages >> 16))
        return error_at(err, PVM_INEXPRESSIBLE, 0,
                        "a size does not fit a standard program's fields");
    if (jam && p->import_count + p->export_count)
        findings_add(a->findings, PVM_LEFT_OUT, 0, NULL,
                     "jam has no place for the %zu names of imports and exports",
                     p->import_count + p->export_count);
    return true;
}

/* Fills the program from the directives. Fields that no directive gives get their defaults. */
static void pvm_assemble_complete(struct pvm_assembly *a)
{
    struct pvm_program *p = &a->program;
    p->ro_data = hex_bytes(&a->ro_data);
    p->rw_data = hex_bytes(&a->rw_data);
    p->metadata = hex_bytes(&a->metadata);
    p->has_metadata = a->metadata.given;
    p->debug_strings = hex_bytes(&a->strings);
    p->debug_lines = hex_bytes(&a->lines);
    p->debug_ranges = hex_bytes(&a->ranges);
    p->trailing = hex_bytes(&a->trailing);
    if (!a->sizes_given[0]) p->ro_size = (uint32_t)p->ro_data.size;
    if (!a->sizes_given[1]) p->rw_size = (uint32_t)p->rw_data.size;
    p->sections = a->sections;
    p->varints = a->varints;
    if (!a->fields_given) {
        bool debug = a->strings.given || a->lines.given || a->ranges.given;
        p->doc_end = debug ? PVM_DOC_DEBUG : pvm_doc_shortest_end(p);
    }
    p->has_code = a->count > 0 || a->table_count > 0 || a->table_count_given ||
                  (a->given && a->given->bytes.size);
}

/* Makes the file from the parts of the program and appends it to `out`. */
static bool pvm_assemble_finish(struct pvm_assembly *a, struct writer *out, penta_error *err)
{
    struct writer *parts[10];
    for (size_t i = 0, n = pvm_hex_parts(a, parts); i < n; i++)
        if (!writer_ok(parts[i], err)) return false;
    if (a->file.given) {
        writer_append(out, &a->file.bytes);
        return writer_ok(out, err);
    }
    a->program.code.doc = a->program.dialect == PVM_DOC;
    pvm_assemble_complete(a);
    return pvm_place_code(a, err) && place_names(a, err) && check_dialect(a, err) &&
           pvm_write(&a->program, out, err);
}

static bool take_options(struct pvm_assembly *a, const penta_option *options, size_t count,
                         penta_error *err)
{
    const char *isa = option_text(options, count, "isa");
    const char *dialect = option_text(options, count, "dialect");
    a->isa_given = isa != NULL;
    return (!isa || pvm_isa_of(isa, &a->program.code.isa, err)) &&
           (!dialect || pvm_dialect_of(dialect, &a->program.dialect, err));
}

static bool pvm_assemble_program(struct pvm_assembly *a, const penta_option *options, size_t count,
                                 struct writer *out)
{
    struct source *s = a->s;
    struct findings *findings = a->findings;
    penta_error err = {0};
    s->err = &err;
    if (!take_options(a, options, count, &err)) findings_pass(findings, &err);
    while (s->pos < s->text.size) {
        err = (penta_error){0};
        if (pvm_assemble_line(a)) continue;
        findings_pass(findings, &err);
        source_skip_line(s);
    }
    err = (penta_error){0};
    if (!findings->errors && !pvm_assemble_finish(a, out, &err)) findings_pass(findings, &err);
    pvm_assembly_free(a);
    return !findings->errors;
}

bool pvm_assemble(struct source *s, const penta_option *options, size_t count, struct writer *out,
                  struct findings *findings)
{
    struct pvm_assembly a = {
        .s = s, .findings = findings, .program = {.spi = true, .code.isa = PVM_LATEST64}};
    return pvm_assemble_program(&a, options, count, out);
}

static void findings_keep_memory(void *user, const penta_error *finding)
{
    if (finding->code == BASE_MEMORY) error_keep_first(user, finding);
}

bool pvm_assemble_around(struct source *s, const struct pvm_code *code, struct writer *out,
                         penta_error *err)
{
    struct findings findings = {.rules = pvm_rules, .report = findings_keep_memory, .user = err};
    struct pvm_assembly a = {.s = s,
                             .findings = &findings,
                             .given = code,
                             .program = {.spi = true, .code.isa = PVM_LATEST64}};
    return pvm_assemble_program(&a, NULL, 0, out);
}
