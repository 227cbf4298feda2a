/* Any bytes as the answers of a recorded run: they are refused, or the run can be repeated, backwards
 * and forwards, to the same state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checks.h"
#include "core/snapshot.h"
#include "penta/session.h"

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "%s (0x%llx, 0x%llx)\n", what, (unsigned long long)a, (unsigned long long)b);
    abort();
}

#define CHECK(condition)                                                                           \
    if (!(condition)) check_failed(#condition, __LINE__, 0)

/* tests/fuzz/seeds/record has answers of its three calls. */
static const char text[] = "%isa = latest64\n%stack_size = 4096\n%import \"ask\"\n"
                           "%export \"main\" = @main\n@main:\na2 = 3\n@again:\necalli 0\n"
                           "a1 = a1 + a0\na2 = a2 - 1\njump @again if a2 != 0\nret\n";

static void ends(penta_debugger *d, const penta_vm *vm, penta_buffer *out)
{
    penta_error err;
    penta_stop stop;
    penta_debugger_forward(d, 1000, &stop, &err);
    CHECK(penta_vm_save(vm, out, &err));
}

static void repeat(const penta_module *module, penta_bytes contents)
{
    penta_option call = {"call", "main"};
    penta_error err;
    penta_stop stop;
    penta_session *s = penta_session_new(module, "interp", &call, 1, &err);
    penta_debugger *d = penta_debugger_new(s, &err);
    penta_vm *vm = penta_session_vm(s);
    penta_buffer first = {0}, again = {0};
    struct writer record = {0};
    size_t from = frame_begin(vm, "PNTA", &record);
    writer_bytes(&record, contents.data, contents.size);
    frame_end(&record, from);
    penta_session_stop_at_calls(s, true);
    if (penta_debugger_replay(d, writer_view(&record), &err)) {
        ends(d, vm, &first);
        uint64_t steps = penta_session_steps(s);
        penta_debugger_back(d, 2, &stop, &err);
        penta_debugger_goto(d, 0, &stop, &err);
        ends(d, vm, &again);
        CHECK(penta_session_steps(s) == steps);
        CHECK(first.size == again.size && !memcmp(first.data, again.data, first.size));
    }
    penta_buffer_free(&first);
    penta_buffer_free(&again);
    writer_free(&record);
    penta_debugger_free(d);
    penta_session_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    penta_bytes source = {(const uint8_t *)text, sizeof text - 1};
    penta_module *module = penta_assemble(source, "pvm", NULL, 0, NULL, NULL);
    CHECK(module);
    repeat(module, (penta_bytes){data, size});
    penta_close(module);
    return 0;
}
