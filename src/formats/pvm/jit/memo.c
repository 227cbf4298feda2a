/* Which instructions have known code, how it is found, and how it is learned. */
#include <pthread.h>
#include <stdlib.h>
#include "pvm/jit/emit.h"
#include "pvm/jit/memo.h"

struct jit_code pvm_jit_codes[JIT_CODES];
_Atomic uint16_t pvm_jit_memo[2][JIT_ENTRIES + 1];

enum { KINDS = 5, NEVER = 255 };

/* How many bytes of an immediate the code holds, by the immediate's kind: none; one byte, not
 * negative and negative; more bytes, not negative and negative. */
enum tail { UNKNOWN, NOTHING, ADDRESS, FAR, CONSTANT, NUMBER, INVERT, COUNT, HALF, TAILS };
static const uint8_t tails[TAILS][KINDS] = {
    [UNKNOWN] = {NEVER, NEVER, NEVER, NEVER, NEVER},
    [ADDRESS] = {0, 1, 1, 4, 4},
    [FAR] = {4, 4, 4, 4, 4},
    [CONSTANT] = {0, 4, 4, 4, 4},
    [NUMBER] = {1, 1, 1, 4, 4},
    [INVERT] = {1, 1, NEVER, 4, 4},        /* xor with -1 is another instruction */
    [COUNT] = {0, 1, NEVER, NEVER, NEVER}, /* the processor takes it modulo its width, too */
    [HALF] = {NEVER, NEVER, NEVER, 4, 4},
};
/* A sample immediate of each kind, which is then searched for in the code: no opcode, prefix or
 * operand before it looks like it. */
static const int32_t usual[KINDS] = {0, 0x11, -0x63, 0x11223344, -0x11223344};

/* The instructions with known code. Left out are those whose code depends on its address (stubs,
 * traps, dynamic jumps, host calls) or on the value. */
