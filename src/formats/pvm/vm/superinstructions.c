/* Has the handlers that run two instructions: all pairs of the frequent ones, for all places
 * that their operands can have. The instructions listed here are nine tenths of those that
 * compilers emit (counted over contracts, services, games and small kernels). Fewer dispatches
 * save a tenth of the time in tight loops and more in large programs. Each row adds two hundred
 * handlers, so measure before adding one. Which pairs are frequent differs from program to
 * program, so leaving out pairs instead of rows makes programs slower that were not measured. */
#include "pvm/vm/handlers.h"

/* F(name, ways) is an instruction of pairs; `ways` says in which operands acc may be. Where
 * operands may change places it is A, because interp.c exchanges them. A multiplication as the
 * second instruction saves less than 0.2 % of the work of any program that was measured, and so
 * do other comparisons in branches. */
/* clang-format off */
#define FIRST_OR_SECOND(F, ...)                                                                    \
    F(load_indirect_u64, B, __VA_ARGS__) F(load_indirect_i32, B, __VA_ARGS__)                      \
    F(load_indirect_u8, B, __VA_ARGS__)                                                            \
    F(store_indirect_u64, AB, __VA_ARGS__) F(store_indirect_u32, AB, __VA_ARGS__)                  \
    F(store_indirect_u8, AB, __VA_ARGS__) F(load_imm, NONE, __VA_ARGS__)                           \
    F(move_reg, A, __VA_ARGS__)                                                                    \
    F(add_imm_64, B, __VA_ARGS__) F(add_imm_32, B, __VA_ARGS__) F(and_imm, B, __VA_ARGS__)         \
    F(shift_logical_left_imm_64, B, __VA_ARGS__) F(shift_logical_right_imm_64, B, __VA_ARGS__)     \
    F(shift_logical_right_imm_32, B, __VA_ARGS__) F(rotate_right_imm_32, B, __VA_ARGS__)           \
    F(add_64, A, __VA_ARGS__) F(add_32, A, __VA_ARGS__)                                            \
    F(sub_64, AB, __VA_ARGS__) F(and, A, __VA_ARGS__) F(or, A, __VA_ARGS__)                        \
    F(xor, A, __VA_ARGS__) F(set_less_than_unsigned, AB, __VA_ARGS__)
#define ONLY_FIRST(F, ...) F(mul_64, A, __VA_ARGS__) F(mul_32, A, __VA_ARGS__)
#define ENDINGS(F, ...)                                                                            \
    F(branch_eq, LOOP_A, __VA_ARGS__) F(branch_not_eq, LOOP_A, __VA_ARGS__)                        \
    F(branch_less_unsigned, LOOP_AB, __VA_ARGS__)                                                  \
    F(branch_eq_imm, LOOP_A, __VA_ARGS__) F(branch_not_eq_imm, LOOP_A, __VA_ARGS__)                \
    F(jump, LOOP, __VA_ARGS__) F(jump_indirect, A, __VA_ARGS__)                                    \
    F(load_imm_and_jump, NONE, __VA_ARGS__) F(fallthrough, NONE, __VA_ARGS__)
/* clang-format on */
#define FIRSTS(F, ...) FIRST_OR_SECOND(F, __VA_ARGS__) ONLY_FIRST(F, __VA_ARGS__)
#define SECONDS(F, ...) FIRST_OR_SECOND(F, __VA_ARGS__) ENDINGS(F, __VA_ARGS__)

/* These macros go over the places of operands and over whether a jump goes to `loop`: M(in,
 * loops, ...). */
#define WAYS_NONE(M, ...) M(IN_NONE, 0, __VA_ARGS__)
#define WAYS_A(M, ...) M(IN_NONE, 0, __VA_ARGS__) M(IN_A, 0, __VA_ARGS__)
#define WAYS_B(M, ...) M(IN_NONE, 0, __VA_ARGS__) M(IN_B, 0, __VA_ARGS__)
#define WAYS_AB(M, ...) WAYS_A(M, __VA_ARGS__) M(IN_B, 0, __VA_ARGS__)
#define WAYS_LOOP(M, ...) M(IN_NONE, 0, __VA_ARGS__) M(IN_NONE, 1, __VA_ARGS__)
#define WAYS_LOOP_A(M, ...)                                                                        \
    WAYS_LOOP(M, __VA_ARGS__) M(IN_A, 0, __VA_ARGS__) M(IN_A, 1, __VA_ARGS__)
#define WAYS_LOOP_AB(M, ...)                                                                       \
    WAYS_LOOP_A(M, __VA_ARGS__) M(IN_B, 0, __VA_ARGS__) M(IN_B, 1, __VA_ARGS__)

/* EVERY_PAIR goes through the list of seconds for each first. A macro does not expand inside
 * itself, so LATER hides the inner use of the list from the first scan, and TWICE scans again. */
#define NOTHING_HERE()
#define LATER(macro) macro NOTHING_HERE()
#define INNER_SECONDS() SECONDS
#define TWICE(...) __VA_ARGS__

#define EVERY_PAIR(use) TWICE(FIRSTS(FIRST, use))
#define FIRST(name, ways, use) PVM_ROW(FIRST_ROW, name, ways, use)
#define FIRST_ROW(n1, k1, class, e1, ways, use) WAYS_##ways(FIRST_WAY, n1, k1, e1, use)
#define FIRST_WAY(v1, loops, n1, k1, e1, use)                                                      \
    LATER(INNER_SECONDS)                                                                           \
    ()(SECOND, use, n1, k1, e1, v1)
#define SECOND(name, ways, ...) PVM_ROW(SECOND_ROW, name, ways, __VA_ARGS__)
#define SECOND_ROW(n2, k2, class, e2, ways, ...) WAYS_##ways(SECOND_WAY, n2, k2, e2, __VA_ARGS__)
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
#define NUMBER(name, ways, prefix) prefix##name,
    FIRSTS(NUMBER, FIRST_) FIRST_COUNT
};
enum { SECONDS(NUMBER, SECOND_) SECOND_COUNT };

static pvm_handler *const pairs[FIRST_COUNT][3][SECOND_COUNT][3][2] = {
#define ENTRY(n1, k1, e1, v1, n2, k2, e2, v2, loops)                                               \
    [FIRST_##n1][v1][SECOND_##n2][v2][loops] = n1##_##v1##_##n2##_##v2##_##loops,
    EVERY_PAIR(ENTRY)};

/* An entry is 1 + the place of an instruction in `pairs`, or 0 when it is not there. */
#define PLACE(name, ways, prefix) [PVM_OP_##name] = prefix##name + 1,
static const uint8_t firsts[PVM_OPS] = {FIRSTS(PLACE, FIRST_)};
static const uint8_t seconds[PVM_OPS] = {SECONDS(PLACE, SECOND_)};

pvm_handler *pvm_pair_handler(uint8_t first, unsigned first_in, uint8_t second, unsigned second_in,
                              bool loops)
{
    unsigned a = first < PVM_OPS ? firsts[first] : 0, b = second < PVM_OPS ? seconds[second] : 0;
    return a && b ? pairs[a - 1][first_in][b - 1][second_in][loops] : NULL;
}
