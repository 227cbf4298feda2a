/* Gives the code of a module: its single instructions, its parts, and listings of parts. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/json/json_write.h"
#include "base/number.h"
#include "base/options.h"
#include "base/sanitize.h"
#include "base/suggest.h"
#include "penta/analysis/arrow_text.h"
#include "penta/listing.h"
#include "penta/source_text.h"

bool penta_print_at(const penta_module *module, uint64_t pc, penta_buffer *out)
{
    struct writer w = {0};
    penta_error err = {0};
    bool found = module->driver->print_at && module->driver->print_at(module, pc, &w);
    return writer_give(&w, found, out, &err);
}

uint64_t listing_next(const penta_module *module, uint64_t pc)
{
    uint64_t next = module->driver->next_pc(module, pc);
    return next > pc ? next : UINT64_MAX;
}

bool penta_next_pc(const penta_module *module, uint64_t pc, uint64_t *next)
{
    struct writer ignored = {0};
    bool there = module->driver->print_at && module->driver->print_at(module, pc, &ignored);
    writer_free(&ignored);
    *next = there ? listing_next(module, pc) : pc;
    return there;
}

bool penta_pc_of(const penta_module *module, uint64_t offset, uint64_t *pc)
{
    return module->driver->pc_of && module->driver->pc_of(module, offset, pc);
}

bool penta_offset_of(const penta_module *module, uint64_t pc, uint64_t *offset, uint64_t *size)
{
    const struct driver *d = module->driver;
    uint64_t next, file = module->file.size;
    if (!d->offset_of || module->damage.code || !d->offset_of(module, pc, offset)) return false;
    if (!penta_next_pc(module, pc, &next)) return false;
    *size = d->insn_bytes ? d->insn_bytes : next - pc;
    return *offset <= file && *size <= file - *offset;
}

void penta_parts(const penta_module *module, penta_part_report *report, void *user)
{
    if (module->driver->parts && !module->damage.code) module->driver->parts(module, report, user);
}

static void part_json(void *user, const penta_part *part)
{
    static const char *const kinds[] = {"code", "function", "export", "import", "label"};
    struct json *j = user;
    json_object(j, NULL);
    json_text(j, "kind", kinds[part->kind]);
    if (part->name.size) json_string(j, "name", part->name);
    json_uint(j, "from", part->from);
    json_uint(j, "to", part->to);
    json_end(j);
}

bool penta_parts_json(const penta_module *module, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct json j = {.out = &w};
    json_list(&j, NULL);
    penta_parts(module, part_json, &j);
    json_finish(&j);
    return writer_give(&w, true, out, err);
}

static void add_part(void *user, const penta_part *part)
{
    struct listing *l = user;
    struct listing_parts *list = part->kind == PENTA_PART_CODE ? &l->code : &l->functions;
    if (part->kind == PENTA_PART_EXPORT || part->kind == PENTA_PART_IMPORT) return;
    if (ARRAY_GROW(list->items, list->capacity, list->count, l->err))
        list->items[list->count++] = *part;
}

static int by_pc(const void *a, const void *b)
{
    const penta_part *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static void code_sort(struct listing_parts *list)
{
    if (list->count) qsort(list->items, list->count, sizeof *list->items, by_pc);
}

/* Finds where a function ends: at the next function, or with the code around it. */
static uint64_t end_of(const struct listing *l, const penta_part *f)
{
    uint64_t end = UINT64_MAX;
    if (f->to > f->from) return f->to;
    for (size_t i = 0; i < l->code.count; i++)
        if (l->code.items[i].from <= f->from && f->from < l->code.items[i].to)
            end = l->code.items[i].to;
    for (size_t i = 0; i < l->functions.count; i++)
        if (l->functions.items[i].from > f->from && l->functions.items[i].from < end)
            end = l->functions.items[i].from;
    return end;
}

/* Suggests the name of a function that is nearest to the wanted one. */
static void suggest_function(struct listing *l, const char *name)
{
    struct suggest near = {.word = bytes_of(name)};
    struct arena arena = {0};
    penta_error ignored = {0};
    for (size_t i = 0; i < l->functions.count; i++) {
        penta_bytes found = l->functions.items[i].name;
        char *copy = arena_alloc(&arena, found.size + 1, 1, &ignored);
        if (!copy) break;
        bytes_copy(copy, found);
        copy[found.size] = 0;
        suggest_offer(&near, copy);
    }
    if (near.best) error_note(l->err, "did you mean '%.60s'?", near.best);
    arena_free(&arena);
}

static bool find_function(struct listing *l, const char *name)
{
    for (size_t i = 0; i < l->functions.count; i++) {
        const penta_part *f = &l->functions.items[i];
        if (!bytes_equal(f->name, bytes_of(name))) continue;
        l->from = f->from;
        l->to = end_of(l, f) - 1;
        return true;
    }
    if (l->functions.count)
        error_at(l->err, BASE_OPTION_VALUE, 0, "no function is called '%.60s'", name);
    else
        error_at(l->err, BASE_OPTION_VALUE, 0, "this %s program names no functions",
                 l->module->driver->name);
    suggest_function(l, name);
    return false;
}

/* Reads a range: A..B, A.., ..B or A. */
static bool read_range(struct listing *l, const char *text)
{
    const char *dots = strstr(text, "..");
    char first[40] = "";
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    if (n < sizeof first) memcpy(first, text, n);
    bool ok = n < sizeof first && (*first ? number_parse(first, &l->from) : dots != NULL);
    if (!dots)
        l->to = l->from;
    else if (dots[2])
        ok = ok && number_parse(dots + 2, &l->to);
    return (ok && l->from <= l->to) ||
           error_at(l->err, BASE_OPTION_VALUE, 0, "range '%.40s' is not A..B", text);
}

