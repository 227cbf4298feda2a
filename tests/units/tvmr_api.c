/* Tests penta/tvmr.h as an embedder calls it: registers of every bank, domain operations
 * answered by hand, extensions that are refused or that fail. */
#include "support.h"
#include <penta/tvmr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAYS(err, text) REQUIRE(!strcmp((err).message, text), "%s", (err).message)

static void hot_registers(penta_vm *vm)
{
    const int32_t six[] = {1, -2, 3, -4, 5, -6};
    const uint32_t dims[] = {2, 3};
    penta_tvmr_tensor got;
    penta_error err;
    REQUIRE(!penta_tvmr_register_get(vm, PENTA_TVMR_H(9), &got) && !got.count);
    REQUIRE(penta_tvmr_register_set(
        vm, PENTA_TVMR_H(9),
        &(penta_tvmr_tensor){.numbers = six, .count = 6, .dims = dims, .rank = 2}, &err));
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_H(9), &got) && got.count == 6 && got.rank == 2);
    REQUIRE(!memcmp(got.numbers, six, sizeof six) && got.dims[0] == 2 && got.dims[1] == 3);
    REQUIRE(!got.signals && !got.temperatures);
    REQUIRE(penta_tvmr_register_set(vm, PENTA_TVMR_H(9),
                                    &(penta_tvmr_tensor){.numbers = six + 2, .count = 1}, &err));
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_H(9), &got) && got.count == 1 && got.rank == 1);
    REQUIRE(got.numbers[0] == 3 && got.dims[0] == 1);
    REQUIRE(!penta_tvmr_register_set(vm, PENTA_TVMR_H(9), &(penta_tvmr_tensor){.count = 2}, &err));
    SAYS(err, "the register takes numbers");
    /* The register is as it was. */
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_H(9), &got) && got.count == 1);
}

static void cold_registers(penta_vm *vm)
{
    const penta_tvmr_signal signals[] = {{1, 200}, {-1, 3}, {0, 0}, {1, 255}};
    const uint8_t temperatures[] = {0, 1, 2, 3};
    const uint32_t dims[] = {2, 2}, wrong[] = {3, 2};
    penta_tvmr_tensor value = {.signals = signals, .count = 4, .dims = dims, .rank = 2}, got;
    penta_error err;
    REQUIRE(!penta_tvmr_register_get(vm, PENTA_TVMR_C(5), &got));
    REQUIRE(penta_tvmr_register_set(vm, PENTA_TVMR_C(5), &value, &err));
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_C(5), &got) && got.count == 4 && got.rank == 2);
    REQUIRE(!memcmp(got.signals, signals, sizeof signals) && !got.numbers && !got.temperatures);
    value.temperatures = temperatures;
    REQUIRE(penta_tvmr_register_set(vm, PENTA_TVMR_C(5), &value, &err));
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_C(5), &got) && got.temperatures);
    REQUIRE(!memcmp(got.temperatures, temperatures, sizeof temperatures));
    value.dims = wrong;
    REQUIRE(!penta_tvmr_register_set(vm, PENTA_TVMR_C(5), &value, &err));
    SAYS(err, "4 elements do not fit the dimensions");
    REQUIRE(!penta_tvmr_register_set(vm, PENTA_TVMR_C(5), &(penta_tvmr_tensor){.count = 4}, &err));
    SAYS(err, "a cold register takes signals");
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_C(5), &got) && got.signals[1].magnitude == 3);
}

static void other_registers(penta_vm *vm)
{
    const int32_t numbers[] = {-7, 8};
    const uint32_t dims[] = {4, 5, 6};
    penta_tvmr_tensor got;
    penta_error err;
    REQUIRE(penta_tvmr_register_set(vm, PENTA_TVMR_P(63),
                                    &(penta_tvmr_tensor){.numbers = numbers, .count = 1}, &err));
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_P(63), &got) && got.count == 1 &&
            *got.numbers == -7);
    REQUIRE(!got.dims && !got.rank);
    REQUIRE(!penta_tvmr_register_set(vm, PENTA_TVMR_P(63),
                                     &(penta_tvmr_tensor){.numbers = numbers, .count = 2}, &err));
    SAYS(err, "a param register holds one number");
    REQUIRE(penta_tvmr_register_set(vm, PENTA_TVMR_S(1),
                                    &(penta_tvmr_tensor){.dims = dims, .rank = 3}, &err));
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_S(1), &got) && got.rank == 3 &&
            got.dims[2] == 6);
    REQUIRE(penta_tvmr_register_set(vm, PENTA_TVMR_S(1), &(penta_tvmr_tensor){0}, &err));
    REQUIRE(penta_tvmr_register_get(vm, PENTA_TVMR_S(1), &got) && !got.rank);
}

