/* The command diff compares the trees of two files of one format. */
#include "cli/cli.h"

static void diff_compare(struct cli *c, const struct input *a, const struct input *b)
{
    bool json = c->value[OPT_JSON];
    penta_option options[3] = {{"json", "1"}};
    size_t count = json ? 1 : cli_colors(c, options), differences = 0;
    if (c->value[OPT_SELECT]) options[count++] = (penta_option){"select", c->value[OPT_SELECT]};
    penta_buffer out = {0};
    penta_error err = {0};
    if (!penta_diff(a->module, b->module, options, count, &out, &differences, &err))
        cli_error(c, a->name, &err);
    else if (differences)
        cli_fail(c, EXIT_NO);
    if (json) {
        json_text(&c->json, "a", a->name);
        json_text(&c->json, "b", b->name);
        json_raw(&c->json, "differences", (penta_bytes){out.data, out.size});
        json_bool(&c->json, "same", !differences && !err.code);
    } else if (!c->value[OPT_QUIET]) {
        writer_bytes(&c->out, out.data, out.size);
    }
    penta_buffer_free(&out);
}

void command_DIFF(struct cli *c)
{
    struct input a = {0}, b = {0};
    if (input_open(c, c->words[0], &a) && input_open(c, c->words[1], &b)) diff_compare(c, &a, &b);
    input_close(&a);
    input_close(&b);
}
