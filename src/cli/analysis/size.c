/* Implements the command size, which shows what takes the bytes of a file, and checks budgets
 * for it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/number.h"
#include "cli/cli.h"
#include "penta/structure.h"

struct row {
    penta_size_kind kind;
    char *name;
    uint64_t bytes;
};

struct rows {
    struct row *items;
    size_t count, capacity;
    penta_error err;
};

static void size_take(void *user, const penta_size *size)
{
    struct rows *r = user;
    char *name = strdup(size->name);
    if (!name || !ARRAY_GROW(r->items, r->capacity, r->count, &r->err)) {
        error_at(&r->err, BASE_MEMORY, 0, "no memory for sizes");
        free(name);
        return;
    }
    r->items[r->count++] = (struct row){size->kind, name, size->bytes};
}

/* Orders rows by kind, and the rows of a kind by size, the largest first. */
static int size_order(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void size_show(struct cli *c, const struct rows *r)
{
    uint64_t all = r->count ? r->items[0].bytes : 0;
    if (c->value[OPT_JSON]) {
        json_list(&c->json, "sizes");
        for (size_t i = 0; i < r->count; i++) {
            json_object(&c->json, NULL);
            json_text(&c->json, "kind", penta_size_name(r->items[i].kind));
            json_text(&c->json, "name", r->items[i].name);
            json_uint(&c->json, "bytes", r->items[i].bytes);
            json_end(&c->json);
        }
        json_end(&c->json);
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct row *row = &r->items[i];
        double share = all ? 100.0 * (double)row->bytes / (double)all : 0;
        writer_print(&c->out, "%10" PRIu64 " %6.2f%%  %-8s  %s\n", row->bytes, share,
                     penta_size_name(row->kind), row->name);
    }
}

/* Checks a budget: "NAME=BYTES", or BYTES for the file. The limit is for all rows of the name
 * together. */
static bool check_budget(struct cli *c, const struct rows *r, const char *name, uint64_t most)
{
    uint64_t sum = 0;
    bool found = false;
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->items[i].name, name)) continue;
        found = true;
        if (r->items[i].bytes > sum) sum = r->items[i].bytes;
    }
    if (!found) {
        cli_usage(c, "the rows of penta size have the names", "--max: nothing is called '%.60s'",
                  name);
        return false;
    }
    if (sum <= most) return true;
    penta_error err = {0};
    error_at(&err, BASE_LIMIT, 0, "'%.60s' has %" PRIu64 " bytes, more than %" PRIu64, name, sum,
             most);
    cli_error(c, c->words[0], &err);
    return false;
}

static void check_budgets(struct cli *c, const struct rows *r)
{
    char *list = c->value[OPT_MAX] ? strdup(c->value[OPT_MAX]) : NULL, *rest = list;
    for (char *item; list && (item = strsep(&rest, ","));) {
        char *equals = strrchr(item, '=');
        uint64_t most;
        if (!number_parse_size(equals ? equals + 1 : item, &most)) {
            cli_usage(c, NULL, "--max: '%.60s' is not [NAME=]BYTES", item);
            break;
        }
        if (equals) *equals = 0;
        check_budget(c, r, equals ? item : "file", most);
    }
    free(list);
}

void command_SIZE(struct cli *c)
{
    struct input in;
    struct rows r = {0};
    penta_error err = {0};
    if (!input_open(c, c->words[0], &in)) return;
    bool ok = penta_sizes(in.module, size_take, &r, &err);
    if (ok && r.err.code) err = r.err;
    if (c->value[OPT_JSON]) json_text(&c->json, "file", in.name);
    if (err.code) {
        cli_error(c, in.name, &err);
    } else {
        if (r.count) qsort(r.items, r.count, sizeof *r.items, size_order);
        size_show(c, &r);
        check_budgets(c, &r);
        if (penta_module_damage(in.module)) cli_error(c, in.name, penta_module_damage(in.module));
    }
    for (size_t i = 0; i < r.count; i++) free(r.items[i].name);
    free(r.items);
    input_close(&in);
}
