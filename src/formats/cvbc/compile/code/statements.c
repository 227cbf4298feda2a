/* Makes instructions of statements and functions. A function pushes all its locals when it
 * begins. So the stack has the same depth at every statement, and goto needs only a jump. */
#include "cvbc/compile/compiler.h"

struct code_loop { /* a loop, or a switch, for which only break is allowed */
    struct code_loop *outer;
    uint32_t leave, again;
    bool is_switch;
    const struct node *of;
    uint32_t *cases; /* for a switch: the labels of its cases */
};

static void declare_word(struct compiler *c, const struct symbol *s, const struct initial *one)
{
    bool string = one->type->kind == TYPE_STRING;
    uint32_t words = type_words(one->type);
    if (string)
        code_string_value(c, one->value, true);
    else
        code_value(c, one->value);
    for (uint32_t k = words; k-- > 0;) {
        struct place p = code_place_of(s, one->word + k);
        if (string) {
            code_load(c, &p);
            code_string_release(c);
        }
        code_store(c, &p);
    }
}

void code_declare(struct compiler *c, const struct symbol *s)
{
    if (s->storage == STORAGE_NONE) return;
    bool fresh = s->lives && s->storage == STORAGE_ARRAY; /* All words of a new object are 0. */
    for (size_t i = 0; i < s->initial_count; i++) {
        const struct node *value = s->initials[i].value;
        if (fresh && value->kind == NODE_NUMBER && !value->number) continue;
        declare_word(c, s, &s->initials[i]);
    }
    if (s->initial_count || s->lives || s->type->kind != TYPE_STRING) return;
    /* A String becomes empty when its declaration is executed again. */
    struct place p = code_place_of(s, 0);
    code_load(c, &p);
    code_string_release(c);
    code_constant(c, 0);
    code_store(c, &p);
}

/* Records that the variables which a block declares are in scope up to this place. */
static void code_scope_end(const struct compiler *c, const struct node *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (block->items[i]->kind == STATE_DECLARE)
            block->items[i]->symbol->last = (uint32_t)(c->code_count ? c->code_count - 1 : 0);
}

static void note_loop(struct compiler *c, size_t start, uint32_t rounds)
{
    if (c->code_count <= start) return;
    if (!COMPILER_GROW(c, c->loops, c->loop_count, c->loop_capacity)) return;
    c->loops[c->loop_count++] =
        (struct region){(uint32_t)start, (uint32_t)c->code_count - 1, rounds};
}

static void code_while(struct compiler *c, const struct node *n)
{
    struct code_loop l = {.outer = c->loop, .leave = code_label(c), .again = code_label(c)};
    uint32_t top = l.again;
    bool is_for = n->kind == STATE_FOR;
    if (is_for && n->items[0]) code_statement(c, n->items[0]);
    if (is_for) top = code_label(c);
    size_t start = c->code_count;
    code_put(c, top);
    bool endless = !n->a || (n->a->kind == NODE_NUMBER && n->a->number);
    if (!endless) {
        code_value(c, n->a);
        code_jump(c, CVBC_OP_JMP_FALSE, l.leave);
    }
    c->loop = &l;
    code_statement(c, n->b);
    c->loop = l.outer;
    if (is_for) {
        code_put(c, l.again);
        if (n->c) code_effects(c, n->c);
    }
    code_poll(c);
    code_jump(c, CVBC_OP_JMP, top);
    note_loop(c, start, is_for ? n->number : 0);
    if (is_for && n->items[0]) code_scope_end(c, n->items[0]);
    code_put(c, l.leave);
}

static void code_do(struct compiler *c, const struct node *n)
{
    struct code_loop l = {.outer = c->loop, .leave = code_label(c), .again = code_label(c)};
    uint32_t top = code_label(c);
    size_t start = c->code_count;
    code_put(c, top);
    c->loop = &l;
    code_statement(c, n->b);
    c->loop = l.outer;
    code_put(c, l.again);
    code_poll(c);
    code_value(c, n->a);
    code_jump(c, CVBC_OP_JMP_TRUE, top);
    note_loop(c, start, 0);
    code_put(c, l.leave);
}

