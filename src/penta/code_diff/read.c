/* Reads the instructions of both files as texts, and numbers the texts: without the addresses of targets, and without
 * registers. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/number.h"
#include "penta/code_diff/code_diff.h"

struct code_names { /* the texts that have a number, in a table with open places */
    struct writer texts;
    struct code_name {
        uint64_t hash;
        size_t at, size;
        uint32_t number; /* 0: an open place */
    } * slots;
    size_t count, capacity; /* the capacity is a power of two */
    penta_error *err;
};

static uint64_t text_hash(penta_bytes text)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < text.size; i++) hash = (hash ^ text.data[i]) * 0x100000001b3;
    return hash;
}

static struct code_name *name_slot(const struct code_names *n, penta_bytes text, uint64_t hash)
{
    size_t i = (size_t)(hash ^ hash >> 32) & (n->capacity - 1);
    for (;; i = (i + 1) & (n->capacity - 1)) {
        struct code_name *s = &n->slots[i];
        if (!s->number) return s;
        if (s->hash == hash && s->size == text.size &&
            bytes_equal((penta_bytes){n->texts.out.data + s->at, s->size}, text))
            return s;
    }
}

static bool names_grow(struct code_names *n)
{
    if (n->count < n->capacity / 2) return true;
    struct code_names larger = *n;
    larger.capacity = n->capacity ? 2 * n->capacity : 1024;
    larger.slots = zeros_new(larger.capacity * sizeof *n->slots, "the texts of the code", n->err);
    if (!larger.slots) return false;
    for (size_t i = 0; i < n->capacity; i++) {
        const struct code_name *s = &n->slots[i];
        penta_bytes text = {n->texts.out.data + s->at, s->size};
        if (s->number) *name_slot(&larger, text, s->hash) = *s;
    }
    free(n->slots);
    *n = larger;
    return true;
}

static uint32_t text_number(struct code_names *n, penta_bytes text)
{
    if (n->texts.failed) error_at(n->err, BASE_MEMORY, 0, "no memory for the texts of the code");
    if (n->err->code || !names_grow(n)) return 0;
    uint64_t hash = text_hash(text);
    struct code_name *s = name_slot(n, text, hash);
    if (s->number) return s->number;
    *s = (struct code_name){hash, n->texts.out.size, text.size, (uint32_t)++n->count};
    writer_bytes(&n->texts, text.data, text.size);
    return s->number;
}

/* ---- texts ---- */

size_t code_word(penta_bytes text, size_t at)
{
    size_t end = at;
    while (end < text.size && text.data[end] &&
           (isalnum(text.data[end]) || strchr("_.$", text.data[end])))
        end++;
    return end - at;
}

struct code_reading {
    struct code_side *side;
    struct code_names *names;
    struct writer text, key, shape;
    penta_error *err;
};