#define T(name, tail) [PVM_OP_##name] = tail
#define SIZES(name, tail)                                                                          \
    T(name##_u8, tail), T(name##_u16, tail), T(name##_u32, tail), T(name##_u64, tail)
#define SIGNED(name, tail) T(name##_i8, tail), T(name##_i16, tail), T(name##_i32, tail)
#define WIDTHS(name, tail) T(name##_32, tail), T(name##_64, tail)
#define BRANCHES(end, tail)                                                                        \
    T(branch_eq##end, tail), T(branch_not_eq##end, tail), T(branch_less_unsigned##end, tail),      \
        T(branch_less_signed##end, tail), T(branch_greater_or_equal_unsigned##end, tail),          \
        T(branch_greater_or_equal_signed##end, tail)
/* clang-format off */
static const uint8_t tail_of[PVM_OPS] = {
    SIZES(load, FAR), SIGNED(load, FAR), SIZES(store, FAR), SIZES(load_indirect, ADDRESS),
    SIGNED(load_indirect, ADDRESS), SIZES(store_indirect, ADDRESS), T(load_imm, CONSTANT),
    WIDTHS(add_imm, ADDRESS), WIDTHS(mul_imm, NUMBER), T(and_imm, NUMBER), T(or_imm, NUMBER),
    T(xor_imm, INVERT), WIDTHS(shift_logical_left_imm, COUNT),
    WIDTHS(shift_logical_right_imm, COUNT),
    WIDTHS(shift_arithmetic_right_imm, COUNT), WIDTHS(rotate_right_imm, COUNT),
    T(cmov_if_zero_imm, FAR), T(cmov_if_not_zero_imm, FAR), T(set_less_than_unsigned_imm, NUMBER),
    T(set_less_than_signed_imm, NUMBER), T(set_greater_than_unsigned_imm, NUMBER),
    T(set_greater_than_signed_imm, NUMBER),

    T(load_imm64, HALF), SIZES(store_imm, FAR), SIZES(store_imm_indirect, ADDRESS),

    T(move_reg, NOTHING), WIDTHS(count_set_bits, NOTHING), WIDTHS(count_leading_zero_bits, NOTHING),
    WIDTHS(count_trailing_zero_bits, NOTHING), T(sign_extend_8, NOTHING),
    T(sign_extend_16, NOTHING), T(zero_extend_16, NOTHING), T(reverse_byte, NOTHING),
    WIDTHS(add, NOTHING), WIDTHS(sub, NOTHING), WIDTHS(mul, NOTHING),
    WIDTHS(shift_logical_left, NOTHING), WIDTHS(shift_logical_right, NOTHING),
    WIDTHS(shift_arithmetic_right, NOTHING), WIDTHS(rotate_left, NOTHING),
    WIDTHS(rotate_right, NOTHING), T(and, NOTHING), T(or, NOTHING), T(xor, NOTHING),
    T(and_inverted, NOTHING), T(or_inverted, NOTHING), T(xnor, NOTHING),
    T(mul_upper_unsigned_unsigned, NOTHING), T(set_less_than_unsigned, NOTHING),
    T(set_less_than_signed, NOTHING), T(cmov_if_zero, NOTHING), T(cmov_if_not_zero, NOTHING),
    T(maximum, NOTHING), T(maximum_unsigned, NOTHING), T(minimum, NOTHING),
    T(minimum_unsigned, NOTHING),

    T(jump, NOTHING), T(fallthrough, NOTHING), T(load_imm_and_jump, FAR), BRANCHES(, NOTHING),
    BRANCHES(_imm, ADDRESS), T(branch_less_or_equal_unsigned_imm, ADDRESS),
    T(branch_less_or_equal_signed_imm, ADDRESS), T(branch_greater_unsigned_imm, ADDRESS),
    T(branch_greater_signed_imm, ADDRESS),
};
/* clang-format on */

/* The instructions that may start a group, and with what; the general way checks it. */
static const uint8_t leads_of[PVM_OPS] = {
    WIDTHS(add, JIT_TO_LOAD),
    WIDTHS(shift_logical_left_imm, JIT_TO_ADD | JIT_TO_SHIFT),
    T(shift_logical_right_imm_32, JIT_TO_ANY), /* by 0 it is an extension */
    T(set_less_than_unsigned, JIT_TO_BRANCH),
    T(set_less_than_signed, JIT_TO_BRANCH),
    T(set_less_than_unsigned_imm, JIT_TO_BRANCH),
    T(set_less_than_signed_imm, JIT_TO_BRANCH),
    T(set_greater_than_unsigned_imm, JIT_TO_BRANCH),
    T(set_greater_than_signed_imm, JIT_TO_BRANCH),
};

static uint8_t joins_of(enum pvm_op op)
{
    unsigned joins = JIT_TO_ANY;
    if (op >= PVM_OP_load_indirect_u8 && op <= PVM_OP_load_indirect_u64) joins |= JIT_TO_LOAD;
    if (op == PVM_OP_add_32 || op == PVM_OP_add_64) joins |= JIT_TO_ADD;
    if (op == PVM_OP_branch_eq_imm || op == PVM_OP_branch_not_eq_imm) joins |= JIT_TO_BRANCH;
    if (op == PVM_OP_shift_logical_right_imm_64 || op == PVM_OP_shift_arithmetic_right_imm_64)
        joins |= JIT_TO_SHIFT;
    return (uint8_t)joins;
}

/* ---- rules ---- */

enum { CHARGES = 3 };
static const uint8_t charges[CHARGES] = {0, JIT_CHARGE_ASYNC, JIT_CHARGE_SYNC};
static struct jit_rules rules[PVM_ISAS][CHARGES];
static uint32_t first_entry[PVM_OPS];

static uint16_t registers_of(enum pvm_shape shape)
{
    switch (shape) {
    case PVM_REG_IMM:
    case PVM_REG_IMM64:
    case PVM_REG_IMM_IMM:
    case PVM_REG_IMM_OFFSET: return 0x00f;
    case PVM_REG_REG_REG: return 0xfff;
    case PVM_IMM_IMM:
    case PVM_OFFSET:
    case PVM_NONE: return 0;
    default: return 0x0ff;
    }
}

static jit_rule rule_of(enum pvm_op op, unsigned charge)
{
    uint32_t immediate = tail_of[op] != NOTHING;
    return first_entry[op] >> 8 | (uint32_t)registers_of((enum pvm_shape)pvm_ops[op].shape) << 12 |
           immediate << 24 | (pvm_ends_block(op) ? charge : 0) << 25;
}

/* How many bytes at the end of the code are not filled in by copying. */
static uint8_t late_of(enum pvm_op op)
{
    switch (op) {
    case PVM_OP_store_imm_u8:
    case PVM_OP_store_imm_indirect_u8: return 1;
    case PVM_OP_store_imm_u16:
    case PVM_OP_store_imm_indirect_u16: return 2;
    case PVM_OP_store_imm_u32:
    case PVM_OP_store_imm_indirect_u32:
    case PVM_OP_store_imm_u64:
    case PVM_OP_store_imm_indirect_u64:
    case PVM_OP_load_imm64: return 4;
    default: return 0;
    }
}

static uint8_t flags_of(enum pvm_op op)
{
    unsigned flags = 0;
    if (!tail_of[op]) flags |= JIT_OTHER;
    if (late_of(op)) flags |= JIT_LATE;
    if (!tail_of[op] || leads_of[op]) flags |= JIT_LOOK;
    if (pvm_ends_block(op)) flags |= JIT_ENDS;
    if (pvm_has_target(op)) flags |= JIT_JUMPS;
    if (pvm_ops[op].flow == PVM_FLOW_BRANCH) flags |= JIT_BRANCHES;
    if (op == PVM_OP_jump) flags |= JIT_COPIES;
    if (op != PVM_OP_invalid) flags |= JIT_VALID;
    return (uint8_t)flags;
}

static struct jit_op_traits traits_of(enum pvm_op op)
{
    enum pvm_shape shape = (enum pvm_shape)pvm_ops[op].shape;
    bool two = shape == PVM_REG_IMM_OFFSET || shape == PVM_REG_IMM_IMM || shape == PVM_IMM_IMM;
    return (struct jit_op_traits){.leads = leads_of[op],
                                  .joins = joins_of(op),
                                  .bytes = shape != PVM_OFFSET,
                                  .sizes = two ? 7 : 0,
                                  .shift = shape == PVM_IMM_IMM ? 0 : 4,
                                  .late = late_of(op),
                                  .whole = op == PVM_OP_load_imm64,
                                  .flags = flags_of(op)};
}

/* A row of jit_rules.immediates. */
static uint16_t immediate_of(unsigned length)
{
    unsigned n = length < 2 ? 0 : length > 6 ? 4 : length - 2;
    return (uint16_t)((32 - 8 * n) | (n > 1 ? 0x300 : n << 8));
}

static bool is_wide(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
}

static void make(struct jit_rules *r, enum pvm_isa isa, unsigned charge)
{
    r->wide = is_wide();
    for (unsigned i = 0; i < 8; i++) r->sizes[i] = (uint8_t)(i < 4 ? i : 4);
    for (unsigned i = 0; i < JIT_IMMEDIATE; i++) {
        r->immediates[i] = immediate_of(0);
        r->immediates[JIT_IMMEDIATE + i] = immediate_of(i);
    }
    for (unsigned i = 0; i < 256; i++) {
        enum pvm_op op = (enum pvm_op)pvm_isas[isa].op[i];
        r->traits[i] = traits_of(op);
        r->flags[i] = flags_of(op);
        if (tail_of[op]) r->rule[i] = rule_of(op, charge);
        if (op == PVM_OP_jump_indirect) r->jump_indirect = (uint8_t)i;
    }
}

static void find_first_entries(void)
{
    uint32_t free = 256 * KINDS; /* the entries before are shared by all without known code */
    for (unsigned op = 0; op < PVM_OPS; op++) {
        if (!tail_of[op]) continue;
        first_entry[op] = free;
        free += pvm_ops[op].shape == PVM_REG_REG_REG ? 4096 : 256 * KINDS;
    }
    if (free > JIT_ENTRIES || free >> 8 > 0xfff) abort(); /* the tables above are too large */
}

const struct jit_rules *pvm_jit_rules(enum pvm_isa isa, uint32_t charge_size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool made[PVM_ISAS][CHARGES];
    unsigned c = 0;
    while (charges[c] != charge_size) c++;
    pthread_mutex_lock(&lock);
    if (!made[isa][c]) {
        find_first_entries();
        make(&rules[isa][c], isa, charge_size);
        made[isa][c] = true;
    }
    pthread_mutex_unlock(&lock);
    return &rules[isa][c];
}

/* ---- learning ---- */

enum { SAMPLE_BYTES = X64_MARGIN + 64 };

/* A program of one instruction; if it is a jump, it goes forward. */
struct sample {
    uint8_t bytes[32], starts[16];
    uint64_t places;
    uint32_t number, offsets[2];
    size_t size; /* of the code */
};

/* Makes a sample of the instruction at `at`, with the sample immediate of this kind. */
static void compose(struct sample *s, const uint8_t *at, enum pvm_op op, unsigned kind)
{
    static const uint8_t upper[4] = {0x88, 0x77, 0x66, 0x55}; /* so that it needs 64 bits */
    enum pvm_shape shape = (enum pvm_shape)pvm_ops[op].shape;
    unsigned n = kind == 0 ? 0 : kind < 3 ? 1 : 4, length = 1;
    s->bytes[0] = at[0];
    if (shape != PVM_OFFSET && shape != PVM_NONE) s->bytes[length++] = at[1];
    if (shape == PVM_REG_REG_REG) s->bytes[length++] = at[2];
    if (shape == PVM_REG_IMM_OFFSET || shape == PVM_REG_IMM_IMM)
        s->bytes[1] = (uint8_t)((at[1] & 15) | n << 4);
    if (shape == PVM_IMM_IMM) s->bytes[1] = (uint8_t)n;
    memcpy(s->bytes + length, &usual[kind], n);
    length += n;
    if (shape == PVM_REG_IMM64) {
        memcpy(s->bytes + length, upper, sizeof upper);
        length += 4;
    }
    if (pvm_has_target(op)) s->bytes[length++] = 30;
    s->starts[0] = 1;
    s->starts[length >> 3] |= (uint8_t)(1u << (length & 7));
    s->places = 1 | UINT64_C(1) << length;
}

static const uint8_t *write_sample(struct sample *s, const struct jit *j, enum pvm_op op,
                                   uint8_t native_code[SAMPLE_BYTES])
{
    struct pvm_native native = {.places = &s->places,
                                .numbers = &s->number,
                                .offsets = s->offsets,
                                .size = sizeof s->bytes};
    struct jit_fixup fixup;
    struct jit k = {.p = j->p,
                    .n = &native,
                    .size = sizeof s->bytes,
                    .word = j->word,
                    .narrow = j->narrow,
                    .fixups = &fixup,
                    .fixup_capacity = 1,
                    .step.at = 1,
                    .decoder = {.ops = j->decoder.ops,
                                .bytes = s->bytes,
                                .starts = s->starts,
                                .limit = sizeof s->starts}};
    x64_init(&k.e, native_code, SAMPLE_BYTES);
    pvm_jit_blocks(&k, 0, true);
    s->size = (pvm_ends_block(op) ? x64_here(&k.e) : s->offsets[1]) - s->offsets[0];
    return native_code + s->offsets[0];
}

/* The offset of the immediate, of which the code holds `tail` bytes; at most 7. -1: not found. */
static int find_immediate(const uint8_t *code, size_t size, const int32_t *value, unsigned tail)
{
    if (!tail) return size > 7 ? 7 : (int)size;
    for (unsigned n = 0; n + tail <= size && n <= 7; n++)
        if (!memcmp(code + n, value, tail)) return (int)n;
    return -1;
}

/* The number of a new code; 0: all are used, and the instruction goes the general way each time. */
static uint32_t new_code(void)
{
    static atomic_uint count = 1;
    uint32_t number = atomic_load(&count);
    while (number < JIT_CODES && !atomic_compare_exchange_weak(&count, &number, number + 1)) {
    }
    return number < JIT_CODES ? number : 0;
}

uint16_t pvm_jit_learn(const struct jit *j, uint32_t pc, unsigned length)
{
    const uint8_t *at = j->decoder.bytes + pc;
    enum pvm_op op = (enum pvm_op)j->decoder.ops[at[0]];
    jit_rule rule = j->rules->rule[at[0]];
    unsigned registers = jit_registers(at), row = j->rules->immediates[jit_row(rule, length)];
    int32_t value = jit_immediate(at + 2, row);
    unsigned kind = (row >> 8) + (value < 0), tail = tails[tail_of[op]][kind];
    _Atomic uint16_t *entry = &pvm_jit_memo[j->narrow][jit_entry(rule, registers, row, value)];
    uint16_t number = atomic_load_explicit(entry, memory_order_acquire);
    if (number) return number; /* learned since the window was filled */
    if (tail != NEVER) number = (uint16_t)new_code();
    if (!number) return 0;

    struct sample s = {0};
    uint8_t native_code[SAMPLE_BYTES];
    compose(&s, at, op, kind);
    const uint8_t *code = write_sample(&s, j, op, native_code);
    int n = find_immediate(code, s.size, &usual[kind], tail);
    unsigned more = (unsigned)n + tail, rest = (unsigned)s.size - more;
    if (n < 0 || rest > 7) return 0;
    uint64_t front = (uint64_t)n << 56, after = (uint64_t)(more | rest << 4 | 0x80) << 56;
    memcpy(&front, code, (unsigned)n);
    memcpy(&after, code + more, rest);
    atomic_store_explicit(&pvm_jit_codes[number].front, front, memory_order_relaxed);
    atomic_store_explicit(&pvm_jit_codes[number].after, after, memory_order_relaxed);
    atomic_store_explicit(entry, number, memory_order_release);
    return number;
}
