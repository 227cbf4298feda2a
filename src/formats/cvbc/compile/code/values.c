/* Makes instructions of expressions: code_value leaves the words of the value on the stack, and
 * code_effects leaves nothing. CVBC 16.5.3 lists the patterns. */
#include "cvbc/compile/compiler.h"

void code_bound(struct compiler *c, const struct type *from, const struct type *to)
{
    if (to->kind != TYPE_NUMBER || to->bits == 32 || (from && type_within(from, to))) return;
    if (to->bits == 1) {
        code_op(c, CVBC_OP_NOT, 0);
        code_op(c, CVBC_OP_NOT, 0);
    } else if (to->is_unsigned) {
        code_op(c, CVBC_OP_PUSH, to->bits == 8 ? 255 : 65535);
        code_op(c, CVBC_OP_BITWISE_AND, 0);
    } else {
        code_op(c, CVBC_OP_PUSH, 32u - to->bits);
        code_op(c, CVBC_OP_SHIFT_LEFT, 0);
        code_op(c, CVBC_OP_PUSH, 32u - to->bits);
        code_op(c, CVBC_OP_SHIFT_RIGHT, 0);
    }
}

static void code_copy(struct compiler *c, uint32_t below) { code_op(c, CVBC_OP_LOAD_LOCAL, below); }

/* Pushes the value of a place, using a copy of the index or address on top of the stack. */
static void code_load_copy(struct compiler *c, const struct place *p)
{
    if (p->dynamic) code_copy(c, 0);
    code_load(c, p);
}

/* Makes instructions of a = a op b, or of a step such as a++. An index or address that is not
 * constant is below the new value: [index new]. */
static void code_update(struct compiler *c, const struct node *n, bool wanted)
{
    struct place p;
    bool old = wanted && n->post;
    code_place(c, n->a, &p);
    code_load_copy(c, &p);
    if (old) code_copy(c, 0);
    code_value(c, n->b);
    if (!p.dynamic) {
        if (wanted && !old) code_copy(c, 0);
        code_store(c, &p);
        return;
    }
    if (old) { /* The stack is [index old new]. */
        code_copy(c, 2);
        code_store(c, &p);
        code_op(c, CVBC_OP_STORE_LOCAL, 0);
    } else if (wanted) { /* The stack is [index new]. */
        code_copy(c, 0);
        code_copy(c, 2);
        code_store(c, &p);
        code_op(c, CVBC_OP_STORE_LOCAL, 0);
    } else {
        code_copy(c, 1);
        code_store(c, &p);
        code_op(c, CVBC_OP_POP, 0);
    }
}

void code_assign(struct compiler *c, const struct node *n, bool wanted)
{
    struct place p;
    if (n->type->kind == TYPE_RECORD) {
        code_record_assign(c, n, wanted);
    } else if (n->type->kind == TYPE_STRING) {
        code_string_assign(c, n, wanted);
    } else if (n->flag) {
        code_update(c, n, wanted);
    } else {
        code_value(c, n->b);
        if (wanted) code_copy(c, 0);
        code_place(c, n->a, &p);
        code_store(c, &p);
    }
}

static void value_both(struct compiler *c, const struct node *n)
{
    bool either = n->flag;
    uint8_t branch = either ? CVBC_OP_JMP_TRUE : CVBC_OP_JMP_FALSE;
    uint32_t decided = code_label(c), end = code_label(c);
    code_value(c, n->a);
    code_jump(c, branch, decided);
    code_value(c, n->b);
    code_jump(c, branch, decided);
    code_op(c, CVBC_OP_PUSH, !either);
    code_jump(c, CVBC_OP_JMP, end);
    code_put(c, decided);
    c->depth--; /* The other branch pushes the word as well. */
    code_op(c, CVBC_OP_PUSH, either);
    code_put(c, end);
}

