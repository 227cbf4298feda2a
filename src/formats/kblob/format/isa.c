/* The table of isa.def, and the list of instructions. */
#include "core/describe.h"
#include "kblob/kblob.h"

const struct kblob_op_info kblob_ops[KBLOB_OP_DEFINED] = {
#define OP(code, name, shape, meaning) [code] = {#name, KBLOB_SHAPE_##shape, meaning},
#include "kblob/isa.def"
};

void kblob_isa(const penta_visitor *v)
{
    static const char *const shapes[] = {[KBLOB_SHAPE_NONE] = "",
                                         [KBLOB_SHAPE_ADDRESS] = "ADDRESS",
                                         [KBLOB_SHAPE_ADDRESS_VALUE] = "ADDRESS, VALUE",
                                         [KBLOB_SHAPE_ADDRESS_LENGTH] = "ADDRESS, LENGTH",
                                         [KBLOB_SHAPE_TIME] = "MS"};
    for (unsigned code = 1; code < KBLOB_OP_DEFINED; code++) {
        penta_node node = {.name = "instruction"};
        if (!describe_enter(v, node)) continue;
        describe_word(v, "opcode", code);
        describe_text(v, "mnemonic", kblob_ops[code].mnemonic);
        describe_text(v, "operands", shapes[kblob_ops[code].shape]);
        describe_text(v, "meaning", kblob_ops[code].meaning);
        describe_leave(v, node);
    }
}
