#include <stdlib.h>
#include "base/bytes.h"
#include "core/describe.h"
#include "demo/demo.h"

extern const struct driver demo_driver;

const struct demo_op_info demo_ops[DEMO_OPS] = {
#define OP(code, name, text, operand, meaning)                                                     \
    [DEMO_##name] = {code, DEMO_##operand, text, meaning},
#include "demo/isa.def"
};

static const penta_rule rules[] = {
#define RULE(...) RULE_ROW(DEMO_RULE_, __VA_ARGS__)
#include "demo/rules.def"
    {0}};

static int demo_probe(penta_bytes file, struct writer *evidence)
{
    if (file.size < 4 || memcmp(file.data, "DEMO", 4)) return 0;
    if (evidence) writer_text(evidence, "starts with DEMO");
    return 100;
}

static penta_module *demo_parse(penta_bytes file, const penta_option *options, size_t count,
                                penta_error *err)
{
    (void)options, (void)count;
    struct demo_module *m = calloc(1, sizeof *m);
    if (!m) {
        error_at(err, BASE_MEMORY, 0, "no memory for a module");
        return NULL;
    }
    m->base = (penta_module){.driver = &demo_driver, .file = file};
    if (!demo_probe(file, NULL))
        error_at(&m->base.damage, DEMO_RULE_BAD_MAGIC, 0, "this is not a demo file");
    else if ((file.size - 4) % DEMO_INSN)
        error_at(&m->base.damage, DEMO_RULE_TRUNCATED, file.size, "an instruction has 5 bytes");
    m->count = demo_probe(file, NULL) ? (file.size - 4) / DEMO_INSN : 0;
    return &m->base;
}

enum demo_op demo_decode(const struct demo_module *m, size_t i, uint32_t *imm)
{
    const uint8_t *p = m->base.file.data + 4 + i * DEMO_INSN;
    *imm = bytes_get32(p + 1);
    for (int op = 1; op < DEMO_FUEL; op++)
        if (demo_ops[op].code == p[0]) return (enum demo_op)op;
    return DEMO_BAD;
}

static void demo_verify(const penta_module *module, struct findings *f)
{
    const struct demo_module *m = (const struct demo_module *)module;
    if (module->damage.code) findings_pass(f, &module->damage);
    for (size_t i = 0; i < m->count; i++) {
        uint32_t imm;
        enum demo_op op = demo_decode(m, i, &imm);
        if (op == DEMO_BAD)
            findings_add(f, DEMO_RULE_BAD_OPCODE, 4 + i * DEMO_INSN, NULL, "instruction %zu", i);
        if (demo_ops[op].operand == DEMO_PC && imm >= m->count)
            findings_add(f, DEMO_RULE_JUMP_TARGET, 5 + i * DEMO_INSN, NULL, "jump to %u of %zu",
                         imm, m->count);
    }
}

static void demo_describe(const penta_module *module, const penta_visitor *v)
{
    const struct demo_module *m = (const struct demo_module *)module;
    penta_bytes file = module->file;
    size_t end = m->count * DEMO_INSN;
    if (demo_probe(file, NULL)) {
        describe_raw(v, "magic", bytes_slice(file, 0, 4), 0, NULL);
        end += 4;
    }
    penta_node code = {.name = "code", .offset = 4, .size = m->count * DEMO_INSN, .list = true};
    if (m->count && describe_enter(v, code)) {
        for (size_t i = 0; i < m->count; i++) {
            uint64_t at = 4 + i * DEMO_INSN;
            penta_node insn = {.name = "insn", .offset = at, .size = DEMO_INSN};
            if (!describe_enter(v, insn)) continue;
            uint32_t imm;
            const char *note = demo_ops[demo_decode(m, i, &imm)].mnemonic;
            describe_field(v,
                           (penta_field){"opcode", at, 1, PENTA_UINT, {.u = file.data[at]}, note});
            describe_field(v, (penta_field){"imm", at + 1, 4, PENTA_UINT, {.u = imm}, NULL});
            describe_leave(v, insn);
        }
        describe_leave(v, code);
    }
    if (end < file.size)
        describe_raw(v, "damaged", bytes_slice(file, end, file.size), end, module->damage.message);
}

static bool demo_encode(const penta_module *module, struct writer *out, penta_error *err)
{
    writer_bytes(out, module->file.data, module->file.size);
    return writer_ok(out, err);
}

static void close_module(penta_module *module) { free(module); }

static void demo_isa(const penta_visitor *v)
{
    for (int op = 1; op < DEMO_FUEL; op++) {
        penta_node node = {.name = "instruction"};
        if (!describe_enter(v, node)) continue;
        describe_word(v, "opcode", demo_ops[op].code);
        describe_text(v, "mnemonic", demo_ops[op].mnemonic);
        describe_text(v, "meaning", demo_ops[op].meaning);
        describe_leave(v, node);
    }
}

static const struct engine *const engines[] = {&demo_interp, NULL};

/* clang-format off */
const struct driver demo_driver = {
    .name = "demo", .title = "toy format of a test", .suffix = ".dasm", .comment = ";",
    .number = DEMO_FORMAT, .rules = rules, .probe = demo_probe, .parse = demo_parse,
    .verify = demo_verify, .describe = demo_describe, .encode = demo_encode, .print = demo_print,
    .print_at = demo_print_at,
    .next_pc = next_number,
    .assemble = demo_assemble, .close = close_module, .isa = demo_isa, .engines = engines,
};
/* clang-format on */
