/* Runs any program of version 2 as a small grid. A run in one go, one by single instructions,
 * and one with a snapshot loaded into a second machine in the middle must end in the same state. */
#include "fuzz.h"
#include "kblob/kblob.h"

REPAIRING_MUTATOR("kblob")

enum { FUEL = 3000 };
static const penta_option options[] = {{"threads", "5"}, {"grid", "3"}, {"shared", "32"},
                                       {"arg", "65536"}, {"arg", "5"},  {"map", "0x10000:256"}};

static penta_vm *kblob_grid_machine(const penta_module *module)
{
    penta_error err;
    return penta_vm_new(module, NULL, options, sizeof options / sizeof *options, NULL, &err);
}

/* Runs with `piece` fuel at a time, and answers SLEEP. */
static uint64_t kblob_grid_go(penta_vm *vm, uint64_t fuel, uint64_t piece, penta_stop *stop)
{
    uint64_t done = 0;
    do {
        penta_error err;
        penta_vm_run(vm, piece < fuel - done ? piece : fuel - done, stop);
        done += stop->steps;
        if (stop->kind == PENTA_STOP_HOST) penta_vm_answer(vm, &stop->args[0], 1, &err);
    } while (done < fuel && (stop->kind == PENTA_STOP_FUEL || stop->kind == PENTA_STOP_HOST));
    return done;
}

static void check_grid(const penta_module *module, size_t half)
{
    penta_vm *whole = kblob_grid_machine(module), *steps = kblob_grid_machine(module),
             *first = kblob_grid_machine(module), *second = kblob_grid_machine(module);
    penta_stop a, b, c;
    penta_buffer saved = {0};
    penta_error err;
    if (whole && steps && first && second) {
        uint64_t x = kblob_grid_go(whole, FUEL, FUEL, &a), y = kblob_grid_go(steps, FUEL, 1, &b);
        if (x != y || a.kind != b.kind || a.pc != b.pc) check_failed("steps end elsewhere", x, y);
        check_same_state(whole, steps, "steps end in another state");
        uint64_t before = kblob_grid_go(first, half, half, &c);
        if (before < FUEL && penta_vm_save(first, &saved, &err)) {
            if (!penta_vm_load(second, (penta_bytes){saved.data, saved.size}, &err))
                check_failed("a snapshot is refused", err.code, 0);
            kblob_grid_go(second, FUEL - before, FUEL, &c);
            check_same_state(whole, second, "a snapshot leads to another state");
        }
    }
    penta_buffer_free(&saved);
    penta_vm_free(whole);
    penta_vm_free(steps);
    penta_vm_free(first);
    penta_vm_free(second);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_error err;
    penta_module *module = penta_open((penta_bytes){data, size}, "kblob", NULL, 0, &err);
    if (module && kblob_module(module)->header.version == KBLOB_VERSION_2 &&
        penta_validate(module, NULL, NULL))
        check_grid(module, size % 97 * 8);
    penta_close(module);
}
