/* What no case file can reach of COIL: the builder, to an object and straight to a machine, and the
 * host that a program asks. */
#include "penta/coil.h"
#include <stdio.h>
#include <string.h>

static unsigned long passed, failed;

static void check(bool ok, const char *what, const char *detail)
{
    if (ok) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s: %s\n", what, detail);
}

static penta_coil_operand text(const char *operand)
{
    return (penta_coil_operand){.kind = PENTA_COIL_TEXT, .text = operand};
}
static penta_coil_operand number(int64_t value)
{
    return (penta_coil_operand){.kind = PENTA_COIL_INT, .number = value};
}
#define INSN(b, name, ...)                                                                         \
    penta_coil_builder_insn(b, name, (penta_coil_operand[]){__VA_ARGS__},                          \
                            sizeof((penta_coil_operand[]){__VA_ARGS__}) /                          \
                                sizeof(penta_coil_operand))

/* main: v0 = table[1] + 2, through a relocated word and a label. */
static penta_coil_builder *program(bool big_endian)
{
    static const uint8_t little[] = {40, 0, 0, 0}, big[] = {0, 0, 0, 40};
    penta_coil_builder *b = penta_coil_builder_new(big_endian);
    penta_coil_builder_function(b, "main", true);
    penta_coil_builder_variable(b, "p", "u64");
    penta_coil_builder_variable(b, "x", "i32");
    INSN(b, "MOV", text("%p"), text("u64 @pointer"));
    INSN(b, "MOV", text("%x"), text("i32 [%p]"));
    INSN(b, "BR", text("@.add"));
    INSN(b, "TRAP", number(1));
    penta_coil_builder_label(b, ".add");
    INSN(b, "ADD", text("%x"), number(2));
    INSN(b, "MOV", text("v0"), text("%x"));
    penta_coil_builder_insn(b, "RET", NULL, 0);
    penta_coil_builder_end(b);
    penta_coil_builder_section(b, ".data");
    penta_coil_builder_directive(b, ".align 8");
    penta_coil_builder_label(b, "pointer");
    penta_coil_builder_directive(b, ".addr @value");
    penta_coil_builder_label(b, "value");
    penta_coil_builder_data(b, big_endian ? big : little, 4);
    penta_coil_builder_zero(b, 4);
    return b;
}

static uint64_t run(const penta_module *m, const char *what)
{
    penta_error err = {0};
    penta_stop stop = {.kind = PENTA_STOP_FUEL};
    penta_vm *vm = penta_vm_new(m, NULL, NULL, 0, &err);
    check(vm != NULL, what, err.message);
    if (vm) penta_vm_run(vm, 1000, &stop);
    check(stop.kind == PENTA_STOP_HALT, what, "did not halt");
    uint64_t value = vm ? penta_coil_register(vm, 0) : 0;
    penta_vm_free(vm);
    return value;
}

static void building(bool big_endian)
{
    penta_error err = {0};
    penta_buffer file = {0};
    penta_coil_builder *b = program(big_endian);
    penta_module *m = penta_coil_builder_finish(b, NULL, NULL, &err);
    check(m != NULL, "builder", err.message);
    check(m && run(m, "machine of a builder") == 42, "machine of a builder", "another result");
    check(m && penta_encode(m, &file, &err), "object of a builder", err.message);
    penta_coil_builder_free(b);
    penta_close(m);
    m = penta_open((penta_bytes){file.data, file.size}, "coil", NULL, 0, &err);
    check(m && penta_validate(m, NULL, NULL), "object of a builder", err.message);
    check(m && run(m, "object of a builder") == 42, "object of a builder", "another result");
    penta_close(m);
    penta_buffer_free(&file);
}