/* Emits a switch. The comparisons that choose a case come after the body. */
static void code_switch(struct compiler *c, const struct node *n)
{
    struct code_loop l = {.outer = c->loop, .leave = code_label(c), .is_switch = true, .of = n};
    uint32_t choose = code_label(c), otherwise = l.leave;
    code_value(c, n->a);
    code_frame_store(c, (int32_t)n->place);
    code_jump(c, CVBC_OP_JMP, choose);
    l.cases = compiler_array(c, n->count + 1, sizeof *l.cases);
    if (!l.cases) return;
    for (uint32_t i = 0; i < n->count; i++) l.cases[i] = code_label(c);
    c->loop = &l;
    code_statement(c, n->b);
    c->loop = l.outer;
    code_jump(c, CVBC_OP_JMP, l.leave);
    code_put(c, choose);
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->items[i]->flag) {
            otherwise = l.cases[i];
            continue;
        }
        code_frame_load(c, (int32_t)n->place);
        code_constant(c, n->items[i]->number);
        code_op(c, CVBC_OP_EQ, 0);
        code_jump(c, CVBC_OP_JMP_TRUE, l.cases[i]);
    }
    if (otherwise != l.leave) code_jump(c, CVBC_OP_JMP, otherwise);
    code_put(c, l.leave);
}

static void code_case(struct compiler *c, const struct node *n)
{
    const struct code_loop *l = c->loop;
    /* A case may be inside a loop that is inside its switch. */
    while (l && !l->is_switch) l = l->outer;
    for (uint32_t i = 0; l && i < l->of->count; i++)
        if (l->of->items[i] == n) code_put(c, l->cases[i]);
}

static void code_leave(struct compiler *c, bool again)
{
    const struct code_loop *l = c->loop;
    while (again && l && l->is_switch) l = l->outer;
    if (l) code_jump(c, CVBC_OP_JMP, again ? l->again : l->leave);
}

/* Returns the place of the first word of the result, counted as locals are. */
static int32_t code_result_place(const struct function *f)
{
    int32_t place = -1 - (int32_t)f->parameter_words;
    return f->in_place ? place : place - (int32_t)f->result_words;
}

/* Removes the locals from the stack and returns. */
static void code_end(struct compiler *c, const struct function *f)
{
    int32_t depth = c->depth;
    for (uint32_t i = 0; i < f->strings; i++) code_string_release(c);
    for (uint32_t i = 0; i < f->frame; i++) code_op(c, CVBC_OP_POP, 0);
    code_emit(c, CVBC_OP_RET, 0, 0);
    c->depth = depth;
}

static void code_return(struct compiler *c, const struct node *n)
{
    enum { SHORT = 4 };
    const struct function *f = c->inside;
    if (n->a && f->result_words) {
        if (n->a->type->kind == TYPE_STRING)
            code_string_value(c, n->a, true);
        else
            code_value(c, n->a);
        for (uint32_t k = f->result_words; k-- > 0;)
            code_frame_store(c, code_result_place(f) + (int32_t)k);
    } else if (n->a) {
        code_effects(c, n->a);
    }
    if (f->frame <= SHORT && !f->strings)
        code_end(c, f);
    else
        code_jump(c, CVBC_OP_JMP, f->end);
}

/* Copies the parameters into memory that something points to. */
static void code_parameters(struct compiler *c, const struct function *f)
{
    int32_t place = -1 - (int32_t)f->parameter_words;
    for (uint32_t i = 0; i < f->type->parameter_count; i++) {
        struct symbol *s = f->parameters[i];
        uint32_t words = type_words(s->type);
        for (uint32_t k = 0; s->storage == STORAGE_ARRAY && k < words; k++) {
            struct place p = code_place_of(s, k);
            code_frame_load(c, place + (int32_t)k);
            if (s->type->kind == TYPE_STRING) { /* This keeps the String that it held last. */
                const struct function *keep = scope_library(c, "__s_keep");
                if (keep) code_call(c, keep->label);
                code_load(c, &p);
                code_string_release(c);
            }
            code_store(c, &p);
        }
        place += (int32_t)words;
    }
}

