/* Handlers that run two instructions: all pairs of the frequent ones, for all places that their
 * operands can have. FREQUENT is nine tenths of the instructions that compilers emit (counted
 * over contracts, a game and small kernels). Fewer dispatches save a tenth of the time in tight
 * loops and more in large programs. Each row adds two hundred handlers, so measure before adding
 * one. */
#include "pvm/vm/handlers.h"

/* clang-format off */
#define FREQUENT(F, ...)                                                                           \
    F(load_indirect_u64, __VA_ARGS__) F(load_indirect_i32, __VA_ARGS__)                            \
    F(load_indirect_u8, __VA_ARGS__)                                                               \
    F(store_indirect_u64, __VA_ARGS__) F(store_indirect_u32, __VA_ARGS__)                          \
    F(store_indirect_u8, __VA_ARGS__) F(load_imm, __VA_ARGS__) F(move_reg, __VA_ARGS__)            \
    F(add_imm_64, __VA_ARGS__) F(add_imm_32, __VA_ARGS__) F(and_imm, __VA_ARGS__)                  \
    F(shift_logical_left_imm_64, __VA_ARGS__) F(shift_logical_right_imm_64, __VA_ARGS__)           \
    F(shift_logical_right_imm_32, __VA_ARGS__) F(rotate_right_imm_32, __VA_ARGS__)                 \
    F(add_64, __VA_ARGS__) F(add_32, __VA_ARGS__)                                                  \
    F(sub_64, __VA_ARGS__) F(and, __VA_ARGS__) F(or, __VA_ARGS__) F(xor, __VA_ARGS__)              \
    F(mul_64, __VA_ARGS__) F(mul_32, __VA_ARGS__) F(set_less_than_unsigned, __VA_ARGS__)
#define ENDINGS(F, ...)                                                                            \
    F(branch_eq, __VA_ARGS__) F(branch_not_eq, __VA_ARGS__) F(branch_less_unsigned, __VA_ARGS__)   \
    F(branch_greater_or_equal_unsigned, __VA_ARGS__) F(branch_eq_imm, __VA_ARGS__)                 \
    F(branch_not_eq_imm, __VA_ARGS__) F(branch_less_unsigned_imm, __VA_ARGS__)                     \
    F(jump, __VA_ARGS__) F(jump_indirect, __VA_ARGS__) F(load_imm_and_jump, __VA_ARGS__)           \
    F(fallthrough, __VA_ARGS__)
/* clang-format on */

/* The places of operands, and whether a jump goes to `loop`: M(in, loops, ...). */
#define WAYS_SET3(M, ...) M(IN_NONE, 0, __VA_ARGS__) M(IN_A, 0, __VA_ARGS__) M(IN_B, 0, __VA_ARGS__)
#define WAYS_STORE(M, ...) WAYS_SET3(M, __VA_ARGS__)
#define WAYS_SET2I(M, ...) M(IN_NONE, 0, __VA_ARGS__) M(IN_B, 0, __VA_ARGS__)
#define WAYS_LOAD(M, ...) WAYS_SET2I(M, __VA_ARGS__)
#define WAYS_SET2(M, ...) M(IN_NONE, 0, __VA_ARGS__) M(IN_A, 0, __VA_ARGS__)
#define WAYS_LOADI(M, ...) M(IN_NONE, 0, __VA_ARGS__)
#define WAYS_BRANCH2(M, ...)                                                                       \
    WAYS_SET3(M, __VA_ARGS__)                                                                      \
    M(IN_NONE, 1, __VA_ARGS__) M(IN_A, 1, __VA_ARGS__) M(IN_B, 1, __VA_ARGS__)
#define WAYS_BRANCHI(M, ...)                                                                       \
    WAYS_SET2(M, __VA_ARGS__) M(IN_NONE, 1, __VA_ARGS__) M(IN_A, 1, __VA_ARGS__)
#define WAYS_JUMP(M, ...) M(IN_NONE, 0, __VA_ARGS__) M(IN_NONE, 1, __VA_ARGS__)
#define WAYS_JUMP_DYNAMIC(M, ...) WAYS_SET2(M, __VA_ARGS__)
#define WAYS_LOADI_JUMP(M, ...) WAYS_LOADI(M, __VA_ARGS__)
#define WAYS_FALL(M, ...) WAYS_LOADI(M, __VA_ARGS__)

/* EVERY_PAIR goes through the list once more for each of its items. A macro does not expand inside
 * itself, so LATER hides the inner use of the list from the first scan, and TWICE scans again. */
#define NOTHING_HERE()
#define LATER(macro) macro NOTHING_HERE()
#define INNER_FREQUENT() FREQUENT
#define INNER_ENDINGS() ENDINGS
#define TWICE(...) __VA_ARGS__

#define EVERY_PAIR(use) TWICE(FREQUENT(FIRST, use))
#define FIRST(name, use) PVM_ROW(FIRST_ROW, name, use)
#define FIRST_ROW(n1, k1, class, e1, use) WAYS_##k1(FIRST_WAY, n1, k1, e1, use)
#define FIRST_WAY(v1, loops, n1, k1, e1, use)                                                      \
    LATER(INNER_FREQUENT)                                                                          \
    ()(SECOND, use, n1, k1, e1, v1) LATER(INNER_ENDINGS)()(SECOND, use, n1, k1, e1, v1)
#define SECOND(name, ...) PVM_ROW(SECOND_ROW, name, __VA_ARGS__)
#define SECOND_ROW(n2, k2, class, e2, ...) WAYS_##k2(SECOND_WAY, n2, k2, e2, __VA_ARGS__)
#define SECOND_WAY(v2, loops, n2, k2, e2, use, n1, k1, e1, v1)                                     \
    use(n1, k1, e1, v1, n2, k2, e2, v2, loops)

#define W32 0
#define HANDLER(n1, k1, e1, v1, n2, k2, e2, v2, loops)                                             \
    static void n1##_##v1##_##n2##_##v2##_##loops(PARAMETERS)                                      \
    {                                                                                              \
        RUN_##k1(e1, v1) ALL_##k2(e2, v2, loops)                                                   \
    }
EVERY_PAIR(HANDLER)

enum {
#define NUMBER(name, prefix) prefix##name,
    FREQUENT(NUMBER, FREQUENT_) FREQUENT_COUNT,
    BEFORE_ENDINGS = FREQUENT_COUNT - 1,
    ENDINGS(NUMBER, FREQUENT_) SECOND_COUNT
};

static pvm_handler *const pairs[FREQUENT_COUNT][3][SECOND_COUNT][3][2] = {
#define ENTRY(n1, k1, e1, v1, n2, k2, e2, v2, loops)                                               \
    [FREQUENT_##n1][v1][FREQUENT_##n2][v2][loops] = n1##_##v1##_##n2##_##v2##_##loops,
    EVERY_PAIR(ENTRY)};

static const uint8_t numbers[PVM_OPS] = {/* 1 + the place in the table; 0: it is not there */
#define PLACE(name, unused) [PVM_OP_##name] = FREQUENT_##name + 1,
                                         FREQUENT(PLACE, 0) ENDINGS(PLACE, 0)};

pvm_handler *pvm_pair_handler(uint8_t first, unsigned first_in, uint8_t second, unsigned second_in,
                              bool loops)
{
    unsigned a = first < PVM_OPS ? numbers[first] : 0, b = second < PVM_OPS ? numbers[second] : 0;
    if (!a || !b || a > FREQUENT_COUNT) return NULL;
    return pairs[a - 1][first_in][b - 1][second_in][loops];
}
