/* Computes how much work an instruction was. Profiles need it, because instructions differ by
 * many orders of magnitude. */
#include "tvmr/vm/ops.h"

static uint64_t operations_elements(const struct tvmr_vm *vm, uint8_t reg)
{
    if (reg >> 6 == 0 && vm->hot[INDEX(reg)].present) return vm->hot[INDEX(reg)].count;
    if (reg >> 6 == 1 && vm->cold[INDEX(reg)].present) return vm->cold[INDEX(reg)].count;
    return 0;
}

/* Counts the multiply-adds of matrix B with a vector C, or with every row or column of C. */
static uint64_t operations_products(const struct tvmr_vm *vm, const struct tvmr_insn *in)
{
    bool cold = in->a[1] >> 6 == 1;
    const struct tvmr_shape *shape =
        cold ? &vm->cold[INDEX(in->a[1])].shape : &vm->hot[INDEX(in->a[1])].shape;
    uint64_t matrix = operations_elements(vm, in->a[1]), out = operations_elements(vm, in->a[0]);
    uint64_t rows = matrix && shape->rank ? shape->dims[0] : 0;
    return rows && out > rows ? matrix * (out / rows) : matrix;
}

struct tvmr_work tvmr_work_of(const struct tvmr_insn *in)
{
    struct tvmr_work work = {0};
    if (!in->op) return work;
    work.product = in->plain == op_core_matmul || in->plain == op_ternary_matmul ||
                   in->plain == op_wire_forward || in->plain == op_core_batch_matmul ||
                   in->plain == op_ternary_batch_matmul || in->plain == op_matrix_product ||
                   in->plain == op_core_matrix_product;
    for (unsigned k = 0; k < 4; k++) {
        char what = in->op->bytes[k];
        bool is_register = what == 'd' || what == 's' || what == 'm';
        if (is_register && in->a[k] != TVMR_NULL) work.registers[work.count++] = in->a[k];
    }
    return work;
}

uint64_t tvmr_operations(const struct tvmr_vm *vm, const struct tvmr_insn *in,
                         const struct tvmr_work *work)
{
    uint64_t most = 1;
    if (work->product) most = operations_products(vm, in);
    for (unsigned k = 0; k < work->count; k++) {
        uint64_t n = operations_elements(vm, work->registers[k]);
        if (n > most) most = n;
    }
    return most;
}
