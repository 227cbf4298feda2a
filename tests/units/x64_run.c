/* Executes what src/x64/operations.c writes: every operation with its registers the same or not
 * in every way, every count of a shift, immediates around the limits of their encodings. The
 * results must be those of C. */
#include "check.h"
#include "x64/operations.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *memory;
static struct x64 e;

enum { ROOM = 4096 };

/* These registers may change in a function. The last one is `aside`, which is no destination. */
static const enum x64_reg registers[] = {RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11}, aside = R11;
enum { REGISTERS = sizeof registers / sizeof *registers, TARGETS = REGISTERS - 1 };

static const uint64_t values[] = {0,
                                  1,
                                  5,
                                  0x7fffffff,
                                  0x80000000,
                                  0xffffffff,
                                  UINT64_C(0x123456789abcdef1),
                                  UINT64_C(0x7fffffffffffffff),
                                  UINT64_C(0x8000000000000000),
                                  UINT64_MAX};
enum { VALUES = sizeof values / sizeof *values };

static const char *const names[] = {"add", "or",   "adc", "sbb", "and", "sub", "xor",
                                    "cmp", "imul", "shl", "shr", "sar", "rol", "ror"};

static uint64_t x64_run_meaning(unsigned op, enum x64_size size, uint64_t x, uint64_t y)
{
    unsigned width = size == X64 ? 64 : 32, n = (unsigned)y & (width - 1);
    uint64_t mask = size == X64 ? UINT64_MAX : UINT32_MAX, r = 0;
    x &= mask;
    y &= mask;
    switch (op) {
    case X64_ADD: r = x + y; break;
    case X64_OR: r = x | y; break;
    case X64_AND: r = x & y; break;
    case X64_SUB: r = x - y; break;
    case X64_XOR: r = x ^ y; break;
    case X64_IMUL: r = x * y; break;
    case X64_SHL: r = x << n; break;
    case X64_SHR: r = x >> n; break;
    case X64_SAR:
        r = size == X64 ? (uint64_t)((int64_t)x >> n) : (uint64_t)(int64_t)((int32_t)x >> n);
        break;
    case X64_ROL: r = n ? x << n | x >> (width - n) : x; break;
    case X64_ROR: r = n ? x >> n | x << (width - n) : x; break;
    }
    return r & mask;
}

static void x64_run_begin(void) { x64_init(&e, memory, ROOM); }

static uint64_t x64_run_executed(void)
{
    uint64_t (*function)(void);
    x64_ret(&e);
    memcpy(&function, &memory, sizeof function);
    return function();
}

static void x64_run_same(uint64_t got, uint64_t want, const char *what, enum x64_size size,
                         unsigned d, unsigned a, unsigned b, uint64_t x, uint64_t y)
{
    CHECK(got == want,
          "%s, %d bits, registers %u = %u, %u, of 0x%" PRIx64 " and 0x%" PRIx64 ": 0x%" PRIx64
          ", not 0x%" PRIx64,
          what, size == X64 ? 64 : 32, d, a, b, x, y, got, want);
}

static void x64_run_three(unsigned op, enum x64_size size, enum x64_reg d, enum x64_reg a,
                          enum x64_reg b)
{
    for (int i = 0; i < VALUES; i++)
        for (int k = 0; k < VALUES; k++) {
            uint64_t x = values[i], y = a == b ? x : values[k];
            if (a == aside && b == aside) continue;
            x64_run_begin();
            x64_mov_imm(&e, a, x);
            x64_mov_imm(&e, b, y);
            CHECK(x64_three(&e, op, size, d, a, b, aside));
            x64_mov(&e, X64, RAX, d);
            x64_run_same(x64_run_executed(), x64_run_meaning(op, size, x, y), names[op], size, d, a,
                         b, x, y);
            if (b == d) continue; /* The second register must be as it was. */
            x64_run_begin();
            x64_mov_imm(&e, a, x);
            x64_mov_imm(&e, b, y);
            x64_three(&e, op, size, d, a, b, aside);
            x64_mov(&e, X64, RAX, b);
            x64_run_same(x64_run_executed(), y, names[op], size, d, a, b, x, y);
        }
}

static void two_registers(void)
{
    static const unsigned ops[] = {X64_ADD,  X64_OR,  X64_AND, X64_SUB, X64_XOR,
                                   X64_IMUL, X64_SHL, X64_SHR, X64_SAR};
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
        for (enum x64_size size = X32; size <= X64; size++)
            for (unsigned d = 0; d < TARGETS; d++)
                for (unsigned a = 0; a < REGISTERS; a++)
                    for (unsigned b = 0; b < REGISTERS; b++)
                        x64_run_three(ops[i], size, registers[d], registers[a], registers[b]);
    for (unsigned op = X64_ROL; op <= X64_ROR; op++) /* Rotations have no form with three
                                                      * registers. */
        CHECK(!x64_three(&e, op, X64, RAX, RCX, RDX, aside));
}

