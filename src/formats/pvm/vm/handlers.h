/* The bodies of the threaded engine's handlers, as macros over the kinds of ops.h.
 *
 * A handler runs one instruction, or two in a row, and ends with a jump to the next cell's
 * handler. All it needs is in its five arguments, which the compiler keeps in machine registers:
 *   c      the cell
 *   r      the state: registers at small offsets, memory above, rights below (memory.h)
 *   acc    the value last written to a register in this block, so that the next instruction need
 *          not load it; variants of a handler differ in which operand is acc
 *   loop   the first cell of a block that loops
 *   left   the rest of the budget
 * Never take the address of a local variable here: it would turn the jump into a call.
 *
 * gcc turns the last call into a jump when it optimizes (for -O1 the build asks for that), and
 * clang does so where the code says musttail. Elsewhere (no optimization, sanitizers,
 * PENTA_PLAIN_SWITCH) handlers leave their arguments in the state and return to a loop. */
#pragma once
#include <string.h>
#include "base/bytes.h"
#include "pvm/vm/ops.h"
#include "pvm/vm/vm.h"

#if defined(__has_feature)
#define PVM_HAS_FEATURE(x) __has_feature(x)
#else
#define PVM_HAS_FEATURE(x) 0
#endif
#ifdef PVM_TAIL_CALLS /* The build defines PVM_TAIL_CALLS. */
#elif defined(PENTA_PLAIN_SWITCH) || !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) ||    \
    defined(__SANITIZE_THREAD__) || PVM_HAS_FEATURE(address_sanitizer) ||                          \
    PVM_HAS_FEATURE(thread_sanitizer) || PVM_HAS_FEATURE(memory_sanitizer) ||                      \
    !(defined(__x86_64__) || defined(__aarch64__))
#define PVM_TAIL_CALLS 0
#else
#define PVM_TAIL_CALLS 1
#endif

#if defined(__clang__)
#define MUSTTAIL __attribute__((musttail))
#else
#define MUSTTAIL
#endif

#define PARAMETERS                                                                                 \
    const struct pvm_cell *c, uint8_t *r, uint64_t acc, const struct pvm_cell *loop, int64_t left
#define ARGUMENTS c, r, acc, loop, left
#define STATE ((struct pvm_state *)(void *)r)

#if PVM_TAIL_CALLS
#define NEXT_CELL MUSTTAIL return c->run(ARGUMENTS)
#define LEAVE_BY(handler) MUSTTAIL return handler(ARGUMENTS)
#else
#define NEXT_CELL                                                                                  \
    do {                                                                                           \
        STATE->cell = c;                                                                           \
        STATE->acc = acc;                                                                          \
        STATE->loop = loop;                                                                        \
        STATE->left = left;                                                                        \
        return;                                                                                    \
    } while (0)
#define LEAVE_BY(handler)                                                                          \
    do {                                                                                           \
        handler(ARGUMENTS);                                                                        \
        return;                                                                                    \
    } while (0)
#endif

/* These handlers run in place of the next cell's handler (interp.c). */
pvm_handler pvm_leave_charge, pvm_leave_step, pvm_leave_host, pvm_slow_access;

/* Returns the handler of two instructions in a row, or NULL (superinstructions.c). `loops` says
 * that the second one is a branch to the start of its own block. */
pvm_handler *pvm_pair_handler(uint8_t first, unsigned first_in, uint8_t second, unsigned second_in,
                              bool loops);

/* clang-format off */
#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum { PAGE = 1 << PVM_PAGE_BITS };
#define REG(offset) (*(uint64_t *)(void *)(r + (offset)))
#define GUEST(address) (r + PAGE + (address))
#define RIGHTS(address) (r[(ptrdiff_t)((address) >> PVM_PAGE_BITS) - PVM_PAGES])

/* Tells whether an access stays inside one page, and that page allows the access. */
#define REACHES(address, n, right)                                                                 \
    LIKELY((RIGHTS(address) & (right)) && ((n) == 1 || ((address) & (PAGE - 1)) <= PAGE - (n)))

static inline uint64_t get_uint8_t(const uint8_t *p) { return *p; }
static inline uint64_t get_int8_t(const uint8_t *p) { return op_extend8(*p); }
static inline uint64_t get_uint16_t(const uint8_t *p) { return bytes_get16(p); }
static inline uint64_t get_int16_t(const uint8_t *p) { return op_extend16(bytes_get16(p)); }
static inline uint64_t get_uint32_t(const uint8_t *p) { return bytes_get32(p); }
static inline uint64_t get_int32_t(const uint8_t *p) { return op_extend32(bytes_get32(p)); }
static inline uint64_t get_uint64_t(const uint8_t *p) { return bytes_get64(p); }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PUT(type)                                                                                  \
    static inline void put_##type(uint8_t *p, uint64_t v)                                          \
    {                                                                                              \
        type low = (type)v;                                                                        \
        memcpy(p, &low, sizeof low);                                                               \
    }
