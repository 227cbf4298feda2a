/* Reads legacy files. A file that is detected as legacy must convert to a container that opens. */
#include "fuzz.h"
#include "cvbc/format/legacy.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct cvbc_legacy layout;
    const char *why;
    if (!cvbc_legacy_detect((penta_bytes){data, size}, &layout, &why)) return;
    for (int keep = 0; keep < 2; keep++) {
        struct cvbc_build b = {0};
        struct writer out = {0};
        penta_error err = {0};
        unsigned repairs;
        struct findings f = {.rules = cvbc_rules, .report = ignore_finding};
        CHECK(cvbc_legacy_read((penta_bytes){data, size}, &layout, keep, &b, &repairs, &f, &err));
        CHECK(cvbc_build_write(&b, &out, &err));
        penta_module *m = cvbc_parse(writer_view(&out), NULL, 0, &err);
        CHECK(m && !cvbc_open(cvbc_module(m))->failure.code);
        penta_close(m);
        writer_free(&out);
        cvbc_build_fini(&b);
    }
}
