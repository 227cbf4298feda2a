/* Keeps the names of a sketch: their declarations and scopes, and functions that are defined
 * further down. A function may be used above its definition, as in the Arduino IDE: a first pass
 * over the words finds the definitions, and the first use of a function reads its head. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

struct symbol *scope_add(struct compiler *c, const struct word *name, enum symbol_kind kind,
                         const struct type *type)
{
    struct symbol *s = compiler_new(c, sizeof *s);
    if (!COMPILER_GROW(c, c->symbols, c->symbol_count, c->symbol_capacity)) return s;
    penta_bytes text = compiler_text(c, name);
    if (c->failed || !name_index_add(&c->symbol_names, text)) {
        compiler_no_memory(c);
        return s;
    }
    *s = (struct symbol){.name = text,
                         .kind = kind,
                         .type = type,
                         .offset = name->offset,
                         .line = name->line,
                         .function = c->inside,
                         .library = name->offset > c->source_size,
                         .file_scope = !c->inside,
                         .last = UINT16_MAX};
    c->symbols[c->symbol_count++] = s;
    return s;
}

static bool scope_is(const struct symbol *s, penta_bytes name)
{
    return !s->hidden && bytes_equal(s->name, name);
}

static bool scope_has(const struct compiler *c, const struct word *name, size_t scope, bool tag)
{
    penta_bytes text = compiler_text(c, name);
    const struct name_index *x = &c->symbol_names;
    for (uint32_t i = name_index_first(x, text); i > scope; i = x->older[i - 1]) {
        const struct symbol *s = c->symbols[i - 1];
        if (scope_is(s, text) && s->is_tag == tag && !s->library && s->kind != SYMBOL_WRONG &&
            !(s->file_scope && c->inside))
            return true;
    }
    return false;
}

bool scope_twice(const struct compiler *c, const struct word *name, size_t scope)
{
    return scope_has(c, name, scope, false);
}

bool scope_tag_twice(const struct compiler *c, const struct word *name, size_t scope)
{
    return scope_has(c, name, scope, true);
}

void scope_close(struct compiler *c, size_t scope)
{
    for (size_t i = scope; i < c->symbol_count; i++)
        c->symbols[i]->hidden = !c->symbols[i]->file_scope;
}

/* Finds the definitions NAME ( ... ) { outside of braces. */
void scope_find_functions(struct compiler *c, size_t from, bool library)
{
    const struct word *w = c->words.at;
    size_t start = from, depth = 0;
    if (library) c->found_library = c->found_count;
    for (size_t i = from; w[i].kind != WORD_END && !compiler_over(c); i++) {
        if (w[i].kind == WORD_NAME && !depth && w[i + 1].kind == WORD_SIGN &&
            w[i + 1].value == '(') {
            size_t k = i + 2, open = 1;
            for (; open && w[k].kind != WORD_END; k++)
                if (w[k].kind == WORD_SIGN) open = open + (w[k].value == '(') - (w[k].value == ')');
            if (open || w[k].kind != WORD_SIGN || w[k].value != '{') continue;
            penta_bytes name = compiler_text(c, &w[i]);
            if (!COMPILER_GROW(c, c->found, c->found_count, c->found_capacity)) return;
            if (!name_index_add(&c->found_names, name)) {
                compiler_no_memory(c);
                return;
            }
            c->found[c->found_count++] = (struct found_function){.word = start, .name = name};
            i = k - 1;
        } else if (w[i].kind == WORD_SIGN) {
            depth += w[i].value == '{';
            depth -= w[i].value == '}' && depth;
            if (!depth && (w[i].value == ';' || w[i].value == '}')) start = i + 1;
        }
    }
}

/* Returns a function that is defined further down. Functions of the sketch come before those of
 * the library. */
static struct found_function *scope_found(struct compiler *c, penta_bytes name)
{
    const struct name_index *x = &c->found_names;
    struct found_function *found = NULL;
    for (uint32_t i = name_index_first(x, name); i; i = x->older[i - 1]) {
        struct found_function *f = &c->found[i - 1];
        if (f->used || !bytes_equal(f->name, name)) continue;
        found = f;
        if (i - 1 < c->found_library) break;
    }
    return found;
}

/* Reads the head of a function that is defined further down, whatever scope is the innermost
 * one. */
static struct symbol *scope_ahead(struct compiler *c, penta_bytes name)
{
    struct found_function *f = scope_found(c, name);
    if (!f) return NULL;
    f->used = true;
    size_t pos = c->pos;
    struct function *inside = c->inside;
    c->inside = NULL;
    bool ok = compiler_function_at(c, f->word, false);
    c->inside = inside;
    c->pos = pos;
    for (size_t k = c->symbol_count; ok && k-- > 0;)
        if (scope_is(c->symbols[k], name)) return c->symbols[k];
    return NULL;
}

struct symbol *scope_find(struct compiler *c, const struct word *name)
{
    penta_bytes text = compiler_text(c, name);
    const struct name_index *x = &c->symbol_names;
    for (uint32_t i = name_index_first(x, text); i; i = x->older[i - 1])
        if (scope_is(c->symbols[i - 1], text)) return c->symbols[i - 1];
    return scope_ahead(c, text);
}

struct function *scope_library(struct compiler *c, const char *name)
{
    penta_bytes text = bytes_of(name);
    const struct name_index *x = &c->symbol_names;
    const struct symbol *found = NULL;
    for (uint32_t i = name_index_first(x, text); !found && i; i = x->older[i - 1])
        if (scope_is(c->symbols[i - 1], text)) found = c->symbols[i - 1];
    if (!found) found = scope_ahead(c, text);
    return found && found->kind == SYMBOL_FUNCTION ? found->function : NULL;
}

void scope_want(struct compiler *c, struct function *f)
{
    struct function *by = c->inside;
    f->wanted = true;
    if (!by) return;
    enum { LOOK_BACK = 16 }; /* A call that is recorded twice only costs some memory. */
    for (size_t i = by->call_count; i-- > 0 && by->call_count - i <= LOOK_BACK;)
        if (by->calls[i] == f) return;
    if (COMPILER_GROW(c, by->calls, by->call_count, by->call_capacity))
        by->calls[by->call_count++] = f;
}