#else
#define PUT(type)                                                                                  \
    static inline void put_##type(uint8_t *p, uint64_t v)                                          \
    {                                                                                              \
        for (size_t i = 0; i < sizeof(type); i++) p[i] = (uint8_t)(v >> 8 * i);                    \
    }
#endif
PUT(uint8_t) PUT(uint16_t) PUT(uint32_t) PUT(uint64_t)

/* The variant of a handler is the operand whose value is in acc. */
enum { IN_NONE, IN_A, IN_B };
#define A_OF(v) ((v) == IN_A ? acc : REG(c->a))
#define B_OF(v) ((v) == IN_B ? acc : REG(c->b))
#define X_OF    ((uint64_t)(int64_t)c->imm)

#define ENTER_BLOCK                                                                                \
    do {                                                                                           \
        left -= (int64_t)c[-1].wide;                                                               \
        if (UNLIKELY(left < 0)) LEAVE_BY(pvm_leave_charge);                                        \
        NEXT_CELL;                                                                                 \
    } while (0)
#define AT_DISTANCE(distance)                                                                      \
    ((const struct pvm_cell *)(const void *)((const char *)c + (distance)))

/* The macros below are bodies of instructions that go on to the next one, to which they move c;
 * v is the variant. */
#define OPERANDS_OF(v)                                                                             \
    uint64_t a = A_OF(v), b = B_OF(v), x = X_OF;                                                   \
    (void)a, (void)b, (void)x
#define RUN_SET3(e, v)  { OPERANDS_OF(v); acc = (uint64_t)(e); REG(c->d) = acc; c++; }
#define RUN_SET2I(e, v) { OPERANDS_OF(v); acc = (uint64_t)(e); REG(c->a) = acc; c++; }
#define RUN_SET2(e, v)  RUN_SET3(e, v)
#define RUN_CMOV3(e, v) { OPERANDS_OF(v); acc = (e) ? a : REG(c->d); REG(c->d) = acc; c++; }
#define RUN_CMOVI(e, v) { OPERANDS_OF(v); acc = (e) ? x : REG(c->a); REG(c->a) = acc; c++; }
#define RUN_LOADI(e, v) { acc = X_OF; REG(c->a) = acc; c++; }
#define RUN_LOADI64(e, v) { acc = c[1].wide; REG(c->a) = acc; c += 2; }
#define RUN_NOTHING(e, v) { c++; }
#define LOAD_AT(type, sum, size)                                                                   \
    {                                                                                              \
        uint32_t at = (uint32_t)(sum);                                                             \
        if (!REACHES(at, sizeof(type), PVM_LOAD)) LEAVE_BY(pvm_slow_access);                       \
        acc = get_##type(GUEST(at));                                                               \
        REG(c->a) = acc;                                                                           \
        c += size;                                                                                 \
    }
#define STORE_AT(type, sum, value, size)                                                           \
    {                                                                                              \
        uint32_t at = (uint32_t)(sum);                                                             \
        if (!REACHES(at, sizeof(type), PVM_WRITE)) LEAVE_BY(pvm_slow_access);                      \
        put_##type(GUEST(at), value);                                                              \
        c += size;                                                                                 \
    }
#define RUN_LOADX(type, v)   LOAD_AT(type, X_OF, 1)
#define RUN_LOAD(type, v)    LOAD_AT(type, B_OF(v) + X_OF, 1)
#define RUN_STOREX(type, v)  STORE_AT(type, X_OF, A_OF(v), 1)
#define RUN_STORE(type, v)   STORE_AT(type, B_OF(v) + X_OF, A_OF(v), 1)
#define RUN_STOREIX(type, v) STORE_AT(type, X_OF, c[1].wide, 2)
#define RUN_STOREI(type, v)  STORE_AT(type, A_OF(v) + X_OF, c[1].wide, 2)

/* The macros below are bodies of instructions that end a block. `looped` says that the target is
 * `loop`. */
#define BRANCH(condition, size, distance, looped)                                                  \
    {                                                                                              \
        if (condition) {                                                                           \
            c = (looped) ? loop : AT_DISTANCE(distance);                                           \
            ENTER_BLOCK;                                                                           \
        }                                                                                          \
        c += (size) + 1;                                                                           \
        ENTER_BLOCK;                                                                               \
    }
