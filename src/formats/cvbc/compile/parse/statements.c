/* Reads statements (CVBC 16.4). */
#include "base/array.h"
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

static struct node *statement_any(struct compiler *c);

void node_add(struct compiler *c, struct node *to, struct node *item)
{
    enum { FIRST = 4 };
    /* The array in the arena grows by doubling; `number` is the room that it has. */
    if (to->count == to->number) {
        uint32_t room = to->number ? to->number * 2 : FIRST;
        struct node **items = compiler_array(c, room, sizeof *items);
        if (!items) return;
        for (uint32_t i = 0; i < to->count; i++) items[i] = to->items[i];
        to->items = items;
        to->number = room;
    }
    to->items[to->count++] = item;
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

static struct jump_label *label_named(struct compiler *c, const struct word *name)
{
    enum { LABELS_MAX = 1000 };
    struct jump_label *l = c->inside->labels;
    unsigned count = 0;
    for (; l; l = l->next, count++)
        if (bytes_equal(l->name, compiler_text(c, name))) return l;
    if (count == LABELS_MAX)
        compiler_error(c, CVBC_LIMIT, name->offset, "more than %d labels", LABELS_MAX);
    l = compiler_new(c, sizeof *l);
    *l = (struct jump_label){
        .name = compiler_text(c, name), .offset = name->offset, .next = c->inside->labels};
    if (!c->failed) c->inside->labels = l;
    return l;
}

static struct node *statement_label(struct compiler *c)
{
    const struct word *name = compiler_word(c);
    struct node *n = node_new(c, STATE_LABEL, name->offset);
    n->label = label_named(c, name);
    if (n->label->defined)
        compiler_error(c, BASE_NAME_TWICE, name->offset, "the label '%.*s' is there twice",
                       WORD_ARG(c, name));
    n->label->defined = true;
    c->pos += 2;
    return n;
}

static struct node *statement_goto(struct compiler *c)
{
    const struct word *name = compiler_word(c);
    struct node *n = node_new(c, STATE_GOTO, name->offset);
    if (name->kind != WORD_NAME) {
        compiler_error(c, BASE_SYNTAX, name->offset, "expected a label");
        return node_wrong(c);
    }
    c->pos++;
    n->label = label_named(c, name);
    return compiler_expect(c, ';', "';'") ? n : node_wrong(c);
}

static bool statement_push(struct compiler *c, struct node *n)
{
    if (!COMPILER_GROW(c, c->breakables, c->breakable_count, c->breakable_capacity)) return false;
    c->breakables[c->breakable_count++] = n;
    return true;
}

static struct node *statement_body(struct compiler *c, struct node *of)
{
    if (!statement_push(c, of)) return node_wrong(c);
    struct node *body = statement_any(c);
    c->breakable_count--;
    return body;
}

static struct node *statement_condition(struct compiler *c)
{
    if (!compiler_expect(c, '(', "'('")) return NULL;
    struct node *n = node_truth(c, compiler_expression(c));
    return compiler_expect(c, ')', "')'") ? n : NULL;
}

static struct node *statement_if(struct compiler *c, struct node *n)
{
    if (!(n->a = statement_condition(c))) return node_wrong(c);
    n->b = statement_any(c);
    if (!compiler_is(c, "else")) return n;
    c->pos++;
    n->c = statement_any(c);
    return n;
}

static struct node *statement_while(struct compiler *c, struct node *n)
{
    if (!(n->a = statement_condition(c))) return node_wrong(c);
    n->b = statement_body(c, n);
    return n;
}

static struct node *statement_do(struct compiler *c, struct node *n)
{
    n->b = statement_body(c, n);
    if (!compiler_is(c, "while")) {
        compiler_error(c, BASE_SYNTAX, compiler_word(c)->offset, "expected while");
        return node_wrong(c);
    }
    c->pos++;
    n->a = statement_condition(c);
    return n->a && compiler_expect(c, ';', "';'") ? n : node_wrong(c);
}

static struct node *statement_switch(struct compiler *c, struct node *n)
{
    if (!compiler_expect(c, '(', "'('")) return node_wrong(c);
    struct node *value = node_value(c, compiler_expression(c));
    if (value->kind != NODE_WRONG && value->type->kind != TYPE_NUMBER) {
        compiler_error(c, BASE_SYNTAX, value->offset, "switch takes a whole number");
        value = node_wrong(c);
    }
    n->a = value;
    if (!compiler_expect(c, ')', "')'")) return node_wrong(c);
    struct function *f = c->inside;
    n->place = f->frame_now++;
    if (f->frame_now > f->frame) f->frame = f->frame_now;
    n->b = statement_body(c, n);
    f->frame_now--;
    return n;
}

static struct node *statement_case(struct compiler *c, bool otherwise)
{
    const struct word *w = &c->words.at[c->pos - 1];
    struct node *n = node_new(c, STATE_CASE, w->offset), *in = NULL;
    for (size_t i = c->breakable_count; !in && i-- > 0;)
        if (c->breakables[i]->kind == STATE_SWITCH) in = c->breakables[i];
    if (!in) {
        compiler_error(c, BASE_SYNTAX, w->offset, "a case outside of a switch");
        return node_wrong(c);
    }
    n->flag = otherwise;
    if (!otherwise && !compiler_constant_expression(c, &n->number)) return node_wrong(c);
    if (!compiler_expect(c, ':', "':'")) return node_wrong(c);
    for (uint32_t i = 0; i < in->count; i++) {
        if (in->items[i]->flag != otherwise || in->items[i]->number != n->number) continue;
        if (otherwise)
            compiler_error(c, BASE_SYNTAX, w->offset, "default is there twice");
        else
            compiler_error(c, BASE_SYNTAX, w->offset, "case %d is there twice", (int)n->number);
        return node_wrong(c);
    }
    if (in->count == HEIGHT_MAX) {
        compiler_error(c, CVBC_LIMIT, w->offset, "more than %d cases", HEIGHT_MAX);
        return node_wrong(c);
    }
    node_add(c, in, n);
    return n;
}

static struct node *statement_leave(struct compiler *c, const struct word *w, bool again)
{
    size_t i = c->breakable_count;
    while (again && i && c->breakables[i - 1]->kind == STATE_SWITCH) i--;
    if (!i) {
        compiler_error(c, BASE_SYNTAX, w->offset,
                       again ? "continue outside a loop" : "break outside a loop");
        return node_wrong(c);
    }
    struct node *n = node_new(c, again ? STATE_CONTINUE : STATE_BREAK, w->offset);
    return compiler_expect(c, ';', "';'") ? n : node_wrong(c);
}

/* Returns how often for (int i = first; i < last; i++) runs, or 0 if that is unknown. It is also
 * unknown if the body changes i. */
static uint32_t statement_rounds(const struct node *n, const struct symbol *i, bool changed)
{
    const struct node *test = n->a;
    if (!i || changed || !test || test->kind != NODE_BINARY || test->opcode != CVBC_OP_LT_S)
        return 0;
    if (test->a->kind != NODE_VARIABLE || test->a->symbol != i || !node_is_known(test->b)) return 0;
    const struct node *step = n->c;
    if (!step || step->kind != NODE_ASSIGN || step->a->kind != NODE_VARIABLE ||
        step->a->symbol != i || step->b->kind != NODE_BINARY || step->b->opcode != CVBC_OP_ADD ||
        step->b->a->kind != NODE_LOADED || !node_is_known(step->b->b) || step->b->b->number != 1)
        return 0;
    if (i->initial_count != 1 || !node_is_known(i->initials[0].value)) return 0;
    int64_t rounds = (int64_t)(int32_t)test->b->number - (int32_t)i->initials[0].value->number;
    return rounds > 0 && rounds < 256 ? (uint32_t)rounds : 0;
}

static struct node *statement_for(struct compiler *c, struct node *n)
{
    size_t scope = c->symbol_count;
    uint32_t frame = c->inside->frame_now;
    struct node *before = node_new(c, STATE_BLOCK, n->offset);
    const struct symbol *counter = NULL;
    if (!compiler_expect(c, '(', "'('")) return node_wrong(c);
    n->items = compiler_array(c, 1, sizeof *n->items);
    if (!n->items) return node_wrong(c);
    n->items[0] = before;
    if (compiler_declares(c)) {
        if (!compiler_local_declaration(c, scope, before)) goto wrong;
        if (before->count == 1) counter = before->items[0]->symbol;
    } else if (!compiler_accept(c, ';')) {
        struct node *first = node_new(c, STATE_VALUE, compiler_word(c)->offset);
        first->a = compiler_expression(c);
        node_add(c, before, first);
        if (!compiler_expect(c, ';', "';'")) goto wrong;
    }
    if (!compiler_accept(c, ';')) {
        n->a = node_truth(c, compiler_expression(c));
        if (!compiler_expect(c, ';', "';'")) goto wrong;
    }
    bool was = counter && counter->changed;
    if (!compiler_accept(c, ')')) {
        n->c = compiler_expression(c);
        if (!compiler_expect(c, ')', "')'")) goto wrong;
    }
    struct symbol *i = c->symbol_count > scope ? c->symbols[scope] : NULL;
    if (i && i == counter) i->changed = was;
    n->b = statement_body(c, n);
    n->number = statement_rounds(n, counter, counter && counter->changed);
    if (i && i == counter) i->changed = true;
    scope_close(c, scope);
    c->inside->frame_now = frame;
    return n;
wrong:
    scope_close(c, scope);
    c->inside->frame_now = frame;
    return node_wrong(c);
}

static struct node *statement_return(struct compiler *c, struct node *n)
{
    const struct type *result = c->inside->type->of;
    if (!compiler_accept(c, ';')) {
        struct node *value = compiler_expression(c);
        if (result->kind == TYPE_VOID) {
            if (value->kind != NODE_WRONG && value->type->kind != TYPE_VOID)
                compiler_error(c, BASE_SYNTAX, n->offset, "the function returns nothing");
            n->a = value;
        } else {
            n->a = node_assignable(c, value, result, "what is returned");
        }
        return compiler_expect(c, ';', "';'") ? n : node_wrong(c);
    }
    if (result->kind == TYPE_VOID) return n;
    compiler_error(c, BASE_SYNTAX, n->offset, "the function returns a value");
    return n;
}

static struct node *statement_value(struct compiler *c)
{
    struct node *n = node_new(c, STATE_VALUE, compiler_word(c)->offset);
    n->a = compiler_expression(c);
    n->line = n->a->line;
    /* After a wrong expression a missing ; is not reported, so that one mistake gives one error. */
    if (n->a->kind == NODE_WRONG && !compiler_sees(c, ';')) return node_wrong(c);
    return compiler_expect(c, ';', "';'") ? n : node_wrong(c);
}

static bool statement_items(struct compiler *c, struct node *block, size_t scope)
{
    while (!compiler_accept(c, '}')) {
        const struct word *w = compiler_word(c);
        if (w->kind == WORD_END) return compiler_error(c, BASE_SYNTAX, w->offset, "expected '}'");
        if (c->errors >= ERRORS_MAX) return false;
        size_t before = c->pos;
        bool ok;
        if (compiler_declares(c)) {
            ok = compiler_local_declaration(c, scope, block);
        } else {
            struct node *n = statement_any(c);
            ok = n->kind != NODE_WRONG;
            node_add(c, block, n);
        }
        if (ok || (c->pos > before && c->words.at[c->pos - 1].kind == WORD_SIGN &&
                   (c->words.at[c->pos - 1].value == ';')))
            continue;
        compiler_recover(c);
    }
    return true;
}

bool compiler_block(struct compiler *c, struct node *block)
{
    size_t scope = c->symbol_count;
    uint32_t frame = c->inside->frame_now;
    bool ok = statement_items(c, block, scope);
    scope_close(c, scope);
    c->inside->frame_now = frame;
    return ok;
}

static struct node *statement_plain(struct compiler *c)
{
    static const struct {
        const char *name;
        uint8_t kind;
        struct node *(*read)(struct compiler *c, struct node *n);
    } statements[] = {
        {"if", STATE_IF, statement_if},
        {"while", STATE_WHILE, statement_while},
        {"do", STATE_DO, statement_do},
        {"for", STATE_FOR, statement_for},
        {"switch", STATE_SWITCH, statement_switch},
        {"return", STATE_RETURN, statement_return},
    };
    const struct word *w = compiler_word(c);
    struct node *n = node_new(c, STATE_BLOCK, w->offset);
    if (compiler_accept(c, ';')) return n;
    if (compiler_accept(c, '{')) return compiler_block(c, n) ? n : node_wrong(c);
    if (w->kind == WORD_NAME && w[1].kind == WORD_SIGN && w[1].value == ':' &&
        !word_is(&c->words, w, "default"))
        return statement_label(c);
    if (compiler_declares(c)) {
        compiler_error(c, BASE_SYNTAX, w->offset, "a declaration needs a block around it");
        return node_wrong(c);
    }
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (!word_is(&c->words, w, statements[i].name)) continue;
        n->kind = c->failed ? NODE_WRONG : statements[i].kind;
        c->pos++;
        return statements[i].read(c, n);
    }
    c->pos++;
    if (word_is(&c->words, w, "break")) return statement_leave(c, w, false);
    if (word_is(&c->words, w, "continue")) return statement_leave(c, w, true);
    if (word_is(&c->words, w, "case")) return statement_case(c, false);
    if (word_is(&c->words, w, "default")) return statement_case(c, true);
    if (word_is(&c->words, w, "goto")) return statement_goto(c);
    if (word_is(&c->words, w, "else")) {
        compiler_error(c, BASE_SYNTAX, w->offset, "else without if");
        return node_wrong(c);
    }
    c->pos--;
    if (compiler_refused(c, w)) return node_wrong(c);
    return statement_value(c);
}

static struct node *statement_any(struct compiler *c)
{
    if (!compiler_enter(c)) return node_wrong(c);
    struct node *n = statement_plain(c);
    compiler_leave(c);
    return n;
}
