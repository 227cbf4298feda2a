/* Makes the page of any bytes as a file of any format, damaged or not. Nothing of the file may
 * be markup in the page, and arrows of one lane that meet must have one target. The same bytes
 * as call paths must be taken or refused. */
#include "fuzz.h"
#include "penta/report.h"

/* The range of the last arrows of each lane. Arrows come in the order of their jumps. */
struct lanes {
    uint64_t low[8], high[8], target[8];
};

static void check_arrow(void *user, const penta_arrow *a)
{
    struct lanes *l = user;
    uint64_t low = a->from < a->to ? a->from : a->to, high = a->from < a->to ? a->to : a->from;
    if (a->lane == PENTA_ARROW_STUB) return;
    if (a->lane >= 8) check_failed("a lane that was not offered", a->lane, a->from);
    bool meets = low <= l->high[a->lane] && l->low[a->lane] <= high;
    if (meets && l->target[a->lane] != a->to)
        check_failed("two arrows in one place", a->from, l->target[a->lane]);
    l->low[a->lane] = low;
    l->high[a->lane] = high;
    l->target[a->lane] = a->to;
}

static void check_arrows(const penta_module *module)
{
    penta_error err;
    penta_buffer text = {0};
    penta_option arrows = {"arrows", "ascii"};
    struct lanes lanes;
    penta_structure *s = penta_structure_new(module, &err);
    if (!s) return;
    for (size_t i = 0; i < 8; i++) lanes.low[i] = UINT64_MAX, lanes.high[i] = 0;
    if (!penta_structure_arrows(s, 0, UINT64_MAX, 8, check_arrow, &lanes, &err))
        check_failed("arrows", err.code, 0);
    if (!penta_print_code(module, &arrows, 1, &text, &err)) check_failed("a listing", err.code, 0);
    penta_buffer_free(&text);
    penta_structure_free(s);
}

static void check_page(const penta_buffer *page)
{
    static const char start[] = "id=\"data\">", end[] = "</script>";
    const uint8_t *data = memmem(page->data, page->size, start, strlen(start));
    if (!data) check_failed("a page without data", page->size, 0);
    const uint8_t *tag = memchr(data, '<', page->size - (size_t)(data - page->data));
    if (!tag || memcmp(tag, end, strlen(end)))
        check_failed("markup in the data", (uint64_t)(data - page->data), 0);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_bytes file = {data, size};
    penta_error err;
    penta_buffer page = {0};
    penta_module *module = penta_open(file, NULL, NULL, 0, &err);
    if (!module) return;
    penta_report_input input = {.module = module, .title = "<title>"};
    if (!penta_report_html(&input, &page, &err)) check_failed("no page", err.code, err.offset);
    check_page(&page);
    page.size = 0;
    input.folded = file;
    if (penta_report_html(&input, &page, &err)) check_page(&page);
    penta_buffer_free(&page);
    check_arrows(module);
    penta_close(module);
}
