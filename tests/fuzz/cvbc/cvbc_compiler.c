/* Compiles any text. The result must be findings, or a program that the verifier accepts. */
#include "fuzz.h"
#include "cvbc/compile/compile.h"

static void no_errors(void *user, const penta_error *finding)
{
    (void)user;
    if (finding->severity != PENTA_ERROR || finding->code == CVBC_STACK_OVERFLOW) return;
    check_failed(finding->message, finding->code, finding->offset);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct cvbc_build b = {0};
    struct writer debug = {0}, out = {0};
    struct findings f = {.rules = cvbc_rules, .report = ignore_finding};
    struct cvbc_compilation how = {.portable = size & 1, .file = "fuzz.ino"};
    penta_error err = {0};
    if (cvbc_compile((penta_bytes){data, size}, &how, &b, &debug, &f)) {
        b.debug = writer_view(&debug);
        CHECK(cvbc_build_write(&b, &out, &err));
        penta_module *m = cvbc_parse(writer_view(&out), NULL, 0, &err);
        struct findings found = {.rules = cvbc_rules, .report = no_errors};
        cvbc_verify(m, &found);
        penta_close(m);
    } else {
        CHECK(f.errors);
    }
    writer_free(&out);
    writer_free(&debug);
    cvbc_build_fini(&b);
}
