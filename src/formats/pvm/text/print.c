/* Disassembles: chooses the style, and prints names and source lines. print_source.c writes text
 * that assembles to the same bytes, print_listing.c writes PolkaVM's listings, and forms.c
 * prints single instructions. */
#include "pvm/text/print.h"
#include "base/utf8.h"
#include "pvm/vm/spec_profile.h"

void pvm_print_name(struct writer *out, penta_bytes name)
{
    uint32_t point;
    size_t at = 0;
    for (size_t n; at < name.size; at += n) {
        n = utf8_next(bytes_slice(name, at, name.size), &point);
        if (!n) break;
    }
    if (at < name.size) {
        writer_text(out, "0x");
        writer_hex(out, name);
        return;
    }
    writer_char(out, '\'');
    /* Names are printed in comments, and a line break would end a comment. */
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] < 0x20)
            writer_print(out, "\\x%02x", name.data[i]);
        else
            writer_char(out, (char)name.data[i]);
    writer_char(out, '\'');
}

static void print_string(struct writer *out, const struct pvm_program *program, uint32_t offset)
{
    penta_bytes text = pvm_debug_string(program, offset);
    for (size_t i = 0; i < text.size; i++)
        writer_char(out, text.data[i] < 0x20 ? '?' : (char)text.data[i]);
}

static void print_frame(struct writer *out, const struct pvm_program *program,
                        const struct pvm_debug_frame *f)
{
    writer_text(out, "// ");
    if (f->space) {
        print_string(out, program, f->space);
        writer_text(out, "::");
    }
    if (f->function)
        print_string(out, program, f->function);
    else
        writer_text(out, "?");
    if (f->path) {
        writer_text(out, " at ");
        print_string(out, program, f->path);
        if (f->line) writer_print(out, ":%u", (unsigned)f->line);
        if (f->line && f->column) writer_print(out, ":%u", (unsigned)f->column);
    }
    writer_char(out, '\n');
}

static uint64_t place_id(const struct pvm_debug_frame *f)
{
    uint64_t id = (uint64_t)f->function * UINT64_C(0x9e3779b97f4a7c15) + f->path;
    return (id * UINT64_C(0x9e3779b97f4a7c15) + f->line) * UINT64_C(0xff51afd7ed558ccd) +
           f->column + 1;
}

void pvm_print_place(struct pvm_print_lines *l, uint32_t pc, struct writer *out)
{
    while (l->running && pc >= l->lines.to) l->running = pvm_debug_next(&l->lines);
    if (!l->running) {
        l->running = pvm_debug_find(l->program, pc, &l->lines);
        while (l->running && pc >= l->lines.to) l->running = pvm_debug_next(&l->lines);
    }
    if (!l->running || pc < l->lines.from || !l->lines.depth) return;
    uint32_t depth = l->lines.depth < PVM_DEBUG_FRAMES ? l->lines.depth : PVM_DEBUG_FRAMES;
    const struct pvm_debug_frame *f = &l->lines.frames[depth - 1];
    uint64_t id = place_id(f);
    if (id == l->said) return;
    l->said = id;
    print_frame(out, l->program, f);
}

static bool take_options(struct pvm_print *p, const penta_option *options, size_t count,
                         penta_error *err)
{
    const char *model = option_text(options, count, "gas-model");
    const char *profile = option_text(options, count, "profile");
    p->gas = option_text(options, count, "gas") != NULL;
    p->source = option_text(options, count, "source") != NULL;
    if (profile) {
        const struct pvm_profile *found = pvm_profile_find(profile);
        if (!found) return error_not_in(err, "profile", profile, pvm_profile_name);
        p->cmov_reads_old = found->cmov_reads_old;
        p->model = found->gas;
    }
    if (model && !pvm_gas_model_parse(model, &p->model))
        return error_not_in(err, "gas model", model, pvm_gas_model_name);
    return true;
}

static const struct {
    const char *name;
    bool (*print)(const struct pvm_print *p, penta_error *err);
} styles[] = {
    {"asm", pvm_print_source}, {"flat", pvm_print_flat}, {"upstream", pvm_print_upstream}};
enum { STYLES = sizeof styles / sizeof *styles };

const char *pvm_style_name(size_t i) { return i < STYLES ? styles[i].name : NULL; }

bool pvm_print(const penta_module *module, const penta_option *options, size_t count,
               struct writer *out, penta_error *err)
{
    struct pvm_print p = {.m = pvm_module(module), .out = out};
    const char *style = option_text(options, count, "style");
    if (!take_options(&p, options, count, err)) return false;
    for (size_t i = 0; i < STYLES; i++)
        if (!strcmp(style ? style : "asm", styles[i].name)) return styles[i].print(&p, err);
    return error_not_in(err, "style", style, pvm_style_name);
}

static bool insn_at(const struct pvm_code *code, uint64_t pc, struct pvm_insn *in)
{
    if (pc >= code->bytes.size || !pvm_starts(code, (uint32_t)pc)) return false;
    pvm_decode(code, (uint32_t)pc, in);
    return true;
}

bool pvm_print_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    const struct pvm_code *code = &pvm_module(module)->program.code;
    struct pvm_insn in;
    if (!insn_at(code, pc, &in)) return false;
    pvm_form_print(out, &in, code->isa, &(struct pvm_style){.upstream = false});
    return true;
}

bool pvm_print_mnemonic_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    const struct pvm_code *code = &pvm_module(module)->program.code;
    struct pvm_insn in;
    if (!insn_at(code, pc, &in)) return false;
    pvm_mnemonic_print(out, &in, code->isa);
    return true;
}

/* Tells whether a block starts at pc: at the first instruction, after one that ends a block, and
 * after a hole. */
static bool block_starts(const struct pvm_code *code, uint32_t pc)
{
    struct pvm_insn in;
    for (uint32_t back = 1; back <= PVM_SKIP_MAX + 1 && back <= pc; back++)
        if (insn_at(code, pc - back, &in)) return in.length != back || pvm_ends_block(in.op);
    return true;
}

bool pvm_gas_at(const penta_module *module, uint64_t pc, const penta_option *options, size_t count,
                uint64_t *gas)
{
    const struct pvm_code *code = &pvm_module(module)->program.code;
    struct pvm_print p = {0};
    struct pvm_insn in;
    penta_error ignored = {0};
    uint32_t cost;
    if (!insn_at(code, pc, &in) || !block_starts(code, (uint32_t)pc) ||
        !take_options(&p, options, count, &ignored) ||
        !pvm_block_cost(code, (uint32_t)pc, p.model, p.cmov_reads_old, &cost))
        return false;
    *gas = cost;
    return true;
}
