/* Reads the initial values of a variable, as one value for each of its words. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/compile/compiler.h"

static bool initial_add(struct compiler *c, struct symbol *s, uint32_t word,
                        const struct type *type, struct node *value)
{
    if (value->kind == NODE_WRONG) return false;
    if (!COMPILER_GROW(c, s->initials, s->initial_count, s->initial_capacity)) return false;
    s->initials[s->initial_count++] = (struct initial){word, type, value};
    return true;
}

/* Reads a text such as "text" as the value of an array of characters. The zero at its end may be
 * missing. *count is 0 for char t[]. */
static bool initial_text(struct compiler *c, struct symbol *s, const struct type *t, uint32_t word,
                         uint32_t *count)
{
    penta_bytes text;
    const struct word *at = compiler_word(c);
    if (!compiler_literal(c, &text)) return false;
    if (!t->count && text.size >= POOL_WORDS)
        return compiler_error(c, CVBC_LIMIT, at->offset, "an array of %zu words; the memory has %d",
                              text.size + 1, POOL_WORDS);
    if (t->count && text.size > t->count)
        return compiler_error(c, CVBC_ARRAY_INDEX, at->offset, "the text is longer than the array");
    *count = (uint32_t)text.size + 1;
    for (size_t i = 0; i < text.size; i++)
        if (!initial_add(c, s, word + (uint32_t)i, t->of,
                         node_number(c, t->of, type_bounded(t->of, text.data[i]), at->offset)))
            return false;
    return true;
}

static bool initial_object(struct compiler *c, struct symbol *s, const struct type *t,
                           uint32_t word, uint32_t *count);

/* Reads .name of a designator. Gives the number of the member. */
static bool initial_member(struct compiler *c, const struct type *t, uint32_t *i)
{
    const struct word *name = compiler_word(c);
    c->pos++;
    if (t->kind != TYPE_RECORD)
        return compiler_error(c, BASE_SYNTAX, name->offset, "this is not a struct");
    for (*i = 0; *i < t->record->count; (*i)++)
        if (name->kind == WORD_NAME &&
            bytes_equal(t->record->members[*i].name, compiler_text(c, name)))
            return true;
    return compiler_no_member(c, t->record, name);
}

/* Reads [index] of a designator. */
static bool initial_index(struct compiler *c, const struct type *t, uint32_t *i)
{
    const struct word *at = compiler_word(c);
    if (!compiler_constant_expression(c, i) || !compiler_expect(c, ']', "']'")) return false;
    if (t->kind != TYPE_ARRAY)
        return compiler_error(c, BASE_SYNTAX, at->offset, "this is not an array");
    if (*i < (t->count ? t->count : POOL_WORDS / type_words(t->of))) return true;
    return compiler_error(c, CVBC_ARRAY_INDEX, at->offset, "index %d, of %u", (int)*i,
                          (unsigned)(t->count ? t->count : POOL_WORDS / type_words(t->of)));
}

/* Reads the designators .name and [index] before a value, and finds the part that they name. *i is
 * the number of the part of t in which it is. */
static bool initial_designated(struct compiler *c, const struct type *t, uint32_t *i,
                               const struct type **part, uint32_t *offset)
{
    *part = t;
    *offset = 0;
    while (compiler_sees(c, '.') || compiler_sees(c, '[')) {
        uint32_t number;
        bool member = compiler_accept(c, '.');
        c->pos += !member;
        if (!(member ? initial_member : initial_index)(c, *part, &number)) return false;
        if (*part == t) *i = number;
        if (member) {
            *offset += (*part)->record->members[number].word;
            *part = (*part)->record->members[number].type;
        } else {
            *offset += number * type_words((*part)->of);
            *part = (*part)->of;
        }
    }
    return compiler_expect(c, '=', "'='");
}

static bool initial_designates(const struct word *w)
{
    return w->kind == WORD_SIGN && (w->value == '.' || w->value == '[');
}

/* Reads the parts of an array or a record: those between braces, or as many as it has. */
static bool initial_parts(struct compiler *c, struct symbol *s, const struct type *t, uint32_t word,
                          bool braces, uint32_t *count)
{
    bool is_array = t->kind == TYPE_ARRAY;
    uint32_t most = is_array              ? t->count ? t->count : POOL_WORDS / type_words(t->of)
                                 : t->record->is_union ? 1
                                          : (uint32_t)t->record->count;
    *count = 0;
    for (uint32_t i = 0, n = 0;; i++, n++) {
        if (compiler_over(c)) return false;
        if (braces && compiler_accept(c, '}')) return true;
        if (n && !(braces || i < most)) return true;
        if (n && !compiler_sees(c, ',')) {
            if (!braces) return true;
            return compiler_expect(c, '}', "',' or '}'");
        }
        const struct word *next = compiler_word(c) + 1;
        if (n && !braces &&
            ((next->kind == WORD_SIGN && next->value == '}') || initial_designates(next)))
            return true; /* The comma belongs to the list around this one. */
        if (n) c->pos++;
        if (braces && compiler_accept(c, '}')) return true;
        const struct word *at = compiler_word(c);
        const struct type *part;
        uint32_t ignored, offset;
        if (initial_designates(at)) {
            if (!initial_designated(c, t, &i, &part, &offset)) return false;
        } else if (i < most) {
            part = is_array ? t->of : t->record->members[i].type;
            offset = is_array ? i * type_words(part) : t->record->members[i].word;
        } else if (is_array && !t->count) {
            return compiler_error(
                c, CVBC_LIMIT, at->offset,
                "an array of more than %d words, which is all the memory there is", POOL_WORDS);
        } else {
            return compiler_error(c, CVBC_ARRAY_INDEX, at->offset, "more values than '%.*s' has %s",
                                  BYTES_ARG(s->name, 40), is_array ? "elements" : "members");
        }
        if (!initial_object(c, s, part, word + offset, &ignored)) return false;
        if (i >= *count) *count = i + 1;
    }
}

