/* Reads text that people write: values of the options pin, hint and dependency, one on each
 * line, then a line of dashes and a board file. The container that the options give must be
 * written, read and checked against the board without error. */
#include "fuzz.h"
#include "cvbc/format/build.h"
#include "cvbc/format/hardware/board.h"

enum { LINES = 16 };

/* Cuts the text into options. Returns what follows the dashes. */
static char *cvbc_options_cut(char *text, penta_option *options, size_t *count)
{
    static const char *const keys[] = {"pin", "hint", "dependency", "min-ram"};
    for (*count = 0; *text && *count < LINES; ++*count) {
        char *end = strchr(text, '\n');
        if (end) *end = 0;
        if (!strcmp(text, "--")) return end ? end + 1 : text + 2;
        options[*count] = (penta_option){keys[strlen(text) > 1 ? text[1] & 3 : 0], text};
        for (size_t k = 0; k < 4; k++) {
            size_t size = strlen(keys[k]);
            if (strncmp(text, keys[k], size) || text[size] != ' ') continue;
            options[*count] = (penta_option){keys[k], text + size + 1};
        }
        text = end ? end + 1 : text + strlen(text);
    }
    return text;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    char *text = copy_as_text(data, size);
    penta_option options[LINES];
    size_t count;
    char *rest = cvbc_options_cut(text, options, &count);
    struct cvbc_creation made = {0};
    struct cvbc_board board = {0};
    struct writer out = {0};
    penta_error err = {0}, why = {0};
    bool known = cvbc_board_read(bytes_of(rest), &board, &why);
    CHECK(known || why.code);
    bool ok = cvbc_create_options(&made, options, count, &err);
    CHECK(ok || err.code);
    cvbc_build_inst(&made.b, CVBC_OP_HALT, 0, 0);
    if (ok) {
        CHECK(cvbc_build_write(&made.b, &out, &err));
        penta_module *module = cvbc_parse(writer_view(&out), NULL, 0, &err);
        struct findings f = {.rules = cvbc_rules, .report = ignore_finding};
        cvbc_verify(module, &f);
        if (known) cvbc_board_check(cvbc_module(module), &board, CVBC_STACK_MAX, &f);
        penta_vm *vm = f.errors ? NULL : penta_vm_new(module, NULL, NULL, 0, NULL, &err);
        penta_stop stop;
        if (vm) penta_vm_run(vm, 10, &stop);
        penta_vm_free(vm);
        penta_close(module);
    }
    cvbc_creation_fini(&made);
    writer_free(&out);
    free(text);
}
