/* Declares a sixth format, which only a test builds, to prove that a format takes one folder and
 * one line in registry.def. A file is "DEMO" | { opcode u8 | imm u32 } ... The machine has an
 * accumulator and a jump. */
#pragma once
#include "core/driver.h"
#include "core/engine.h"

enum { DEMO_FORMAT = 0x7f, DEMO_INSN = 5 };

enum demo_rule {
#define RULE(number, name, ...) DEMO_RULE_##name = DEMO_FORMAT << 16 | number,
#include "demo/rules.def"
};
enum demo_op {
    DEMO_BAD,
#define OP(code, name, ...) DEMO_##name,
#include "demo/isa.def"
    DEMO_FUEL,
    DEMO_OPS
};
enum demo_operand { DEMO_NONE, DEMO_IMM, DEMO_PC };
extern const struct demo_op_info {
    uint8_t code, operand;
    const char *mnemonic, *meaning;
} demo_ops[DEMO_OPS];

struct demo_insn {
    uint8_t op;
    uint32_t imm;
};
struct demo_module {
    penta_module base;
    size_t count;
};
enum demo_op demo_decode(const struct demo_module *m, size_t i, uint32_t *imm);

extern const struct engine demo_interp;
bool demo_assemble(struct source *s, const penta_option *options, size_t count, struct writer *out,
                   struct findings *findings);
bool demo_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err);
bool demo_print_at(const penta_module *module, uint64_t pc, struct writer *out);
