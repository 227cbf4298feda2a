/* Assembles and prints lines of the form `label: mnemonic [number or label]`. Labels may be used
 * before they are defined. */
#include "base/bytes.h"
#include "demo/demo.h"
#include "text/labels.h"

bool demo_print_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    const struct demo_module *m = (const struct demo_module *)module;
    if (pc >= m->count) return false;
    uint32_t imm;
    enum demo_op op = demo_decode(m, (size_t)pc, &imm);
    if (op == DEMO_BAD || (imm && demo_ops[op].operand == DEMO_NONE)) {
        writer_print(out, ".insn %u, %u", m->base.file.data[4 + pc * DEMO_INSN], imm);
        return true;
    }
    writer_text(out, demo_ops[op].mnemonic);
    if (demo_ops[op].operand != DEMO_NONE) writer_print(out, " %u", imm);
    return true;
}

bool demo_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err)
{
    (void)options, (void)count;
    for (uint64_t pc = 0; demo_print_at(module, pc, out); pc++) writer_char(out, '\n');
    return writer_ok(out, err);
}

static bool demo_operand_read(struct source *s, struct labels *labels, struct writer *out)
{
    struct token t = source_next(s);
    if (t.kind == TOKEN_NAME &&
        !labels_use(labels, token_text(s, t), out->out.size, 4, t.offset, s->err))
        return false;
    if (t.kind != TOKEN_NAME && t.kind != TOKEN_INT)
        return source_unexpected(s, t, "a number or label");
    if (t.kind == TOKEN_INT && t.as.u > UINT32_MAX)
        return error_at(s->err, BASE_NUMBER, t.offset, "more than 32 bits");
    writer_uint(out, t.kind == TOKEN_INT ? t.as.u : 0, 4);
    return true;
}

static bool demo_line_read(struct source *s, struct labels *labels, struct writer *out)
{
    struct token t = source_next(s);
    if (t.kind == TOKEN_LINE || t.kind == TOKEN_END) return !s->err->code;
    if (t.kind == TOKEN_DIRECTIVE && token_is(s, t, ".insn")) {
        struct token code = source_next(s);
        writer_uint(out, code.as.u, 1);
        return source_expect(s, ',') && demo_operand_read(s, labels, out) && source_end_of_line(s);
    }
    if (t.kind != TOKEN_NAME) return source_unexpected(s, t, "an instruction or label");
    if (source_accept(s, ':')) {
        uint64_t pc = (out->out.size - 4) / DEMO_INSN;
        return labels_define(labels, token_text(s, t), pc, t.offset, s->err) &&
               demo_line_read(s, labels, out);
    }
    for (int op = 1; op < DEMO_FUEL; op++) {
        if (!token_is(s, t, demo_ops[op].mnemonic)) continue;
        writer_uint(out, demo_ops[op].code, 1);
        if (demo_ops[op].operand == DEMO_NONE)
            writer_uint(out, 0, 4);
        else if (!demo_operand_read(s, labels, out))
            return false;
        return source_end_of_line(s);
    }
    return error_at(s->err, BASE_MNEMONIC, t.offset, "unknown instruction");
}

bool demo_assemble(struct source *s, const penta_option *options, size_t count, struct writer *out,
                   struct findings *findings)
{
    (void)options, (void)count;
    struct labels labels = {0};
    writer_bytes(out, "DEMO", 4);
    while (s->pos < s->text.size) {
        penta_error err = {0};
        s->err = &err;
        if (demo_line_read(s, &labels, out)) continue;
        findings_pass(findings, &err);
        source_skip_line(s);
    }
    for (size_t i = 0; i < labels.fixup_count; i++) {
        const struct fixup *f = &labels.fixups[i];
        const struct label *l = &labels.items[f->label];
        if (l->defined)
            writer_patch(out, (size_t)f->place, l->value, f->width);
        else
            findings_add(findings, BASE_NAME_UNKNOWN, f->offset, NULL, "the label is not defined");
    }
    labels_free(&labels);
    return !findings->errors;
}
