/* Implements the commands about breakpoints and watches. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/number.h"
#include "base/sanitize.h"
#include "cli/debug/shell.h"

/* The command that makes each kind of point, and the word for what has happened when it stops a
 * run. */
static const struct {
    const char *command, *word;
} kinds[] = {[PENTA_POINT_BREAK] = {"break", "break"},
             [PENTA_POINT_WATCH] = {"watch", "changed"},
             [PENTA_POINT_READ] = {"rwatch", "read"},
             [PENTA_POINT_WRITE] = {"wwatch", "written"},
             [PENTA_POINT_ACCESS] = {"awatch", "accessed"}};

const char *point_word(penta_point_kind kind) { return kinds[kind].word; }

static void print_point(struct shell *s, const penta_point *p)
{
    struct writer *out = &s->cli->out;
    penta_buffer name = {0};
    penta_line line;
    const penta_module *module = s->machine.in.module;
    if (p->kind != PENTA_POINT_BREAK) {
        writer_print(out, "%s %u on ", kinds[p->kind].command, p->number);
        writer_safe_text(out, p->what);
    } else {
        writer_print(out, "break %u at %" PRIu64, p->number, p->pc);
        if (penta_name_at(module, p->pc, &name)) {
            writer_text(out, " in ");
            writer_safe(out, (penta_bytes){name.data, name.size});
        }
        if (penta_line_at(module, p->pc, &line)) {
            writer_text(out, ", ");
            writer_safe(out, line.file);
            writer_print(out, ":%" PRIu64, line.line);
        }
    }
    if (p->condition) {
        writer_text(out, " if ");
        writer_safe_text(out, p->condition);
    }
    if (p->hits) writer_print(out, ", %" PRIu64 " hits", p->hits);
    if (p->ignore > p->hits) writer_print(out, ", %" PRIu64 " to pass", p->ignore - p->hits);
    writer_text(out, p->log ? ", prints" : p->once ? ", once" : "");
    writer_text(out, p->disabled ? ", disabled\n" : "\n");
    penta_buffer_free(&name);
}

void point_list(struct shell *s, bool breaks, bool watches)
{
    const penta_point *p;
    for (size_t i = 0; (p = penta_debugger_point_at(s->debugger, i)); i++)
        if (p->kind == PENTA_POINT_BREAK ? breaks : watches) print_point(s, p);
}

static const penta_point *point_of(struct shell *s, unsigned number)
{
    const penta_point *p;
    for (size_t i = 0; (p = penta_debugger_point_at(s->debugger, i)); i++)
        if (p->number == number) return p;
    return NULL;
}

static void shell_points_add(struct shell *s, const penta_point *point)
{
    unsigned number;
    penta_error err = {0};
    if (penta_debugger_point_add(s->debugger, point, &number, &err))
        print_point(s, point_of(s, number));
    else
        shell_error(s, &err);
}

/* Adds a point from a text "WHAT if EXPR", which is split in a copy. */
static void add_with_condition(struct shell *s, penta_point point, const char *rest)
{
    char *text = strdup(rest), *cut = text ? strstr(text, " if ") : NULL;
    if (!text) return;
    size_t size = strlen(text);
    if (!cut && size > 3 && !strcmp(text + size - 3, " if")) cut = text + size - 3;
    if (cut) {
        point.condition = text + size - cut > 4 ? cut + 4 : "";
        while (cut > text && isspace((unsigned char)cut[-1])) cut--;
        *cut = 0;
    }
    point.what = text;
    shell_points_add(s, &point);
    free(text);
}

void do_break(struct shell *s, const char *rest)
{
    if (*rest)
        add_with_condition(s, (penta_point){.kind = PENTA_POINT_BREAK}, rest);
    else
        point_list(s, true, false);
}

void do_tbreak(struct shell *s, const char *rest)
{
    add_with_condition(s, (penta_point){.kind = PENTA_POINT_BREAK, .once = true}, rest);
}

