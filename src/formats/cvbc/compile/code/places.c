/* Finds the places of the parts of objects, and emits the instructions that read and write them.
 * The machine reaches slots, words of the frame and elements of one array directly. Objects that
 * only a pointer reaches need two functions that choose the array (code/memory.c). */
#include "cvbc/compile/compiler.h"

struct place code_place_of(const struct symbol *s, uint32_t word)
{
    if (s->storage == STORAGE_SLOT) return (struct place){.kind = PLACE_SLOT, .at = s->place};
    if (s->storage == STORAGE_FRAME) {
        bool string = s->type->kind == TYPE_STRING && !s->parameter;
        int32_t first = string ? (int32_t)s->function->frame + s->place : s->place;
        return (struct place){.kind = PLACE_FRAME, .at = first + (int32_t)word};
    }
    uint32_t at = (uint32_t)s->place + word;
    return (struct place){
        .kind = PLACE_ARRAY, .array = s->array + at / LINE_WORDS, .at = (int32_t)(at % LINE_WORDS)};
}

static uint32_t place_address(const struct place *p)
{
    return p->array * LINE_WORDS + (uint32_t)p->at + 1;
}

/* Pushes the sum of the indices that are not constant, each multiplied by the number of words of
 * its element. */
static void place_indices(struct compiler *c, const struct node *n, bool *any)
{
    if (n->kind != NODE_MEMBER && n->kind != NODE_INDEX) return;
    place_indices(c, n->a, any);
    if (n->kind != NODE_INDEX || n->b->kind == NODE_NUMBER) return;
    code_value(c, n->b);
    uint32_t words = type_words(n->type);
    if (words != 1) {
        code_constant(c, words);
        code_op(c, CVBC_OP_MUL, 0);
    }
    if (*any) code_op(c, CVBC_OP_ADD, 0);
    *any = true;
}

static void place_add(struct compiler *c, uint32_t number)
{
    if (!number) return;
    code_constant(c, number);
    code_op(c, CVBC_OP_ADD, 0);
}

void code_place(struct compiler *c, const struct node *n, struct place *p)
{
    const struct node *root = n;
    uint32_t word = 0;
    bool dynamic = false, any = false;
    for (; root->kind == NODE_MEMBER || root->kind == NODE_INDEX; root = root->a) {
        if (root->kind == NODE_MEMBER)
            word += root->number;
        else if (root->b->kind == NODE_NUMBER)
            word += root->b->number * type_words(root->type);
        else
            dynamic = true;
    }
    if (root->kind == NODE_AT) {
        code_value(c, root->a);
        any = true;
        place_indices(c, n, &any);
        place_add(c, word);
        *p = (struct place){.kind = PLACE_MEMORY, .dynamic = true};
        return;
    }
    *p = code_place_of(root->symbol, dynamic ? 0 : word);
    if (!dynamic) return;
    place_indices(c, n, &any);
    if (type_words(root->symbol->type) > LINE_WORDS) {
        place_add(c, place_address(p) + word);
        p->kind = PLACE_MEMORY;
    } else {
        place_add(c, (uint32_t)p->at + word);
    }
    p->dynamic = true;
}

void code_address(struct compiler *c, const struct node *n)
{
    struct place p;
    code_place(c, n, &p);
    if (p.kind == PLACE_MEMORY) return;
    if (p.dynamic) {
        p.at = 0;
        place_add(c, place_address(&p));
    } else {
        code_constant(c, place_address(&p));
    }
}

void code_load(struct compiler *c, const struct place *p)
{
    switch (p->kind) {
    case PLACE_SLOT: code_op(c, CVBC_OP_LOAD_GLOBAL, (uint32_t)p->at); break;
    case PLACE_FRAME: code_frame_load(c, p->at); break;
    case PLACE_ARRAY:
        if (!p->dynamic) code_constant(c, (uint32_t)p->at);
        code_op(c, CVBC_OP_LOAD_ARRAY, p->array);
        break;
    default: code_call(c, c->load);
    }
}

void code_store(struct compiler *c, const struct place *p)
{
    switch (p->kind) {
    case PLACE_SLOT: code_op(c, CVBC_OP_STORE_GLOBAL, (uint32_t)p->at); break;
    case PLACE_FRAME: code_frame_store(c, p->at); break;
    case PLACE_ARRAY:
        if (!p->dynamic) code_constant(c, (uint32_t)p->at);
        code_op(c, CVBC_OP_STORE_ARRAY, p->array);
        break;
    default:
        code_call(c, c->store);
        code_op(c, CVBC_OP_POP, 0);
        code_op(c, CVBC_OP_POP, 0);
    }
}
