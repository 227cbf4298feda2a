/* Compiles statements (CVBC 16.4). */
#include <stdlib.h>
#include "base/array.h"
#include "cvbc/compile/compiler.h"

enum { ERRORS_MAX = 20 };

struct loop { /* a loop, or a switch, which only break leaves */
    struct loop *outer;
    int32_t depth; /* how many words the stack has at its start */
    bool is_switch;
    struct jumps {
        size_t *at, count, capacity;
    } breaks, continues;
    struct cases {
        struct one_case {
            uint32_t value;
            size_t target;
        } * at;
        size_t count, capacity, otherwise; /* otherwise: the target of default, or SIZE_MAX */
    } cases;
};

static bool statement_any(struct compiler *c);

/* Ends the scope of the names from `scope` on, and takes their words off the stack. */
void compiler_close_scope(struct compiler *c, size_t scope, int32_t depth)
{
    for (size_t i = scope; i < c->symbol_count; i++) {
        if (!c->symbols[i].hidden)
            c->symbols[i].last = (uint32_t)(c->body.count ? c->body.count - 1 : 0);
        if (c->symbols[i].kind != SYMBOL_LOCAL) c->symbols[i].last = UINT16_MAX;
        c->symbols[i].hidden = true;
    }
    while (c->depth > depth) compiler_op(c, CVBC_OP_POP, 0);
    c->depth = depth;
}

/* Continues after an error: skips to the end of the statement. */
void compiler_recover(struct compiler *c)
{
    for (unsigned open = 0; compiler_word(c)->kind != WORD_END; c->pos++) {
        const struct word *w = compiler_word(c);
        if (w->kind != WORD_SIGN) continue;
        if (w->value == '{') open++;
        if (w->value == '}' && !open--) return;
        if ((w->value == '}' || w->value == ';') && !open) {
            c->pos++;
            return;
        }
    }
}

/* Tells whether a declaration begins here: with a type that is no conversion such as int(x). */
static bool statement_declares(const struct compiler *c)
{
    const struct word *w = compiler_word(c);
    return compiler_is_type(c, w) && !(w[1].kind == WORD_SIGN && w[1].value == '(');
}

static bool case_label(struct compiler *c, bool *did)
{
    struct loop *l = c->loop;
    const struct word *w = compiler_word(c);
    bool one = word_is(&c->words, w, "case"), other = word_is(&c->words, w, "default");
    *did = one || other;
    if (!*did) return true;
    c->pos++;
    uint32_t value = 0;
    if (one && !compiler_constant_expression(c, &value)) return false;
    if (!compiler_expect(c, ':', "':'")) return false;
    if (c->depth != l->depth)
        return compiler_error(c, BASE_SYNTAX, w->offset,
                              "a variable of a switch needs braces around its case");
    if (other) {
        if (l->cases.otherwise != SIZE_MAX)
            return compiler_error(c, BASE_SYNTAX, w->offset, "default is there twice");
        l->cases.otherwise = c->out->count;
        return true;
    }
    for (size_t i = 0; i < l->cases.count; i++)
        if (l->cases.at[i].value == value)
            return compiler_error(c, BASE_SYNTAX, w->offset, "case %d is there twice", (int)value);
    if (!COMPILER_GROW(c, l->cases.at, l->cases.count, l->cases.capacity)) return false;
    l->cases.at[l->cases.count++] = (struct one_case){value, c->out->count};
    return true;
}

static bool statement_block(struct compiler *c, bool of_switch)
{
    size_t scope = c->symbol_count;
    int32_t depth = c->depth;
    while (!compiler_accept(c, '}')) {
        const struct word *w = compiler_word(c);
        if (w->kind == WORD_END) return compiler_error(c, BASE_SYNTAX, w->offset, "expected '}'");
        if (c->errors >= ERRORS_MAX) return false;
        int32_t before = c->depth;
        bool label = false, ok = !of_switch || case_label(c, &label);
        if (ok && label) continue;
        if (ok && word_is(&c->words, w, "enum") && c->words.at[c->pos + 1].kind == WORD_SIGN) {
            c->pos++;
            ok = compiler_enum(c) && compiler_expect(c, ';', "';'");
        } else if (ok) {
            ok = statement_declares(c) ? compiler_local_declaration(c, scope) : statement_any(c);
        }
        if (ok) continue;
        c->depth = before;
        compiler_recover(c);
    }
    compiler_close_scope(c, scope, depth);
    return true;
}

bool compiler_block(struct compiler *c) { return statement_block(c, false); }

static bool statement_parenthesised(struct compiler *c)
{
    return compiler_expect(c, '(', "'('") && compiler_expression(c) &&
           compiler_expect(c, ')', "')'");
}

static bool if_statement(struct compiler *c)
{
    if (!statement_parenthesised(c)) return false;
    size_t otherwise = compiler_jump(c, CVBC_OP_JMP_FALSE, 0);
    if (!statement_any(c)) return false;
    if (!compiler_is(c, "else")) {
        compiler_patch(c, otherwise);
        return true;
    }
    c->pos++;
    size_t end = compiler_jump(c, CVBC_OP_JMP, 0);
    compiler_patch(c, otherwise);
    if (!statement_any(c)) return false;
    compiler_patch(c, end);
    return true;
}

