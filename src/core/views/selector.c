/* Parses selectors and matches them against the nodes of a walk. The parts that may come next
 * are a set of bits for each level of the tree. So a walk costs little for each node, and "**"
 * needs no recursion. */
#include "core/views/selector.h"
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"

static bool selector_fault(const struct selector *s, const char *at, const char *what,
                           penta_error *err)
{
    size_t column = (size_t)(at - s->text);
    return error_at(err, BASE_OPTION_VALUE, column, "selector '%.50s', character %zu: %s", s->text,
                    column + 1, what);
}

/* Parses the text in the brackets: a number, a range or *. */
static bool index_parse(const struct selector *s, penta_bytes text, struct selector_part *part,
                        penta_error *err)
{
    const char *at = (const char *)text.data;
    part->indexed = true;
    part->from = 0;
    part->to = UINT64_MAX;
    if (text.size == 1 && *at == '*') return true;
    const char *dots = memmem(text.data, text.size, "..", 2);
    penta_bytes first = bytes_slice(text, 0, dots ? (size_t)(dots - at) : text.size);
    penta_bytes second = dots ? bytes_slice(text, first.size + 2, text.size) : first;
    bool given = first.size || second.size;
    if (!given || (first.size && !number_parse_bytes(first, &part->from)) ||
        (second.size && !number_parse_bytes(second, &part->to)))
        return selector_fault(s, at, "an index is N, A..B, A.., ..B or *", err);
    return part->from <= part->to || selector_fault(s, at, "the range ends before it starts", err);
}

/* Parses one part, which ends at `end`. */
static bool part_parse(const struct selector *s, const char *at, const char *end,
                       struct selector_part *part, penta_error *err)
{
    const char *bracket = memchr(at, '[', (size_t)(end - at));
    const char *stop = bracket ? bracket : end;
    *part = (struct selector_part){.name = {(const uint8_t *)at, (size_t)(stop - at)}};
    part->any_depth = end - at == 2 && !memcmp(at, "**", 2);
    if (stop == at) return selector_fault(s, at, "a name is missing", err);
    if (!bracket) return true;
    if (end[-1] != ']') return selector_fault(s, end, "] is missing", err);
    penta_bytes inside = {(const uint8_t *)bracket + 1, (size_t)(end - bracket - 2)};
    return index_parse(s, inside, part, err);
}

bool selector_parse(struct selector *s, const char *text, penta_error *err)
{
    s->text = text;
    s->count = 0;
    if (!*text) return selector_fault(s, text, "it is empty", err);
    if (!strcmp(text, "/")) return true;
    const char *at = text + (*text == '/');
    for (;;) {
        const char *end = strchrnul(at, '/');
        if (s->count == SELECTOR_PARTS)
            return selector_fault(s, at, "it has more than 24 parts", err);
        if (!part_parse(s, at, end, &s->parts[s->count++], err)) return false;
        if (!*end) return true;
        at = end + 1;
    }
}

/* Tells whether a name fits a pattern in which * stands for any characters. */
static bool name_fits(penta_bytes pattern, const char *name)
{
    const uint8_t *p = pattern.data, *end = p + pattern.size, *star = NULL;
    const char *back = NULL;
    for (;;) {
        if (p < end && *p == '*') {
            star = ++p;
            back = name;
        } else if (p < end && *name && *p == (uint8_t)*name) {
            p++;
            name++;
        } else if (p == end && !*name) {
            return true;
        } else if (star && *back) { /* The last * takes one character more. */
            p = star;
            name = ++back;
        } else {
            return false;
        }
    }
}

/* Returns the set of parts that may come next when those before part i have matched. */
static uint32_t parts_from(struct selector_walk *w, unsigned i)
{
    const struct selector *s = w->selector;
    uint32_t set = UINT32_C(1) << i;
    if (i > w->best) w->best = i;
    while (i < s->count && s->parts[i].any_depth) set |= UINT32_C(1) << ++i;
    return set;
}

static unsigned walk_level(const struct selector_walk *w)
{
    return w->path.depth < PATH_DEPTH ? w->path.depth : PATH_DEPTH;
}

void selector_start(struct selector_walk *w, const struct selector *s)
{
    *w = (struct selector_walk){.selector = s};
    w->level[0].next = parts_from(w, 0);
}

/* Returns the set of parts that may come below the next child of the open node. */
static uint32_t child_next(struct selector_walk *w, const char *name)
{
    unsigned depth = walk_level(w);
    uint32_t now = w->path.depth < PATH_DEPTH ? w->level[depth].next : 0, next = 0;
    uint64_t number = w->level[depth].children++;
    for (unsigned i = 0; i < w->selector->count && now >> i; i++) {
        const struct selector_part *part = &w->selector->parts[i];
        if (!(now >> i & 1)) continue;
        if (part->any_depth) {
            next |= parts_from(w, i);
            continue;
        }
        if (!name_fits(part->name, name)) continue;
        uint64_t index = w->level[depth].list ? number : w->level[depth].named[i]++;
        if (!part->indexed || (index >= part->from && index <= part->to))
            next |= parts_from(w, i + 1);
    }
    return next;
}

static bool parts_done(const struct selector_walk *w, uint32_t next)
{
    return next >> w->selector->count & 1;
}

enum selector_match selector_enter(struct selector_walk *w, const char *name, bool list)
{
    uint32_t next = child_next(w, name);
    path_enter(&w->path, name, list);
    unsigned depth = walk_level(w);
    if (w->path.depth <= PATH_DEPTH) {
        memset(&w->level[depth], 0, sizeof w->level[depth]);
        w->level[depth].next = next;
        w->level[depth].list = list;
    }
    return parts_done(w, next) ? SELECTOR_YES : next ? SELECTOR_ABOVE : SELECTOR_NO;
}

void selector_leave(struct selector_walk *w) { path_leave(&w->path); }

bool selector_leaf(struct selector_walk *w, const char *name)
{
    return parts_done(w, child_next(w, name));
}

bool selector_missing(const struct selector_walk *w, penta_error *err)
{
    const struct selector *s = w->selector;
    const struct selector_part *part = &s->parts[w->best < s->count ? w->best : s->count - 1];
    size_t column = (size_t)((const char *)part->name.data - s->text);
    const char *end = strchrnul(s->text + column, '/');
    error_at(err, BASE_OPTION_VALUE, column, "no part is called '%.*s'",
             (int)(end - s->text < 60 ? end - s->text : 60), s->text);
    if (column > 1)
        error_note(err, "nothing matches the selector from its character %zu on", column + 1);
    return false;
}