static bool initial_object(struct compiler *c, struct symbol *s, const struct type *t,
                           uint32_t word, uint32_t *count)
{
    bool parts = t->kind == TYPE_ARRAY || t->kind == TYPE_RECORD;
    bool letters = t->kind == TYPE_ARRAY && t->of->kind == TYPE_NUMBER && t->of->bits == 8;
    *count = t->count;
    if (!compiler_enter(c)) return false;
    bool ok;
    if (letters && compiler_word(c)->kind == WORD_STRING) {
        ok = initial_text(c, s, t, word, count);
    } else if (compiler_accept(c, '{')) {
        if (parts)
            ok = initial_parts(c, s, t, word, true, count);
        else
            ok = initial_add(c, s, word, t,
                             node_assignable(c, compiler_assignment(c), t, "the value")) &&
                 compiler_expect(c, '}', "'}'");
    } else if (t->kind == TYPE_ARRAY) {
        ok = initial_parts(c, s, t, word, false, count);
    } else {
        ok = initial_add(c, s, word, t, node_assignable(c, compiler_assignment(c), t, "the value"));
    }
    compiler_leave(c);
    return ok;
}

/* Fills the words of a local variable that its list does not name with zeros. Variables that
 * exist as long as the program start with zeros anyway. */
static bool initial_fill(struct compiler *c, struct symbol *s)
{
    bool covered[POOL_WORDS] = {false};
    uint32_t words = type_words(s->type);
    const struct type *one = s->type;
    if (!c->inside || words > POOL_WORDS) return true;
    for (size_t i = 0; i < s->initial_count; i++)
        for (uint32_t k = 0; k < type_words(s->initials[i].type); k++)
            covered[s->initials[i].word + k] = true;
    while (one->kind == TYPE_ARRAY) one = one->of;
    if (one->kind == TYPE_RECORD) one = &type_int;
    for (uint32_t i = 0; i < words; i++)
        if (!covered[i] && one->kind != TYPE_STRING &&
            !initial_add(c, s, i, one, node_number(c, one, 0, s->offset)))
            return false;
    return true;
}

static bool initial_size(struct compiler *c, struct symbol *s, uint32_t count)
{
    struct type *sized = compiler_new(c, sizeof *sized);
    *sized = *s->type;
    sized->count = count;
    if (!count) return compiler_error(c, BASE_SYNTAX, s->offset, "an array without elements");
    if (type_words(sized) > POOL_WORDS)
        return compiler_error(c, CVBC_LIMIT, s->offset, "an array of %u words; the memory has %d",
                              (unsigned)type_words(sized), POOL_WORDS);
    s->type = sized;
    return true;
}

/* Reads the object of a reference, which must have an address. */
static bool initial_reference(struct compiler *c, struct symbol *s)
{
    if (!compiler_expect(c, '=', "'=': a reference needs what it names")) return false;
    struct node *n = compiler_assignment(c);
    return initial_add(c, s, 0, s->type,
                       node_assignable(c, node_address(c, n, n->offset), s->type, "the value"));
}

bool compiler_initialise(struct compiler *c, struct symbol *s)
{
    uint32_t count = 0;
    bool open = s->type->kind == TYPE_ARRAY && !s->type->count, ok = true;
    if (s->reference) return initial_reference(c, s);
    bool round = !open && s->type->kind != TYPE_ARRAY && compiler_accept(c, '(');
    if (round && s->type->is_settings) { /* Simulated devices do not look at these values. */
        struct node *ignored[3];
        c->pos--;
        return compiler_values(c, ignored, 3, &count);
    }
    bool given = round || compiler_accept(c, '=') || compiler_sees(c, '{');
    if (given) ok = initial_object(c, s, s->type, 0, &count);
    if (ok && round) ok = compiler_expect(c, ')', "')'");
    if (ok && open && !given)
        return compiler_error(c, BASE_SYNTAX, s->offset, "an array without a size needs values");
    if (ok && open) ok = initial_size(c, s, count);
    if (ok && given && (s->type->kind == TYPE_ARRAY || s->type->kind == TYPE_RECORD) &&
        !(s->initial_count == 1 && s->initials[0].type->kind == TYPE_RECORD))
        ok = initial_fill(c, s);
    return ok;
}