static void one_immediate(unsigned op, enum x64_size size, int32_t imm)
{
    for (unsigned d = 0; d < TARGETS; d++)
        for (unsigned a = 0; a < REGISTERS; a++)
            for (int i = 0; i < VALUES; i++) {
                uint64_t x = values[i], y = (uint64_t)(int64_t)imm;
                x64_run_begin();
                x64_mov_imm(&e, registers[a], x);
                x64_three_imm(&e, op, size, registers[d], registers[a], imm);
                x64_mov(&e, X64, RAX, registers[d]);
                x64_run_same(x64_run_executed(), x64_run_meaning(op, size, x, y), names[op], size,
                             registers[d], registers[a], 0, x, y);
            }
}

static void x64_run_immediates(void)
{
    static const unsigned ops[] = {X64_ADD, X64_OR, X64_AND, X64_SUB, X64_XOR, X64_IMUL};
    static const int32_t some[] = {0, 1, -1, 2, 127, 128, -128, -129, INT32_MAX, INT32_MIN};
    for (enum x64_size size = X32; size <= X64; size++) {
        for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++)
            for (unsigned k = 0; k < sizeof some / sizeof *some; k++)
                one_immediate(ops[i], size, some[k]);
        for (unsigned op = X64_SHL; op <= X64_ROR; op++)
            for (int32_t count = -1; count <= 65; count++) one_immediate(op, size, count);
    }
}

static uint64_t upper_half(uint64_t x, uint64_t y, bool with_sign)
{
    uint64_t r = (uint64_t)((unsigned __int128)x * y >> 64);
    if (!with_sign) return r;
    return r - ((int64_t)x < 0 ? y : 0) - ((int64_t)y < 0 ? x : 0);
}

static uint64_t x64_run_divided(enum x64_wide op, enum x64_size size, uint64_t x, uint64_t y)
{
    bool rest = op == X64_REMS || op == X64_REMU;
    if (size == X32 && (op == X64_DIVS || op == X64_REMS)) {
        int32_t n = (int32_t)x, m = (int32_t)y;
        return (uint32_t)(rest ? n % m : n / m);
    }
    if (size == X32) return rest ? (uint32_t)x % (uint32_t)y : (uint32_t)x / (uint32_t)y;
    if (op == X64_DIVU || op == X64_REMU) return rest ? x % y : x / y;
    return (uint64_t)(rest ? (int64_t)x % (int64_t)y : (int64_t)x / (int64_t)y);
}

static void x64_run_wide(enum x64_wide op, enum x64_size size, uint64_t x, uint64_t y)
{
    static const char *const texts[] = {"mulhs", "mulhu", "divs", "divu", "rems", "remu"};
    bool product = op <= X64_MULHU, low = size == X32;
    if (product && low) return;
    if (!product && !(low ? (uint32_t)y : y)) return;
    bool largest = low ? (uint32_t)x == 0x80000000 && (uint32_t)y == UINT32_MAX
                       : x == UINT64_C(1) << 63 && y == UINT64_MAX;
    if ((op == X64_DIVS || op == X64_REMS) && largest) return; /* Callers look for this case. */
    uint64_t want = product ? upper_half(x, y, op == X64_MULHS) : x64_run_divided(op, size, x, y);
    for (unsigned d = 0; d < TARGETS; d++) {
        x64_run_begin();
        x64_mov_imm(&e, RAX, x);
        x64_mov_imm(&e, RDX, UINT64_MAX / 3);
        x64_mov_imm(&e, R8, y);
        x64_wide(&e, op, size, registers[d], R8);
        x64_mov(&e, X64, RAX, registers[d]);
        x64_run_same(x64_run_executed(), want, texts[op], size, registers[d], RAX, R8, x, y);
    }
}

static uint64_t x64_run_one(enum x64_unary op, enum x64_size size, uint64_t x)
{
    uint64_t mask = size == X64 ? UINT64_MAX : UINT32_MAX;
    switch (op) {
    case X64_NEG: return (0 - x) & mask;
    case X64_NOT: return ~x & mask;
    case X64_SEXT8: return (uint64_t)(int8_t)x;
    case X64_SEXT16: return (uint64_t)(int16_t)x;
    case X64_SEXT32: return (uint64_t)(int32_t)x;
    case X64_ZEXT8: return (uint8_t)x;
    case X64_ZEXT16: return (uint16_t)x;
    case X64_ZEXT32: return (uint32_t)x;
    case X64_POPCNT: return (uint64_t)__builtin_popcountll(x & mask);
    default: return size == X64 ? __builtin_bswap64(x) : __builtin_bswap32((uint32_t)x);
    }
}

