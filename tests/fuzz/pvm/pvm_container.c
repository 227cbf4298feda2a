/* Reads any bytes as a PolkaVM program, of the detected dialect and of each other one. checks.h
 * lists what must hold. A conversion must give a file of the other dialect that opens, or an
 * error. */
#include "fuzz.h"
#include "base/writer.h"
#include "core/driver.h"
#include "core/views/views.h"
#include "pvm/pvm.h"
#include "text/lexer.h"

static void pvm_container_same(penta_bytes a, const struct writer *b, const char *what)
{
    if (!bytes_equal(a, writer_view(b))) check_failed(what, a.size, b->out.size);
}

static void check_convert(const penta_module *m, const char *to)
{
    penta_option option = {"to", to}, dialect = {"dialect", to};
    struct findings f = {.rules = pvm_rules, .report = ignore_finding};
    struct writer out = {0};
    penta_error err = {0};
    if (pvm_convert(m, &option, 1, &out, &f)) {
        penta_module *back = pvm_parse(writer_view(&out), &dialect, 1, &err);
        if (!back || back->damage.code) check_failed("a conversion is damaged", err.code, 0);
        pvm_close(back);
    } else if (!f.errors) {
        check_failed("no conversion and no reason", 0, 0);
    }
    writer_free(&out);
}

static void check_dialect(penta_bytes file, const char *name)
{
    penta_option option = {"dialect", name};
    penta_error err = {0};
    penta_module *m = pvm_parse(file, &option, 1, &err);
    if (!m) check_failed("no module", err.code, err.offset);
    struct coverage coverage = {0};
    penta_visitor tiling = coverage_visitor(&coverage);
    pvm_describe(m, &tiling);
    if (!coverage_complete(&coverage, file.size))
        check_failed("not tiled", coverage.at, coverage.next);
    struct findings f = {.rules = pvm_rules, .report = ignore_finding};
    pvm_verify(m, &f);
    struct writer again = {0}, text = {0}, bytes = {0};
    pvm_encode(m, &again, &err);
    pvm_container_same(file, &again, "parse and encode give other bytes");
    if (!m->damage.code) {
        if (!pvm_print(m, NULL, 0, &text, &err)) check_failed("print", err.code, 0);
        struct findings none = {.rules = pvm_rules, .report = ignore_finding};
        struct source source = {.text = writer_view(&text), .comment = "//"};
        if (!pvm_assemble(&source, NULL, 0, &bytes, &none)) check_failed("assemble", 0, 0);
        pvm_container_same(file, &bytes, "print and assemble give other bytes");
        for (int i = 0; pvm_dialect_names[i]; i++) check_convert(m, pvm_dialect_names[i]);
        penta_option style = {"style", "upstream"};
        text.out.size = 0;
        pvm_print(m, &style, 1, &text, &err);
    }
    writer_free(&again);
    writer_free(&text);
    writer_free(&bytes);
    pvm_close(m);
}

REPAIRING_MUTATOR("pvm")

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_bytes file = {data, size};
    check_file(file, "pvm");
    for (int i = 0; pvm_dialect_names[i]; i++) check_dialect(file, pvm_dialect_names[i]);
}
