/* dis: a whole listing, which assembles to the same bytes, or parts of the code to read. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "base/suggest.h"
#include "cli/terminal/highlight.h"

/* A listing as it comes. Colours need whole lines, so the last line waits for its end. */
struct listing {
    struct cli *c;
    const struct driver *driver;
    struct writer rest;
};

static void show(struct listing *l, penta_bytes text)
{
    if (l->c->out_is_file)
        writer_bytes(&l->c->out, text.data, text.size);
    else
        highlight(&l->c->out, cli_palette(l->c), l->driver, text);
}

static void show_piece(void *user, penta_bytes piece)
{
    struct listing *l = user;
    const uint8_t *end = memrchr(piece.data, '\n', piece.size);
    size_t whole = end ? (size_t)(end - piece.data) + 1 : 0;
    writer_bytes(&l->rest, piece.data, whole);
    if (whole) {
        show(l, writer_view(&l->rest));
        l->rest.out.size = 0;
    }
    writer_bytes(&l->rest, piece.data + whole, piece.size - whole);
}

/* ---- parts ---- */

struct parts {
    const penta_module *module;
    struct code_part *code, *named; /* in order of pc */
    size_t code_count, named_count;
    uint64_t from, to; /* what is wanted: both included */
    penta_error err;
};

static void add_part(void *user, const struct code_part *part)
{
    struct parts *p = user;
    struct code_part **list = part->named ? &p->named : &p->code;
    size_t *count = part->named ? &p->named_count : &p->code_count;
    struct code_part *more = realloc(*list, (*count + 1) * sizeof *more);
    if (!more) {
        error_at(&p->err, BASE_MEMORY, 0, "no memory for the functions");
        return;
    }
    *list = more;
    more[(*count)++] = *part;
}

static int by_pc(const void *a, const void *b)
{
    const struct code_part *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static void close_parts(struct parts *p)
{
    free(p->code);
    free(p->named);
}

/* Where the code from this pc on ends: at the next function, or with the code around it. */
static uint64_t end_of(const struct parts *p, const struct code_part *f)
{
    uint64_t end = UINT64_MAX;
    if (f->to > f->from) return f->to;
    for (size_t i = 0; i < p->code_count; i++)
        if (p->code[i].from <= f->from && f->from < p->code[i].to) end = p->code[i].to;
    for (size_t i = 0; i < p->named_count; i++)
        if (p->named[i].from > f->from && p->named[i].from < end) end = p->named[i].from;
    return end;
}

/* The name that is nearest to what was asked for. */
static void suggest_function(struct parts *p, const char *name)
{
    struct suggest near = {.word = bytes_of(name)};
    struct arena arena = {0};
    penta_error ignored = {0};
    for (size_t i = 0; i < p->named_count; i++) {
        penta_bytes found = p->named[i].name;
        char *copy = arena_alloc(&arena, found.size + 1, 1, &ignored);
        if (!copy) break;
        bytes_copy(copy, found);
        copy[found.size] = 0;
        suggest_offer(&near, copy);
    }
    if (near.best) error_note(&p->err, "did you mean '%.60s'?", near.best);
    arena_free(&arena);
}

static bool find_function(struct parts *p, const char *name)
{
    for (size_t i = 0; i < p->named_count; i++) {
        const struct code_part *f = &p->named[i];
        if (!bytes_equal(f->name, bytes_of(name))) continue;
        p->from = f->from;
        p->to = end_of(p, f) - 1;
        return true;
    }
    if (p->named_count)
        error_at(&p->err, BASE_OPTION_VALUE, 0, "no function is called '%.60s'", name);
    else
        error_at(&p->err, BASE_OPTION_VALUE, 0, "this %s program names no functions",
                 p->module->driver->name);
    suggest_function(p, name);
    return false;
}

/* A..B, A.., ..B or A. */
static bool read_range(struct parts *p, const char *text)
{
    const char *dots = strstr(text, "..");
    char first[40] = "";
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    if (n < sizeof first) memcpy(first, text, n);
    bool ok = n < sizeof first && (*first ? number_parse(first, &p->from) : dots != NULL);
    if (!dots)
        p->to = p->from;
    else if (dots[2])
        ok = ok && number_parse(dots + 2, &p->to);
    return (ok && p->from <= p->to) ||
           error_at(&p->err, BASE_OPTION_VALUE, 0, "range '%.40s' is not A..B", text);
}

static void print_names(const struct parts *p, uint64_t pc, struct writer *out)
{
    size_t low = 0, high = p->named_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->named[middle].from < pc)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < p->named_count && p->named[low].from == pc; low++) {
        writer_safe(out, p->named[low].name);
        writer_text(out, ":\n");
    }
}