static void shell_points_watch(struct shell *s, penta_point_kind kind, const char *rest)
{
    if (*rest)
        add_with_condition(s, (penta_point){.kind = kind}, rest);
    else
        point_list(s, false, true);
}

void do_watch(struct shell *s, const char *rest) { shell_points_watch(s, PENTA_POINT_WATCH, rest); }
void do_rwatch(struct shell *s, const char *rest) { shell_points_watch(s, PENTA_POINT_READ, rest); }
void do_wwatch(struct shell *s, const char *rest)
{
    shell_points_watch(s, PENTA_POINT_WRITE, rest);
}
void do_awatch(struct shell *s, const char *rest)
{
    shell_points_watch(s, PENTA_POINT_ACCESS, rest);
}

void do_log(struct shell *s, const char *rest)
{
    char *text = strdup(rest);
    size_t word = strcspn(rest, " \t");
    if (!text) return;
    if (!rest[word]) {
        writer_text(&s->cli->out, "log needs a place and a text\n");
    } else {
        text[word] = 0;
        shell_points_add(s, &(penta_point){.what = text, .log = rest + word + 1});
    }
    free(text);
}

/* Returns the point whose number the text starts with. *rest becomes what follows the number. */
static const penta_point *read_point(struct shell *s, const char **rest)
{
    char *end;
    unsigned long number = strtoul(*rest, &end, 10);
    const penta_point *p = end == *rest ? NULL : point_of(s, (unsigned)number);
    if (!p)
        writer_text(&s->cli->out,
                    "no breakpoint or watch has this number; info breaks lists them\n");
    while (isspace((unsigned char)*end)) end++;
    *rest = end;
    return p;
}

static void shell_points_change(struct shell *s, const penta_point *point)
{
    penta_error err = {0};
    if (penta_debugger_point_change(s->debugger, point, &err))
        print_point(s, point_of(s, point->number));
    else
        shell_error(s, &err);
}

void do_condition(struct shell *s, const char *rest)
{
    const penta_point *p = read_point(s, &rest);
    if (!p) return;
    penta_point new = *p;
    new.condition = *rest ? rest : NULL;
    shell_points_change(s, &new);
}

void do_ignore(struct shell *s, const char *rest)
{
    const penta_point *p = read_point(s, &rest);
    uint64_t count = 0;
    if (!p || !shell_count(s, rest, &count)) return;
    penta_point new = *p;
    new.ignore = p->hits + count;
    shell_points_change(s, &new);
}

static void switch_point(struct shell *s, const char *rest, bool off)
{
    const penta_point *p = read_point(s, &rest);
    if (!p) return;
    penta_point new = *p;
    new.disabled = off;
    shell_points_change(s, &new);
}

void do_enable(struct shell *s, const char *rest) { switch_point(s, rest, false); }
void do_disable(struct shell *s, const char *rest) { switch_point(s, rest, true); }

/* Deletes a point by its number, else by the text or the place with which it was made. */
void do_delete(struct shell *s, const char *rest)
{
    const penta_point *p;
    uint64_t number, pc;
    penta_error err = {0};
    if (!*rest) {
        while ((p = penta_debugger_point_at(s->debugger, 0)))
            penta_debugger_point_remove(s->debugger, p->number);
        return;
    }
    if (number_parse(rest, &number) && number <= UINT32_MAX &&
        penta_debugger_point_remove(s->debugger, (unsigned)number))
        return;
    bool place = penta_find_code(s->machine.in.module, rest, &pc, &err);
    for (size_t i = 0; (p = penta_debugger_point_at(s->debugger, i)); i++) {
        if (strcmp(p->what, rest) && (!place || p->kind != PENTA_POINT_BREAK || p->pc != pc))
            continue;
        penta_debugger_point_remove(s->debugger, p->number);
        return;
    }
    writer_text(&s->cli->out, "no such breakpoint or watch; info breaks lists them\n");
}
