/* Writes the code into a report: instructions as rows, their names and arrows, functions with their calls, counts. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/json/json_visit.h"
#include "base/sanitize.h"
#include "penta/analysis/profile_struct.h"
#include "penta/report/report.h"

struct code {
    struct report *r;
    const penta_structure *structure;
    const struct code_map *map;
    size_t rows;       /* number of instructions that are shown */
    uint64_t *offsets; /* the offset of each instruction in the file; UINT64_MAX when unknown */
    uint64_t placed;   /* All offsets before this row are known. */
    struct name {
        size_t row;
        char *text;
    } * names;
    size_t name_count, name_capacity;
    struct call {
        size_t caller, callee; /* functions by their number; SIZE_MAX when a value decides */
    } * calls;
    size_t call_count, call_capacity;
};

/* Finds the offsets of a run of instructions. Instructions that follow each other without a gap
 * in the code do so in the file, too, so one place gives the places of all. Asking for each
 * would take long, since some formats search from the start of the code. */
static void place_run(struct code *c, uint64_t offset, size_t row)
{
    const struct code_insn *in = c->map->insns;
    unsigned unit = c->r->in->module->driver->insn_bytes;
    size_t first = row, last = row;
    uint64_t pc;
    while (first && in[first - 1].next == in[first].pc) first--;
    while (last + 1 < c->rows && in[last + 1].pc == in[last].next) last++;
    uint64_t before = (in[row].pc - in[first].pc) * (unit ? unit : 1);
    if (before > offset) return;
    uint64_t start = offset - before;
    if (!penta_pc_of(c->r->in->module, start, &pc) || pc != in[first].pc) return;
    for (size_t i = first; i <= last; i++)
        c->offsets[i] = start + (in[i].pc - in[first].pc) * (unit ? unit : 1);
    c->placed = start + (in[last].next - in[first].pc) * (unit ? unit : 1);
}

static bool code_enter(void *user, const penta_node *node)
{
    struct code *c = user;
    uint64_t pc;
    if (node->decoded) return false;
    if (!node->size || node->offset < c->placed ||
        !penta_pc_of(c->r->in->module, node->offset, &pc))
        return true;
    size_t row = code_map_find(c->map, pc);
    if (row < c->rows && c->offsets[row] == UINT64_MAX) place_run(c, node->offset, row);
    return true;
}

static void code_field(void *user, const penta_field *f)
{
    struct code *c = user;
    if (f->name == field_incomplete) c->r->json->out->failed = true;
}

static void find_offsets(struct code *c)
{
    penta_visitor visitor = {c, code_enter, code_field, NULL};
    c->offsets = malloc((c->rows + 1) * sizeof *c->offsets);
    if (!c->offsets) {
        error_at(c->r->err, BASE_MEMORY, 0, "no memory for %zu instructions", c->rows);
        return;
    }
    memset(c->offsets, 0xff, (c->rows + 1) * sizeof *c->offsets);
    penta_describe(c->r->in->module, &visitor);
}

static void code_rows(struct code *c)
{
    struct json *j = c->r->json;
    json_list(j, "pc");
    for (size_t i = 0; i < c->rows; i++) json_uint(j, NULL, c->map->insns[i].pc);
    json_end(j);
    json_list(j, "offset");
    for (size_t i = 0; i < c->rows; i++) {
        if (c->offsets[i] == UINT64_MAX)
            json_sint(j, NULL, -1);
        else
            json_uint(j, NULL, c->offsets[i]);
    }
    json_end(j);
    json_list(j, "text");
    struct writer insn = {0}, text = {0};
    for (size_t i = 0; i < c->rows; i++) {
        insn.out.size = text.out.size = 0;
        c->r->in->module->driver->print_at(c->r->in->module, c->map->insns[i].pc, &insn);
        writer_safe(&text, writer_view(&insn));
        json_string(j, NULL, writer_view(&text));
    }
    json_end(j);
    j->out->failed |= insn.failed || text.failed;
    writer_free(&insn);
    writer_free(&text);
}

static void code_counts(struct code *c)
{
    const penta_profile *p = c->r->in->profile;
    if (!p || p->sampled || p->structure.map->count != c->map->count) return;
    json_list(c->r->json, "counts");
    for (size_t i = 0; i < c->rows; i++) json_uint(c->r->json, NULL, p->counts[i]);
    json_end(c->r->json);
}

static void take_name(void *user, const penta_part *part)
{
    struct code *c = user;
    size_t row = code_map_find(c->map, part->from);
    if (part->kind == PENTA_PART_CODE || part->kind == PENTA_PART_IMPORT || row >= c->rows) return;
    struct writer text = {0};
    writer_safe(&text, part->name);
    writer_char(&text, 0);
    if (writer_ok(&text, c->r->err) &&
        ARRAY_GROW(c->names, c->name_capacity, c->name_count, c->r->err))
        c->names[c->name_count++] = (struct name){row, (char *)text.out.data};
    else
        writer_free(&text);
}

