/* Gives every variable its place: one of 64 slots, a word of its function's frame, or words of
 * the 16 arrays. An object that no pointer reaches has an array of its own while there are
 * enough arrays, so that the machine checks its indices. All others share arrays of 64 words,
 * which together are one memory with addresses. */
#include <stdlib.h>
#include "base/bytes.h"
#include "base/long_work.h"
#include "cvbc/compile/compiler.h"

struct layout {
    struct compiler *c;
    struct symbol *objects[POOL_WORDS + 1]; /* the objects that are in arrays */
    size_t count;
    uint64_t words;
    uint32_t used[CVBC_ARRAYS]; /* number of words used in each shared array */
};

/* Tells whether the variable is a pointer to a literal and never changes. Its uses are then uses
 * of the literal. */
static bool layout_is_literal(const struct symbol *s)
{
    return s->lives && s->type->kind == TYPE_POINTER && !s->changed && !s->addressed &&
           s->initial_count == 1 && s->initials[0].value->kind == NODE_TEXT;
}

static void layout_object(struct layout *l, struct symbol *s)
{
    l->words += type_words(s->type);
    if (l->count <= POOL_WORDS) l->objects[l->count++] = s;
}

static bool layout_is_scalar(const struct symbol *s)
{
    return s->type->kind != TYPE_ARRAY && s->type->kind != TYPE_RECORD;
}

static void layout_collect(struct layout *l)
{
    struct compiler *c = l->c;
    for (size_t i = 0; i < c->lasting_count && !compiler_over(c); i++) {
        struct symbol *s = c->lasting[i];
        if ((s->known && !s->addressed) || s->kind != SYMBOL_VARIABLE) continue;
        if (layout_is_literal(s)) {
            s->known = true; /* code/values.c uses the address of the text. */
            continue;
        }
        if (layout_is_scalar(s) && !s->addressed && c->slots < CVBC_GLOBALS) {
            s->storage = STORAGE_SLOT;
            s->place = (int32_t)c->slots++;
        } else {
            layout_object(l, s);
        }
    }
    for (size_t i = 0; i < c->local_count && !compiler_over(c); i++) {
        struct symbol *s = c->locals[i];
        if (s->kind != SYMBOL_VARIABLE || (s->known && !s->addressed)) continue;
        if (s->storage != STORAGE_FRAME || s->addressed) layout_object(l, s);
    }
}

static bool layout_room(struct layout *l, uint32_t from, uint32_t words, uint32_t *array)
{
    for (uint32_t a = from; a < CVBC_ARRAYS; a++) {
        if (words <= LINE_WORDS) {
            if (l->used[a] + words > LINE_WORDS) continue;
            *array = a;
            return true;
        }
        uint32_t lines = (words + LINE_WORDS - 1) / LINE_WORDS, k = 0;
        while (k < lines && a + k < CVBC_ARRAYS && !l->used[a + k]) k++;
        if (k < lines) continue;
        *array = a;
        return true;
    }
    return false;
}

/* Tells whether an object may have an array of its own. */
static bool layout_is_direct(const struct symbol *s)
{
    return !s->addressed && type_words(s->type) <= LINE_WORDS;
}

/* Packs the objects if the first `own` of those that may have an array of their own get one.
 * Large objects come first. */
static bool layout_pack(struct layout *l, uint32_t own)
{
    uint32_t array;
    for (uint32_t a = 0; a < CVBC_ARRAYS; a++) l->used[a] = 0;
    l->c->memory_first = own;
    for (uint32_t size = POOL_WORDS; size > 0; size--) {
        uint32_t direct = 0;
        for (size_t i = 0; i < l->count; i++) {
            struct symbol *s = l->objects[i];
            bool alone = layout_is_direct(s) && direct < own;
            direct += alone;
            if (type_words(s->type) != size) continue;
            if (alone) {
                s->array = direct - 1;
                s->place = 0;
                l->used[s->array] = size;
                continue;
            }
            if (!layout_room(l, own, size, &array)) return false;
            s->array = array;
            s->place = (int32_t)l->used[array];
            for (uint32_t left = size; left; array++) {
                uint32_t here = left < LINE_WORDS ? left : LINE_WORDS;
                l->used[array] += here;
                left -= here;
            }
        }
    }
    return true;
}