/* Checks a machine that may hold 64 KiB: the rule about limits refuses to set more. */
static void tvmr_api_budget(const penta_module *m)
{
    penta_option limit = {"memory", "65536"};
    penta_error err;
    penta_vm *vm = penta_vm_new(m, NULL, &limit, 1, NULL, &err);
    enum { MANY = 1 << 16 };
    int32_t *numbers = calloc(MANY, sizeof *numbers);
    penta_tvmr_signal *signals = calloc(MANY, sizeof *signals);
    if (!vm) fprintf(stderr, "%s\n", err.message);
    REQUIRE(vm && numbers && signals);
    REQUIRE(!penta_tvmr_register_set(
        vm, PENTA_TVMR_H(1), &(penta_tvmr_tensor){.numbers = numbers, .count = MANY}, &err));
    REQUIRE(err.code && strstr(err.message, "memory"));
    REQUIRE(!penta_tvmr_register_set(
        vm, PENTA_TVMR_C(1), &(penta_tvmr_tensor){.signals = signals, .count = MANY}, &err));
    REQUIRE(err.code && strstr(err.message, "memory"));
    REQUIRE(!penta_tvmr_begin(vm, numbers, MANY, &err) && err.code);
    REQUIRE(!penta_tvmr_target(vm, numbers, MANY, &err) && err.code);
    penta_vm_free(vm);
    free(numbers);
    free(signals);
}

enum ending { ANSWERED, STOPPED, FAILED };

/* Runs a program that asks for a chemical's level. The caller writes it, ends the run, or lets
 * it fail. */
static void domain_operations(enum ending ending)
{
    penta_module *m =
        assembled("tvmr", ".requires\n    neuro\n.registers\n    H0: i32[1]\n.program\n"
                          "    neuro.chem_read H0, 2\n    store_output H0\n    halt\n");
    penta_vm *vm = machine_of(m, NULL, NULL, 0);
    const char *fields = NULL;
    const int32_t level = 55;
    penta_error err;
    penta_stop stop;
    size_t count;
    REQUIRE(penta_tvmr_begin(vm, NULL, 0, &err));
    penta_vm_run(vm, UINT64_MAX, &stop);
    REQUIRE(stop.kind == PENTA_STOP_HOST &&
            !strcmp(penta_tvmr_domain(stop.detail, &fields), "ChemRead"));
    REQUIRE(!strcmp(fields, "target=rA chem_id=B") && stop.args[0] == 0 && stop.args[1] == 2);
    REQUIRE(!penta_tvmr_domain(0xffffffff, &fields) && penta_tvmr_domain(stop.detail, NULL));
    REQUIRE(!*penta_tvmr_failure(vm));
    REQUIRE(penta_tvmr_register_set(vm, (uint8_t)stop.args[0],
                                    &(penta_tvmr_tensor){.numbers = &level, .count = 1}, &err));
    if (ending == STOPPED) penta_tvmr_stop(vm);
    if (ending == FAILED) penta_tvmr_fail(vm, "no such chemical");
    if (ending == ANSWERED) REQUIRE(penta_vm_answer(vm, NULL, 0, &err));
    penta_vm_run(vm, UINT64_MAX, &stop);
    const int32_t *out = penta_tvmr_output(vm, &count);
    REQUIRE(stop.kind == (ending == FAILED ? PENTA_STOP_TRAP : PENTA_STOP_HALT));
    REQUIRE(count == (ending == ANSWERED) && (!count || *out == 55));
    REQUIRE(!strcmp(penta_tvmr_failure(vm), ending == FAILED ? "no such chemical" : ""));
    penta_vm_free(vm);
    penta_close(m);
}

static void tvmr_api_reloading(void)
{
    penta_error err;
    bool kept;
    const char text[] = ".global main\n.func main\nRET\n.endfunc\n";
    penta_module *m = assembled("tvmr", ".registers\n    H0: i32[1]\n.program\n    halt\n"),
                 *other = assembled("coil", text);
    penta_vm *vm = machine_of(m, NULL, NULL, 0);
    REQUIRE(!penta_tvmr_reload(vm, other, &kept, &err));
    SAYS(err, "not a whole module of this format");
    penta_vm_free(vm);
    penta_close(other);
    penta_close(m);
}