#define END_BRANCH2(e, v, looped) { OPERANDS_OF(v); BRANCH(e, 1, c->imm, looped) }
#define END_BRANCHI(e, v, looped) { OPERANDS_OF(v); BRANCH(e, 2, c[1].imm, looped) }
#define END_JUMP(e, v, looped) { c = (looped) ? loop : AT_DISTANCE(c->imm); ENTER_BLOCK; }
#define END_LOADI_JUMP(e, v, looped) { REG(c->a) = X_OF; c = AT_DISTANCE(c[1].imm); ENTER_BLOCK; }
#define END_FALL(e, v, looped) { c += 2; ENTER_BLOCK; }
/* BY_TABLE jumps by the jump table. The step engine handles addresses that are not in the table,
 * and the return address. */
#define BY_TABLE(address, before)                                                                  \
    {                                                                                              \
        uint32_t to = (address), index = (to >> 1 | to << 31) - 1; /* The index is large for an odd address and for 0. */    \
        if (UNLIKELY(index >= STATE->table_count)) LEAVE_BY(pvm_leave_step);                       \
        uint32_t cell = STATE->table[index];                                                       \
        if (UNLIKELY(!cell)) LEAVE_BY(pvm_leave_step);                                             \
        before;                                                                                    \
        c = STATE->cells + cell;                                                                   \
        ENTER_BLOCK;                                                                               \
    }
#define END_JUMP_DYNAMIC(e, v, looped) BY_TABLE((uint32_t)(A_OF(v) + X_OF), (void)0)
#define END_LOADI_JUMP_DYNAMIC(e, v, looped)                                                       \
    BY_TABLE((uint32_t)(B_OF(v) + c[1].wide), REG(c->a) = X_OF)

/* The macros below make a whole handler body for each kind. */
#define ALL_SET3(e, v, looped)    RUN_SET3(e, v) NEXT_CELL;
#define ALL_SET2I(e, v, looped)   RUN_SET2I(e, v) NEXT_CELL;
#define ALL_SET2(e, v, looped)    RUN_SET2(e, v) NEXT_CELL;
#define ALL_CMOV3(e, v, looped)   RUN_CMOV3(e, v) NEXT_CELL;
#define ALL_CMOVI(e, v, looped)   RUN_CMOVI(e, v) NEXT_CELL;
#define ALL_LOADI(e, v, looped)   RUN_LOADI(e, v) NEXT_CELL;
#define ALL_LOADI64(e, v, looped) RUN_LOADI64(e, v) NEXT_CELL;
#define ALL_NOTHING(e, v, looped) RUN_NOTHING(e, v) NEXT_CELL;
#define ALL_LOADX(e, v, looped)   RUN_LOADX(e, v) NEXT_CELL;
#define ALL_LOAD(e, v, looped)    RUN_LOAD(e, v) NEXT_CELL;
#define ALL_STOREX(e, v, looped)  RUN_STOREX(e, v) NEXT_CELL;
#define ALL_STORE(e, v, looped)   RUN_STORE(e, v) NEXT_CELL;
#define ALL_STOREIX(e, v, looped) RUN_STOREIX(e, v) NEXT_CELL;
#define ALL_STOREI(e, v, looped)  RUN_STOREI(e, v) NEXT_CELL;
#define ALL_BRANCH2(e, v, looped) END_BRANCH2(e, v, looped)
#define ALL_BRANCHI(e, v, looped) END_BRANCHI(e, v, looped)
#define ALL_JUMP(e, v, looped)    END_JUMP(e, v, looped)
#define ALL_LOADI_JUMP(e, v, looped) END_LOADI_JUMP(e, v, looped)
#define ALL_FALL(e, v, looped)    END_FALL(e, v, looped)
#define ALL_JUMP_DYNAMIC(e, v, looped) END_JUMP_DYNAMIC(e, v, looped)
#define ALL_LOADI_JUMP_DYNAMIC(e, v, looped) END_LOADI_JUMP_DYNAMIC(e, v, looped)
#define ALL_TRAP(e, v, looped)    LEAVE_BY(pvm_leave_step);
#define ALL_ECALLI(e, v, looped)  LEAVE_BY(pvm_leave_host);
#define ALL_MEMSET(e, v, looped)  LEAVE_BY(pvm_leave_step);
#define ALL_SBRK(e, v, looped)    LEAVE_BY(pvm_leave_step);
/* clang-format on */
