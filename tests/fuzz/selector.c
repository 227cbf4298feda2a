/* A selector in the first line, and a file of any format after it. What is selected lies in the file, the path of each
 * part selects that part alone, and a file does not differ from itself in what is selected. */
#include "fuzz.h"
#include "penta/views.h"

enum { AGAIN_MAX = 8 };

struct selected_parts {
    uint64_t size;
    size_t count;
    struct {
        char *path;
        uint64_t offset, size;
        bool decoded;
    } first[AGAIN_MAX];
};

static void keep_part(void *user, const penta_selected *part)
{
    struct selected_parts *p = user;
    if (!part->decoded && (part->size > p->size || part->offset > p->size - part->size))
        check_failed("a part outside of the file", part->offset, part->size);
    size_t i = p->count++;
    if (i >= AGAIN_MAX) return;
    p->first[i].path = strdup(part->path);
    p->first[i].offset = part->offset;
    p->first[i].size = part->size;
    p->first[i].decoded = part->decoded;
}

/* Members may share a name, and names may hold a *; then a path selects more than its own part. */
static void check_again(const penta_module *module, const struct selected_parts *p, size_t i)
{
    struct selected_parts again = {.size = p->size};
    penta_error err;
    bool found = false;
    if (!penta_select(module, p->first[i].path, keep_part, &again, NULL, &err))
        check_failed("a path that selects nothing", err.code, i);
    for (size_t k = 0; k < again.count && k < AGAIN_MAX; k++) {
        found |= again.first[k].offset == p->first[i].offset &&
                 again.first[k].size == p->first[i].size &&
                 again.first[k].decoded == p->first[i].decoded;
        free(again.first[k].path);
    }
    if (!found && again.count <= AGAIN_MAX) check_failed("a path of another part", i, again.count);
}

static void check_selector(const penta_module *module, const char *selector, size_t length)
{
    penta_option select = {"select", selector};
    size_t size, parts = 0, differences = 1;
    penta_buffer out = {0};
    penta_error err, diff_err;
    penta_module_bytes(module, &size);
    struct selected_parts p = {.size = size};
    bool ok = penta_select(module, selector, keep_part, &p, &parts, &err);
    if (ok != (parts > 0) || parts != p.count) check_failed("parts", parts, p.count);
    if (!ok && err.offset > length) check_failed("an error outside", err.offset, length);
    for (size_t i = 0; i < p.count && i < AGAIN_MAX; i++) {
        check_again(module, &p, i);
        free(p.first[i].path);
    }
    if (ok != penta_tree(module, &select, 1, &out, &err)) check_failed("a tree", ok, err.code);
    if (ok != penta_hex(module, &select, 1, &out, &err)) check_failed("hex", ok, err.code);
    if (penta_diff(module, module, &select, 1, &out, &differences, &diff_err) != ok ||
        (ok && differences))
        check_failed("a difference", ok, differences);
    penta_select_bytes(module, selector, &out, &err);
    penta_print_code(module, &select, 1, &out, &err);
    penta_buffer_free(&out);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size);
    penta_error err;
    if (!end) return;
    size_t length = (size_t)(end - data);
    penta_bytes file = {end + 1, size - length - 1};
    penta_module *module = penta_open(file, NULL, NULL, 0, &err);
    char *selector = copy_as_text(data, length);
    if (module) check_selector(module, selector, strlen(selector));
    free(selector);
    penta_close(module);
}
