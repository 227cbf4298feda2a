/* Makes instructions of calls (CVBC 16.6). Library functions that implement an operator leave
 * their result in the place of the first argument; all others leave it below their arguments. */
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

static void calls_pop(struct compiler *c, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++) code_op(c, CVBC_OP_POP, 0);
}

static bool calls_string(const struct node *n) { return n->type->kind == TYPE_STRING; }

/* Removes the arguments from `first` on from the stack, the last one first. Strings that no
 * variable keeps are released. */
static void calls_arguments_end(struct compiler *c, const struct node *n, uint32_t first,
                                bool all_owned)
{
    for (uint32_t i = n->count; i-- > first;) {
        if (calls_string(n->items[i]) && (all_owned || code_string_owned(n->items[i])))
            code_string_release(c);
        else
            calls_pop(c, type_words(n->items[i]->type));
    }
}

static void calls_library(struct compiler *c, const struct node *n)
{
    const struct function *f = n->function;
    bool in_place = f->in_place;
    bool twice = in_place && calls_string(n->items[0]) && code_string_owned(n->items[0]);
    if (!in_place && f->result_words) code_op(c, CVBC_OP_PUSH, 0);
    for (uint32_t i = 0; i < n->count; i++) {
        code_value(c, n->items[i]);
        if (!i && twice) code_op(c, CVBC_OP_LOAD_LOCAL, 0);
    }
    code_call(c, f->label);
    calls_arguments_end(c, n, in_place, false);
    if (!twice) return;
    code_op(c, CVBC_OP_LOAD_LOCAL, 1); /* The stack is [text result]. */
    code_string_release(c);
    code_op(c, CVBC_OP_STORE_LOCAL, 0);
}

static void calls_function(struct compiler *c, const struct node *n)
{
    for (uint32_t i = 0; i < n->function->result_words; i++) code_op(c, CVBC_OP_PUSH, 0);
    for (uint32_t i = 0; i < n->count; i++) {
        if (calls_string(n->items[i]))
            code_string_value(c, n->items[i], true);
        else
            code_value(c, n->items[i]);
    }
    code_call(c, n->function->label);
    calls_arguments_end(c, n, 0, true);
}

/* Compares the pointer with every function of its type whose address is taken, because the
 * machine has no call of a computed place. */
static void calls_pointer(struct compiler *c, const struct node *n)
{
    const struct type *t = n->a->type->kind == TYPE_POINTER ? n->a->type->of : n->a->type;
    uint32_t end = code_label(c);
    uint32_t result = type_words(t->of);
    for (uint32_t i = 0; i < result; i++) code_op(c, CVBC_OP_PUSH, 0);
    for (uint32_t i = 0; i < n->count; i++) {
        if (calls_string(n->items[i]))
            code_string_value(c, n->items[i], true);
        else
            code_value(c, n->items[i]);
    }
    code_value(c, n->a);
    int32_t depth = c->depth;
    for (size_t i = 0; i < c->function_count; i++) {
        const struct function *f = c->functions[i];
        if (!f->addressed || !f->body || !type_same(f->type, t)) continue;
        uint32_t other = code_label(c);
        code_op(c, CVBC_OP_LOAD_LOCAL, 0);
        code_constant(c, f->index);
        code_op(c, CVBC_OP_EQ, 0);
        code_jump(c, CVBC_OP_JMP_FALSE, other);
        code_op(c, CVBC_OP_POP, 0);
        code_call(c, f->label);
        code_jump(c, CVBC_OP_JMP, end);
        code_put(c, other);
        c->depth = depth;
    }
    code_trap(c);
    code_op(c, CVBC_OP_POP, 0);
    code_put(c, end);
    calls_arguments_end(c, n, 0, true);
}

/* Makes the pin of analogWrite an output, as every Arduino does. No code is needed if the sketch
 * has a pinMode with the same number, or with a variable of the same name. */
static void calls_output(struct compiler *c, const struct node *pin)
{
    if (pin->kind != NODE_NUMBER && pin->kind != NODE_VARIABLE) return;
    for (size_t i = 0; i < c->mode_count; i++) {
        const struct node *set = c->modes[i];
        if (set->kind != pin->kind) continue;
        if (pin->kind == NODE_NUMBER ? set->number == pin->number
                                     : bytes_equal(set->symbol->name, pin->symbol->name))
            return;
    }
    code_value(c, pin);
    code_constant(c, 1);
    code_op(c, CVBC_OP_PIN_MODE, 0);
}

void code_calls(struct compiler *c, const struct node *n)
{
    if (n->kind == NODE_CALL_AT) {
        calls_pointer(c, n);
    } else if (n->kind == NODE_CALL) {
        if (n->function->library)
            calls_library(c, n);
        else
            calls_function(c, n);
    } else {
        if (n->opcode == CVBC_OP_ANALOG_WRITE) calls_output(c, n->items[0]);
        if (n->opcode == CVBC_OP_DELAY && code_delay(c, n)) return;
        for (uint32_t i = 0; i < n->count; i++) code_value(c, n->items[i]);
        c->place = n->offset + 1;
        code_op(c, n->opcode, 0);
        c->place = 0;
    }
}

void code_print(struct compiler *c, const struct node *n)
{
    for (uint32_t i = 0; i < n->count; i++) code_value(c, n->items[i]);
    c->place = n->offset + 1;
    code_printf(c, n->text, n->count);
    c->place = 0;
}
