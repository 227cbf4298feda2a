/* Assembles and links two texts, which a zero byte separates. The result must be findings or an
 * intact object, and the same bytes twice. The whole input is also linked as an object or an
 * archive, with findings or a file as the result. */
#include "fuzz.h"
#include "coil/coil.h"
#include "penta/coil.h"

/* Fails on errors of the container. The sources may have errors in the program, but the linker
 * writes the container. */
static void no_container_errors(void *user, const penta_error *e)
{
    (void)user;
    if (breaks_container(rule_find(coil_rules, e->code), e))
        check_failed(e->message, e->code, e->offset);
}

static void coil_link_count(void *user, const char *object, const penta_error *e)
{
    (void)object;
    *(size_t *)user += e->severity == PENTA_ERROR;
}

/* Links objects. Returns true, or false after an error was reported; the buffer is then
 * unchanged. */
static bool link_objects(const penta_object *objects, size_t n, bool relocatable, penta_buffer *out)
{
    penta_option option = {"relocatable", "1"};
    size_t errors = 0;
    bool ok =
        penta_coil_link(objects, n, &option, relocatable, out, NULL, coil_link_count, &errors);
    if (ok == (errors > 0) || (!ok && out->size)) check_failed("a link without its error", ok, n);
    return ok;
}

static bool link_both(penta_module *const *modules, bool relocatable, penta_buffer *out)
{
    penta_object objects[] = {{.name = "a"}, {.name = "b", .member = relocatable}};
    for (int i = 0; i < 2; i++)
        objects[i].bytes.data = penta_module_bytes(modules[i], &objects[i].bytes.size);
    return link_objects(objects, 2, relocatable, out);
}

static void link_input(penta_bytes input)
{
    penta_buffer out = {0};
    if (penta_coil_links(input))
        link_objects(&(penta_object){.name = "input", .bytes = input}, 1, true, &out);
    penta_buffer_free(&out);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    const uint8_t *cut = memchr(data, 0, size);
    size_t first = cut ? (size_t)(cut - data) : size / 2, skip = cut ? 1 : 0;
    penta_bytes halves[2] = {{data, first}, {data + first + skip, size - first - skip}};
    penta_module *modules[2];
    link_input((penta_bytes){data, size});
    for (int i = 0; i < 2; i++)
        modules[i] = penta_assemble(halves[i], "coil", NULL, 0, ignore_finding, NULL);
    for (int r = 0; modules[0] && modules[1] && r < 2; r++) {
        penta_buffer one = {0}, two = {0};
        bool ok = link_both(modules, r, &one);
        if (ok != link_both(modules, r, &two) || (ok && !same_buffer(&one, &two)))
            check_failed("linking twice gives other bytes", one.size, two.size);
        penta_error err;
        penta_module *m =
            ok ? penta_open((penta_bytes){one.data, one.size}, "coil", NULL, 0, &err) : NULL;
        if (ok && (!m || penta_module_damage(m)))
            check_failed("the linker wrote a damaged file", one.size, 0);
        if (m) penta_validate(m, no_container_errors, NULL);
        penta_close(m);
        penta_buffer_free(&one);
        penta_buffer_free(&two);
    }
    penta_close(modules[0]);
    penta_close(modules[1]);
}