static penta_tvmr_result tvmr_api_next(penta_vm *vm, const uint8_t operands[4], void *user)
{
    const int32_t value = operands[1];
    penta_error err;
    ++*(int *)user;
    bool set = penta_tvmr_register_set(vm, operands[0],
                                       &(penta_tvmr_tensor){.numbers = &value, .count = 1}, &err);
    return set ? PENTA_TVMR_NEXT : PENTA_TVMR_FAIL;
}

static penta_tvmr_result tvmr_api_halt(penta_vm *vm, const uint8_t operands[4], void *user)
{
    (void)vm, (void)operands, (void)user;
    return PENTA_TVMR_HALT;
}

static penta_tvmr_result tvmr_api_broken(penta_vm *vm, const uint8_t operands[4], void *user)
{
    (void)user;
    if (operands[0]) penta_tvmr_fail(vm, "the pump is dry");
    return PENTA_TVMR_FAIL;
}

static void extension_run(const char *body, penta_stop_kind kind, const char *failure,
                          size_t outputs)
{
    char text[300];
    penta_error err;
    penta_stop stop;
    size_t count;
    snprintf(text, sizeof text,
             ".requires\n    pump 0x0200\n.registers\n    H0: i32[1]\n.program\n%s"
             "    store_output H0\n    halt\n",
             body);
    penta_module *m = assembled("tvmr", text);
    penta_vm *vm = machine_of(m, NULL, NULL, 0);
    REQUIRE(penta_tvmr_begin(vm, NULL, 0, &err));
    penta_vm_run(vm, UINT64_MAX, &stop);
    REQUIRE(stop.kind == kind);
    REQUIRE(!strcmp(penta_tvmr_failure(vm), failure));
    const int32_t *out = penta_tvmr_output(vm, &count);
    REQUIRE(count == outputs && (!count || *out == 17));
    penta_vm_free(vm);
    penta_close(m);
}

static void tvmr_api_extensions(void)
{
    static int calls;
    static const penta_tvmr_instruction rows[] = {{"SET", "di--", "A = B", tvmr_api_next},
                                                  {"OFF", "----", "ends the run", tvmr_api_halt},
                                                  {"DRY", "i---", "fails", tvmr_api_broken}},
                                        bad[] = {{"A", "d---", "", tvmr_api_next},
                                                 {"B", "dx--", "", tvmr_api_next}};
    static const penta_tvmr_extension pump = {0x0200, 1, 2, 3, "pump", rows, 3, &calls},
                                      nameless = {0x0201, 1, 0, 0, NULL, rows, 3, NULL},
                                      unsound = {0x0202, 1, 0, 0, "x", bad, 2, NULL},
                                      reserved = {0x0007, 1, 0, 0, "y", rows, 3, NULL},
                                      again = {0x0200, 1, 0, 0, "z", rows, 3, NULL},
                                      twin = {0x0203, 1, 0, 0, "pump", rows, 3, NULL};
    static const struct {
        const penta_tvmr_extension *extension;
        const char *message;
    } refused[] = {{&nameless, "an extension has a name"},
                   {&unsound, "instruction 1 has no name, function or operands"},
                   {&reserved, "extension ids of users are 0x0100 to 0xfffe"},
                   {&again, "extension 0x0200 is registered already"},
                   {&twin, "an extension 'pump' is registered already"}};
    penta_error err;
    REQUIRE(penta_tvmr_extension_register(&pump, &err));
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        REQUIRE(!penta_tvmr_extension_register(refused[i].extension, &err));
        SAYS(err, refused[i].message);
    }
    extension_run("    pump.set H0, 17\n", PENTA_STOP_HALT, "", 1);
    REQUIRE(calls == 1);
    extension_run("    pump.off\n", PENTA_STOP_HALT, "", 0);
    extension_run("    pump.dry 1\n", PENTA_STOP_TRAP, "the pump is dry", 0);
    extension_run("    pump.dry 0\n", PENTA_STOP_TRAP, "DRY failed", 0);
}

int main(void)
{
    penta_module *m = assembled("tvmr", ".registers\n    H0: i32[1]\n.program\n    halt\n");
    penta_vm *vm = machine_of(m, NULL, NULL, 0);
    hot_registers(vm);
    cold_registers(vm);
    other_registers(vm);
    penta_vm_free(vm);
    tvmr_api_budget(m);
    penta_close(m);
    for (enum ending e = ANSWERED; e <= FAILED; e++) domain_operations(e);
    tvmr_api_reloading();
    tvmr_api_extensions();
    return checks_end();
}
