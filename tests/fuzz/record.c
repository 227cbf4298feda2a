/* Reads any text as the record of a run. It must be refused, or the run can be repeated,
 * backwards and forwards, to the same state. */
#include "fuzz.h"
#include "penta/record.h"

/* The folder tests/fuzz/seeds/record has records of runs of this program. */
static const char text[] = "%isa = latest64\n%stack_size = 4096\n%import \"ask\"\n"
                           "%export \"main\" = @main\n@main:\na2 = 3\n@again:\necalli 0\n"
                           "a1 = a1 + a0\na2 = a2 - 1\njump @again if a2 != 0\nret\n";

static void fuzz_record_ends(penta_debugger *d, const penta_vm *vm, penta_buffer *out)
{
    penta_error err;
    penta_stop stop;
    penta_debugger_forward(d, 1000, &stop, &err);
    CHECK(penta_vm_save(vm, out, &err));
}

static void fuzz_record_repeat(const penta_module *module, const penta_record *record)
{
    penta_error err;
    penta_stop stop;
    penta_buffer first = {0}, again = {0}, report = {0};
    penta_session *s = penta_session_replay(module, "interp", record, &err);
    penta_debugger *d = s ? penta_debugger_new(s, &err) : NULL;
    if (!d) {
        penta_session_free(s);
        return;
    }
    fuzz_record_ends(d, penta_session_vm(s), &first);
    uint64_t steps = penta_session_steps(s);
    penta_debugger_back(d, 2, &stop, &err);
    penta_debugger_back(d, UINT64_MAX, &stop, &err);
    fuzz_record_ends(d, penta_session_vm(s), &again);
    CHECK(penta_session_steps(s) == steps);
    CHECK(same_buffer(&first, &again));
    penta_vm_run(penta_session_vm(s), 0, &stop);
    penta_session_finish(s, &stop, steps & 1, &report, &err);
    penta_buffer_free(&first);
    penta_buffer_free(&again);
    penta_buffer_free(&report);
    penta_debugger_free(d);
    penta_session_free(s);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_module *module = penta_assemble(bytes_of(text), "pvm", NULL, 0, NULL, NULL);
    penta_error err;
    CHECK(module);
    penta_record *record = penta_record_new((penta_bytes){data, size}, &err);
    CHECK(record || err.code);
    if (record) fuzz_record_repeat(module, record);
    penta_record_free(record);
    penta_close(module);
}