static void value_choice(struct compiler *c, const struct node *n, bool wanted)
{
    uint32_t otherwise = code_label(c), end = code_label(c);
    code_value(c, n->a);
    code_jump(c, CVBC_OP_JMP_FALSE, otherwise);
    int32_t depth = c->depth;
    for (int way = 0; way < 2; way++) {
        const struct node *part = way ? n->c : n->b;
        c->depth = depth;
        if (!wanted || n->type->kind == TYPE_VOID)
            code_effects(c, part);
        else if (n->type->kind == TYPE_STRING)
            code_string_value(c, part, true);
        else
            code_value(c, part);
        if (!way) code_jump(c, CVBC_OP_JMP, end);
        if (!way) code_put(c, otherwise);
    }
    code_put(c, end);
}

static void value_binary(struct compiler *c, const struct node *n)
{
    code_value(c, n->a);
    code_value(c, n->b);
    code_op(c, n->opcode, 0);
    if (n->flag) code_op(c, CVBC_OP_NOT, 0);
}

static void value_of_place(struct compiler *c, const struct node *n)
{
    struct place p;
    const struct symbol *s = n->kind == NODE_VARIABLE ? n->symbol : NULL;
    if (n->type->kind == TYPE_RECORD) {
        code_record_value(c, n);
    } else if (s && s->known && !s->addressed) { /* This is a pointer to a literal, and never
                                                  * changes. */
        code_value(c, s->initials[0].value);
    } else {
        code_place(c, n, &p);
        code_load(c, &p);
        if (p.kind == PLACE_MEMORY && c->mixed) code_bound(c, NULL, n->type);
    }
}

void code_value(struct compiler *c, const struct node *n)
{
    if (n->line) c->line = n->line;
    switch (n->kind) {
    case NODE_NUMBER: code_constant(c, n->number); break;
    case NODE_TEXT: code_constant(c, code_text_address(c, n->text)); break;
    case NODE_FUNCTION: code_constant(c, n->function->index); break;
    case NODE_HEAP:
        code_constant(c, n->flag ? CVBC_ARRAYS * LINE_WORDS + 1u : c->heap_first);
        break;
    case NODE_VARIABLE:
    case NODE_AT: value_of_place(c, n); break;
    case NODE_MEMBER:
    case NODE_INDEX:
        if (node_has_place(n))
            value_of_place(c, n);
        else
            code_record_value(c, n);
        break;
    case NODE_ADDRESS: code_address(c, n->a); break;
    case NODE_LOADED: break; /* The words of the value are on the stack already. */
    case NODE_UNARY:
        if (n->opcode == CVBC_OP_SUB) code_op(c, CVBC_OP_PUSH, 0);
        code_value(c, n->a);
        code_op(c, n->opcode, 0);
        break;
    case NODE_BINARY: value_binary(c, n); break;
    case NODE_BOTH: value_both(c, n); break;
    case NODE_CHOICE: value_choice(c, n, true); break;
    case NODE_ASSIGN: code_assign(c, n, true); break;
    case NODE_CONVERT:
        code_value(c, n->a);
        code_bound(c, n->a->type, n->type);
        break;
    case NODE_COMMA:
        code_effects(c, n->a);
        code_value(c, n->b);
        break;
    case NODE_CALL:
    case NODE_CALL_AT:
    case NODE_HOST: code_calls(c, n); break;
    case NODE_PRINT: code_print(c, n); break;
    default: break;
    }
}

void code_effects(struct compiler *c, const struct node *n)
{
    int32_t depth = c->depth;
    if (n->line) c->line = n->line;
    switch (n->kind) {
    case NODE_NUMBER:
    case NODE_TEXT: return;
    case NODE_ASSIGN: code_assign(c, n, false); return;
    case NODE_COMMA:
        code_effects(c, n->a);
        code_effects(c, n->b);
        return;
    case NODE_CHOICE: value_choice(c, n, false); return;
    default: break;
    }
    if (n->type->kind == TYPE_STRING) {
        code_string_value(c, n, false);
        if (code_string_owned(n))
            code_string_release(c);
        else
            code_op(c, CVBC_OP_POP, 0);
        return;
    }
    code_value(c, n);
    while (c->depth > depth) code_op(c, CVBC_OP_POP, 0);
}
