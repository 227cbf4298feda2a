/* Tests the embedding interface of pvm where no case file can reach it. */
#include "support.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "penta/pvm.h"
#include "pvm/host/keccak.h"
#include "pvm/vm/handlers.h"

static void test_keccak(void)
{
    static const struct {
        const char *text;
        uint8_t head[4];
    } rows[] = {
        {"", {0xc5, 0xd2, 0x46, 0x01}},
        {"abc", {0x4e, 0x03, 0x65, 0x7a}},
        {"The quick brown fox jumps over the lazy dog", {0x4d, 0x74, 0x1b, 0x6f}},
        {"Transfer(address,address,uint256)", {0xdd, 0xf2, 0x52, 0xad}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t hash[32];
        keccak256_digest(bytes_of(rows[i].text), hash);
        CHECK(!memcmp(hash, rows[i].head, 4), "%s", rows[i].text);
    }
}

static void test_pool(void)
{
    penta_error err;
    penta_module *module =
        assembled("pvm", "%isa = latest64\n%rw_data_size = 4096\n%rw_data = 07\n"
                         "pub @count:\na0 = u8 [0x20000]\na0 = a0 + 1\nu8 [0x20000] = a0\nret\n");
    penta_pvm_pool *pool = penta_pvm_pool_new(module, NULL, NULL, 0, &err);
    uint32_t pc = 1;
    penta_stop stop;
    CHECK(penta_pvm_export(module, "count", &pc) && pc == 0, "export");
    CHECK(!penta_pvm_export(module, "other", &pc), "no such export");
    for (int round = 0; round < 3; round++) {
        penta_vm *vm = penta_pvm_pool_take(pool, &err);
        for (uint64_t call = 0; call < 2; call++) {
            penta_pvm_call(vm, 0, NULL, 0);
            penta_vm_run(vm, UINT64_MAX, &stop);
            CHECK(stop.kind == PENTA_STOP_HALT, "halts");
            CHECK(penta_pvm_register_get(vm, PENTA_PVM_A0) == 8 + call,
                  "memory stays between calls, not between machines");
        }
        penta_pvm_protect(vm, 0x20000, 4096, false);
        penta_pvm_call(vm, 0, NULL, 0);
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_TRAP, "a protected page is not written");
        penta_vm_mark(vm, 4, true);
        penta_vm_free(vm);
    }
    penta_vm *out = penta_pvm_pool_take(pool, &err);
    penta_pvm_pool_free(pool);
    penta_vm_free(out); /* The pool is freed with its last machine. */
    penta_close(module);
}

static void test_paging(void)
{
    penta_module *module =
        assembled("pvm", "%isa = latest64\npub @f:\nu64 [0x20ffc] = a0\na1 = u64 [0x20ffc]\nret\n");
    penta_option options[] = {{"paging", "1"}, {"gas", "3"}, {"arg", "0x1122334455667788"}};
    penta_vm *vm = machine_of(module, NULL, options, 3);
    penta_stop stop;
    for (int i = 0; i < 2; i++) {
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_FAULT && stop.args[0] == (i ? 0x21000u : 0x20000u) &&
                  stop.args[1],
              "the lowest missing page first");
        CHECK(penta_pvm_gas_get(vm) == 0, "the block is paid once");
        CHECK(penta_pvm_map(vm, stop.args[0], 4096, true), "map");
    }
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT &&
              penta_pvm_register_get(vm, PENTA_PVM_A1) == 0x1122334455667788u,
          "goes on where it faulted");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && !stop.steps, "a final stop is given again");
    penta_vm_free(vm);
    penta_close(module);
}

/* Checks what a host may do on behalf of the program, and what a debugger may do. */
static void test_rights(void)
{
    penta_module *module = assembled("pvm", "%isa = latest64\npub @f:\nret\n");
    penta_vm *vm = machine_of(module, NULL, NULL, 0);
    uint8_t byte = 7;
    CHECK(penta_pvm_map(vm, 0x20000, 4096, false) && penta_pvm_map(vm, 0x21000, 4096, true), "map");
    CHECK(penta_pvm_readable(vm, 0x20000, 8192) && !penta_pvm_readable(vm, 0x20000, 8193),
          "readable up to the end of what is mapped");
    CHECK(penta_pvm_writable(vm, 0x21000, 4096) && !penta_pvm_writable(vm, 0x20fff, 2),
          "a range is writable when all of it is");
    CHECK(penta_pvm_writable(vm, UINT64_MAX, 0) && !penta_pvm_readable(vm, 0xffffffff, 2),
          "0 bytes are allowed anywhere, and memory ends");
    CHECK(!penta_pvm_write(vm, 0x20000, &byte, 1) && penta_pvm_read(vm, 0x20000, &byte, 1) && !byte,
          "a host writes as the program may");
    byte = 7;
    CHECK(penta_vm_poke(vm, 0x20000, &byte, 1) && penta_pvm_read(vm, 0x20000, &byte, 1) &&
              byte == 7,
          "a debugger writes anywhere");
    CHECK(penta_pvm_write(vm, 0x21000, &byte, 1), "write");
    penta_vm_free(vm);
    penta_close(module);
}

