/* Emits single instructions: jumps to labels, constants, and texts that are printed or read.
 * Labels become instruction numbers at the end (output.c). `depth` counts the words on the
 * stack. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

static size_t code_append(struct compiler *c, struct emitted e)
{
    /* If there are more instructions than this, an error is reported at the end, without memory
     * for all of them. */
    enum { CODE_MAX = 1 << 18 };
    if (c->code_count >= CODE_MAX || !COMPILER_GROW(c, c->code, c->code_count, c->code_capacity))
        return 0;
    e.line = c->line;
    e.place = c->place;
    c->code[c->code_count] = e;
    return c->code_count++;
}

void code_emit(struct compiler *c, uint8_t opcode, uint8_t flags, uint32_t immediate)
{
    code_append(c, (struct emitted){.opcode = opcode, .flags = flags, .immediate = immediate});
}

void code_op(struct compiler *c, uint8_t opcode, uint32_t immediate)
{
    code_emit(c, opcode, 0, immediate);
    c->depth += cvbc_ops[opcode].pushes - cvbc_ops[opcode].pops;
}

void code_constant(struct compiler *c, uint32_t value)
{
    int32_t number = (int32_t)value;
    if (value <= UINT16_MAX) {
        code_op(c, CVBC_OP_PUSH, value);
    } else if (number >= INT16_MIN && number < 0) {
        if (c->how->portable) {
            code_op(c, CVBC_OP_PUSH, 0);
            code_op(c, CVBC_OP_PUSH, 0u - value);
            code_op(c, CVBC_OP_SUB, 0);
        } else {
            code_emit(c, CVBC_OP_PUSH, CVBC_S, value & UINT16_MAX);
            c->depth++;
        }
    } else if (c->how->portable) {
        code_op(c, CVBC_OP_PUSH, value >> 16);
        for (int i = 0; i < 2; i++) {
            code_op(c, CVBC_OP_PUSH, 256);
            code_op(c, CVBC_OP_MUL, 0);
        }
        code_op(c, CVBC_OP_PUSH, value & UINT16_MAX);
        code_op(c, CVBC_OP_ADD, 0);
    } else {
        code_op(c, CVBC_OP_PUSH, value & UINT16_MAX);
        code_emit(c, CVBC_OP_PUSH, CVBC_W, value >> 16);
    }
}

uint32_t code_label(struct compiler *c)
{
    if (!COMPILER_GROW(c, c->labels, c->label_count, c->label_capacity)) return 0;
    c->labels[c->label_count] = 0;
    return (uint32_t)c->label_count++;
}

void code_put(struct compiler *c, uint32_t label)
{
    if (label < c->label_count) c->labels[label] = (uint32_t)c->code_count;
}

void code_jump(struct compiler *c, uint8_t opcode, uint32_t label)
{
    code_append(c, (struct emitted){.opcode = opcode, .to_label = true, .immediate = label});
    c->depth -= cvbc_ops[opcode].pops;
}

void code_call(struct compiler *c, uint32_t label)
{
    code_append(c, (struct emitted){.opcode = CVBC_OP_CALL, .to_label = true, .immediate = label});
}

/* Emits a read of element -1: it is the only instruction that always fails with MEMORY_BOUNDS
 * and that the verifier accepts. */
void code_trap(struct compiler *c)
{
    code_constant(c, UINT32_MAX);
    code_op(c, CVBC_OP_LOAD_ARRAY, CVBC_ARRAYS - 1);
    code_op(c, CVBC_OP_POP, 0);
}

/* The functions below use words of the frame by their distance from the top of the stack. */

void code_frame_load(struct compiler *c, int32_t word)
{
    code_op(c, CVBC_OP_LOAD_LOCAL, (uint32_t)(c->depth - 1 - word));
}

void code_frame_store(struct compiler *c, int32_t word)
{
    code_op(c, CVBC_OP_STORE_LOCAL, (uint32_t)(c->depth - 2 - word));
}

static int32_t code_string(struct compiler *c, penta_bytes text)
{
    /* Equal texts share a string if it is among the last strings, so that the search is short. */
    enum { LOOK_BACK = 256 };
    for (size_t i = c->string_count; i-- > 0 && c->string_count - i <= LOOK_BACK;)
        if (bytes_equal(c->strings[i], text)) return (int32_t)i;
    if (c->string_count > UINT16_MAX ||
        !COMPILER_GROW(c, c->strings, c->string_count, c->string_capacity))
        return -1;
    c->strings[c->string_count] = text;
    return (int32_t)c->string_count++;
}

void code_printf(struct compiler *c, penta_bytes text, uint32_t count)
{
    int32_t id = code_string(c, text);
    if (id < 0) compiler_error(c, CVBC_LIMIT, 0, "more than 65535 strings");
    code_op(c, CVBC_OP_PUSH, count);
    code_op(c, CVBC_OP_PRINTF, (uint32_t)id & UINT16_MAX);
    c->depth -= (int32_t)count;
}

/* Returns the address of a literal whose characters are read. Such addresses come after those of
 * the memory; code/memory.c makes the code that reads them. */
uint32_t code_text_address(struct compiler *c, penta_bytes text)
{
    enum { FIRST = 2048, LOOK_BACK = 256 };
    for (size_t i = c->text_count; i-- > 0 && c->text_count - i <= LOOK_BACK;)
        if (bytes_equal(c->texts[i].text, text)) return c->texts[i].address;
    if (!c->text_end) c->text_end = FIRST;
    if (text.size >= UINT16_MAX - c->text_end) {
        compiler_error(c, CVBC_LIMIT, 0, "more than %d characters of texts are read by pointers",
                       UINT16_MAX - FIRST);
        return FIRST;
    }
    if (!COMPILER_GROW(c, c->texts, c->text_count, c->text_capacity)) return FIRST;
    uint32_t address = c->text_end;
    c->texts[c->text_count++] = (struct text_place){text, address};
    c->text_end += (uint32_t)text.size + 1;
    return address;
}
