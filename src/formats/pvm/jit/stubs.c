/* Writes the entry and the exits of compiled code, and operations that are too long to inline. */
#include "pvm/jit/jit.h"

#define FIELD(name) state_field(offsetof(struct pvm_state, name))

/* A function must keep these registers for its caller. */
static const enum x64_reg saved[] = {RBX, RBP, R12, R13, R14, R15};
enum { SAVED = sizeof saved / sizeof *saved };

static struct x64_mem stack_operand(int32_t disp)
{
    return (struct x64_mem){.base = RSP, .index = X64_NONE, .disp = disp};
}

static void stubs_registers(struct jit *j, bool load)
{
    for (unsigned i = 0; i < PVM_REGISTERS; i++) {
        struct x64_mem m = state_field(offsetof(struct pvm_state, regs) + 8 * i);
        if (load)
            x64_mov_load(&j->e, X64, host_reg(i), m);
        else
            x64_mov_store(&j->e, X64, m, host_reg(i));
    }
    if (load)
        x64_mov_load(&j->e, X64, GAS_REGISTER, FIELD(left));
    else
        x64_mov_store(&j->e, X64, FIELD(left), GAS_REGISTER);
}

/* Writes the function void enter(const void *at). A signal can start this function again from
 * enter_check on (signal_walk() in signal.c). */
static void stubs_enter(struct jit *j, struct x64_label *early)
{
    struct x64 *e = &j->e;
    j->n->enter = x64_here(e);
    for (unsigned i = 0; i < SAVED; i++) x64_push(e, saved[i]);
    x64_push(e, RDI);
    j->n->enter_check = x64_here(e);
    x64_mov_load(e, X64, RCX, FIELD(interrupt));
    x64_cmp_mem8_imm(e, (struct x64_mem){.base = RCX, .index = X64_NONE}, 0);
    x64_jcc(e, X64_NE, early);
    stubs_registers(j, true);
    x64_mov_load(e, X64, RCX, stack_operand(0));
    x64_jmp_reg(e, RCX);
    j->n->enter_end = x64_here(e);
}

static void stubs_exit_with(struct jit *j, enum pvm_native_exit why, struct x64_label *leave)
{
    x64_mov_store_imm(&j->e, X32, FIELD(exit), (int32_t)why);
    x64_jmp(&j->e, leave);
}

static void stubs_exits(struct jit *j, struct x64_label *early)
{
    struct x64 *e = &j->e;
    struct x64_label leave = {0}, out = {0}, step = {0};
    x64_bind(e, early);
    stubs_exit_with(j, PVM_NATIVE_EARLY, &out);
    x64_bind(e, &j->host);
    stubs_exit_with(j, PVM_NATIVE_HOST, &leave);
    x64_bind(e, &j->poll);
    x64_pop(e, RCX);
    stubs_exit_with(j, PVM_NATIVE_POLL, &leave);
    j->n->leave_fault = x64_here(e); /* Here rcx has the address of the fault. */
    stubs_exit_with(j, PVM_NATIVE_FAULT, &leave);
    j->n->leave_kick = x64_here(e);
    stubs_exit_with(j, PVM_NATIVE_KICK, &leave);
    x64_bind(e, &j->dynamic); /* Here ecx has a dynamic address after the end of the table. */
    x64_cmp_imm(e, X32, RCX, (int32_t)PVM_RETURN_ADDRESS);
    x64_pop(e, RCX);
    x64_jcc(e, X64_NE, &step);
    stubs_exit_with(j, PVM_NATIVE_HALT, &leave);
    x64_bind(e, &j->step);
    x64_pop(e, RCX);
    x64_bind(e, &step);
    x64_mov_store_imm(e, X32, FIELD(exit), PVM_NATIVE_STEP);
    x64_bind(e, &leave);
    x64_mov_store(e, X64, FIELD(native_at), RCX);
    stubs_registers(j, false);
    x64_bind(e, &out);
    x64_pop(e, RCX);
    for (unsigned i = SAVED; i--;) x64_pop(e, saved[i]);
    x64_ret(e);
    j->n->exits_end = x64_here(e);
}

