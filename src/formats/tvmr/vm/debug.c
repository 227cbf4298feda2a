/* Answers a debugger's questions about tensor programs: calls, and registers that hold numbers.
 * The machine's tree shows the tensors. */
#include "base/bytes.h"
#include "core/debug/debug_info.h"
#include "tvmr/vm/vm.h"

/* Finds the instruction after the LOOP that an END_LOOP closes in the text. The search stops at
 * a distance that no program has, so that reading all of a file takes linear time. */
static bool loop_start(const struct tvmr_module *m, uint64_t pc, uint64_t *start)
{
    enum { FARTHEST = 1024 };
    unsigned open = 1;
    for (uint64_t at = pc; at-- && pc - at < FARTHEST;) {
        struct tvmr_words w = tvmr_word(m->code.data + at * TVMR_INSN);
        if (w.ext) continue;
        if (w.opcode == TVMR_OP_END_LOOP) open++;
        if (w.opcode == TVMR_OP_LOOP && !--open) {
            *start = at + 1;
            return true;
        }
    }
    return false;
}

static bool tvmr_debug_branch(const penta_module *module, uint64_t pc, penta_branch *out)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (pc >= m->count) return false;
    struct tvmr_words w = tvmr_word(m->code.data + pc * TVMR_INSN);
    uint32_t far = tvmr_operands(&w), low = far & 0xffff;
    *out = (penta_branch){.next = true};
    if (w.ext) return true;
    switch (w.opcode) {
    case TVMR_OP_HALT: *out = (penta_branch){0}; break;
    case TVMR_OP_RETURN: *out = (penta_branch){.ret = true, .indirect = true}; break;
    case TVMR_OP_RESET: *out = (penta_branch){.jump = true, .has_target = true}; break;
    case TVMR_OP_JUMP:
        *out = (penta_branch){.jump = true, .has_target = true, .target = far};
        break;
    case TVMR_OP_CALL:
        *out = (penta_branch){.next = true, .call = true, .has_target = true, .target = far};
        break;
    case TVMR_OP_IF_ZERO:
    case TVMR_OP_IF_NONZERO:
        *out = (penta_branch){.next = true, .jump = true, .has_target = true, .target = low};
        break;
    case TVMR_OP_BREAK:
        *out = (penta_branch){.jump = true, .has_target = true, .target = pc + 2};
        break;
    case TVMR_OP_END_LOOP:
        *out = (penta_branch){.next = true, .jump = true, .indirect = true};
        out->has_target = loop_start(m, pc, &out->target);
        break;
    default: break;
    }
    return true;
}

static size_t tvmr_debug_frames(const penta_vm *base, penta_frame *out, size_t max)
{
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    for (size_t i = 0; i <= vm->call_depth && i < max; i++) {
        size_t depth = vm->call_depth - i;
        out[i] = (penta_frame){i ? vm->calls[depth] - 1 : vm->pc, depth};
    }
    return vm->call_depth + 1;
}

static void tvmr_debug_variables(const penta_vm *base, size_t frame, penta_variable_report *report,
                                 void *user)
{
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    for (unsigned i = 0; !frame && i < TVMR_BANK; i++) {
        char name[8];
        tvmr_register_name((uint8_t)(2 * TVMR_BANK + i), name);
        variable_report(report, user, PENTA_VARIABLE_REGISTER,
                        (penta_field){.name = name, .kind = PENTA_SINT, .as.i = vm->param[i]});
    }
}

static bool tvmr_debug_set(penta_vm *base, penta_bytes name, const penta_value *value)
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

/* Reports which registers an instruction reads and writes. The table tells for each operand byte
 * whether it names a register. */
static void tvmr_debug_accesses(const penta_vm *base, uint64_t pc, penta_access_report *report,
                                void *user)
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

/* Reports the regions of memory. The address of a register is its number << 32, and the region
 * is as long as its tensor. */
static void tvmr_debug_regions(const penta_vm *base, penta_region_report *report, void *user)
{
    (void)base;
    region_report(report, user, 0, UINT64_C(3) * TVMR_BANK << 32, true);
}

const struct debug_info tvmr_debug = {DEBUG_INFO_CALLS(tvmr), .frames = tvmr_debug_frames,
                                      .set = tvmr_debug_set};
