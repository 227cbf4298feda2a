/* Any bytes, searched for files inside. What is found lies in the bytes when it opens, and opens and
 * validates alone as the search says. The work is bounded. */
#include "fuzz.h"

struct nested_found {
    penta_bytes file;
    uint64_t last;
};

static void nested_check(void *user, const penta_nested *n)
{
    struct nested_found *f = user;
    if (n->offset < f->last || n->offset >= f->file.size)
        check_failed("an offset out of order", n->offset, f->last);
    f->last = n->offset;
    if (!n->evidence || !*n->evidence) check_failed("no evidence", n->offset, 0);
    if ((n->state != PENTA_NESTED_VALID) != (n->error != NULL))
        check_failed("a state without its error", n->offset, (uint64_t)n->state);
    if (n->state == PENTA_NESTED_HEADER) return;
    uint64_t rest = f->file.size - n->offset;
    if (n->size > rest) check_failed("a file outside", n->offset, n->size);
    penta_bytes bytes = {f->file.data + n->offset, (size_t)(n->size ? n->size : rest)};
    penta_error err;
    penta_module *module = penta_open(bytes, n->format, NULL, 0, &err);
    if (!module || penta_module_damage(module))
        check_failed("a file that does not open", n->offset, 0);
    if (penta_validate(module, ignore_finding, NULL) != (n->state == PENTA_NESTED_VALID))
        check_failed("another result alone", n->offset, (uint64_t)n->state);
    penta_close(module);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct nested_found found = {.file = {data, size}};
    penta_nested_search search;
    penta_error err;
    if (!penta_detect_deep(found.file, nested_check, &found, &search, &err))
        check_failed("a search that failed", err.code, err.offset);
    if (search.work > (UINT64_C(1) << 30)) check_failed("too much work", search.work, size);
}
