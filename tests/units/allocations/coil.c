/* Tries penta/coil.h: building an object, linking two, native code. */
#include "penta/coil.h"
#include <stdlib.h>
#include <string.h>
#include "allocations.h"
#include "base/bytes.h"
#include "base/error.h"

static void try_build(const void *user, struct outcome *o)
{
    (void)user;
    const penta_coil_operand operands[] = {{.kind = PENTA_COIL_VARIABLE, .text = "x"},
                                           {.kind = PENTA_COIL_INT, .number = 5}};
    penta_error err = {.code = BASE_MEMORY}; /* A NULL builder means that memory ran out. */
    penta_coil_builder *b = penta_coil_builder_new(false);
    if (!outcome_ok(o, b, &err)) return;
    err = (penta_error){0};
    penta_coil_builder_function(b, "main", true);
    penta_coil_builder_variable(b, "x", "i64");
    penta_coil_builder_label(b, ".next");
    penta_coil_builder_insn(b, "MOV", operands, 2);
    penta_coil_builder_insn(b, "RET", NULL, 0);
    penta_coil_builder_end(b);
    penta_coil_builder_section(b, ".data");
    penta_coil_builder_label(b, "table");
    penta_coil_builder_directive(b, ".align 8");
    penta_coil_builder_data(b, "abc", 3);
    penta_coil_builder_zero(b, 100);
    penta_module *module = penta_coil_builder_finish(b, outcome_finding, o, &err);
    if (outcome_ok(o, module, &err)) {
        penta_buffer out = {0};
        hook_pause();
        penta_encode(module, &out, &err);
        outcome_buffer(o, &out);
        hook_resume();
    }
    penta_close(module);
    penta_coil_builder_free(b);
}

struct linking {
    penta_object objects[2];
    penta_option option;
    size_t count;
};

static void try_link(const void *user, struct outcome *o)
{
    const struct linking *l = user;
    penta_buffer out = {0}, map = {0};
    o->ok =
        penta_coil_link(l->objects, 2, &l->option, l->count, &out, &map, outcome_link_finding, o);
    outcome_buffer(o, &out);
    outcome_buffer(o, &map);
}

static void try_native(const void *user, struct outcome *o)
{
    static const penta_option as_text = {"emit", "asm"};
    for (size_t text = 0; text < 2; text++) {
        penta_error err = {0};
        penta_buffer out = {0};
        bool ok = penta_coil_compile(user, &as_text, text, NULL, &out, &err);
        if (outcome_ok(o, ok, &err)) outcome_bytes(o, out.data, out.size);
        penta_buffer_free(&out);
    }
}

void coil_scenarios(void)
{
    /* The two objects have a zero byte between them. */
    penta_bytes both = file_of("tests/fuzz/seeds/coil_link/two");
    size_t first = strlen((const char *)both.data);
    struct linking l = {.option = {"relocatable", "1"}};
    struct outcome ignored = {0};
    penta_module *modules[2];
    for (size_t i = 0; i < 2; i++) {
        modules[i] = penta_assemble(bytes_slice(both, i * (first + 1), i ? both.size : first),
                                    "coil", NULL, 0, outcome_finding, &ignored);
        if (!modules[i]) exit(2);
        l.objects[i].name = i ? "b" : "a";
        l.objects[i].bytes.data = penta_module_bytes(modules[i], &l.objects[i].bytes.size);
    }
    scenario("builder", try_build, NULL);
    scenario("link", try_link, &l);
    l.count = 1;
    scenario("link, relocatable", try_link, &l);
    scenario("native code", try_native, modules[0]);
    for (size_t i = 0; i < 2; i++) penta_close(modules[i]);
    file_free(both);
}
