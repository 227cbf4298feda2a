/* Makes instructions for values of several words, which are structs, and for Strings. The word
 * of a String is the address of its characters (library/string.c), which have a count of their
 * holders: whoever makes or keeps a String must release it. A value that a variable keeps
 * holding is borrowed, and needs no release. */
#include "cvbc/compile/compiler.h"

/* Replaces a record below the top of the stack by a part of it, which begins at word `from`: [w0
 * .. wn-1] -> [part]. */
static void record_part(struct compiler *c, uint32_t words, uint32_t from, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        code_op(c, CVBC_OP_LOAD_LOCAL, words - 1 - from - k);
        code_op(c, CVBC_OP_STORE_LOCAL, words - 1 - k);
    }
    for (uint32_t k = count; k < words; k++) code_op(c, CVBC_OP_POP, 0);
}

void code_record_value(struct compiler *c, const struct node *n)
{
    struct place p;
    uint32_t words = type_words(n->type);
    if (n->kind == NODE_MEMBER && !node_has_place(n)) {
        code_value(c, n->a);
        record_part(c, type_words(n->a->type), n->number, words);
        return;
    }
    if (!node_has_place(n)) {
        code_value(c, n);
        return;
    }
    code_place(c, n, &p);
    for (uint32_t k = 0; k < words; k++) {
        struct place one = p;
        one.at += p.dynamic ? 0 : (int32_t)k;
        if (p.dynamic) {
            code_op(c, CVBC_OP_LOAD_LOCAL, k);
            code_constant(c, k);
            code_op(c, CVBC_OP_ADD, 0);
        }
        code_load(c, &one);
    }
    if (p.dynamic) record_part(c, words + 1, 1, words);
}

void code_record_assign(struct compiler *c, const struct node *n, bool wanted)
{
    struct place p;
    uint32_t words = type_words(n->type);
    code_value(c, n->b);
    int32_t first = c->depth - (int32_t)words;
    code_place(c, n->a, &p);
    for (uint32_t k = 0; k < words; k++) {
        struct place one = p;
        one.at += p.dynamic ? 0 : (int32_t)k;
        code_frame_load(c, first + (int32_t)k);
        if (p.dynamic) {
            code_frame_load(c, first + (int32_t)words);
            code_constant(c, k);
            code_op(c, CVBC_OP_ADD, 0);
        }
        code_store(c, &one);
    }
    if (p.dynamic) code_op(c, CVBC_OP_POP, 0);
    for (uint32_t k = 0; k < words && !wanted; k++) code_op(c, CVBC_OP_POP, 0);
}

bool code_string_owned(const struct node *n)
{
    while (n->kind == NODE_COMMA) n = n->b;
    return n->kind == NODE_CALL || n->kind == NODE_CALL_AT || n->kind == NODE_CHOICE;
}

static void string_call(struct compiler *c, const char *name)
{
    const struct function *f = scope_library(c, name);
    if (f) code_call(c, f->label);
}

void code_string_release(struct compiler *c)
{
    string_call(c, "__s_drop");
    code_op(c, CVBC_OP_POP, 0);
}

void code_string_value(struct compiler *c, const struct node *n, bool owned)
{
    code_value(c, n);
    if (owned && !code_string_owned(n)) string_call(c, "__s_keep");
}

void code_string_assign(struct compiler *c, const struct node *n, bool wanted)
{
    struct place p;
    bool update = n->flag;
    if (update) {
        code_place(c, n->a, &p);
        if (p.dynamic) code_op(c, CVBC_OP_LOAD_LOCAL, 0);
        code_load(c, &p);
    }
    code_string_value(c, n->b, true);
    if (update && p.dynamic) { /* The stack changes from [index new] to [new] or [new new index]. */
        code_op(c, CVBC_OP_LOAD_LOCAL, 1);
        code_load(c, &p);
        code_string_release(c);
        code_op(c, CVBC_OP_LOAD_LOCAL, 0);
        code_op(c, CVBC_OP_LOAD_LOCAL, 2);
        code_store(c, &p);
        code_op(c, CVBC_OP_STORE_LOCAL, 0);
        if (!wanted) code_op(c, CVBC_OP_POP, 0);
        return;
    }
    if (wanted) code_op(c, CVBC_OP_LOAD_LOCAL, 0);
    if (!update) code_place(c, n->a, &p);
    if (p.dynamic) code_op(c, CVBC_OP_LOAD_LOCAL, 0);
    code_load(c, &p);
    code_string_release(c);
    code_store(c, &p);
}