/* Whether a word is an address, as a number or as a label such as L20 or .L20 that a listing made of it. */
static bool word_is(penta_bytes word, uint64_t value)
{
    uint64_t number = 0;
    if (word.size > 2 && word.data[0] == '.' && word.data[1] == 'L')
        word = bytes_slice(word, 2, SIZE_MAX);
    else if (word.size > 1 && word.data[0] == 'L')
        word = bytes_slice(word, 1, SIZE_MAX);
    bool hex = word.size > 2 && word.data[0] == '0' && word.data[1] == 'x';
    if (!word.size || word.size > 18) return false;
    for (size_t i = hex ? 2 : 0; i < word.size; i++) {
        int c = tolower(word.data[i]);
        if (!isxdigit(c) || (!hex && c >= 'a')) return false;
        number = number * (hex ? 16 : 10) + (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return number == value;
}

/* Writes how a target is shown: a function by its name, another place by the number of its block there. */
static void target_text(struct writer *w, const struct code_map *m, size_t i)
{
    uint32_t block = m->insns[i].block;
    size_t function = m->blocks[block].function;
    const penta_function *f = &m->functions[function];
    writer_text(w, f->name);
    if (m->insns[i].pc != f->from) writer_print(w, ".block%zu", block - f->first_block);
}

/* A call says in PVM by a number where it returns to, which other calls change. */
static size_t return_size(penta_bytes text, const penta_branch *branch)
{
    static const char start[] = "ra = ";
    size_t size = sizeof start - 1;
    if (!branch->call || text.size <= size || memcmp(text.data, start, size)) return 0;
    size_t number = code_word(text, size);
    return number && isdigit(text.data[size]) && text.data[size + number] == ',' ? size + number
                                                                                 : 0;
}

/* Writes the text that is shown and that which is compared. */
static void insn_texts(struct code_reading *r, struct code_insn_text *insn, penta_bytes text,
                       const penta_branch *branch)
{
    const struct code_map *m = r->side->map;
    size_t target = branch->has_target ? code_map_find(m, branch->target) : m->count;
    size_t at = return_size(text, branch);
    if (at) {
        writer_text(&r->key, "ra = return");
        writer_text(&r->side->texts, "ra = return");
    }
    while (at < text.size) {
        size_t size = code_word(text, at);
        penta_bytes word = bytes_slice(text, at, size ? size : 1);
        at += word.size;
        if (!insn->placeless && target < m->count && word_is(word, branch->target)) {
            insn->placeless = true;
            writer_char(&r->key, '@');
            target_text(&r->side->texts, m, target);
        } else {
            writer_bytes(&r->key, word.data, word.size);
            writer_bytes(&r->side->texts, word.data, word.size);
        }
    }
}

static void insn_shape(struct code_reading *r, penta_bytes key)
{
    const struct driver *driver = r->side->module->driver;
    for (size_t at = 0; at < key.size;) {
        size_t size = code_word(key, at);
        penta_bytes word = bytes_slice(key, at, size ? size : 1);
        at += word.size;
        if (size && driver->is_register && driver->is_register(word))
            writer_char(&r->shape, '%');
        else
            writer_bytes(&r->shape, word.data, word.size);
    }
}

static void insn_read(struct code_reading *r, size_t i)
{
    const struct code_insn *insn = &r->side->map->insns[i];
    struct code_insn_text *t = &r->side->insns[i];
    r->text.out.size = r->key.out.size = r->shape.out.size = 0;
    r->side->module->driver->print_at(r->side->module, insn->pc, &r->text);
    *t = (struct code_insn_text){.at = r->side->texts.out.size, .partner = CODE_NONE};
    insn_texts(r, t, writer_view(&r->text), &insn->branch);
    t->size = r->side->texts.out.size - t->at;
    insn_shape(r, writer_view(&r->key));
    t->key = text_number(r->names, writer_view(&r->key));
    t->shape = text_number(r->names, writer_view(&r->shape));
    if (r->text.failed || r->key.failed || r->shape.failed || r->side->texts.failed)
        error_at(r->err, BASE_MEMORY, 0, "no memory for the texts of the code");
}

static void side_parts(struct code_side *s)
{
    for (size_t i = 0; i < s->map->function_count; i++) {
        const penta_function *f = &s->map->functions[i];
        s->parts[i] =
            (struct code_part){code_map_find(s->map, f->from), f->instructions, CODE_NONE};
    }
}

static bool side_read(struct code_diff *d, struct code_side *s, const penta_module *module,
                      struct code_names *names)
{
    struct code_reading r = {.side = s, .names = names, .err = d->err};
    s->module = module;
    s->map = code_map_new(module, d->err);
    if (!s->map) return false;
    s->insns = zeros_new((s->map->count + 1) * sizeof *s->insns, "the code", d->err);
    s->parts = zeros_new((s->map->function_count + 1) * sizeof *s->parts, "the code", d->err);
    if (!s->insns || !s->parts) return false;
    side_parts(s);
    for (size_t i = 0; i < s->map->count && !d->err->code; i++) insn_read(&r, i);
    writer_free(&r.text);
    writer_free(&r.key);
    writer_free(&r.shape);
    return !d->err->code;
}

bool code_read(struct code_diff *d, const penta_module *a, const penta_module *b)
{
    struct code_names names = {.err = d->err};
    bool ok = side_read(d, &d->a, a, &names) && side_read(d, &d->b, b, &names);
    writer_free(&names.texts);
    free(names.slots);
    return ok;
}

static void side_free(struct code_side *s)
{
    code_map_free(s->map);
    writer_free(&s->texts);
    free(s->insns);
    free(s->parts);
}

void code_diff_free(struct code_diff *d)
{
    side_free(&d->a);
    side_free(&d->b);
    free(d->renames);
}
