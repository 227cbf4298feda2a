/* Reads any text as a document with diagnostics, and as a line of a batch. It must be refused, or what is written of it is
 * one JSON document and XML without a character that XML does not allow. */
#include "fuzz.h"
#include "base/json/json_read.h"
#include "penta/results.h"

static void fuzz_results_sarif(penta_bytes text)
{
    penta_error err;
    penta_buffer out = {0};
    penta_sarif *sarif = penta_sarif_new();
    CHECK(sarif);
    CHECK(penta_sarif_document(sarif, text, &err) || err.code);
    CHECK(penta_sarif_write(sarif, &out, &err));
    struct json_doc *written = json_parse((penta_bytes){out.data, out.size}, &err);
    CHECK(written);
    json_doc_free(written);
    penta_buffer_free(&out);
    penta_sarif_free(sarif);
}

static void fuzz_results_junit(penta_bytes text)
{
    penta_error err;
    penta_buffer out = {0};
    penta_junit *junit = penta_junit_new();
    size_t opened = 0;
    CHECK(junit);
    CHECK(penta_junit_line(junit, "suite", text, &err) || err.code);
    CHECK(penta_junit_write(junit, &out, &err));
    for (size_t i = 0; i < out.size; i++) {
        uint8_t c = out.data[i];
        CHECK(c >= 0x20 || c == '\n' || c == '\t');
        CHECK(c != '<' || !opened);
        CHECK(c != '>' || opened);
        opened = c == '<' ? 1 : c == '>' ? 0 : opened;
    }
    CHECK(!opened);
    penta_buffer_free(&out);
    penta_junit_free(junit);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    fuzz_results_sarif((penta_bytes){data, size});
    fuzz_results_junit((penta_bytes){data, size});
}
