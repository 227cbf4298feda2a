/* Assembles a text and compares the result with the file that it came from. */
#include "core/assembles.h"
#include "base/bytes.h"
#include "text/lexer.h"

static void keep_memory(void *user, const penta_error *finding)
{
    if (finding->code == BASE_MEMORY) error_keep_first(user, finding);
}

bool assembles_to(const struct driver *driver, penta_bytes text, const penta_option *options,
                  size_t count, penta_bytes bytes, penta_error *err)
{
    struct writer out = {0};
    penta_error ignored = {0};
    struct source source = {.text = text, .comment = driver->comment, .err = &ignored};
    struct findings findings = {.rules = driver->rules, .report = keep_memory, .user = err};
    bool same = driver->assemble(&source, options, count, &out, &findings) &&
                writer_ok(&out, err) && bytes_equal(writer_view(&out), bytes);
    writer_free(&out);
    return same && !err->code;
}