static bool leave_loop(struct compiler *c, const struct word *w, bool again)
{
    struct loop *l = c->loop;
    while (again && l && l->is_switch) l = l->outer;
    if (!l)
        return compiler_error(c, BASE_SYNTAX, w->offset,
                              again ? "continue outside a loop" : "break outside a loop");
    for (int32_t d = c->depth; d > l->depth; d--) compiler_emit(c, CVBC_OP_POP, 0, 0, RELOC_NONE);
    struct jumps *jumps = again ? &l->continues : &l->breaks;
    if (!COMPILER_GROW(c, jumps->at, jumps->count, jumps->capacity)) return false;
    jumps->at[jumps->count++] = compiler_jump(c, CVBC_OP_JMP, 0);
    return compiler_expect(c, ';', "';'");
}

static void statement_land(struct compiler *c, struct jumps *jumps)
{
    for (size_t i = 0; i < jumps->count; i++) compiler_patch(c, jumps->at[i]);
    free(jumps->at);
    *jumps = (struct jumps){0};
}

/* Notes a loop that ends here. */
static void note_loop(struct compiler *c, size_t start, uint32_t rounds)
{
    if (c->out != &c->body || c->out->count <= start) return;
    if (!COMPILER_GROW(c, c->loops, c->loop_count, c->loop_capacity)) return;
    c->loops[c->loop_count++] =
        (struct region){(uint32_t)start, (uint32_t)c->out->count - 1, rounds};
}

static bool while_statement(struct compiler *c)
{
    struct loop loop = {.outer = c->loop, .depth = c->depth};
    size_t start = c->out->count;
    if (!statement_parenthesised(c)) return false;
    size_t end = compiler_jump(c, CVBC_OP_JMP_FALSE, 0);
    c->loop = &loop;
    bool ok = statement_any(c);
    c->loop = loop.outer;
    statement_land(c, &loop.continues);
    compiler_jump(c, CVBC_OP_JMP, start);
    note_loop(c, start, 0);
    compiler_patch(c, end);
    statement_land(c, &loop.breaks);
    return ok;
}

static bool do_statement(struct compiler *c)
{
    struct loop loop = {.outer = c->loop, .depth = c->depth};
    size_t start = c->out->count;
    c->loop = &loop;
    bool ok = statement_any(c);
    c->loop = loop.outer;
    statement_land(c, &loop.continues);
    if (ok && !compiler_is(c, "while"))
        ok = compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "expected while");
    c->pos += ok;
    ok = ok && statement_parenthesised(c) && compiler_expect(c, ';', "';'");
    if (ok) compiler_jump(c, CVBC_OP_JMP_TRUE, start);
    note_loop(c, start, 0);
    statement_land(c, &loop.breaks);
    return ok;
}

/* Compiles a switch. The value stays on the stack. The comparisons that lead into the body come after it. */
static bool switch_statement(struct compiler *c)
{
    if (!statement_parenthesised(c)) return false;
    struct loop loop = {
        .outer = c->loop, .depth = c->depth, .is_switch = true, .cases = {.otherwise = SIZE_MAX}};
    size_t to_cases = compiler_jump(c, CVBC_OP_JMP, 0);
    c->loop = &loop;
    bool ok = compiler_expect(c, '{', "'{'") && statement_block(c, true);
    c->loop = loop.outer;
    size_t to_end = compiler_jump(c, CVBC_OP_JMP, 0);
    compiler_patch(c, to_cases);
    for (size_t i = 0; ok && i < loop.cases.count; i++) {
        compiler_op(c, CVBC_OP_LOAD_LOCAL, 0);
        compiler_constant(c, loop.cases.at[i].value);
        compiler_op(c, CVBC_OP_EQ, 0);
        compiler_jump(c, CVBC_OP_JMP_TRUE, loop.cases.at[i].target);
    }
    if (loop.cases.otherwise != SIZE_MAX) compiler_jump(c, CVBC_OP_JMP, loop.cases.otherwise);
    compiler_patch(c, to_end);
    statement_land(c, &loop.breaks);
    free(loop.cases.at);
    compiler_op(c, CVBC_OP_POP, 0);
    return ok;
}

/* Finds the position after the ) that closes the head of a for. */
static size_t after_head(const struct compiler *c)
{
    size_t at = c->pos, open = 1;
    for (; open && c->words.at[at].kind != WORD_END; at++)
        if (c->words.at[at].kind == WORD_SIGN)
            open = open + (c->words.at[at].value == '(') - (c->words.at[at].value == ')');
    return at;
}

