/* Implements the builder of penta/coil.h. It writes the text form and assembles it, so that
 * there is one grammar and one encoder, with the same checks and messages as for a file. */
#include "coil/vm/vm.h"
#include "penta/coil.h"
#include "text/lexer.h"
#include <stdlib.h>

struct penta_coil_builder {
    struct writer text;
    penta_error err;
};

penta_coil_builder *penta_coil_builder_new(bool big_endian)
{
    penta_coil_builder *b = calloc(1, sizeof *b);
    if (b && big_endian) writer_text(&b->text, ".endian big\n");
    return b;
}

void penta_coil_builder_free(penta_coil_builder *b)
{
    if (b) writer_free(&b->text);
    free(b);
}

/* Tells whether a caller's text stays within its line: it has no line end, and no comment
 * outside of strings. */
static bool fits_in_line(const char *text)
{
    bool quoted = false;
    for (; text && *text; text++) {
        if (quoted && *text == '\\' && text[1] && text[1] != '\n')
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (*text == '\n' || (*text == ';' && !quoted))
            return false;
    }
    return text && !quoted;
}

static bool builder_word(penta_coil_builder *b, const char *text)
{
    if (!fits_in_line(text))
        return error_at(&b->err, BASE_SYNTAX, b->text.out.size,
                        "'%.40s' is not one operand or name", text ? text : "");
    writer_text(&b->text, text);
    return true;
}

static void builder_line(penta_coil_builder *b, const char *directive, const char *text)
{
    if (b->err.code) return;
    writer_text(&b->text, directive);
    builder_word(b, text);
    writer_char(&b->text, '\n');
}

void penta_coil_builder_directive(penta_coil_builder *b, const char *directive)
{
    if (!b->err.code && (!directive || *directive != '.'))
        error_at(&b->err, BASE_SYNTAX, b->text.out.size, "'%.40s' is not a directive",
                 directive ? directive : "");
    builder_line(b, "", directive);
}

void penta_coil_builder_section(penta_coil_builder *b, const char *name)
{
    builder_line(b, ".section ", name);
}

void penta_coil_builder_function(penta_coil_builder *b, const char *name, bool global)
{
    if (global) builder_line(b, ".global ", name);
    builder_line(b, ".func ", name);
}

void penta_coil_builder_end(penta_coil_builder *b) { builder_line(b, ".endfunc", ""); }

void penta_coil_builder_label(penta_coil_builder *b, const char *name)
{
    if (b->err.code) return;
    if (name && *name == '!')
        error_at(&b->err, BASE_SYNTAX, b->text.out.size, "'%.40s' is not a label", name);
    builder_word(b, name);
    writer_text(&b->text, ":\n");
}

void penta_coil_builder_variable(penta_coil_builder *b, const char *name, const char *type)
{
    if (b->err.code) return;
    writer_text(&b->text, "    VAR %");
    builder_word(b, name);
    builder_line(b, ", ", type);
}

static void builder_operand(penta_coil_builder *b, const penta_coil_operand *o)
{
    switch (o->kind) {
    case PENTA_COIL_TEXT: builder_word(b, o->text); return;
    case PENTA_COIL_VARIABLE:
        writer_char(&b->text, '%');
        builder_word(b, o->text);
        return;
    case PENTA_COIL_SYMBOL:
        writer_char(&b->text, '@');
        builder_word(b, o->text);
        return;
    case PENTA_COIL_REGISTER: writer_print(&b->text, "v%lld", (long long)o->number); return;
    case PENTA_COIL_INT:
    case PENTA_COIL_REAL:
        if (o->text) {
            builder_word(b, o->text);
            writer_char(&b->text, ' ');
        }
        if (o->kind == PENTA_COIL_INT)
            writer_print(&b->text, "%lld", (long long)o->number);
        else
            coil_print_real(&b->text, o->real, false);
    }
}

void penta_coil_builder_insn(penta_coil_builder *b, const char *mnemonic,
                             const penta_coil_operand *operands, size_t count)
{
    if (b->err.code) return;
    writer_text(&b->text, "    ");
    builder_word(b, mnemonic);
    for (size_t i = 0; i < count; i++) {
        writer_text(&b->text, i ? ", " : " ");
        builder_operand(b, &operands[i]);
    }
    writer_char(&b->text, '\n');
}

void penta_coil_builder_data(penta_coil_builder *b, const void *bytes, size_t size)
{
    if (b->err.code || !size) return;
    writer_text(&b->text, "    .bytes ");
    writer_hex(&b->text, (penta_bytes){bytes, size});
    writer_char(&b->text, '\n');
}

void penta_coil_builder_zero(penta_coil_builder *b, uint64_t size)
{
    if (!b->err.code) writer_print(&b->text, "    .zero %llu\n", (unsigned long long)size);
}

struct relay {
    penta_report *report;
    void *user;
    penta_error *err;
};

static void finding_pass_on(void *user, const penta_error *finding)
{
    struct relay *r = user;
    error_keep_first(r->err, finding);
    if (r->report) r->report(r->user, finding);
}

penta_module *penta_coil_builder_finish(penta_coil_builder *b, penta_report *report, void *user,
                                        penta_error *err)
{
    *err = b->err;
    if (err->code || !writer_ok(&b->text, err)) return NULL;
    struct writer out = {0};
    struct relay relay = {report, user, err};
    struct findings f = {.rules = coil_rules, .report = finding_pass_on, .user = &relay};
    penta_error ignored = {0};
    struct source s = {
        .name = "builder", .text = writer_view(&b->text), .comment = ";", .err = &ignored};
    penta_module *m = NULL;
    if (coil_assemble(&s, NULL, 0, &out, &f)) m = coil_parse(writer_view(&out), NULL, 0, err);
    if (!m) {
        writer_free(&out);
        return NULL;
    }
    m->owned = out.out.data;
    return m;
}

uint64_t penta_coil_register_get(const penta_vm *vm, unsigned number)
{
    if (vm->module->driver != &coil_driver || number >= COIL_REGISTERS) return 0;
    return ((const struct coil_vm *)vm)->v[number];
}