static void mistakes(void)
{
    static const char *const wrong[] = {"%x\n    NOP", "%x ; rest", "\"open", NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        penta_error err = {0};
        penta_coil_builder *b = penta_coil_builder_new(false);
        penta_coil_builder_function(b, "main", true);
        INSN(b, "INC", text(wrong[i]));
        penta_coil_builder_insn(b, "RET", NULL, 0);
        penta_coil_builder_end(b);
        check(!penta_coil_builder_finish(b, NULL, NULL, &err) && err.code, "a wrong operand",
              wrong[i] ? wrong[i] : "NULL");
        penta_coil_builder_free(b);
    }
    penta_error err = {0};
    penta_coil_builder *b = penta_coil_builder_new(false);
    penta_coil_builder_label(b, "!include \"x\"");
    check(!penta_coil_builder_finish(b, NULL, NULL, &err) && err.code, "a label", "taken");
    penta_coil_builder_free(b);
}

/* VENDOR.0x07 %sum, %a, 5 asks for the sum of the last two; then a vector by its address. */
static void vendor(void)
{
    penta_error err = {0};
    penta_stop stop;
    penta_coil_builder *b = penta_coil_builder_new(false);
    penta_coil_builder_function(b, "main", true);
    penta_coil_builder_variable(b, "sum", "i16");
    penta_coil_builder_variable(b, "a", "i8");
    penta_coil_builder_variable(b, "v", "v128<i32>");
    INSN(b, "MOV", text("%a"), number(-2));
    INSN(b, "MOV", text("%v"), number(9));
    INSN(b, "VENDOR.0x07", text("%sum"), text("%a"), text("i32 5"));
    INSN(b, "VENDOR.0x08", text("%v"));
    INSN(b, "MOV", text("v0"), text("%sum"));
    penta_coil_builder_insn(b, "RET", NULL, 0);
    penta_coil_builder_end(b);
    penta_module *m = penta_coil_builder_finish(b, NULL, NULL, &err);
    penta_option host = {"vendor", "host"}, wrong = {"vendor", "ask"};
    check(m && !penta_vm_new(m, NULL, &wrong, 1, &err), "vendor", "an unknown word is taken");
    err = (penta_error){0};
    penta_vm *vm = m ? penta_vm_new(m, NULL, &host, 1, &err) : NULL;
    check(vm != NULL, "vendor", err.message);
    if (!vm) return;
    penta_vm_run(vm, 1000, &stop);
    check(stop.kind == PENTA_STOP_HOST && stop.detail == PENTA_COIL_VENDOR && stop.args[0] == 7 &&
              stop.args[1] == 3 && stop.args[3] == (uint64_t)-2 && stop.args[4] == 5,
          "vendor", "asks for something else");
    penta_buffer saved = {0}; /* the question survives a snapshot */
    check(penta_vm_save(vm, &saved, &err) &&
              penta_vm_load(vm, (penta_bytes){saved.data, saved.size}, &err),
          "vendor", err.message);
    uint64_t sum = stop.args[3] + stop.args[4];
    check(penta_vm_answer(vm, &sum, 1, &err), "vendor", err.message);
    penta_vm_run(vm, 1000, &stop);
    int32_t lanes[4] = {0};
    check(stop.kind == PENTA_STOP_HOST && stop.args[0] == 8 &&
              penta_vm_peek(vm, stop.args[2], lanes, sizeof lanes) && lanes[3] == 9,
          "vendor", "the vector is elsewhere");
    check(!penta_vm_answer(vm, &sum, 1, &err), "vendor", "a vector takes no result");
    err = (penta_error){0};
    check(penta_vm_answer(vm, NULL, 0, &err), "vendor", err.message);
    penta_vm_run(vm, 1000, &stop);
    check(stop.kind == PENTA_STOP_HALT && penta_coil_register(vm, 0) == 3, "vendor", "the result");
    penta_vm_free(vm);
    penta_close(m);
    penta_coil_builder_free(b);
    penta_buffer_free(&saved);
}

int main(void)
{
    building(false);
    building(true);
    mistakes();
    vendor();
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed != 0;
}