/* Finds how often for (i = first; i < n; i++) runs, from the code of its condition. 0 when unknown. */
static uint32_t rounds_of(const struct compiler *c, size_t start, const struct value *first)
{
    if (c->out->count - start != 3) return 0;
    const struct emitted *e = &c->out->at[start];
    const struct word *w = compiler_word(c);
    bool counts =
        (w[0].kind == WORD_NAME && w[1].kind == WORD_SIGN && w[1].value == SIGN2('+', '+')) ||
        (w[1].kind == WORD_NAME && w[0].kind == WORD_SIGN && w[0].value == SIGN2('+', '+'));
    bool below = e[0].opcode == CVBC_OP_LOAD_LOCAL && !e[0].immediate &&
                 e[1].opcode == CVBC_OP_PUSH && !e[1].flags && e[2].opcode == CVBC_OP_LT_S;
    return counts && below && first->known && first->number < e[1].immediate
               ? e[1].immediate - first->number
               : 0;
}

static bool for_body(struct compiler *c, struct loop *loop, const struct value *first)
{
    size_t start = c->out->count, end = SIZE_MAX;
    uint32_t rounds = 0;
    if (!compiler_accept(c, ';')) {
        if (!compiler_expression(c) || !compiler_expect(c, ';', "';'")) return false;
        rounds = rounds_of(c, start, first);
        end = compiler_jump(c, CVBC_OP_JMP_FALSE, 0);
    }
    size_t step = c->pos;
    c->pos = after_head(c);
    if (!statement_any(c)) return false;
    size_t after = c->pos;
    statement_land(c, &loop->continues);
    c->pos = step; /* the step is compiled after the body */
    if (!compiler_accept(c, ')')) {
        do {
            if (!compiler_expression_statement(c)) return false;
        } while (compiler_accept(c, ','));
        if (!compiler_expect(c, ')', "')'")) return false;
    }
    c->pos = after;
    compiler_jump(c, CVBC_OP_JMP, start);
    note_loop(c, start, rounds);
    if (end != SIZE_MAX) compiler_patch(c, end);
    return true;
}

static bool for_statement(struct compiler *c)
{
    size_t scope = c->symbol_count;
    int32_t depth = c->depth;
    if (!compiler_expect(c, '(', "'('")) return false;
    struct value first = {0};
    if (compiler_is_type(c, compiler_word(c))) {
        if (!compiler_local_declaration(c, scope)) return false;
        first = c->value;
    } else if (!compiler_accept(c, ';')) {
        do {
            if (!compiler_expression_statement(c)) return false;
        } while (compiler_accept(c, ','));
        if (!compiler_expect(c, ';', "';'")) return false;
    }
    struct loop loop = {.outer = c->loop, .depth = c->depth};
    c->loop = &loop;
    bool ok = for_body(c, &loop, &first);
    c->loop = loop.outer;
    if (!ok) free(loop.continues.at);
    statement_land(c, &loop.breaks);
    compiler_close_scope(c, scope, depth);
    return ok;
}

static bool return_statement(struct compiler *c, const struct word *w)
{
    const struct function *f = c->inside;
    bool value = !compiler_accept(c, ';');
    if (value != (f->result.bits != 0))
        return compiler_error(c, BASE_SYNTAX, w->offset,
                              f->result.bits ? "the function returns a value"
                                             : "the function returns nothing");
    if (value) {
        struct symbol result = {
            .kind = SYMBOL_LOCAL, .type = f->result, .place = -(int32_t)f->parameters - 2};
        if (!compiler_expression(c) || !compiler_expect(c, ';', "';'")) return false;
        compiler_store(c, &result);
    }
    for (int32_t d = c->depth; d > 0; d--) compiler_emit(c, CVBC_OP_POP, 0, 0, RELOC_NONE);
    compiler_emit(c, CVBC_OP_RET, 0, 0, RELOC_NONE);
    return true;
}

static bool plain_statement(struct compiler *c)
{
    const struct word *w = compiler_word(c);
    if (compiler_accept(c, ';')) return true;
    if (compiler_accept(c, '{')) return compiler_block(c);
    if (statement_declares(c))
        return compiler_error(c, BASE_SYNTAX, w->offset, "a declaration needs a block around it");
    c->pos++;
    if (word_is(&c->words, w, "if")) return if_statement(c);
    if (word_is(&c->words, w, "while")) return while_statement(c);
    if (word_is(&c->words, w, "do")) return do_statement(c);
    if (word_is(&c->words, w, "for")) return for_statement(c);
    if (word_is(&c->words, w, "switch")) return switch_statement(c);
    if (word_is(&c->words, w, "return")) return return_statement(c, w);
    if (word_is(&c->words, w, "break")) return leave_loop(c, w, false);
    if (word_is(&c->words, w, "continue")) return leave_loop(c, w, true);
    if (word_is(&c->words, w, "case") || word_is(&c->words, w, "default"))
        return compiler_error(c, BASE_SYNTAX, w->offset, "a case belongs directly into its switch");
    if (compiler_refused(c, w)) return false;
    c->pos--;
    do {
        if (!compiler_expression_statement(c)) return false;
    } while (compiler_accept(c, ','));
    return compiler_expect(c, ';', "';'");
}

static bool statement_any(struct compiler *c)
{
    if (!compiler_enter(c)) return false;
    bool ok = plain_statement(c);
    compiler_leave(c);
    return ok;
}