/* Makes instructions of the items of a block, from `first` on. */
static void code_block(struct compiler *c, const struct node *n, uint32_t first)
{
    for (uint32_t i = first; i < n->count; i++) code_statement(c, n->items[i]);
    code_scope_end(c, n);
}

/* Pushes the locals. The declarations at the start of the body push their values directly.
 * Returns the number of these declarations. */
static uint32_t code_locals(struct compiler *c, const struct function *f)
{
    uint32_t i = 0;
    for (; i < f->body->count; i++) {
        const struct node *n = f->body->items[i];
        struct symbol *s = n->symbol;
        if (n->kind != STATE_DECLARE || s->storage != STORAGE_FRAME || !type_is_scalar(s->type) ||
            s->place != c->depth || s->initial_count != 1)
            break;
        c->line = n->line;
        code_value(c, s->initials[0].value);
        s->first = (uint32_t)c->code_count;
    }
    while (c->depth < (int32_t)(f->frame + f->strings)) code_op(c, CVBC_OP_PUSH, 0);
    return i;
}

void code_function(struct compiler *c, struct function *f)
{
    c->inside = f;
    c->loop = NULL;
    c->depth = 0;
    c->line = f->line;
    f->entry = (uint32_t)c->code_count;
    f->end = code_label(c);
    code_put(c, f->label);
    for (struct jump_label *l = f->labels; l; l = l->next) l->target = code_label(c);
    for (uint32_t i = 0; i < f->type->parameter_count; i++)
        f->parameters[i]->first = (uint32_t)c->code_count;
    code_parameters(c, f);
    uint32_t declared = code_locals(c, f);
    code_block(c, f->body, declared);
    if (f->last_line) c->line = f->last_line;
    code_put(c, f->end);
    code_end(c, f);
    for (uint32_t i = 0; i < f->type->parameter_count; i++)
        f->parameters[i]->last = (uint32_t)c->code_count - 1;
    f->end = (uint32_t)c->code_count;
    c->inside = NULL;
}

static void code_if(struct compiler *c, const struct node *n)
{
    uint32_t otherwise = code_label(c);
    code_value(c, n->a);
    code_jump(c, CVBC_OP_JMP_FALSE, otherwise);
    code_statement(c, n->b);
    if (n->c) {
        uint32_t end = code_label(c);
        code_jump(c, CVBC_OP_JMP, end);
        code_put(c, otherwise);
        code_statement(c, n->c);
        otherwise = end;
    }
    code_put(c, otherwise);
}

void code_statement(struct compiler *c, const struct node *n)
{
    if (n->line) c->line = n->line;
    /* Too much code is reported at the end. */
    if (compiler_over(c) || c->code_count > UINT16_MAX) return;
    switch (n->kind) {
    case STATE_BLOCK: code_block(c, n, 0); break;
    case STATE_VALUE:
        code_effects(c, n->a);
        code_poll(c);
        break;
    case STATE_DECLARE:
        code_declare(c, n->symbol);
        n->symbol->first = (uint32_t)c->code_count;
        break;
    case STATE_IF: code_if(c, n); break;
    case STATE_WHILE:
    case STATE_FOR: code_while(c, n); break;
    case STATE_DO: code_do(c, n); break;
    case STATE_SWITCH: code_switch(c, n); break;
    case STATE_CASE: code_case(c, n); break;
    case STATE_BREAK: code_leave(c, false); break;
    case STATE_CONTINUE: code_leave(c, true); break;
    case STATE_RETURN: code_return(c, n); break;
    case STATE_LABEL: code_put(c, n->label->target); break;
    case STATE_GOTO:
        code_poll(c);
        code_jump(c, CVBC_OP_JMP, n->label->target);
        break;
    default: break;
    }
}