static void x64_run_unary(enum x64_unary op, enum x64_size size)
{
    for (unsigned d = 0; d < TARGETS; d++)
        for (unsigned a = 0; a < REGISTERS; a++)
            for (int i = 0; i < VALUES; i++) {
                x64_run_begin();
                x64_mov_imm(&e, registers[a], values[i]);
                x64_unary(&e, op, size, registers[d], registers[a]);
                x64_mov(&e, X64, RAX, registers[d]);
                x64_run_same(x64_run_executed(), x64_run_one(op, size, values[i]), "unary", size,
                             registers[d], registers[a], (unsigned)op, values[i], 0);
            }
}

static double real_meaning(enum x64_real op, double x, double y)
{
    switch (op) {
    case X64_FADD: return x + y;
    case X64_FSUB: return x - y;
    case X64_FMUL: return x * y;
    default: return x / y;
    }
}

static uint64_t bits_of(bool f64, double v)
{
    uint64_t wide_bits;
    uint32_t bits;
    float narrow = (float)v;
    memcpy(&wide_bits, &v, 8);
    memcpy(&bits, &narrow, 4);
    return f64 ? wide_bits : bits;
}

/* Uses registers 0 to 3, of which 3 is the one aside. */
static void x64_run_real(enum x64_real op, bool f64, unsigned d, unsigned a, unsigned b)
{
    double x = 6.5, y = a == b ? x : 0.25;
    if (d == 3 || (a == 3 && b == 3)) return;
    x64_run_begin();
    x64_mov_imm(&e, RCX, bits_of(f64, x));
    x64_movq_to(&e, X64, a, RCX);
    x64_mov_imm(&e, RCX, bits_of(f64, y));
    x64_movq_to(&e, X64, b, RCX);
    bool impossible = d == b && d != a && a == 3;
    CHECK(x64_three_real(&e, op, f64, d, a, b, 3) != impossible);
    if (impossible) return;
    x64_movq_from(&e, f64 ? X64 : X32, RAX, d);
    x64_run_same(x64_run_executed(), bits_of(f64, real_meaning(op, x, y)), "float", f64 ? X64 : X32,
                 d, a, b, op, 0);
}

/* Checks the answer for a condition after a comparison of x with y. Below and above are as for
 * numbers without sign. */
static void set_real(double x, double y)
{
    const struct {
        enum x64_cond cond;
        bool holds;
    } all[] = {{X64_E, x == y}, {X64_NE, x != y}, {X64_A, x > y}, {X64_AE, x >= y}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        for (unsigned d = 0; d < TARGETS; d++) {
            x64_run_begin();
            x64_mov_imm(&e, RCX, bits_of(true, x));
            x64_movq_to(&e, X64, 0, RCX);
            x64_mov_imm(&e, RCX, bits_of(true, y));
            x64_movq_to(&e, X64, 1, RCX);
            x64_mov_imm(&e, registers[d], UINT64_MAX);
            x64_ucomis(&e, true, 0, 1);
            x64_set_real(&e, all[i].cond, registers[d], aside);
            x64_mov(&e, X64, RAX, registers[d]);
            x64_run_same(x64_run_executed(), all[i].holds, "set", X64, registers[d], all[i].cond, 0,
                         bits_of(true, x), bits_of(true, y));
        }
}

int main(void)
{
    memory =
        mmap(NULL, ROOM, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 77; /* The system refuses such memory. */
    two_registers();
    x64_run_immediates();
    for (enum x64_wide op = X64_MULHS; op <= X64_REMU; op++)
        for (enum x64_size size = X32; size <= X64; size++)
            for (int i = 0; i < VALUES; i++)
                for (int k = 0; k < VALUES; k++) x64_run_wide(op, size, values[i], values[k]);
    for (enum x64_size size = X32; size <= X64; size++)
        for (enum x64_unary op = X64_NEG; op <= X64_BSWAP; op++) {
            bool extends = op >= X64_SEXT8 && op <= X64_ZEXT32;
            if (!extends || size == X64) x64_run_unary(op, size);
        }
    for (unsigned way = 0; way < 64; way++) /* d is not the register aside, nor are both others. */
        for (enum x64_real op = X64_FADD; op <= X64_FDIV; op++)
            for (int f64 = 0; f64 < 2; f64++)
                x64_run_real(op, f64, way & 3, way >> 2 & 3, way >> 4);
    static const double reals[] = {-1, 0, 2, INFINITY, NAN};
    for (unsigned i = 0; i < 25; i++) set_real(reals[i / 5], reals[i % 5]);
    return checks_end();
}
