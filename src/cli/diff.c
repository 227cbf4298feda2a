#include "core/views/diff.h"
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cli.h"

static void print_side(struct writer *out, const penta_field *field)
{
    if (field)
        view_value(out, field, 32);
    else
        writer_text(out, "...");
}

static void report(void *user, const struct difference *d)
{
    struct cli *c = user;
    const struct palette *p = cli_palette(c);
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "change",
                  d->sign == '~'   ? "changed"
                  : d->sign == '-' ? "removed"
                                   : "added");
        json_text(&c->json, "path", d->path);
        if (d->sign != '+') json_uint(&c->json, "offset_a", d->offset_a);
        if (d->sign != '-') json_uint(&c->json, "offset_b", d->offset_b);
        if (d->a) view_json_value(&c->json, "a", d->a);
        if (d->b) view_json_value(&c->json, "b", d->b);
        json_end(&c->json);
        return;
    }
    if (c->value[OPT_QUIET]) return;
    writer_print(&c->out, "%s%c%s ", d->sign == '-' ? p->error : p->warning, d->sign, p->off);
    writer_safe(&c->out, bytes_of(d->path));
    if (d->sign == '~') {
        writer_text(&c->out, ": ");
        print_side(&c->out, d->a);
        writer_text(&c->out, " -> ");
        print_side(&c->out, d->b);
    } else if (d->a || d->b) {
        writer_text(&c->out, " = ");
        print_side(&c->out, d->a ? d->a : d->b);
    }
    writer_char(&c->out, '\n');
}

void command_DIFF(struct cli *c)
{
    struct input a = {0}, b = {0};
    if (!input_open(c, c->words[0], &a) || !input_open(c, c->words[1], &b)) {
        input_close(&a);
        return;
    }
    if (c->value[OPT_JSON]) {
        json_text(&c->json, "a", a.name);
        json_text(&c->json, "b", b.name);
        json_list(&c->json, "differences");
    }
    size_t count;
    if (a.module->driver == b.module->driver) {
        count = diff_modules(a.module, b.module, report, c);
    } else {
        const penta_field x = {.kind = PENTA_TEXT, .as.bytes = bytes_of(a.module->driver->name)};
        const penta_field y = {.kind = PENTA_TEXT, .as.bytes = bytes_of(b.module->driver->name)};
        report(c, &(struct difference){.sign = '~', .path = "/format", .a = &x, .b = &y});
        count = 1;
    }
    if (count == SIZE_MAX) {
        penta_error err = {0};
        error_at(&err, BASE_MEMORY, 0, "no memory to compare the files");
        cli_error(c, a.name, &err);
    } else if (count) {
        cli_fail(c, EXIT_NO);
    }
    if (c->value[OPT_JSON]) {
        json_end(&c->json);
        json_bool(&c->json, "same", !count);
    }
    input_close(&a);
    input_close(&b);
}
