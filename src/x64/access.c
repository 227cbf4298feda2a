/* Loads and stores by the kind of what is in memory. A row of the table has the opcodes for one
 * kind of integer, in the form that x64_form_mem takes; floats and vectors use the functions of
 * sse.h. */
#include "x64/access.h"

static const struct {
    uint32_t load, store, store_imm;
    uint8_t load_size, store_size, imm_bytes;
} integers[] = {
    [X64_I8] = {0x0fbe, 0x88, 0xc6, X64, X32, 1},
    [X64_U8] = {0x0fb6, 0x88, 0xc6, X32, X32, 1},
    [X64_I16] = {0x0fbf, 0x660089, 0x6600c7, X64, X32, 2},
    [X64_U16] = {0x0fb7, 0x660089, 0x6600c7, X32, X32, 2},
    [X64_I32] = {0x63, 0x89, 0xc7, X64, X32, 4},
    [X64_U32] = {0x8b, 0x89, 0xc7, X32, X32, 4},
    [X64_INTEGER] = {0x8b, 0x89, 0xc7, X64, X64, 4},
};

void x64_load(struct x64 *e, enum x64_access kind, unsigned reg, struct x64_mem from)
{
    if (kind >= X64_16_BYTES)
        x64_movups_load(e, kind == X64_32_BYTES, reg, from);
    else if (kind >= X64_F32)
        x64_movs_load(e, kind == X64_F64, reg, from);
    else
        x64_form_mem(e, integers[kind].load, (enum x64_size)integers[kind].load_size, reg, from,
                     false);
}

void x64_store(struct x64 *e, enum x64_access kind, struct x64_mem to, unsigned reg)
{
    if (kind >= X64_16_BYTES)
        x64_movups_store(e, kind == X64_32_BYTES, to, reg);
    else if (kind >= X64_F32)
        x64_movs_store(e, kind == X64_F64, to, reg);
    else
        x64_form_mem(e, integers[kind].store, (enum x64_size)integers[kind].store_size, reg, to,
                     kind <= X64_U8);
}

void x64_store_imm(struct x64 *e, enum x64_access kind, struct x64_mem to, int32_t imm)
{
    x64_form_mem(e, integers[kind].store_imm, (enum x64_size)integers[kind].store_size, 0, to,
                 false);
    x64_put(e, (uint32_t)imm, integers[kind].imm_bytes);
}
