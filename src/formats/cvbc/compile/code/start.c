/* Makes the code that runs first: it creates the arrays, fills the variables, and calls main, or
 * calls setup once and loop for ever (CVBC 16.5.2). */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"
#include "cvbc/compile/code/start.h"

static struct function *start_function(struct compiler *c, const char *name)
{
    for (size_t i = 0; i < c->function_count; i++)
        if (!c->functions[i]->library && c->functions[i]->body &&
            bytes_equal(c->functions[i]->name, bytes_of(name)))
            return c->functions[i];
    return NULL;
}

void compiler_start(struct compiler *c)
{
    static const char *const strings[] = {"__s_keep", "__s_drop"};
    static const char *const entries[] = {"main", "setup", "loop", "serialEvent"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        struct function *f = start_function(c, entries[i]);
        if (!f) continue;
        f->wanted = true;
        if (f->parameter_words)
            compiler_error(c, BASE_SYNTAX, f->offset, "it is called without arguments");
    }
    if (!c->errors && !start_function(c, "main") && !start_function(c, "setup"))
        compiler_error(c, BASE_NAME_UNKNOWN, 0, "neither main nor setup is defined");
    for (size_t i = 0; c->strings_used && i < sizeof strings / sizeof *strings; i++) {
        struct function *f = scope_library(c, strings[i]);
        if (f) scope_want(c, f);
    }
    if (c->strings_used) c->memory = true;
    static const char *const handling[] = {"__interrupt", "__delay"};
    for (size_t i = 0; c->interrupts && i < sizeof handling / sizeof *handling; i++) {
        struct function *f = scope_library(c, handling[i]);
        if (f) scope_want(c, f);
    }
}

static void start_call(struct compiler *c, const struct function *f, bool keep)
{
    c->line = f->line;
    for (uint32_t i = 0; i < f->result_words; i++) code_op(c, CVBC_OP_PUSH, 0);
    code_call(c, f->label);
    for (uint32_t i = 0; i < f->result_words && !keep; i++) code_op(c, CVBC_OP_POP, 0);
}

void start_code(struct compiler *c)
{
    const struct function *main = start_function(c, "main"), *setup = start_function(c, "setup");
    const struct function *loop = start_function(c, "loop");
    for (uint32_t a = 0; a < c->arrays; a++) {
        if (!c->array_words[a]) continue;
        code_op(c, CVBC_OP_PUSH, c->array_words[a]);
        code_op(c, CVBC_OP_CREATE_ARRAY, a);
    }
    for (size_t i = 0; i < c->lasting_count; i++) {
        c->line = c->lasting[i]->line;
        code_declare(c, c->lasting[i]);
    }
    start_call(c, main ? main : setup, true);
    if (main || !loop) {
        code_op(c, CVBC_OP_HALT, 0);
        return;
    }
    uint32_t again = code_label(c);
    code_put(c, again);
    start_call(c, loop, false);
    code_poll(c);
    const struct function *event = start_function(c, "serialEvent");
    if (event) { /* The event function is called after loop if there is something to read. */
        uint32_t nothing = code_label(c);
        code_op(c, CVBC_OP_PUSH, 0);
        code_op(c, CVBC_OP_SERIAL_AVAILABLE, 0);
        code_jump(c, CVBC_OP_JMP_FALSE, nothing);
        start_call(c, event, false);
        code_put(c, nothing);
    }
    code_jump(c, CVBC_OP_JMP, again);
}
