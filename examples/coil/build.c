/* Builds the sum of 1..n as a COIL function in memory and runs it; no file is involved.
 *
 *     cc build.c -lpenta && ./a.out 10      prints 55 */
#include <penta/coil.h>
#include <stdio.h>
#include <stdlib.h>

static penta_coil_operand variable_operand(const char *name)
{
    return (penta_coil_operand){.kind = PENTA_COIL_VARIABLE, .text = name};
}
static penta_coil_operand number_operand(int64_t value)
{
    return (penta_coil_operand){.kind = PENTA_COIL_INT, .number = value};
}
static penta_coil_operand text_operand(const char *operand)
{
    return (penta_coil_operand){.kind = PENTA_COIL_TEXT, .text = operand};
}
static penta_coil_operand result_operand(void)
{
    return (penta_coil_operand){.kind = PENTA_COIL_REGISTER, .number = 0};
}

#define INSN(b, name, ...)                                                                         \
    penta_coil_builder_insn(b, name, (penta_coil_operand[]){__VA_ARGS__},                          \
                            sizeof((penta_coil_operand[]){__VA_ARGS__}) /                          \
                                sizeof(penta_coil_operand))

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 10;
    penta_coil_builder *b = penta_coil_builder_new(false);
    if (!b) return 1;
    penta_coil_builder_function(b, "main", true);
    penta_coil_builder_variable(b, "i", "i64");
    penta_coil_builder_variable(b, "sum", "i64");
    INSN(b, "MOV", variable_operand("i"), number_operand(n));
    penta_coil_builder_label(b, ".next");
    INSN(b, "ADD", variable_operand("sum"), variable_operand("i"));
    INSN(b, "DEC", variable_operand("i"));
    INSN(b, "BR", text_operand("GT"), text_operand("@.next"));
    INSN(b, "MOV", result_operand(), variable_operand("sum"));
    penta_coil_builder_insn(b, "RET", NULL, 0);
    penta_coil_builder_end(b);

    penta_error err;
    penta_module *module = penta_coil_builder_finish(b, NULL, NULL, &err);
    penta_vm *vm = module ? penta_vm_new(module, NULL, NULL, 0, NULL, &err) : NULL;
    if (!vm) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    penta_stop stop;
    penta_vm_run(vm, UINT64_MAX, &stop);
    printf("%lld\n", (long long)penta_coil_register_get(vm, 0));
    penta_vm_free(vm);
    penta_close(module);
    penta_coil_builder_free(b);
    return stop.kind == PENTA_STOP_HALT ? 0 : 1;
}
