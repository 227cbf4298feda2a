/* Says once what every instruction does (PVM 5, PVM 9.4), for all engines and for the gas model.
 *
 * PVM_DO_name is the row of instruction `name` of isa.def: KIND, GAS CLASS, EXPRESSION. An engine
 * gives the kinds their meaning and includes isa.def; a missing row does not compile.
 *
 *   kind       operands                                        expression over
 *   SET3       rD = ..                                         a = rA, b = rB
 *   SET2I      rA = ..                                         b = rB, x = first immediate
 *   SET2       rD = ..                                         a = rA
 *   CMOV3      if (..) rD = rA                                 b = rB
 *   CMOVI      if (..) rA = x                                  b = rB
 *   LOADX      rA = type at x                                  a type
 *   LOAD       rA = type at rB + x                             a type
 *   STOREX     type at x = rA                                  a type
 *   STORE      type at rB + x = rA                             a type
 *   STOREIX    type at x = y (second immediate)                a type
 *   STOREI     type at rA + x = y                              a type
 *   BRANCH2    if (..) go to the target                        a = rA, b = rB
 *   BRANCHI    if (..) go to the target                        a = rA, x
 *   others     stand for themselves
 *
 * Values are 64 bits wide. For programs of a 32-bit ISA the engines keep registers sign-extended:
 * then all but four instructions need no second form, because sign extension preserves signed and
 * unsigned order and commutes with the bitwise operations. Those four test W32. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/u128.h"

static inline int64_t op_signed(uint64_t v) { return (int64_t)v; }
static inline uint64_t op_extend32(uint64_t v) { return (uint64_t)(int64_t)(int32_t)(uint32_t)v; }
static inline uint64_t op_extend16(uint64_t v) { return (uint64_t)(int64_t)(int16_t)(uint16_t)v; }
static inline uint64_t op_extend8(uint64_t v) { return (uint64_t)(int64_t)(int8_t)(uint8_t)v; }

/* The functions below divide, which never traps. */
static inline uint64_t op_div_u32(uint64_t a, uint64_t b)
{
    return (uint32_t)b ? op_extend32((uint32_t)a / (uint32_t)b) : UINT64_MAX;
}
static inline uint64_t op_rem_u32(uint64_t a, uint64_t b)
{
    return op_extend32((uint32_t)b ? (uint32_t)a % (uint32_t)b : (uint32_t)a);
}
static inline uint64_t op_div_s32(uint64_t a, uint64_t b)
{
    int32_t n = (int32_t)(uint32_t)a, d = (int32_t)(uint32_t)b;
    if (!d) return UINT64_MAX;
    return (uint64_t)(int64_t)(d == -1 ? (int32_t)(0u - (uint32_t)n) : n / d);
}
static inline uint64_t op_rem_s32(uint64_t a, uint64_t b)
{
    int32_t n = (int32_t)(uint32_t)a, d = (int32_t)(uint32_t)b;
    if (!d) return (uint64_t)(int64_t)n;
    return d == -1 ? 0 : (uint64_t)(int64_t)(n % d);
}
static inline uint64_t op_div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline uint64_t op_rem_u64(uint64_t a, uint64_t b) { return b ? a % b : a; }
static inline uint64_t op_div_s64(uint64_t a, uint64_t b)
{
    if (!b) return UINT64_MAX;
    return op_signed(b) == -1 ? 0 - a : (uint64_t)(op_signed(a) / op_signed(b));
}
static inline uint64_t op_rem_s64(uint64_t a, uint64_t b)
{
    if (!b) return a;
    return op_signed(b) == -1 ? 0 : (uint64_t)(op_signed(a) % op_signed(b));
}

