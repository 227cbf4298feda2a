/* Answers the calls about the listing of the code. The listing has rows of labels and
 * instructions, and the text of a row is printed when it is shown. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/sanitize.h"
#include "web/web.h"

enum { LANES = 12 }; /* All arrows that find no lane are drawn in one more lane. */

struct arrow { /* An arrow has the rows of its two ends. */
    uint32_t from, to;
    uint16_t lane;
    bool conditional;
};

struct web_listing {
    penta_line *lines; /* the lines of the source, in the order of their pcs */
    size_t line_count, line_capacity;
    struct web_row *rows; /* in the order of pcs; the labels of an instruction are before it */
    size_t count, capacity;
    struct arena names;
    bool has_arrows;
    struct arrow *arrows;
    size_t arrow_count, arrow_capacity;
};

void web_listing_free(struct web_listing *l)
{
    if (!l) return;
    free(l->rows);
    free(l->lines);
    free(l->arrows);
    arena_free(&l->names);
    free(l);
}

struct building {
    const penta_module *module;
    struct web_listing *l;
    penta_part *code;
    struct web_row *labels;
    size_t code_count, code_capacity, label_count, label_capacity;
    penta_error *err;
};

static void take_part(void *user, const penta_part *part)
{
    struct building *b = user;
    if (part->kind == PENTA_PART_CODE) {
        if (ARRAY_GROW(b->code, b->code_capacity, b->code_count, b->err))
            b->code[b->code_count++] = *part;
        return;
    }
    if (part->kind == PENTA_PART_EXPORT || part->kind == PENTA_PART_IMPORT) return;
    struct writer name = {0};
    writer_safe(&name, part->name);
    writer_char(&name, 0);
    const char *copy =
        writer_ok(&name, b->err) ? arena_copy(&b->l->names, writer_view(&name), b->err) : NULL;
    writer_free(&name);
    if (copy && ARRAY_GROW(b->labels, b->label_capacity, b->label_count, b->err))
        b->labels[b->label_count++] = (struct web_row){part->from, copy};
}

static void take_line(void *user, const penta_line *line)
{
    struct building *b = user;
    struct web_listing *l = b->l;
    if (ARRAY_GROW(l->lines, l->line_capacity, l->line_count, b->err))
        l->lines[l->line_count++] = *line;
}