/* The stubs below compute. A stub has its first operand on the stack; its second operand and its
 * result are in rcx. */

static void stubs_begin(struct x64 *e, struct x64_label *label)
{
    x64_bind(e, label);
    x64_push(e, RAX);
    x64_push(e, RDX);
}

static void stubs_end(struct x64 *e)
{
    x64_pop(e, RDX);
    x64_pop(e, RAX);
    x64_ret_pop(e, 8);
}

static const struct x64_mem operand = {.base = RSP, .index = X64_NONE, .disp = 24};

static void stubs_divide(struct x64 *e, struct x64_label *label, enum x64_size size, bool is_signed,
                         bool rest)
{
    struct x64_label by_zero = {0}, by_minus_one = {0}, done = {0};
    stubs_begin(e, label);
    x64_mov_load(e, X64, RAX, operand);
    x64_test(e, size, RCX, RCX);
    x64_jcc(e, X64_E, &by_zero);
    if (is_signed) {
        x64_cmp_imm(e, size, RCX, -1);
        x64_jcc(e, X64_E, &by_minus_one);
        if (size == X64)
            x64_cqo(e);
        else
            x64_cdq(e);
        x64_idiv(e, size, RCX);
    } else {
        x64_xor(e, X32, RDX, RDX);
        x64_div(e, size, RCX);
    }
    x64_mov(e, size, RCX, rest ? RDX : RAX);
    x64_bind(e, &done);
    stubs_end(e);
    x64_bind(e, &by_zero);
    if (rest)
        x64_mov(e, size, RCX, RAX);
    else
        x64_or_imm(e, size, RCX, -1);
    x64_jmp(e, &done);
    if (!is_signed) return;
    x64_bind(e, &by_minus_one);
    if (rest) {
        x64_xor(e, X32, RCX, RCX);
    } else {
        x64_mov(e, size, RCX, RAX);
        x64_neg(e, size, RCX);
    }
    x64_jmp(e, &done);
}

/* Computes upper halves of 32-bit products by one multiplication of extended operands. */
static void high_narrow(struct x64 *e, struct x64_label *label, bool second_signed)
{
    stubs_begin(e, label);
    x64_movsxd_load(e, X64, RAX, operand);
    if (second_signed) x64_movsxd(e, RCX, RCX);
    x64_imul(e, X64, RCX, RAX);
    x64_shr_imm(e, X64, RCX, 32);
    stubs_end(e);
}

static void high_wide(struct x64 *e, struct x64_label *label, bool second_signed)
{
    stubs_begin(e, label);
    x64_mov_load(e, X64, RAX, operand);
    if (second_signed) {
        x64_imul_wide(e, X64, RCX);
    } else { /* The result is the unsigned product, minus the second operand if the first is negative. */
        x64_mul(e, X64, RCX);
        x64_mov_load(e, X64, RAX, operand);
        x64_sar_imm(e, X64, RAX, 63);
        x64_and(e, X64, RAX, RCX);
        x64_sub(e, X64, RDX, RAX);
    }
    x64_mov(e, X64, RCX, RDX);
    stubs_end(e);
}

void pvm_jit_stubs(struct jit *j)
{
    struct x64 *e = &j->e;
    struct x64_label early = {0};
    x64_ud2(e); /* No code that is named by its offset is at offset 0, which means "none". */
    stubs_enter(j, &early);
    stubs_exits(j, &early);
    for (unsigned i = 0; i < 8; i++)
        stubs_divide(e, &j->divide[i], i & 4 ? X64 : X32, i & 1, i & 2);
    void (*high)(struct x64 *, struct x64_label *, bool) = j->narrow ? high_narrow : high_wide;
    high(e, &j->high_ss, true);
    high(e, &j->high_su, false);
}