static inline uint64_t op_rotl64(uint64_t v, uint64_t n) { return v << (n & 63) | v >> (-n & 63); }
static inline uint64_t op_rotr64(uint64_t v, uint64_t n) { return v >> (n & 63) | v << (-n & 63); }
static inline uint64_t op_rotl32(uint64_t value, uint64_t n)
{
    uint32_t v = (uint32_t)value;
    return op_extend32(v << (n & 31) | v >> (-n & 31));
}
static inline uint64_t op_rotr32(uint64_t value, uint64_t n)
{
    uint32_t v = (uint32_t)value;
    return op_extend32(v >> (n & 31) | v << (-n & 31));
}
static inline uint64_t op_shl32(uint64_t v, uint64_t n)
{
    return op_extend32((uint32_t)v << (n & 31));
}
static inline uint64_t op_shr32(uint64_t v, uint64_t n)
{
    return op_extend32((uint32_t)v >> (n & 31));
}
static inline uint64_t op_sar32(uint64_t v, uint64_t n)
{
    return (uint64_t)(int64_t)((int32_t)(uint32_t)v >> (n & 31));
}
static inline uint64_t op_sar64(uint64_t v, uint64_t n)
{
    return (uint64_t)(op_signed(v) >> (n & 63));
}

/* The functions below compute the upper halves of products. */
static inline uint64_t op_mulh_uu64(uint64_t a, uint64_t b)
{
    return u128_high(u128_product(a, b));
}
static inline uint64_t op_mulh_su64(uint64_t a, uint64_t b)
{
    return op_mulh_uu64(a, b) - (op_signed(a) < 0 ? b : 0);
}
static inline uint64_t op_mulh_ss64(uint64_t a, uint64_t b)
{
    return op_mulh_su64(a, b) - (op_signed(b) < 0 ? a : 0);
}
static inline uint64_t op_mulh_uu(uint64_t a, uint64_t b, bool w32)
{
    if (!w32) return op_mulh_uu64(a, b);
    return op_extend32((uint64_t)(uint32_t)a * (uint32_t)b >> 32);
}
static inline uint64_t op_mulh_su(uint64_t a, uint64_t b, bool w32)
{
    if (!w32) return op_mulh_su64(a, b);
    return (uint64_t)((int64_t)(int32_t)(uint32_t)a * (int64_t)(uint32_t)b >> 32);
}
static inline uint64_t op_mulh_ss(uint64_t a, uint64_t b, bool w32)
{
    if (!w32) return op_mulh_ss64(a, b);
    return (uint64_t)((int64_t)(int32_t)(uint32_t)a * (int32_t)(uint32_t)b >> 32);
}
static inline uint64_t op_reverse(uint64_t v, bool w32)
{
    return w32 ? op_extend32(__builtin_bswap32((uint32_t)v)) : __builtin_bswap64(v);
}

static inline uint64_t op_clz64(uint64_t v) { return v ? (uint64_t)__builtin_clzll(v) : 64; }
static inline uint64_t op_ctz64(uint64_t v) { return v ? (uint64_t)__builtin_ctzll(v) : 64; }
static inline uint64_t op_clz32(uint64_t v)
{
    return (uint32_t)v ? (uint64_t)__builtin_clz((uint32_t)v) : 32;
}
static inline uint64_t op_ctz32(uint64_t v)
{
    return (uint32_t)v ? (uint64_t)__builtin_ctz((uint32_t)v) : 32;
}
static inline uint64_t op_count64(uint64_t v) { return (uint64_t)__builtin_popcountll(v); }
static inline uint64_t op_count32(uint64_t v) { return (uint64_t)__builtin_popcount((uint32_t)v); }

