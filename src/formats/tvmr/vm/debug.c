/* What a debugger asks of tensor programs: calls, and registers of numbers. Tensors are in the
 * machine's tree. */
#include "base/bytes.h"
#include "core/debug/debug_info.h"
#include "tvmr/vm/vm.h"

static penta_flow flow(const penta_module *module, uint64_t pc)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (pc >= m->count) return PENTA_FLOW_NEXT;
    struct tvmr_words w = tvmr_word(m->code.data + pc * TVMR_INSN);
    if (w.ext) return PENTA_FLOW_NEXT;
    return w.opcode == TVMR_OP_CALL     ? PENTA_FLOW_CALL
           : w.opcode == TVMR_OP_RETURN ? PENTA_FLOW_RETURN
                                        : PENTA_FLOW_NEXT;
}

static size_t frames(const penta_vm *base, penta_frame *out, size_t max)
{
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    for (size_t i = 0; i <= vm->call_depth && i < max; i++) {
        size_t depth = vm->call_depth - i;
        out[i] = (penta_frame){i ? vm->calls[depth] - 1 : vm->pc, depth};
    }
    return vm->call_depth + 1;
}

static void variables(const penta_vm *base, size_t frame, penta_variable_report *report, void *user)
{
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    for (unsigned i = 0; !frame && i < TVMR_BANK; i++) {
        char name[8];
        tvmr_register_name((uint8_t)(2 * TVMR_BANK + i), name);
        variable_report(report, user, PENTA_VARIABLE_REGISTER,
                        (penta_field){.name = name, .kind = PENTA_SINT, .as.i = vm->param[i]});
    }
}

static bool set(penta_vm *base, penta_bytes name, const penta_value *value)
{
    int64_t integer = (int64_t)value_integer(value);
    if (integer < INT32_MIN || integer > INT32_MAX) return false;
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        char candidate[8];
        tvmr_register_name((uint8_t)(2 * TVMR_BANK + i), candidate);
        if (!bytes_equal(name, bytes_of(candidate))) continue;
        tvmr_vm(base)->param[i] = (int32_t)integer;
        return true;
    }
    return false;
}

/* The table says for each byte of an operand whether it names a register. */
static void accesses(const penta_vm *base, uint64_t pc, penta_access_report *report, void *user)
{
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    const struct tvmr_op *op = pc < vm->count ? vm->code[pc].op : NULL;
    for (unsigned i = 0; op && op->bytes && i < 4 && op->bytes[i]; i++) {
        char name[8], letter = op->bytes[i];
        if (!strchr("dsm", letter)) continue;
        tvmr_register_name(vm->code[pc].a[i], name);
        if (letter != 'd') access_name(report, user, name, false);
        if (letter != 's') access_name(report, user, name, true);
    }
    if (op && op->domain) report(user, &(penta_access){.host = true});
}

/* Each register is at its number << 32, as long as its tensor is. */
static void regions(const penta_vm *base, penta_region_report *report, void *user)
{
    (void)base;
    region_report(report, user, 0, UINT64_C(3) * TVMR_BANK << 32, true);
}

const struct debug_info tvmr_debug = {.flow = flow,
                                      .frames = frames,
                                      .variables = variables,
                                      .set = set,
                                      .accesses = accesses,
                                      .regions = regions};