static int name_order(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return strcmp(x->text, y->text);
}

static void code_names(struct code *c)
{
    struct json *j = c->r->json;
    penta_parts(c->r->in->module, take_name, c);
    if (c->name_count) qsort(c->names, c->name_count, sizeof *c->names, name_order);
    json_list(j, "names");
    for (size_t i = 0; i < c->name_count; i++) {
        if (i && !name_order(&c->names[i - 1], &c->names[i])) continue;
        json_list(j, NULL);
        json_uint(j, NULL, c->names[i].row);
        json_text(j, NULL, c->names[i].text);
        json_end(j);
    }
    json_end(j);
}

static void code_arrow(void *user, const penta_arrow *a)
{
    struct code *c = user;
    struct json *j = c->r->json;
    size_t from = code_map_find(c->map, a->from), to = code_map_find(c->map, a->to);
    json_uint(j, NULL, from);
    json_uint(j, NULL, to);
    json_uint(j, NULL, a->kind == PENTA_EDGE_JUMP);
    json_uint(j, NULL, a->lane);
}

static void code_arrows(struct code *c)
{
    uint64_t last = c->rows ? c->map->insns[c->rows - 1].pc : 0;
    json_list(c->r->json, "arrows");
    if (c->rows) penta_structure_arrows(c->structure, 0, last, 8, code_arrow, c, c->r->err);
    json_end(c->r->json);
}

static void code_functions(struct code *c)
{
    struct json *j = c->r->json;
    unsigned unit = c->r->in->module->driver->insn_bytes;
    json_list(j, "functions");
    for (size_t i = 0; i < c->map->function_count; i++) {
        const penta_function *f = &c->map->functions[i];
        json_list(j, NULL);
        json_text(j, NULL, f->name);
        json_uint(j, NULL, code_map_find(c->map, f->from));
        json_uint(j, NULL, f->instructions);
        json_uint(j, NULL, (f->to - f->from) * (unit ? unit : 1));
        json_end(j);
    }
    json_end(j);
}

static void take_call(void *user, const penta_call_site *site)
{
    struct code *c = user;
    if (ARRAY_GROW(c->calls, c->call_capacity, c->call_count, c->r->err))
        c->calls[c->call_count++] =
            (struct call){site->caller, site->known ? site->callee : SIZE_MAX};
}

static int call_order(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->caller != y->caller) return x->caller < y->caller ? -1 : 1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

/* Writes the calls: caller, callee (-1 when a value decides) and how many such calls exist. */
static void code_calls(struct code *c)
{
    struct json *j = c->r->json;
    penta_structure_calls(c->structure, take_call, c);
    if (c->call_count) qsort(c->calls, c->call_count, sizeof *c->calls, call_order);
    json_list(j, "calls");
    for (size_t i = 0, n; i < c->call_count; i += n) {
        for (n = 1; i + n < c->call_count && !call_order(&c->calls[i], &c->calls[i + n]);) n++;
        json_list(j, NULL);
        json_uint(j, NULL, c->calls[i].caller);
        json_sint(j, NULL, c->calls[i].callee == SIZE_MAX ? -1 : (int64_t)c->calls[i].callee);
        json_uint(j, NULL, n);
        json_end(j);
    }
    json_end(j);
}

static void code_write(struct code *c)
{
    size_t all = c->map->count;
    c->rows = c->r->in->all || all < REPORT_ROWS ? all : REPORT_ROWS;
    if (c->rows < all)
        report_left_out(c->r, "instructions after the first %zu of %zu", c->rows, all);
    find_offsets(c);
    if (c->r->err->code) return;
    json_object(c->r->json, "code");
    code_rows(c);
    code_counts(c);
    code_names(c);
    report_lines(c->r, c->map, c->rows);
    if (!c->r->err->code) code_arrows(c);
    code_functions(c);
    code_calls(c);
    json_end(c->r->json);
}

/* Writes the code into the report, or nothing for a file that is damaged or has no code. */
void report_code(struct report *r)
{
    penta_error none = {0};
    penta_structure *s = penta_structure_new(r->in->module, &none);
    if (!s) {
        if (none.code == BASE_MEMORY) *r->err = none;
        return;
    }
    struct code c = {.r = r, .structure = s, .map = s->map};
    code_write(&c);
    for (size_t i = 0; i < c.name_count; i++) free(c.names[i].text);
    free(c.names);
    free(c.calls);
    free(c.offsets);
    penta_structure_free(s);
}