static inline uint64_t op_min_s(uint64_t a, uint64_t b)
{
    return op_signed(a) < op_signed(b) ? a : b;
}
static inline uint64_t op_max_s(uint64_t a, uint64_t b)
{
    return op_signed(a) > op_signed(b) ? a : b;
}
static inline uint64_t op_min_u(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t op_max_u(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* clang-format off */
#define PVM_DO_invalid              TRAP, STOP, 0
#define PVM_DO_trap                 TRAP, STOP, 0
#define PVM_DO_fallthrough          FALL, STOP, 0
#define PVM_DO_memset               MEMSET, HOST, 0
#define PVM_DO_unlikely             NOTHING, UNLIKELY, 0
#define PVM_DO_ecalli               ECALLI, HOST, 0
#define PVM_DO_load_imm64           LOADI64, LOADI64, 0
#define PVM_DO_load_imm             LOADI, LOADI, 0
#define PVM_DO_sbrk                 SBRK, HOST, 0

#define PVM_DO_jump                 JUMP, JUMP, 0
#define PVM_DO_jump_indirect        JUMP_DYNAMIC, DYNAMIC, 0
#define PVM_DO_load_imm_and_jump    LOADI_JUMP, JUMP, 0
#define PVM_DO_load_imm_and_jump_indirect LOADI_JUMP_DYNAMIC, DYNAMIC, 0

#define PVM_DO_store_imm_u8         STOREIX, STORE, uint8_t
#define PVM_DO_store_imm_u16        STOREIX, STORE, uint16_t
#define PVM_DO_store_imm_u32        STOREIX, STORE, uint32_t
#define PVM_DO_store_imm_u64        STOREIX, STORE, uint64_t
#define PVM_DO_store_imm_indirect_u8  STOREI, STORE, uint8_t
#define PVM_DO_store_imm_indirect_u16 STOREI, STORE, uint16_t
#define PVM_DO_store_imm_indirect_u32 STOREI, STORE, uint32_t
#define PVM_DO_store_imm_indirect_u64 STOREI, STORE, uint64_t
#define PVM_DO_load_u8              LOADX, LOAD, uint8_t
#define PVM_DO_load_i8              LOADX, LOAD, int8_t
#define PVM_DO_load_u16             LOADX, LOAD, uint16_t
#define PVM_DO_load_i16             LOADX, LOAD, int16_t
#define PVM_DO_load_u32             LOADX, LOAD, uint32_t
#define PVM_DO_load_i32             LOADX, LOAD, int32_t
#define PVM_DO_load_u64             LOADX, LOAD, uint64_t
#define PVM_DO_store_u8             STOREX, STORE, uint8_t
#define PVM_DO_store_u16            STOREX, STORE, uint16_t
#define PVM_DO_store_u32            STOREX, STORE, uint32_t
#define PVM_DO_store_u64            STOREX, STORE, uint64_t
#define PVM_DO_load_indirect_u8     LOAD, LOAD, uint8_t
#define PVM_DO_load_indirect_i8     LOAD, LOAD, int8_t
#define PVM_DO_load_indirect_u16    LOAD, LOAD, uint16_t
#define PVM_DO_load_indirect_i16    LOAD, LOAD, int16_t
#define PVM_DO_load_indirect_u32    LOAD, LOAD, uint32_t
#define PVM_DO_load_indirect_i32    LOAD, LOAD, int32_t
#define PVM_DO_load_indirect_u64    LOAD, LOAD, uint64_t
#define PVM_DO_store_indirect_u8    STORE, STORE, uint8_t
#define PVM_DO_store_indirect_u16   STORE, STORE, uint16_t
#define PVM_DO_store_indirect_u32   STORE, STORE, uint32_t
#define PVM_DO_store_indirect_u64   STORE, STORE, uint64_t

#define PVM_DO_branch_eq            BRANCH2, BRANCH, a == b
#define PVM_DO_branch_not_eq        BRANCH2, BRANCH, a != b
#define PVM_DO_branch_less_unsigned BRANCH2, BRANCH, a < b
#define PVM_DO_branch_less_signed   BRANCH2, BRANCH, op_signed(a) < op_signed(b)
#define PVM_DO_branch_greater_or_equal_unsigned BRANCH2, BRANCH, a >= b
#define PVM_DO_branch_greater_or_equal_signed   BRANCH2, BRANCH, op_signed(a) >= op_signed(b)
#define PVM_DO_branch_eq_imm        BRANCHI, BRANCH, a == x
#define PVM_DO_branch_not_eq_imm    BRANCHI, BRANCH, a != x
#define PVM_DO_branch_less_unsigned_imm             BRANCHI, BRANCH, a < x
#define PVM_DO_branch_less_or_equal_unsigned_imm    BRANCHI, BRANCH, a <= x
#define PVM_DO_branch_greater_or_equal_unsigned_imm BRANCHI, BRANCH, a >= x
#define PVM_DO_branch_greater_unsigned_imm          BRANCHI, BRANCH, a > x
#define PVM_DO_branch_less_signed_imm               BRANCHI, BRANCH, op_signed(a) < op_signed(x)
#define PVM_DO_branch_less_or_equal_signed_imm      BRANCHI, BRANCH, op_signed(a) <= op_signed(x)
#define PVM_DO_branch_greater_or_equal_signed_imm   BRANCHI, BRANCH, op_signed(a) >= op_signed(x)
#define PVM_DO_branch_greater_signed_imm            BRANCHI, BRANCH, op_signed(a) > op_signed(x)

#define PVM_DO_move_reg             SET2, MOVE, a
#define PVM_DO_count_set_bits_64    SET2, BITS, op_count64(a)
#define PVM_DO_count_set_bits_32    SET2, BITS, op_count32(a)
#define PVM_DO_count_leading_zero_bits_64  SET2, BITS, op_clz64(a)
#define PVM_DO_count_leading_zero_bits_32  SET2, BITS, op_clz32(a)
#define PVM_DO_count_trailing_zero_bits_64 SET2, CTZ, op_ctz64(a)
#define PVM_DO_count_trailing_zero_bits_32 SET2, CTZ, op_ctz32(a)
#define PVM_DO_sign_extend_8        SET2, BITS, op_extend8(a)
#define PVM_DO_sign_extend_16       SET2, BITS, op_extend16(a)
#define PVM_DO_zero_extend_16       SET2, BITS, (a & 0xffff)
#define PVM_DO_reverse_byte         SET2, SIMPLE, op_reverse(a, W32)

#define PVM_DO_add_imm_32           SET2I, SIMPLE32, op_extend32(b + x)
#define PVM_DO_add_imm_64           SET2I, SIMPLE, b + x
#define PVM_DO_and_imm              SET2I, SIMPLE, b & x
#define PVM_DO_xor_imm              SET2I, SIMPLE, b ^ x
#define PVM_DO_or_imm               SET2I, SIMPLE, b | x
#define PVM_DO_mul_imm_32           SET2I, MUL32, op_extend32(b * x)
#define PVM_DO_mul_imm_64           SET2I, MUL, b * x
#define PVM_DO_negate_and_add_imm_32 SET2I, NEGATE32, op_extend32(x - b)
#define PVM_DO_negate_and_add_imm_64 SET2I, NEGATE, x - b
#define PVM_DO_set_less_than_unsigned_imm    SET2I, COMPARE, b < x
#define PVM_DO_set_less_than_signed_imm      SET2I, COMPARE, op_signed(b) < op_signed(x)
#define PVM_DO_set_greater_than_unsigned_imm SET2I, COMPARE, b > x
#define PVM_DO_set_greater_than_signed_imm   SET2I, COMPARE, op_signed(b) > op_signed(x)
#define PVM_DO_shift_logical_left_imm_32     SET2I, SIMPLE32, op_shl32(b, x)
#define PVM_DO_shift_logical_right_imm_32    SET2I, SIMPLE32, op_shr32(b, x)
#define PVM_DO_shift_arithmetic_right_imm_32 SET2I, SIMPLE32, op_sar32(b, x)
#define PVM_DO_shift_logical_left_imm_64     SET2I, SIMPLE, b << (x & 63)
#define PVM_DO_shift_logical_right_imm_64    SET2I, SIMPLE, b >> (x & 63)
#define PVM_DO_shift_arithmetic_right_imm_64 SET2I, SIMPLE, op_sar64(b, x)
#define PVM_DO_shift_logical_left_imm_alt_32     SET2I, ALT32, op_shl32(x, b)
#define PVM_DO_shift_logical_right_imm_alt_32    SET2I, ALT32, op_shr32(x, b)
#define PVM_DO_shift_arithmetic_right_imm_alt_32 SET2I, ALT32, op_sar32(x, b)
#define PVM_DO_shift_logical_left_imm_alt_64     SET2I, ALT, x << (b & 63)
#define PVM_DO_shift_logical_right_imm_alt_64    SET2I, ALT, x >> (b & 63)
#define PVM_DO_shift_arithmetic_right_imm_alt_64 SET2I, ALT, op_sar64(x, b)
#define PVM_DO_rotate_right_imm_64      SET2I, SIMPLE, op_rotr64(b, x)
#define PVM_DO_rotate_right_imm_alt_64  SET2I, ALT, op_rotr64(x, b)
#define PVM_DO_rotate_right_imm_32      SET2I, SIMPLE32, op_rotr32(b, x)
#define PVM_DO_rotate_right_imm_alt_32  SET2I, ALT32, op_rotr32(x, b)
#define PVM_DO_cmov_if_zero_imm         CMOVI, CMOVI, b == 0
#define PVM_DO_cmov_if_not_zero_imm     CMOVI, CMOVI, b != 0

#define PVM_DO_add_32               SET3, SIMPLE32, op_extend32(a + b)
#define PVM_DO_sub_32               SET3, SIMPLE32, op_extend32(a - b)
#define PVM_DO_mul_32               SET3, MUL32, op_extend32(a * b)
#define PVM_DO_div_unsigned_32      SET3, DIV, op_div_u32(a, b)
#define PVM_DO_div_signed_32        SET3, DIV, op_div_s32(a, b)
#define PVM_DO_rem_unsigned_32      SET3, DIV, op_rem_u32(a, b)
#define PVM_DO_rem_signed_32        SET3, DIV, op_rem_s32(a, b)
#define PVM_DO_shift_logical_left_32     SET3, SHIFT32, op_shl32(a, b)
#define PVM_DO_shift_logical_right_32    SET3, SHIFT32, op_shr32(a, b)
#define PVM_DO_shift_arithmetic_right_32 SET3, SHIFT32, op_sar32(a, b)
#define PVM_DO_add_64               SET3, SIMPLE, a + b
#define PVM_DO_sub_64               SET3, SIMPLE, a - b
#define PVM_DO_mul_64               SET3, MUL, a * b
#define PVM_DO_div_unsigned_64      SET3, DIV, op_div_u64(a, b)
#define PVM_DO_div_signed_64        SET3, DIV, op_div_s64(a, b)
#define PVM_DO_rem_unsigned_64      SET3, DIV, op_rem_u64(a, b)
#define PVM_DO_rem_signed_64        SET3, DIV, op_rem_s64(a, b)
#define PVM_DO_shift_logical_left_64     SET3, SHIFT, a << (b & 63)
#define PVM_DO_shift_logical_right_64    SET3, SHIFT, a >> (b & 63)
#define PVM_DO_shift_arithmetic_right_64 SET3, SHIFT, op_sar64(a, b)
#define PVM_DO_and                  SET3, SIMPLE, a & b
#define PVM_DO_xor                  SET3, SIMPLE, a ^ b
#define PVM_DO_or                   SET3, SIMPLE, a | b
#define PVM_DO_mul_upper_signed_signed     SET3, MULH, op_mulh_ss(a, b, W32)
#define PVM_DO_mul_upper_unsigned_unsigned SET3, MULH, op_mulh_uu(a, b, W32)
#define PVM_DO_mul_upper_signed_unsigned   SET3, MULHSU, op_mulh_su(a, b, W32)
#define PVM_DO_set_less_than_unsigned      SET3, COMPARE, a < b
#define PVM_DO_set_less_than_signed        SET3, COMPARE, op_signed(a) < op_signed(b)
#define PVM_DO_cmov_if_zero         CMOV3, CMOV, b == 0
#define PVM_DO_cmov_if_not_zero     CMOV3, CMOV, b != 0
#define PVM_DO_rotate_left_64       SET3, SHIFT, op_rotl64(a, b)
#define PVM_DO_rotate_left_32       SET3, SHIFT32, op_rotl32(a, b)
#define PVM_DO_rotate_right_64      SET3, SHIFT, op_rotr64(a, b)
#define PVM_DO_rotate_right_32      SET3, SHIFT32, op_rotr32(a, b)
#define PVM_DO_and_inverted         SET3, INVERTED, a & ~b
#define PVM_DO_or_inverted          SET3, INVERTED, a | ~b
#define PVM_DO_xnor                 SET3, XNOR, ~(a ^ b)
#define PVM_DO_maximum              SET3, MINMAX, op_max_s(a, b)
#define PVM_DO_maximum_unsigned     SET3, MINMAX, op_max_u(a, b)
#define PVM_DO_minimum              SET3, MINMAX, op_min_s(a, b)
#define PVM_DO_minimum_unsigned     SET3, MINMAX, op_min_u(a, b)

/* PVM_ROW(MACRO, name, more...) expands to MACRO(name, kind, gas class, expression, more...). */
#define PVM_ROW(macro, name, ...) PVM_ROW_(macro, name, PVM_DO_##name, __VA_ARGS__)
#define PVM_ROW_(macro, name, ...) macro(name, __VA_ARGS__)

enum pvm_kind {
    PVM_DO_TRAP, PVM_DO_FALL, PVM_DO_MEMSET, PVM_DO_NOTHING, PVM_DO_ECALLI, PVM_DO_LOADI64,
    PVM_DO_LOADI, PVM_DO_SBRK, PVM_DO_JUMP, PVM_DO_JUMP_DYNAMIC, PVM_DO_LOADI_JUMP,
    PVM_DO_LOADI_JUMP_DYNAMIC, PVM_DO_STOREIX, PVM_DO_STOREI, PVM_DO_LOADX, PVM_DO_STOREX,
    PVM_DO_LOAD, PVM_DO_STORE, PVM_DO_BRANCH2, PVM_DO_BRANCHI, PVM_DO_SET2, PVM_DO_SET2I,
    PVM_DO_SET3, PVM_DO_CMOV3, PVM_DO_CMOVI,
};

/* PVM_USES_kind says which registers a kind of instruction reads, and which one it writes, by
 * their places in its bytes (place 0 is rA, or rD where there are only two registers). A
 * conditional move also keeps the register that it writes. memset and host calls use registers
 * that they do not name. */
enum { PVM_READS_0 = 1, PVM_READS_1 = 2, PVM_WRITES_0 = 1, PVM_WRITES_2 = 3 };
#define PVM_USES_SET3               PVM_READS_0 | PVM_READS_1, PVM_WRITES_2
#define PVM_USES_SET2I              PVM_READS_1, PVM_WRITES_0
#define PVM_USES_SET2               PVM_READS_1, PVM_WRITES_0
#define PVM_USES_CMOV3              PVM_READS_0 | PVM_READS_1, PVM_WRITES_2
#define PVM_USES_CMOVI              PVM_READS_1, PVM_WRITES_0
#define PVM_USES_LOADX              0, PVM_WRITES_0
#define PVM_USES_LOAD               PVM_READS_1, PVM_WRITES_0
#define PVM_USES_STOREX             PVM_READS_0, 0
#define PVM_USES_STORE              PVM_READS_0 | PVM_READS_1, 0
#define PVM_USES_STOREIX            0, 0
#define PVM_USES_STOREI             PVM_READS_0, 0
#define PVM_USES_BRANCH2            PVM_READS_0 | PVM_READS_1, 0
#define PVM_USES_BRANCHI            PVM_READS_0, 0
#define PVM_USES_LOADI              0, PVM_WRITES_0
#define PVM_USES_LOADI64            0, PVM_WRITES_0
#define PVM_USES_SBRK               PVM_READS_1, PVM_WRITES_0
#define PVM_USES_JUMP_DYNAMIC       PVM_READS_0, 0
#define PVM_USES_LOADI_JUMP_DYNAMIC PVM_READS_1, PVM_WRITES_0
#define PVM_USES_LOADI_JUMP         0, PVM_WRITES_0
#define PVM_USES_JUMP               0, 0
#define PVM_USES_TRAP               0, 0
#define PVM_USES_FALL               0, 0
#define PVM_USES_MEMSET             0, 0
#define PVM_USES_NOTHING            0, 0
#define PVM_USES_ECALLI             0, 0
/* clang-format on */

/* The table is in ops.c. */
extern const struct pvm_uses {
    uint8_t kind; /* a number of enum pvm_kind */
    uint8_t reads, writes;
} pvm_uses[]; /* The index is a number of enum pvm_op. */
