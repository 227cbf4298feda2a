/* Two texts, separated by a zero byte, assembled and linked: findings or an intact object, and the
 * same bytes twice. */
#include "checks.h"
#include "coil/link/link.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *user, const penta_error *e) { (void)user, (void)e; }

/* Errors in the program may come from the sources; the container is written by the linker, and must be
 * right. */
static void no_container_errors(void *user, const penta_error *e)
{
    (void)user;
    if (breaks_container(rule_find(coil_rules, e->code), e))
        check_failed(e->message, e->code, e->offset);
}

static bool link_both(penta_module *const *modules, bool relocatable, struct writer *out)
{
    struct coil_link_input inputs[] = {
        {.name = "a", .module = coil_module(modules[0])},
        {.name = "b", .module = coil_module(modules[1]), .archive = relocatable}};
    struct coil_link link = {.inputs = inputs, .count = 2, .relocatable = relocatable};
    struct findings f = {.rules = coil_rules, .report = ignore};
    return coil_link(&link, out, &f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *cut = memchr(data, 0, size);
    size_t first = cut ? (size_t)(cut - data) : size / 2, skip = cut ? 1 : 0;
    penta_bytes halves[2] = {{data, first}, {data + first + skip, size - first - skip}};
    penta_module *modules[2];
    for (int i = 0; i < 2; i++)
        modules[i] = penta_assemble(halves[i], "coil", NULL, 0, ignore, NULL);
    for (int r = 0; modules[0] && modules[1] && r < 2; r++) {
        struct writer one = {0}, two = {0};
        bool ok = link_both(modules, r, &one);
        if (ok != link_both(modules, r, &two) ||
            (ok &&
             (one.out.size != two.out.size || memcmp(one.out.data, two.out.data, one.out.size))))
            check_failed("linking twice gives other bytes", one.out.size, two.out.size);
        penta_error err;
        penta_module *m = ok ? penta_open(writer_view(&one), "coil", NULL, 0, &err) : NULL;
        if (ok && (!m || penta_module_damage(m)))
            check_failed("the linker wrote a damaged file", one.out.size, 0);
        if (m) penta_validate(m, no_container_errors, NULL);
        penta_close(m);
        writer_free(&one);
        writer_free(&two);
    }
    penta_close(modules[0]);
    penta_close(modules[1]);
    return 0;
}