static void print_names(struct listing *l, uint64_t pc)
{
    const struct listing_parts *f = &l->functions;
    size_t i;
    ARRAY_SEARCH(i, 0, f->count, f->items[i].from >= pc);
    for (; i < f->count && f->items[i].from == pc; i++) {
        if (l->arrows) {
            writer_fill(&l->out, ' ', 8);
            arrow_text_between(l->arrows, pc, &l->out);
        }
        writer_safe(&l->out, f->items[i].name);
        writer_text(&l->out, ":\n");
    }
}

static void print_row(struct listing *l, uint64_t pc, struct writer *insn)
{
    print_names(l, pc);
    insn->out.size = 0;
    if (!l->module->driver->print_at(l->module, pc, insn)) return;
    if (l->source) source_text_row(l->source, pc, l->module->driver->comment, &l->out);
    writer_print(&l->out, "%6" PRIu64 "  ", pc);
    if (l->arrows) arrow_text_row(l->arrows, pc, &l->out);
    writer_bytes(&l->out, insn->out.data, insn->out.size);
    writer_char(&l->out, '\n');
}

bool listing_has(const struct listing *l, uint64_t pc, uint64_t next)
{
    const struct driver *d = l->module->driver;
    uint64_t offset, size = d->insn_bytes ? d->insn_bytes : next == UINT64_MAX ? 1 : next - pc;
    if (pc < l->from || pc > l->to) return false;
    if (!l->select) return true;
    return d->offset_of && d->offset_of(l->module, pc, &offset) &&
           selection_holds(&l->selection, offset, size);
}

bool listing_complete(const struct listing *l, size_t rows, const penta_option *options,
                      size_t count)
{
    const char *range = option_text(options, count, "range");
    if (rows || !(range || l->select)) return true;
    if (range)
        return error_at(l->err, BASE_OPTION_VALUE, 0, "no instruction is in range %.40s", range);
    error_at(l->err, BASE_OPTION_VALUE, 0, "'%.60s' selects no instruction", l->select);
    return error_note(l->err, "instructions that are stored encoded cannot be selected");
}

/* Prints a part of the code. It steps from the start of the code on, since instructions may have any length. */
static void print_part(struct listing *l, const penta_part *code)
{
    struct writer insn = {0};
    uint64_t next;
    for (uint64_t pc = code->from; pc < code->to && pc <= l->to; pc = next) {
        next = listing_next(l->module, pc);
        if (listing_has(l, pc, next)) print_row(l, pc, &insn);
        /* An instruction that can be printed has a next pc, unless memory ran out. */
        if (next == UINT64_MAX && l->module->driver->print_at(l->module, pc, &insn))
            l->out.failed = true;
    }
    l->out.failed |= insn.failed;
    writer_free(&insn);
}

static const penta_option_info code_options[] = {
    OPTION_ROW("function", TEXT("NAME"), OPTION_PRINT, ""),
    OPTION_ROW("range", TEXT("A..B"), OPTION_PRINT, ""),
    OPTION_ROW("arrows", WORDS("utf8|ascii"), OPTION_PRINT, ""),
    OPTION_ROW("select", TEXT("PATH"), OPTION_PRINT, ""),
    OPTION_ROW("source", SWITCH, OPTION_PRINT, ""),
    {.key = NULL}};

bool listing_open(struct listing *l, const penta_module *module, const penta_option *options,
                  size_t count, penta_error *err)
{
    const struct driver *driver = module->driver;
    const char *function = option_text(options, count, "function");
    const char *range = option_text(options, count, "range");
    *l = (struct listing){.module = module,
                          .to = UINT64_MAX,
                          .select = option_text(options, count, "select"),
                          .err = err};
    if (function && range)
        return error_at(err, BASE_OPTION, 0, "either option 'function' or option 'range'");
    if (!driver->parts || !driver->print_at)
        return error_at(err, BASE_UNSUPPORTED, 0,
                        "%s files have no code that can be shown in parts", driver->name);
    if (module->damage.code) {
        *err = module->damage;
        return false;
    }
    driver->parts(module, add_part, l);
    code_sort(&l->code);
    code_sort(&l->functions);
    return !err->code && (!function || find_function(l, function)) &&
           (!range || read_range(l, range)) &&
           (!l->select || selection_read(&l->selection, module, l->select, err));
}

void listing_close(struct listing *l)
{
    selection_free(&l->selection);
    free(l->code.items);
    free(l->functions.items);
}

bool penta_print_code(const penta_module *module, const penta_option *options, size_t count,
                      penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    const char *arrows = option_text(options, count, "arrows");
    struct listing l;
    struct source_text source = {0};
    if (!options_check(options, count, code_options, OPTION_PRINT, err)) return false;
    bool ok = listing_open(&l, module, options, count, err);
    if (ok && option_given(options, count, "source")) {
        ok = source_text_open(&source, module, err);
        l.source = &source;
    }
    if (ok && arrows) {
        l.arrows = arrow_text_new(module, l.from, l.to, !strcmp(arrows, "utf8"), err);
        ok = l.arrows != NULL;
    }
    for (size_t i = 0; ok && i < l.code.count; i++) print_part(&l, &l.code.items[i]);
    ok = ok && listing_complete(&l, l.out.out.size, options, count);
    arrow_text_free(l.arrows);
    source_text_close(&source);
    listing_close(&l);
    return writer_give(&l.out, ok, out, err);
}
