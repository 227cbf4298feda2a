/* Makes the two functions that read and write memory by address, and literals whose characters
 * are read. The machine cannot choose an array by a computed number, so these functions find it
 * by comparisons: array n has the addresses 64 n + 1 to 64 n + 64, and literals have those from
 * 2048 on. An address that belongs to nothing ends the program with MEMORY_BOUNDS. */
#include "cvbc/compile/compiler.h"

enum { TEXTS = 2048, GROUP = 4, RETURN_WORDS = 1 };

/* Pushes the address, which is below the return index. */
static void memory_address(struct compiler *c, uint32_t above)
{
    code_op(c, CVBC_OP_LOAD_LOCAL, RETURN_WORDS + above);
}

static void memory_leaf(struct compiler *c, uint32_t array, bool write)
{
    int32_t depth = c->depth;
    /* The stack is [value address return]. */
    if (write) code_op(c, CVBC_OP_LOAD_LOCAL, RETURN_WORDS + 1);
    memory_address(c, write);
    code_constant(c, array * LINE_WORDS + 1);
    code_op(c, CVBC_OP_SUB, 0);
    code_op(c, write ? CVBC_OP_STORE_ARRAY : CVBC_OP_LOAD_ARRAY, array);
    if (!write) code_op(c, CVBC_OP_STORE_LOCAL, RETURN_WORDS);
    code_emit(c, CVBC_OP_RET, 0, 0);
    c->depth = depth;
}

/* Chooses among the arrays from `low` to `high` by a binary search. */
static void memory_choose(struct compiler *c, uint32_t low, uint32_t high, bool write)
{
    if (low == high) {
        memory_leaf(c, low, write);
        return;
    }
    uint32_t middle = (low + high + 1) / 2, above = code_label(c);
    memory_address(c, 0);
    code_constant(c, middle * LINE_WORDS + 1);
    code_op(c, CVBC_OP_LT_S, 0);
    code_jump(c, CVBC_OP_JMP_FALSE, above);
    memory_choose(c, low, middle - 1, write);
    code_put(c, above);
    memory_choose(c, middle, high, write);
}

static void memory_arrays(struct compiler *c, bool write)
{
    if (c->arrays > c->memory_first) {
        memory_choose(c, c->memory_first, c->arrays - 1, write);
        return;
    }
    code_trap(c);
    code_emit(c, CVBC_OP_RET, 0, 0);
}

/* Returns the character at an offset in the text of all literals, each of which ends with a
 * zero. */
static uint8_t memory_character(const struct compiler *c, uint32_t offset, size_t *text)
{
    while (*text + 1 < c->text_count && c->texts[*text + 1].address - TEXTS <= offset) ++*text;
    const struct text_place *t = &c->texts[*text];
    uint32_t at = offset - (t->address - TEXTS);
    return at < t->text.size ? t->text.data[at] : 0;
}

/* Pushes the four characters of a group as one word. */
static void memory_group(struct compiler *c, uint32_t group, uint32_t tail)
{
    uint32_t word = 0;
    size_t low = 0, high = c->text_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->texts[middle].address - TEXTS <= group * GROUP)
            low = middle;
        else
            high = middle;
    }
    for (uint32_t i = 0; i < GROUP; i++)
        word |= (uint32_t)memory_character(c, group * GROUP + i, &low) << 8 * i;
    int32_t depth = c->depth;
    code_constant(c, word);
    code_jump(c, CVBC_OP_JMP, tail);
    c->depth = depth;
}

static void memory_groups(struct compiler *c, uint32_t low, uint32_t high, uint32_t tail)
{
    if (low == high || compiler_over(c)) {
        memory_group(c, low, tail);
        return;
    }
    uint32_t middle = (low + high + 1) / 2, above = code_label(c);
    memory_address(c, 0);
    code_constant(c, middle * GROUP);
    code_op(c, CVBC_OP_LT_S, 0);
    code_jump(c, CVBC_OP_JMP_FALSE, above);
    memory_groups(c, low, middle - 1, tail);
    code_put(c, above);
    memory_groups(c, middle, high, tail);
}

static void memory_texts(struct compiler *c)
{
    uint32_t tail = code_label(c), outside = code_label(c), size = c->text_end - TEXTS;
    memory_address(c, 0);
    code_constant(c, TEXTS);
    code_op(c, CVBC_OP_SUB, 0);
    code_op(c, CVBC_OP_STORE_LOCAL, RETURN_WORDS);
    memory_address(c, 0);
    code_constant(c, size);
    code_op(c, CVBC_OP_LT_S, 0);
    code_jump(c, CVBC_OP_JMP_FALSE, outside);
    memory_groups(c, 0, (size - 1) / GROUP, tail);
    code_put(c, tail); /* The stack is [offset return word]. */
    c->depth = 1;
    memory_address(c, 1);
    code_constant(c, GROUP - 1);
    code_op(c, CVBC_OP_BITWISE_AND, 0);
    code_constant(c, 3);
    code_op(c, CVBC_OP_SHIFT_LEFT, 0);
    code_op(c, CVBC_OP_SHIFT_RIGHT, 0);
    code_constant(c, 24);
    code_op(c, CVBC_OP_SHIFT_LEFT, 0);
    code_constant(c, 24);
    code_op(c, CVBC_OP_SHIFT_RIGHT, 0);
    code_op(c, CVBC_OP_STORE_LOCAL, RETURN_WORDS);
    code_emit(c, CVBC_OP_RET, 0, 0);
    code_put(c, outside);
    c->depth = 0;
    code_trap(c);
    code_emit(c, CVBC_OP_RET, 0, 0);
}

void code_memory(struct compiler *c)
{
    if (!c->memory) return;
    c->line = 0;
    c->depth = 0;
    code_put(c, c->load);
    uint32_t texts = code_label(c);
    if (c->text_count) {
        memory_address(c, 0);
        code_constant(c, TEXTS);
        code_op(c, CVBC_OP_LT_S, 0);
        code_jump(c, CVBC_OP_JMP_FALSE, texts);
    }
    memory_arrays(c, false);
    code_put(c, texts);
    if (c->text_count) memory_texts(c);
    code_put(c, c->store);
    c->depth = 0;
    memory_arrays(c, true);
}
