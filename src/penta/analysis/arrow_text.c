/* Draws the arrows of jumps with characters, row by row. Lanes come from arrows.c; the arrows are kept in three
 * orders, so that each row looks only at those that begin, end or point there. */
#include "penta/analysis/arrow_text.h"
#include <stdlib.h>
#include "base/array.h"
#include "base/writer.h"

enum { LANES = 10 };

/* A column has a bit for each of the four sides to which it has a line. */
enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

static const char *const drawn_utf8[16] = {" ", " ", " ", "│", " ", "╯", "╮", "┤",
                                           " ", "╰", "╭", "├", "─", "┴", "┬", "┼"};
static const char *const drawn_ascii[16] = {" ", " ", " ", "|", " ", "'", ",", "+",
                                            " ", "'", ",", "+", "-", "+", "+", "+"};

struct list {
    penta_arrow *items;
    size_t count, capacity, next; /* `next` is the first arrow that is not drawn yet. */
};

struct arrow_text {
    struct list by_from, by_low, by_to; /* the same arrows in three orders */
    struct {
        uint64_t until,
            target; /* the end and the target of the arrow in this lane; `until` is 0 while the lane is empty */
    } lane[LANES];
    unsigned lanes;
    bool utf8;
    penta_error *err;
};

static uint64_t low_of(const penta_arrow *a) { return a->from < a->to ? a->from : a->to; }
static uint64_t high_of(const penta_arrow *a) { return a->from < a->to ? a->to : a->from; }

static int by_low(const void *a, const void *b)
{
    uint64_t x = low_of(a), y = low_of(b);
    return (x > y) - (x < y);
}

static int by_to(const void *a, const void *b)
{
    const penta_arrow *x = a, *y = b;
    return (x->to > y->to) - (x->to < y->to);
}

static void arrow_text_take(void *user, const penta_arrow *arrow)
{
    struct arrow_text *t = user;
    struct list *l = &t->by_from;
    if (arrow->lane != PENTA_ARROW_STUB && arrow->lane >= t->lanes) t->lanes = arrow->lane + 1;
    if (ARRAY_GROW(l->items, l->capacity, l->count, t->err)) l->items[l->count++] = *arrow;
}

static bool copy_sorted(struct list *to, const struct list *from,
                        int (*order)(const void *, const void *), penta_error *err)
{
    if (!from->count) return true;
    to->items = array_copy(from->items, from->count, sizeof *from->items);
    if (!to->items) return error_at(err, BASE_MEMORY, 0, "no memory for %zu arrows", from->count);
    to->count = from->count;
    qsort(to->items, to->count, sizeof *to->items, order);
    return true;
}

struct arrow_text *arrow_text_new(const penta_module *module, uint64_t from, uint64_t to, bool utf8,
                                  penta_error *err)
{
    penta_structure *s = penta_structure_new(module, err);
    struct arrow_text *t = s ? calloc(1, sizeof *t) : NULL;
    if (s && !t) error_at(err, BASE_MEMORY, 0, "no memory for arrows");
    bool ok = t != NULL;
    if (ok) {
        penta_error lost = {0}; /* The call clears its error, so the error of the callback is
                                 * kept here. */
        t->utf8 = utf8;
        t->err = &lost;
        ok = penta_structure_arrows(s, from, to, LANES, arrow_text_take, t, err);
        if (ok && lost.code) *err = lost;
        ok = ok && !lost.code && copy_sorted(&t->by_low, &t->by_from, by_low, err) &&
             copy_sorted(&t->by_to, &t->by_from, by_to, err);
        t->err = NULL;
    }
    penta_structure_free(s);
    if (ok) return t;
    arrow_text_free(t);
    return NULL;
}

void arrow_text_free(struct arrow_text *t)
{
    if (!t) return;
    free(t->by_from.items);
    free(t->by_low.items);
    free(t->by_to.items);
    free(t);
}

static void arrow_text_columns(const struct arrow_text *t, const unsigned *sides,
                               struct writer *out)
{
    const char *const *drawn = t->utf8 ? drawn_utf8 : drawn_ascii;
    for (unsigned i = t->lanes; i-- > 0;) writer_text(out, drawn[sides[i]]);
}

void arrow_text_between(const struct arrow_text *t, uint64_t pc, struct writer *out)
{
    unsigned sides[LANES] = {0};
    for (unsigned i = 0; i < t->lanes; i++)
        if (t->lane[i].until && t->lane[i].until >= pc) sides[i] = UP | DOWN;
    arrow_text_columns(t, sides, out);
    writer_fill(out, ' ', t->by_from.count ? 4 : 0);
}

/* Sets the lines of the lanes above and below this row, and the line to its text when the row is a target. */
static void pass_lanes(struct arrow_text *t, uint64_t pc, unsigned *sides)
{
    for (unsigned i = 0; i < t->lanes; i++)
        if (t->lane[i].until && t->lane[i].until >= pc) sides[i] |= UP;
    for (struct list *l = &t->by_low; l->next < l->count; l->next++) {
        const penta_arrow *a = &l->items[l->next];
        if (low_of(a) > pc) break;
        if (low_of(a) < pc || a->lane == PENTA_ARROW_STUB) continue;
        if (high_of(a) > t->lane[a->lane].until) t->lane[a->lane].until = high_of(a);
        t->lane[a->lane].target = a->to;
        if (a->from == a->to) sides[a->lane] |= RIGHT;
    }
    for (unsigned i = 0; i < t->lanes; i++) {
        if (t->lane[i].until > pc) sides[i] |= DOWN;
        if (sides[i] && t->lane[i].target == pc) sides[i] |= RIGHT;
    }
}

/* Sets the line from the text of a row with a jump to its lane. Returns what to show for a jump without a lane, or
 * NULL. */
static const char *leave_row(struct arrow_text *t, uint64_t pc, unsigned *sides)
{
    const char *stub = NULL;
    for (struct list *l = &t->by_from; l->next < l->count; l->next++) {
        const penta_arrow *a = &l->items[l->next];
        if (a->from > pc) break;
        if (a->from < pc) continue;
        if (a->lane != PENTA_ARROW_STUB)
            sides[a->lane] |= RIGHT;
        else
            stub = !t->utf8 ? "*" : a->to < a->from ? "↑" : "↓";
    }
    return stub;
}

void arrow_text_row(struct arrow_text *t, uint64_t pc, struct writer *out)
{
    unsigned sides[LANES] = {0};
    bool target = false, passing = false;
    if (!t->by_from.count) return;
    pass_lanes(t, pc, sides);
    const char *stub = leave_row(t, pc, sides), *line = t->utf8 ? "─" : "-";
    for (struct list *l = &t->by_to; l->next < l->count && l->items[l->next].to <= pc; l->next++)
        target |= l->items[l->next].to == pc;
    /* The line to the text crosses the lanes between, under the lines of those lanes. */
    for (unsigned i = t->lanes; i-- > 0;) {
        if (passing && (!sides[i] || sides[i] & RIGHT)) sides[i] |= LEFT | RIGHT;
        passing |= (sides[i] & RIGHT) != 0;
    }
    arrow_text_columns(t, sides, out);
    writer_text(out, passing ? line : " ");
    writer_text(out, target ? ">" : passing ? line : " ");
    writer_text(out, stub ? stub : " ");
    writer_char(out, ' ');
}