static void test_gas_and_host(void)
{
    penta_error err;
    penta_module *module =
        assembled("pvm", "%isa = latest64\n%import \"f\"\npub @f:\necalli 0\na0 = a0 + 1\n"
                         "fallthrough\necalli 5\nret\n");
    penta_option options[] = {{"gas", "4"}};
    penta_vm *vm = machine_of(module, NULL, options, 1);
    penta_stop stop;
    penta_bytes name;
    uint64_t answer = 41;
    CHECK(!penta_vm_answer(vm, &answer, 1, &err), "nothing to answer yet");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && stop.detail == 0 && stop.steps == 1, "host call");
    CHECK(penta_pvm_import(module, 0, &name) && name.size == 1 && name.data[0] == 'f', "its name");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && !stop.steps, "it waits");
    CHECK(penta_vm_answer(vm, &answer, 1, &err), "answer");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_GAS && stop.pc == 5 && penta_pvm_gas_get(vm) == 1, "out of gas");
    CHECK(!penta_pvm_gas_set(vm, -1) && penta_pvm_gas_set(vm, 2), "more gas");
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && stop.detail == 5, "goes on");
    CHECK(penta_pvm_register_get(vm, PENTA_PVM_A0) == 42, "with the answer");
    penta_pvm_end_call(vm);
    penta_vm_answer(vm, NULL, 0, &err);
    penta_vm_run(vm, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT, "the host ends the call");
    penta_buffer state = {0};
    CHECK(penta_vm_describe_json(vm, &state, &err), "describe");
    /* Of 4 units of gas 1 is left, then it is set to 2: 3 were used before, 2 after. */
    CHECK(contains(&state, "\"gas\":0") && contains(&state, "\"gas_used\":5"),
          "used, refill included");
    penta_buffer_free(&state);
    penta_vm_free(vm);
    penta_close(module);
}

static void *interrupt_soon(void *vm)
{
    usleep(20000);
    penta_vm_interrupt(vm);
    return NULL;
}

static void test_interrupt_and_marks(void)
{
    penta_module *module =
        assembled("pvm", "%isa = latest64\npub @f:\n@l:\na0 = a0 + 1\na1 = a1 + 2\n"
                         "jump @l if a2 == 0\nret\n");
    penta_vm *vm = machine_of(module, NULL, NULL, 0);
    penta_stop stop;
    pthread_t thread;
    int tries = 0;
    do { /* On a busy machine the interrupt may come before the run. */
        pthread_create(&thread, NULL, interrupt_soon, vm);
        penta_vm_run(vm, UINT64_MAX, &stop);
        pthread_join(thread, NULL);
    } while (stop.kind == PENTA_STOP_INTERRUPT && stop.steps <= 1000 && ++tries < 20);
    CHECK(stop.kind == PENTA_STOP_INTERRUPT && stop.steps > 1000, "interrupted");
    uint64_t before = penta_pvm_register_get(vm, PENTA_PVM_A0);
    CHECK(penta_vm_mark(vm, 3, true) && !penta_vm_mark(vm, 4, true), "marks are at instructions");
    for (int i = 1; i <= 3; i++) {
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(stop.kind == PENTA_STOP_BREAK && stop.pc == 3, "stops before the marked instruction");
        CHECK(stop.steps == (i == 1 ? 1u : 3u), "and not again on it");
    }
    CHECK(penta_pvm_register_get(vm, PENTA_PVM_A0) == before + 3, "three rounds");
    penta_vm_mark(vm, 3, false);
    penta_vm_run(vm, 1000, &stop);
    CHECK(stop.kind == PENTA_STOP_FUEL && stop.steps == 1000, "fuel is exact");
    penta_vm_free(vm);
    penta_close(module);
}

/* Checks that a jump to itself has a handler like any other instruction, and that a jump with a
 * bad target is left to the step engine. */
static void test_jumps_to_themselves(void)
{
    static const struct {
        const char *text;
        bool steps;
    } rows[] = {
        {"%isa = latest64\npub @f:\njump @f\n", false},
        {"%isa = latest64\npub @f:\njump @f if a0 == a1\ntrap\n", false},
        {"%isa = latest64\npub @f:\njump @f if a0 == 0\ntrap\n", false},
        {"%isa = latest64\npub @f:\na0 = 7, jump @f\n", false},
        {"%isa = latest64\npub @f:\njump 99\n", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        penta_module *module = assembled("pvm", rows[i].text);
        penta_error err = {0};
        penta_stop stop;
        struct pvm_cells *p =
            pvm_cells_new(&pvm_module(module)->program.code, pvm_profile_find("polkavm"),
                          PVM_GAS_NAIVE, false, &err);
        bool built = p && pvm_cells_build(p);
        CHECK(built && (p->cells[p->blocks[0].first].run == pvm_leave_step) == rows[i].steps,
              "who runs a jump to itself");
        pvm_cells_free(p);
        penta_vm *vm = machine_of(module, NULL, NULL, 0);
        penta_vm_run(vm, 100000, &stop);
        if (rows[i].steps)
            CHECK(stop.kind == PENTA_STOP_TRAP && stop.pc == 0, "a jump to nowhere traps");
        else
            CHECK(stop.kind == PENTA_STOP_FUEL && stop.steps == 100000, "it goes on for ever");
        penta_vm_free(vm);
        penta_close(module);
    }
}

int main(void)
{
    test_keccak();
    test_pool();
    test_paging();
    test_rights();
    test_gas_and_host();
    test_interrupt_and_marks();
    test_jumps_to_themselves();
    return checks_end();
}
