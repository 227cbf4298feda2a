#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/cli.h"

static void keep_first(void *user, const penta_error *finding)
{
    penta_error *first = user;
    if (!first->code && finding->severity == PENTA_ERROR) *first = *finding;
}

/* The first byte that differs, or SIZE_MAX. */
static size_t difference(penta_bytes a, penta_bytes b)
{
    size_t n = a.size < b.size ? a.size : b.size;
    for (size_t i = 0; i < n; i++)
        if (a.data[i] != b.data[i]) return i;
    return a.size == b.size ? SIZE_MAX : n;
}

static bool same(penta_bytes file, const penta_buffer *again, const char *how, penta_error *err)
{
    size_t at = difference(file, (penta_bytes){again->data, again->size});
    return at == SIZE_MAX ||
           error_at(err, BASE_BUG, at, "%s gives other bytes from 0x%zx on", how, at);
}

static bool encodes(const penta_module *module, penta_bytes file, penta_error *err)
{
    penta_buffer again = {0};
    bool ok = penta_encode(module, &again, err) && same(file, &again, "parse and encode", err);
    penta_buffer_free(&again);
    return ok;
}

static bool assembles(const penta_module *module, penta_bytes file, penta_error *err)
{
    penta_buffer text = {0}, again = {0};
    bool ok = penta_print(module, NULL, 0, &text, err);
    if (ok) {
        penta_error first = {0};
        penta_module *back =
            penta_assemble((penta_bytes){text.data, text.size}, penta_module_format(module), NULL,
                           0, keep_first, &first);
        if (!back)
            ok = error_at(err, BASE_BUG, first.offset, "its own listing does not assemble: %.70s",
                          first.message);
        else
            ok = penta_encode(back, &again, err) &&
                 same(file, &again, "disassemble and assemble", err);
        penta_close(back);
    }
    penta_buffer_free(&text);
    penta_buffer_free(&again);
    return ok;
}

static void one(struct cli *c, const char *name)
{
    struct input in;
    if (!input_open(c, name, &in)) return;
    penta_error err = {0};
    bool has_text = in.module->driver->print && in.module->driver->assemble;
    bool ok = encodes(in.module, input_bytes(&in), &err) &&
              (!has_text || assembles(in.module, input_bytes(&in), &err));
    if (!ok) {
        cli_error(c, name, &err);
        if (err.code == BASE_BUG) cli_fail(c, EXIT_NO);
    }
    if (c->value[OPT_JSON]) {
        json_object(&c->json, NULL);
        json_text(&c->json, "file", name);
        json_uint(&c->json, "size", in.bytes.size);
        json_text(&c->json, "format", penta_module_format(in.module));
        json_bool(&c->json, "identical", ok);
        json_end(&c->json);
    } else if (ok && !c->value[OPT_QUIET]) {
        writer_safe(&c->out, bytes_of(name));
        writer_print(&c->out, ": identical, %zu bytes\n", in.bytes.size);
    }
    input_close(&in);
}

void command_ROUNDTRIP(struct cli *c)
{
    if (c->value[OPT_JSON]) json_list(&c->json, "files");
    for (size_t i = 0; i < c->word_count; i++) one(c, c->words[i]);
    if (c->value[OPT_JSON]) json_end(&c->json);
}