static int line_order(const void *a, const void *b)
{
    const penta_line *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int part_order(const void *a, const void *b)
{
    const penta_part *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static int label_order(const void *a, const void *b)
{
    const struct web_row *x = a, *y = b;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

static bool add_row(struct building *b, struct web_row row)
{
    struct web_listing *l = b->l;
    if (!ARRAY_GROW(l->rows, l->capacity, l->count, b->err)) return false;
    l->rows[l->count++] = row;
    return true;
}

static void add_code(struct building *b, const penta_part *code, size_t *label)
{
    for (uint64_t pc = code->from, next; pc < code->to; pc = next) {
        if (!penta_next_pc(b->module, pc, &next) || next <= pc) return;
        while (*label < b->label_count && b->labels[*label].pc < pc) ++*label;
        for (; *label < b->label_count && b->labels[*label].pc == pc; ++*label)
            if (!add_row(b, b->labels[*label])) return;
        if (!add_row(b, (struct web_row){pc, NULL})) return;
    }
}

static struct web_listing *listing_build(const penta_module *module, penta_error *err)
{
    struct building b = {.module = module, .l = calloc(1, sizeof *b.l), .err = err};
    size_t label = 0;
    if (!b.l) {
        error_at(err, BASE_MEMORY, 0, "no memory for the listing");
        return NULL;
    }
    penta_parts(module, take_part, &b);
    if (b.code_count) qsort(b.code, b.code_count, sizeof *b.code, part_order);
    if (b.label_count) qsort(b.labels, b.label_count, sizeof *b.labels, label_order);
    for (size_t i = 0; i < b.code_count && !err->code; i++) add_code(&b, &b.code[i], &label);
    penta_lines(module, take_line, &b);
    if (b.l->line_count) qsort(b.l->lines, b.l->line_count, sizeof *b.l->lines, line_order);
    free(b.code);
    free(b.labels);
    if (!err->code) return b.l;
    web_listing_free(b.l);
    return NULL;
}

const struct web_row *web_rows(const struct web_file *file, size_t *count, penta_error *err)
{
    struct web_file *f =
        (struct web_file *)file; /* The cast removes const, because the listing is made once,
                                  * when it is needed. */
    static const struct web_row none;
    *count = 0;
    if (!f->listing) f->listing = listing_build(f->module, err);
    if (!f->listing) return NULL;
    *count = f->listing->count;
    return *count ? f->listing->rows : &none;
}

bool web_row_of(const struct web_file *file, uint64_t pc, size_t *row)
{
    penta_error err = {0};
    size_t count, i;
    const struct web_row *rows = web_rows(file, &count, &err);
    if (!rows) return false;
    ARRAY_SEARCH(i, 0, count, rows[i].pc > pc || (rows[i].pc == pc && !rows[i].label));
    *row = i;
    return i < count && rows[i].pc == pc && !rows[i].label;
}

void web_source_line(struct json *j, const struct web_file *file, uint64_t pc)
{
    struct writer text = {0};
    penta_error err = {0};
    size_t count, i;
    if (!web_rows(file, &count, &err)) return;
    const struct web_listing *l = file->listing;
    ARRAY_SEARCH(i, 0, l->line_count, l->lines[i].from > pc);
    if (!i || pc >= l->lines[i - 1].to) return;
    writer_safe(&text, l->lines[i - 1].file);
    writer_char(&text, ':');
    writer_dec(&text, l->lines[i - 1].line);
    json_string(j, "source", writer_view(&text));
    writer_free(&text);
}

static void write_row(struct json *j, const struct web_file *file, const struct web_row *row)
{
    const penta_module *module = file->module;
    penta_buffer text = {0};
    uint64_t offset, size;
    json_object(j, NULL);
    json_text(j, "kind", row->label ? "label" : "insn");
    if (row->label) {
        json_text(j, "text", row->label);
    } else {
        penta_print_at(module, row->pc, &text);
        json_string(j, "text", (penta_bytes){text.data, text.size});
    }
    json_uint(j, "pc", row->pc);
    if (!row->label) {
        if (penta_offset_of(module, row->pc, &offset, &size)) {
            json_uint(j, "offset", offset);
            json_uint(j, "size", size);
        }
        web_source_line(j, file, row->pc);
    }
    penta_buffer_free(&text);
    json_end(j);
}

void web_lines(struct web_call *c)
{
    enum { MOST = 10000 };
    const struct web_file *file = web_file_of(c, "file");
    uint64_t from = web_uint(c, "from", 0), count = web_uint(c, "count", 0);
    size_t total;
    const struct web_row *rows = file ? web_rows(file, &total, &c->err) : NULL;
    if (!rows) return;
    if (from > total) from = total;
    if (count > total - from) count = total - from;
    if (count > MOST) count = MOST;
    json_uint(c->j, "total", total);
    json_list(c->j, "lines");
    for (size_t i = (size_t)from; i < from + count; i++) write_row(c->j, file, &rows[i]);
    json_end(c->j);
}

void web_line_of(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    const char *source = web_text(c, "source");
    uint64_t pc = web_uint(c, "pc", UINT64_MAX), offset = web_uint(c, "offset", UINT64_MAX);
    size_t row;
    if (!file) return;
    bool known = source                        ? penta_find_code(file->module, source, &pc, &c->err)
                 : json_has(c->args, "offset") ? penta_pc_of(file->module, offset, &pc)
                                               : json_has(c->args, "pc");
    c->err = (penta_error){0};
    if (known && web_row_of(file, pc, &row))
        json_uint(c->j, "line", row);
    else
        json_null(c->j, "line");
}

static bool has_text(penta_bytes in, const char *wanted, size_t size)
{
    for (size_t at = 0; at + size <= in.size; at++) {
        size_t n = 0;
        while (n < size && tolower(in.data[at + n]) == tolower((unsigned char)wanted[n])) n++;
        if (n == size) return true;
    }
    return false;
}

static bool row_has(const penta_module *module, const struct web_row *row, const char *wanted)
{
    penta_buffer text = {0};
    size_t size = strlen(wanted);
    if (row->label) return has_text(bytes_of(row->label), wanted, size);
    penta_print_at(module, row->pc, &text);
    bool found = has_text((penta_bytes){text.data, text.size}, wanted, size);
    penta_buffer_free(&text);
    return found;
}

void web_search(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    const char *text = file ? web_need_text(c, "text") : NULL;
    uint64_t from = web_uint(c, "from", 0);
    bool back = web_flag(c, "backwards");
    size_t total;
    const struct web_row *rows = text ? web_rows(file, &total, &c->err) : NULL;
    if (!rows) return;
    if (back && from >= total) from = total ? total - 1 : 0;
    for (uint64_t i = from; *text && i < total; i = back ? i - 1 : i + 1) {
        if (row_has(file->module, &rows[i], text)) {
            json_uint(c->j, "line", i);
            return;
        }
    }
    json_null(c->j, "line");
}

struct drawing {
    const struct web_file *file;
    penta_error *err;
};

static void take_arrow(void *user, const penta_arrow *arrow)
{
    struct drawing *d = user;
    struct web_listing *l = d->file->listing;
    size_t from, to;
    if (!web_row_of(d->file, arrow->from, &from) || !web_row_of(d->file, arrow->to, &to)) return;
    if (!ARRAY_GROW(l->arrows, l->arrow_capacity, l->arrow_count, d->err)) return;
    l->arrows[l->arrow_count++] = (struct arrow){
        (uint32_t)from, (uint32_t)to, (uint16_t)arrow->lane, arrow->kind == PENTA_EDGE_BRANCH};
}

/* Makes all arrows at once, so that an arrow has the same lane wherever the view is. */
static bool make_arrows(const struct web_file *file, penta_error *err)
{
    struct drawing d = {file, err};
    penta_error none = {0};
    if (file->listing->has_arrows) return true;
    penta_structure *s = penta_structure_new(file->module, &none);
    bool ok = !s || penta_structure_arrows(s, 0, UINT64_MAX, LANES, take_arrow, &d, err);
    penta_structure_free(s);
    file->listing->has_arrows = ok && !err->code;
    return file->listing->has_arrows;
}

void web_arrows(struct web_call *c)
{
    const struct web_file *file = web_file_of(c, "file");
    uint64_t from = web_uint(c, "from", 0), count = web_uint(c, "count", 0);
    size_t total;
    if (!file || !web_rows(file, &total, &c->err) || !make_arrows(file, &c->err)) return;
    uint64_t to = count < UINT64_MAX - from ? from + count : UINT64_MAX;
    const struct web_listing *l = file->listing;
    json_list(c->j, "arrows");
    for (size_t i = 0; i < l->arrow_count; i++) {
        const struct arrow *a = &l->arrows[i];
        bool stub = a->lane == PENTA_ARROW_STUB;
        uint32_t low = a->from < a->to ? a->from : a->to, high = a->from < a->to ? a->to : a->from;
        bool ends = (a->from >= from && a->from < to) || (a->to >= from && a->to < to);
        if (stub ? !ends : low >= to || high < from) continue;
        json_object(c->j, NULL);
        json_uint(c->j, "from", a->from);
        json_uint(c->j, "to", a->to);
        json_uint(c->j, "lane", stub ? LANES : a->lane);
        if (stub) json_bool(c->j, "stub", true);
        json_bool(c->j, "conditional", a->conditional);
        json_end(c->j);
    }
    json_end(c->j);
}