static void layout_arrays(struct layout *l)
{
    struct compiler *c = l->c;
    uint32_t direct = 0;
    bool packed = l->count <= POOL_WORDS;
    for (size_t i = 0; i < l->count; i++) direct += layout_is_direct(l->objects[i]);
    if (direct > CVBC_ARRAYS) direct = CVBC_ARRAYS;
    if (c->strings_used) direct = 0; /* Strings need the words that the arrays leave free. */
    packed = packed && layout_pack(l, direct);
    while (packed == false && direct > 0 && l->count <= POOL_WORDS)
        packed = layout_pack(l, --direct);
    if (!packed) {
        compiler_error(c, CVBC_LIMIT, l->count ? l->objects[l->count - 1]->offset : 0,
                       "the arrays and variables need %llu words of memory; the machine has %d, in "
                       "%d arrays of %d",
                       (unsigned long long)l->words, POOL_WORDS, CVBC_ARRAYS, LINE_WORDS);
        return;
    }
    for (size_t i = 0; i < l->count; i++) l->objects[i]->storage = STORAGE_ARRAY;
    for (uint32_t a = 0; a < CVBC_ARRAYS; a++) {
        c->array_words[a] = l->used[a];
        if (l->used[a]) c->arrays = a + 1;
    }
}

/* Gives the rest of the memory to Strings. */
static void layout_heap(struct compiler *c)
{
    enum { LEAST = 16 };
    if (!c->strings_used) return;
    uint32_t last = c->arrays ? c->arrays - 1 : 0, used = c->array_words[last];
    c->heap_first = last * LINE_WORDS + used + 1;
    c->arrays = CVBC_ARRAYS;
    for (uint32_t a = last; a < CVBC_ARRAYS; a++) c->array_words[a] = LINE_WORDS;
    if (CVBC_ARRAYS * LINE_WORDS + 1 - c->heap_first < LEAST)
        compiler_error(c, CVBC_LIMIT, 0,
                       "the arrays leave %u words of memory, of %d: too few for Strings",
                       (unsigned)(CVBC_ARRAYS * LINE_WORDS + 1 - c->heap_first), POOL_WORDS);
}

static bool layout_reaches(struct compiler *c, const struct function *from,
                           const struct function *to, bool *seen)
{
    struct layout_visit {
        const struct function *f;
        size_t next;
    } *stack = NULL;
    size_t count = 0, capacity = 0;
    bool found = false;
    if (!ARRAY_RESERVE(stack, capacity, c->function_count + 1)) return !compiler_no_memory(c);
    stack[count++] = (struct layout_visit){from, 0};
    while (count && !found && !compiler_over(c)) {
        struct layout_visit *v = &stack[count - 1];
        const struct function *next = NULL;
        size_t pointers = v->f->indirect ? c->function_count : 0;
        if (v->next < v->f->call_count) {
            next = v->f->calls[v->next++];
        } else if (v->next - v->f->call_count < pointers) {
            const struct function *f = c->functions[v->next++ - v->f->call_count];
            next = f->addressed ? f : NULL;
        } else {
            count--;
            continue;
        }
        if (!next) continue;
        found = next == to;
        if (seen[next->index]) continue;
        seen[next->index] = true;
        stack[count++] = (struct layout_visit){next, 0};
    }
    free(stack);
    return found;
}

/* Reports an error if a function with a local in memory may be called while it runs, because
 * such a local exists only once. */
static void layout_recursion(struct layout *l)
{
    struct compiler *c = l->c;
    const struct function *last = NULL;
    for (size_t i = 0; i < l->count; i++) {
        const struct symbol *s = l->objects[i];
        if (s->lives || !s->function || s->function == last) continue;
        last = s->function;
        bool *seen = calloc(c->function_count + 1, sizeof *seen);
        bool again = seen ? layout_reaches(c, last, last, seen) : !compiler_no_memory(c);
        free(seen);
        if (again)
            compiler_error(c, CVBC_LIMIT, s->offset,
                           "'%.*s' lies in memory, and '%.*s' calls itself: make it static, or "
                           "a variable of the file",
                           BYTES_ARG(s->name, 20), BYTES_ARG(last->name, 20));
    }
}

void compiler_layout(struct compiler *c)
{
    struct layout *l = calloc(1, sizeof *l);
    if (!l) {
        compiler_no_memory(c);
        return;
    }
    l->c = c;
    layout_collect(l);
    layout_arrays(l);
    if (!c->errors) layout_heap(c);
    if (!c->errors) layout_recursion(l);
    free(l);
}
