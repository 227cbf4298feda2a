/* Makes the calls of handlers of interrupts (CVBC 16.5.0.3). Nothing interrupts the machine: after
 * each statement and each round of a loop the program asks whether there was an edge at a watched
 * pin, and calls the handler then. Handlers, and the functions that they call, do not ask, so that
 * none of them is interrupted. */
#include <stdlib.h>
#include "cvbc/compile/compiler.h"

/* Marks a function and all functions that it may call. */
static void handlers_mark(struct compiler *c, struct function *first)
{
    struct function **work = NULL;
    size_t count = 0, capacity = 0;
    if (!ARRAY_RESERVE(work, capacity, c->function_count + 1)) {
        compiler_no_memory(c);
        return;
    }
    if (!first->in_handler) work[count++] = first;
    first->in_handler = true;
    while (count) {
        struct function *f = work[--count];
        size_t pointers = f->indirect ? c->function_count : 0;
        for (size_t i = 0; i < f->call_count + pointers; i++) {
            struct function *next =
                i < f->call_count ? f->calls[i] : c->functions[i - f->call_count];
            if (next->in_handler || (i >= f->call_count && !next->addressed)) continue;
            next->in_handler = true;
            work[count++] = next;
        }
    }
    free(work);
}

void compiler_handlers(struct compiler *c)
{
    for (size_t i = 0; c->interrupts && i < c->function_count; i++)
        if (c->functions[i]->addressed && type_same(c->functions[i]->type, type_handler.of))
            handlers_mark(c, c->functions[i]);
}

/* Tells whether handlers are called in the function that is being compiled. */
static bool interrupts_reach(const struct compiler *c)
{
    return c->interrupts && !(c->inside && (c->inside->library || c->inside->in_handler));
}

void code_poll(struct compiler *c)
{
    const struct function *f = interrupts_reach(c) ? scope_library(c, "__interrupt") : NULL;
    if (!f) return;
    uint32_t none = code_label(c);
    code_op(c, CVBC_OP_PENDING, 0);
    code_jump(c, CVBC_OP_JMP_FALSE, none);
    code_call(c, f->label);
    code_put(c, none);
}

bool code_delay(struct compiler *c, const struct node *n)
{
    const struct function *f = interrupts_reach(c) ? scope_library(c, "__delay") : NULL;
    if (!f) return false;
    code_value(c, n->items[0]);
    code_call(c, f->label);
    code_op(c, CVBC_OP_POP, 0);
    return true;
}
