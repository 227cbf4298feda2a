/* Makes the tables of isa.def, shapes.def and specials.def, and lists the instructions. */
#include "core/describe.h"
#include "kblob/kblob.h"

const struct kblob_op_info kblob_ops[KBLOB_OP_DEFINED] = {
#define OP(code, name, shape, meaning) [code] = {#name, KBLOB_SHAPE_##shape, meaning},
#include "kblob/isa.def"
};

enum {
    ARG0 = KBLOB_FIELD_ARG0,
    ARG1 = KBLOB_FIELD_ARG1,
    D = KBLOB_FIELD_D,
    A = KBLOB_FIELD_A,
    B = KBLOB_FIELD_B,
    B_REGISTER = KBLOB_FIELD_B_REGISTER,
    OFFSET = KBLOB_FIELD_OFFSET,
    TARGET = KBLOB_FIELD_TARGET,
    SPECIAL = KBLOB_FIELD_SPECIAL,
};
const struct kblob_shape_info kblob_shapes[KBLOB_SHAPES] = {
#define SHAPE(name, operands, fields) [KBLOB_SHAPE_##name] = {operands, fields},
#include "kblob/shapes.def"
};

const char *const kblob_specials[KBLOB_SPECIALS] = {
#define SPECIAL(number, id, name, meaning) [number] = name,
#include "kblob/specials.def"
};

void kblob_isa(const penta_visitor *v)
{
    for (unsigned code = 1; code < KBLOB_OP_DEFINED; code++) {
        penta_node node = {.name = "instruction"};
        if (!kblob_ops[code].mnemonic || !describe_enter(v, node)) continue;
        describe_word(v, "opcode", code);
        describe_text(v, "mnemonic", kblob_ops[code].mnemonic);
        describe_text(v, "operands", kblob_shapes[kblob_ops[code].shape].operands);
        describe_text(v, "meaning", kblob_ops[code].meaning);
        describe_leave(v, node);
    }
}
