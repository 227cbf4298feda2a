/* Legacy files: whatever is detected as one converts to a container that opens. */
#include <stdlib.h>
#include "checks.h"
#include "cvbc/format/legacy.h"

static void ignore(void *user, const penta_error *finding) { (void)user, (void)finding; }

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    (void)what, (void)a, (void)b;
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cvbc_legacy layout;
    const char *why;
    if (!cvbc_legacy_detect((penta_bytes){data, size}, &layout, &why)) return 0;
    for (int keep = 0; keep < 2; keep++) {
        struct cvbc_build b = {0};
        struct writer out = {0};
        penta_error err = {0};
        unsigned repairs;
        struct findings f = {.rules = cvbc_rules, .report = ignore};
        if (!cvbc_legacy_read((penta_bytes){data, size}, &layout, keep, &b, &repairs, &f, &err))
            abort();
        if (!cvbc_build_write(&b, &out, &err)) abort();
        penta_module *m = cvbc_parse(writer_view(&out), NULL, 0, &err);
        if (!m || cvbc_open(cvbc_module(m))->failure.code) abort();
        penta_close(m);
        writer_free(&out);
        cvbc_build_fini(&b);
    }
    return 0;
}