static uint64_t next_of(const penta_module *module, uint64_t pc)
{
    uint64_t next = module->driver->next_pc ? module->driver->next_pc(module, pc) : pc + 1;
    return next > pc ? next : UINT64_MAX;
}

/* From the start of the code on, since instructions may have any length. */
static void print_part(const struct parts *p, const struct code_part *code, struct writer *out)
{
    struct writer insn = {0};
    for (uint64_t pc = code->from; pc < code->to && pc <= p->to; pc = next_of(p->module, pc)) {
        if (pc < p->from) continue;
        print_names(p, pc, out);
        insn.out.size = 0;
        if (!p->module->driver->print_at(p->module, pc, &insn)) continue;
        writer_print(out, "%6" PRIu64 "  ", pc);
        writer_bytes(out, insn.out.data, insn.out.size);
        writer_char(out, '\n');
    }
    writer_free(&insn);
}

static bool print_parts(struct cli *c, const penta_module *module, struct writer *out,
                        penta_error *err)
{
    const struct driver *driver = module->driver;
    struct parts p = {.module = module, .to = UINT64_MAX};
    const char *function = c->value[OPT_FUNCTION], *range = c->value[OPT_RANGE];
    for (size_t i = 0; i < c->format_option_count; i++)
        if (!format_option(c->format_options[i].key, OPTION_OPEN))
            error_at(&p.err, BASE_OPTION, 0, "--%s is for whole listings",
                     c->format_options[i].key);
    if (function && range) error_at(&p.err, BASE_OPTION, 0, "either --function or --range");
    if (!driver->code_parts || !driver->print_at)
        error_at(&p.err, BASE_UNSUPPORTED, 0, "%s files have no code that can be shown in parts",
                 driver->name);
    else
        driver->code_parts(module, add_part, &p);
    if (p.code_count) qsort(p.code, p.code_count, sizeof *p.code, by_pc);
    if (p.named_count) qsort(p.named, p.named_count, sizeof *p.named, by_pc);
    bool ok = !p.err.code && (!function || find_function(&p, function)) &&
              (!range || read_range(&p, range));
    for (size_t i = 0; ok && i < p.code_count; i++) print_part(&p, &p.code[i], out);
    if (ok && range && !writer_total(out))
        ok = error_at(&p.err, BASE_OPTION_VALUE, 0, "no instruction is in range %.40s", range);
    *err = p.err;
    close_parts(&p);
    return ok && writer_ok(out, err);
}

/* ---- the command ---- */

static bool print(struct cli *c, const penta_module *module, struct writer *out, penta_error *err)
{
    if ((c->value[OPT_FUNCTION] || c->value[OPT_RANGE] || c->value[OPT_CODE_ONLY]) &&
        !module->damage.code)
        return print_parts(c, module, out, err);
    size_t count = 0;
    penta_option *options = options_for(c, module->driver, OPTION_PRINT, &count);
    bool ok = out->sink ? penta_print_pieces(module, options, count, out->sink, out->user, err)
                        : penta_print(module, options, count, &out->out, err);
    free(options);
    return ok;
}

/* The text is shown while it is printed. Only a document needs it as a whole, and a file, which is
 * written all at once. */
void command_DIS(struct cli *c)
{
    struct input in;
    penta_error err = {0};
    if (!input_open(c, c->words[0], &in)) return;
    struct listing l = {.c = c, .driver = in.module->driver};
    struct writer text = {.sink = c->value[OPT_JSON] ? NULL : show_piece, .user = &l};
    bool ok = print(c, in.module, &text, &err);
    if (ok && text.sink) {
        writer_flush(&text);
        show(&l, writer_view(&l.rest));
        c->out.failed |= l.rest.failed;
    } else if (ok) {
        json_text(&c->json, "file", in.name);
        json_text(&c->json, "format", penta_module_format(in.module));
        cli_text(c, writer_view(&text));
    } else {
        cli_error(c, in.name, &err);
    }
    writer_free(&text);
    writer_free(&l.rest);
    input_close(&in);
}
