/* Decodes everything that the assembler can write by Zydis: every form with every register,
 * addresses of every shape, immediates around the limits of their encodings, jumps forwards and
 * backwards. */
#include "check.h"
#include "x64/access.h"
#include "x64/operations.h"
#include <stdio.h>
#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdarg.h>

static uint8_t memory[1 << 12];
static struct x64 e;

static const char *const r64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                  "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const r32[] = {"eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
                                  "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
static const char *const r16[] = {"ax",  "cx",  "dx",   "bx",   "sp",   "bp",   "si",   "di",
                                  "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"};
static const char *const r8[] = {"al",  "cl",  "dl",   "bl",   "spl",  "bpl",  "sil",  "dil",
                                 "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};
static const char *x64_test_name(enum x64_size size, unsigned reg)
{
    return (size == X64 ? r64 : r32)[reg];
}

/* Writes a number as Zydis does: hexadecimal with at least two digits, and with a sign when
 * negative. */
static const char *x64_test_number(int64_t v)
{
    static char texts[8][32];
    static unsigned next;
    char *text = texts[next++ % 8];
    uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    snprintf(text, 32, "%s0x%02" PRIX64, v < 0 ? "-" : "", magnitude);
    return text;
}

/* Decodes the instruction at this offset, which is also its address. The size of an access is
 * always printed. */
static bool x64_test_decode(uint32_t at, char *text, size_t size, ZydisDecodedInstruction *in)
{
    static ZydisDecoder decoder;
    static ZydisFormatter formatter;
    static bool ready;
    if (!ready) {
        ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
        ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_FORCE_SIZE, ZYAN_TRUE);
        ready = true;
    }
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    strcpy(text, "nothing");
    *in = (ZydisDecodedInstruction){0};
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, memory + at, sizeof memory - at, in, operands)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
            &formatter, in, operands, in->operand_count_visible, text, size, at, ZYAN_NULL)))
        return false;
    /* lea accesses nothing, and releases of Zydis differ in whether its address has a size. */
    char *address = strchr(text, '['), *operand = strstr(text, ", ");
    if (in->mnemonic == ZYDIS_MNEMONIC_LEA && address && operand)
        memmove(operand + 2, address, strlen(address) + 1);
    /* Releases also differ in whether an address that is a number alone has 8 digits or 16. */
    address = strstr(text, "[0x");
    if (address && strcspn(address + 3, "]") == 8 && strlen(text) + 8 < size) {
        memmove(address + 11, address + 3, strlen(address + 3) + 1);
        memset(address + 3, '0', 8);
    }
    return true;
}

static void x64_test_begin(void) { x64_init(&e, memory, sizeof memory); }

/* Checks that the bytes written are one instruction, which decodes to this text. */
static void __attribute__((format(printf, 1, 2))) reads(const char *format, ...)
{
    char expected[160];
    va_list args;
    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    char text[160];
    ZydisDecodedInstruction in;
    bool ok = x64_test_decode(0, text, sizeof text, &in);
    CHECK(ok && in.length == x64_here(&e) && !strcmp(text, expected),
          "expected '%s', got '%s' (%u of %u bytes)", expected, text, in.length, x64_here(&e));
}

#define EACH(reg) for (enum x64_reg reg = RAX; reg <= R15; reg++)
#define SIZES(size) for (enum x64_size size = X32; size <= X64; size++)

static const int32_t immediates[] = {0,    1,    127,   128,   255,       -1,
                                     -128, -129, 32767, 65536, INT32_MAX, INT32_MIN};
enum { IMMEDIATES = sizeof immediates / sizeof *immediates };

/* Returns an immediate as wide as the operation, as Zydis shows it. */
static const char *x64_test_shown(enum x64_size size, int32_t v)
{
    static char text[24];
    snprintf(text, sizeof text, "0x%02" PRIX64, size == X64 ? (uint64_t)(int64_t)v : (uint32_t)v);
    return text;
}

static void x64_test_registers(void)
{
#define TWO(mnemonic, text)                                                                        \
    SIZES(size) EACH(d) EACH(s)                                                                    \
    {                                                                                              \
        x64_test_begin();                                                                          \
        x64_##mnemonic(&e, size, d, s);                                                            \
        reads(text " %s, %s", x64_test_name(size, d), x64_test_name(size, s));                     \
    }
    /* clang-format off */
    TWO(add, "add") TWO(or, "or") TWO(and, "and") TWO(sub, "sub") TWO(xor, "xor") TWO(cmp, "cmp")
    TWO(mov, "mov") TWO(imul, "imul") TWO(popcnt, "popcnt") TWO(tzcnt, "tzcnt") TWO(lzcnt, "lzcnt")
        /* clang-format on */
        SIZES(size) EACH(d) EACH(s)
    {
        x64_test_begin(), x64_test(&e, size, d, s),
            reads("test %s, %s", x64_test_name(size, s), x64_test_name(size, d));
        x64_test_begin(), x64_xchg(&e, size, d, s),
            reads("xchg %s, %s", x64_test_name(size, s), x64_test_name(size, d));
        x64_test_begin(), x64_movzx16(&e, size, d, s),
            reads("movzx %s, %s", x64_test_name(size, d), r16[s]);
        x64_test_begin(), x64_movsx16(&e, size, d, s),
            reads("movsx %s, %s", x64_test_name(size, d), r16[s]);
        x64_test_begin(), x64_movsx8(&e, size, d, s),
            reads("movsx %s, %s", x64_test_name(size, d), r8[s]);
    }
    EACH(d) EACH(s)
    {
        x64_test_begin(), x64_movsxd(&e, d, s), reads("movsxd %s, %s", r64[d], r32[s]);
        x64_test_begin(), x64_movzx8(&e, d, s), reads("movzx %s, %s", r32[d], r8[s]);
    }
#define ONE(mnemonic, text)                                                                        \
    SIZES(size)                                                                                    \
    EACH(d)                                                                                        \
    x64_test_begin(), x64_##mnemonic(&e, size, d), reads(text " %s", x64_test_name(size, d));
    ONE(not, "not")
    ONE(neg, "neg")
    ONE(mul, "mul")
    ONE(imul_wide, "imul") ONE(div, "div") ONE(idiv, "idiv") ONE(bswap, "bswap") EACH(d)
    {
        x64_test_begin(), x64_push(&e, d), reads("push %s", r64[d]);
        x64_test_begin(), x64_pop(&e, d), reads("pop %s", r64[d]);
        x64_test_begin(), x64_jmp_reg(&e, d), reads("jmp %s", r64[d]);
    }
}

static const char *const conditions[] = {"o", "no", "b", "nb", "z", "nz", "be", "nbe",
                                         "s", "ns", "p", "np", "l", "nl", "le", "nle"};

static void x64_test_conditional(void)
{
    for (enum x64_cond c = X64_O; c <= X64_G; c++) {
        EACH(d) x64_test_begin(), x64_setcc(&e, c, d), reads("set%s %s", conditions[c], r8[d]);
        SIZES(size) EACH(d) EACH(s)
        {
            x64_test_begin(), x64_cmov(&e, c, size, d, s);
            reads("cmov%s %s, %s", conditions[c], x64_test_name(size, d), x64_test_name(size, s));
        }
    }
}

static void with_immediates(void)
{
#define ALU(mnemonic)                                                                              \
    SIZES(size) EACH(d) for (int i = 0; i < IMMEDIATES; i++)                                       \
    {                                                                                              \
        x64_test_begin(), x64_##mnemonic##_imm(&e, size, d, immediates[i]);                        \
        reads(#mnemonic " %s, %s", x64_test_name(size, d), x64_test_shown(size, immediates[i]));   \
    }
    ALU(add)
    ALU(or)
    ALU(and) ALU(sub) ALU(xor) ALU(cmp) SIZES(size) EACH(d) for (int i = 0; i < IMMEDIATES; i++)
    {
        x64_test_begin();
        uint32_t at = x64_sub_imm32(&e, size, d, immediates[i]);
        CHECK(at == x64_here(&e) - 4);
        reads("sub %s, %s", x64_test_name(size, d), x64_test_shown(size, immediates[i]));
    }
    SIZES(size) EACH(d) EACH(s) for (int i = 0; i < IMMEDIATES; i++)
    {
        x64_test_begin(), x64_imul_imm(&e, size, d, s, immediates[i]);
        reads("imul %s, %s, %s", x64_test_name(size, d), x64_test_name(size, s),
              x64_test_shown(size, immediates[i]));
    }
    static const uint64_t values[] = {0,
                                      1,
                                      UINT32_MAX,
                                      UINT64_C(1) << 32,
                                      UINT64_MAX,
                                      UINT64_C(0xffffffff80000000),
                                      UINT64_C(0xffffffff7fffffff),
                                      UINT64_C(0x0123456789abcdef)};
    EACH(d) for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
    {
        uint64_t v = values[i];
        x64_test_begin(), x64_mov_imm(&e, d, v);
        if (v <= UINT32_MAX)
            reads("mov %s, 0x%02" PRIX64, r32[d], v);
        else if ((int64_t)v == (int32_t)v)
            reads("mov %s, 0x%02" PRIX64, r64[d], v);
        else
            reads("mov %s, 0x%02" PRIX64, r64[d], v);
    }
#define SHIFT(mnemonic)                                                                            \
    SIZES(size) EACH(d) for (unsigned n = 0; n < (size == X64 ? 64 : 32); n++)                     \
    {                                                                                              \
        x64_test_begin(), x64_##mnemonic##_imm(&e, size, d, n);                                    \
        reads(#mnemonic " %s, %s", x64_test_name(size, d), x64_test_number(n));                    \
        x64_test_begin(), x64_##mnemonic##_cl(&e, size, d);                                        \
        reads(#mnemonic " %s, cl", x64_test_name(size, d));                                        \
    }
    SHIFT(rol) SHIFT(ror) SHIFT(shl) SHIFT(shr) SHIFT(sar)
}

static void three_operands(void)
{
    SIZES(size) EACH(d) EACH(a) EACH(b)
    {
        const char *dn = x64_test_name(size, d), *an = x64_test_name(size, a),
                   *bn = x64_test_name(size, b);
        x64_test_begin(), x64_andn(&e, size, d, a, b), reads("andn %s, %s, %s", dn, an, bn);
        x64_test_begin(), x64_shlx(&e, size, d, a, b), reads("shlx %s, %s, %s", dn, an, bn);
        x64_test_begin(), x64_shrx(&e, size, d, a, b), reads("shrx %s, %s, %s", dn, an, bn);
        x64_test_begin(), x64_sarx(&e, size, d, a, b), reads("sarx %s, %s, %s", dn, an, bn);
        x64_test_begin(), x64_mulx(&e, size, d, a, b), reads("mulx %s, %s, %s", dn, an, bn);
        x64_test_begin(), x64_rorx(&e, size, d, a, b),
            reads("rorx %s, %s, %s", dn, an, x64_test_number(b));
    }
    EACH(d) EACH(a)
    {
        x64_test_begin(), x64_unary(&e, X64_SEXT8, X64, d, a), reads("movsx %s, %s", r64[d], r8[a]);
        x64_test_begin(), x64_unary(&e, X64_SEXT16, X64, d, a),
            reads("movsx %s, %s", r64[d], r16[a]);
        x64_test_begin(), x64_unary(&e, X64_SEXT32, X64, d, a),
            reads("movsxd %s, %s", r64[d], r32[a]);
        x64_test_begin(), x64_unary(&e, X64_ZEXT8, X64, d, a), reads("movzx %s, %s", r32[d], r8[a]);
        x64_test_begin(), x64_unary(&e, X64_ZEXT16, X64, d, a),
            reads("movzx %s, %s", r32[d], r16[a]);
        x64_test_begin(), x64_unary(&e, X64_ZEXT32, X64, d, a), reads("mov %s, %s", r32[d], r32[a]);
        x64_test_begin(), x64_unary(&e, X64_POPCNT, X32, d, a),
            reads("popcnt %s, %s", r32[d], r32[a]);
    }
}

/* Writes [base+index*scale+disp] as Zydis does. */
static const char *x64_test_address(struct x64_mem m, const char *width)
{
    static char text[96];
    const char *const *names = m.narrow ? r32 : r64;
    char *p = text + sprintf(text, "%s", width);
    if (*width) p += sprintf(p, " ptr ");
    if (m.gs) p += sprintf(p, "gs:");
    p += sprintf(p, "[");
    if (m.base >= 0) p += sprintf(p, "%s", names[m.base]);
    if (m.index >= 0)
        p += sprintf(p, "%s%s%s", m.base >= 0 ? "+" : "", names[m.index],
                     (const char *[]){"*1", "*2", "*4", "*8"}[m.scale]);
    if (m.base < 0 && m.index < 0) {
        uint64_t absolute = m.narrow ? (uint32_t)m.disp : (uint64_t)(int64_t)m.disp;
        sprintf(p, "0x%016" PRIX64 "]", absolute);
    } else if (m.disp) {
        sprintf(p, "%s%s]", m.disp < 0 ? "" : "+", x64_test_number(m.disp));
    } else {
        sprintf(p, "]");
    }
    return text;
}

/* Checks accesses to integers by their kind, as x64/access.h has them. */
static void x64_test_accesses(struct x64_mem m, unsigned r)
{
    static const struct {
        const char *load, *width;
        const char *const *to, *const *from;
        int bytes;
    } kinds[] = {{"movsx", "byte", r64, r8, 1},    {"movzx", "byte", r32, r8, 1},
                 {"movsx", "word", r64, r16, 2},   {"movzx", "word", r32, r16, 2},
                 {"movsxd", "dword", r64, r32, 4}, {"mov", "dword", r32, r32, 4},
                 {"mov", "qword", r64, r64, 8}};
    for (unsigned k = X64_I8; k <= X64_INTEGER; k++) {
        enum x64_access kind = (enum x64_access)k;
        x64_test_begin(), x64_load(&e, kind, r, m);
        reads("%s %s, %s", kinds[k].load, kinds[k].to[r], x64_test_address(m, kinds[k].width));
        x64_test_begin(), x64_store(&e, kind, m, r);
        reads("mov %s, %s", x64_test_address(m, kinds[k].width), kinds[k].from[r]);
        x64_test_begin(), x64_store_imm(&e, kind, m, 0x45);
        reads("mov %s, 0x45", x64_test_address(m, kinds[k].width));
    }
}

static void memory_forms(struct x64_mem m)
{
    struct x64_mem plain = m;
    plain.gs = false;
    EACH(r)
    {
        x64_test_accesses(m, r);
        SIZES(size)
        {
            const char *width = size == X64 ? "qword" : "dword";
#define LOAD(mnemonic, text, wide)                                                                 \
    x64_test_begin(), x64_##mnemonic##_load(&e, size, r, m);                                       \
    reads(text " %s, %s", x64_test_name(size, r), x64_test_address(m, wide));
            /* clang-format off */
            LOAD(mov, "mov", width) LOAD(add, "add", width) LOAD(or, "or", width)
            LOAD(and, "and", width) LOAD(sub, "sub", width) LOAD(xor, "xor", width)
            LOAD(cmp, "cmp", width) LOAD(movzx8, "movzx", "byte") LOAD(movsx8, "movsx", "byte")
            LOAD(movzx16, "movzx", "word") LOAD(movsx16, "movsx", "word")
                /* clang-format on */
                x64_test_begin(),
                x64_mov_store(&e, size, m, r);
            reads("mov %s, %s", x64_test_address(m, width), x64_test_name(size, r));
            x64_test_begin(), x64_lea(&e, size, r, plain),
                reads("lea %s, %s", x64_test_name(size, r), x64_test_address(plain, ""));
        }
        x64_test_begin(), x64_movsxd_load(&e, X64, r, m),
            reads("movsxd %s, %s", r64[r], x64_test_address(m, "dword"));
        x64_test_begin(), x64_mov_store8(&e, m, r),
            reads("mov %s, %s", x64_test_address(m, "byte"), r8[r]);
        x64_test_begin(), x64_mov_store16(&e, m, r),
            reads("mov %s, %s", x64_test_address(m, "word"), r16[r]);
    }
    for (int i = 0; i < IMMEDIATES; i++) {
        int32_t v = immediates[i];
        x64_test_begin(), x64_mov_store_imm8(&e, m, (uint8_t)v),
            reads("mov %s, %s", x64_test_address(m, "byte"), x64_test_number((uint8_t)v));
        x64_test_begin(), x64_mov_store_imm16(&e, m, (uint16_t)v),
            reads("mov %s, %s", x64_test_address(m, "word"), x64_test_number((uint16_t)v));
        x64_test_begin(), x64_mov_store_imm(&e, X32, m, v),
            reads("mov %s, %s", x64_test_address(m, "dword"), x64_test_number((uint32_t)v));
        x64_test_begin(), x64_mov_store_imm(&e, X64, m, v),
            reads("mov %s, %s", x64_test_address(m, "qword"), x64_test_shown(X64, v));
        x64_test_begin(), x64_cmp_mem8_imm(&e, m, (uint8_t)v),
            reads("cmp %s, %s", x64_test_address(m, "byte"), x64_test_number((uint8_t)v));
    }
    x64_test_begin(), x64_jmp_mem(&e, m), reads("jmp %s", x64_test_address(m, "qword"));
}

static void x64_test_addresses(void)
{
    static const int32_t disps[] = {0, 1, 127, -128, 128, -129, 0x12345678, INT32_MIN};
    for (int base = X64_NONE; base <= R15; base++)
        for (unsigned d = 0; d < sizeof disps / sizeof *disps; d++)
            for (int way = 0; way < 4; way++) {
                struct x64_mem m = {.base = (int8_t)base,
                                    .index = X64_NONE,
                                    .disp = disps[d],
                                    .gs = way & 1,
                                    .narrow = way >> 1};
                memory_forms(m);
                for (int index = RAX; index <= R15 && d < 6; index += base < 0 ? 1 : 3) {
                    if (index == RSP) continue;
                    m.index = (int8_t)index;
                    m.scale = (uint8_t)((unsigned)(index + base) & 3);
                    if (base < 0 && !m.scale) m.scale = 3;
                    if (base >= 0 || m.disp) memory_forms(m);
                }
            }
}

static void decode_at(uint32_t at, const char *expected, uint32_t target)
{
    ZydisDecodedInstruction in;
    char text[160], wanted[64];
    snprintf(wanted, sizeof wanted, "%s 0x%016" PRIX64, expected, (uint64_t)target);
    CHECK(x64_test_decode(at, text, sizeof text, &in) && !strcmp(text, wanted),
          "expected '%s', got '%s'", wanted, text);
}

static void x64_test_jumps(void)
{
    struct x64_label forward = {0}, back = {0};
    x64_test_begin();
    x64_nop(&e, 7);
    x64_bind(&e, &back);
    uint32_t home = x64_here(&e), at[6];
    at[0] = x64_here(&e), x64_jmp(&e, &forward);
    at[1] = x64_here(&e), x64_call(&e, &forward);
    at[2] = x64_here(&e), x64_jcc(&e, X64_BE, &forward);
    at[3] = x64_here(&e), x64_jmp(&e, &back);
    at[4] = x64_here(&e), x64_call(&e, &back);
    x64_nop(&e, 300);
    x64_bind(&e, &forward);
    uint32_t end = x64_here(&e);
    decode_at(at[0], "jmp", end);
    decode_at(at[1], "call", end);
    decode_at(at[2], "jbe", end);
    decode_at(at[3], "jmp", home);
    decode_at(at[4], "call", home);
    at[5] = x64_here(&e), x64_lea_label(&e, R9, &back);
    ZydisDecodedInstruction in;
    char text[160], wanted[64];
    snprintf(wanted, sizeof wanted, "lea r9, [0x%016" PRIX64 "]", (uint64_t)home);
    CHECK(x64_test_decode(at[5], text, sizeof text, &in) && !strcmp(text, wanted),
          "expected '%s', got '%s'", wanted, text);
    for (uint32_t gap = 100; gap < 160; gap++) { /* The gaps go across the reach of short jumps. */
        x64_test_begin();
        x64_nop(&e, gap);
        uint32_t a = x64_here(&e);
        x64_jmp_to(&e, 0);
        uint32_t b = x64_here(&e);
        x64_jcc_to(&e, X64_NE, 0);
        uint32_t c = x64_here(&e);
        x64_call_to(&e, 3);
        uint32_t d = x64_here(&e), later = x64_jmp_later(&e);
        uint32_t f = x64_here(&e), later2 = x64_jcc_later(&e, X64_G);
        x64_aim(&e, later, 5);
        x64_aim(&e, later2, 2000);
        decode_at(a, "jmp", 0);
        decode_at(b, "jnz", 0);
        decode_at(c, "call", 3);
        decode_at(d, "jmp", 5);
        decode_at(f, "jnle", 2000);
    }
    for (unsigned size = 1; size <= 40; size++) { /* The bytes must be nops and nothing else. */
        x64_test_begin();
        x64_nop(&e, size);
        CHECK(x64_here(&e) == size);
        for (uint32_t p = 0; p < size;) {
            bool nop =
                x64_test_decode(p, text, sizeof text, &in) && in.mnemonic == ZYDIS_MNEMONIC_NOP;
            if (!CHECK(nop)) break;
            p += in.length;
        }
    }
}

static void begin_vector(bool vex)
{
    x64_test_begin();
    e.vex = vex;
}

/* Checks scalars. The form with `vex` names the destination again as a source, if it has one. */
static void x64_test_scalars(bool vex, unsigned d, unsigned s)
{
    const char *v = vex ? "v" : "";
    char twice[16] = "", x[8], y[8];
    snprintf(x, sizeof x, "xmm%u", d);
    snprintf(y, sizeof y, "xmm%u", s);
    if (vex) snprintf(twice, sizeof twice, "%s, ", x);
    for (int f64 = 0; f64 < 2; f64++) {
        const char *t = f64 ? "sd" : "ss";
#define SCALAR(x64_test_name, text)                                                                \
    begin_vector(vex), x64_##x64_test_name(&e, f64, d, s),                                         \
        reads("%s" text "%s %s, %s%s", v, t, x, twice, y);
        SCALAR(adds, "add")
        SCALAR(subs, "sub")
        SCALAR(muls, "mul")
        SCALAR(divs, "div")
        SCALAR(sqrts, "sqrt")
        begin_vector(vex), x64_ucomis(&e, f64, d, s), reads("%sucomi%s %s, %s", v, t, x, y);
        begin_vector(vex), x64_cvts2s(&e, f64, d, s);
        reads("%scvt%s %s, %s%s", v, f64 ? "ss2sd" : "sd2ss", x, twice, y);
        begin_vector(vex), x64_cvtsi2s(&e, f64, d, (enum x64_reg)s);
        reads("%scvtsi2%s %s, %s%s", v, t, x, twice, r64[s]);
        begin_vector(vex), x64_cvtts2si(&e, f64, (enum x64_reg)d, s);
        reads("%scvtt%s2si %s, %s", v, t, r64[d], y);
    }
    begin_vector(vex), x64_xorps(&e, d, s), reads("%sxorps %s, %s%s", v, x, twice, y);
    SIZES(size)
    {
        const char *bits = size == X64 ? "q" : "d";
        begin_vector(vex), x64_movq_to(&e, size, d, (enum x64_reg)s);
        reads("%smov%s %s, %s", v, bits, x, x64_test_name(size, s));
        begin_vector(vex), x64_movq_from(&e, size, (enum x64_reg)d, s);
        reads("%smov%s %s, %s", v, bits, x64_test_name(size, d), y);
    }
}

static void one_vector(enum x64_vector op, bool vex, bool wide, unsigned d, unsigned a, unsigned b)
{
    const struct x64_vector_info *info = &x64_vectors[op];
    char x[8], y[8], z[8], text[80];
    char letter = wide ? 'y' : 'x';
    bool down = op == X64_PMOVMSKB, up = op == X64_PBROADCASTD || op == X64_PBROADCASTQ;
    snprintf(x, sizeof x, "%cmm%u", letter, d);
    if (down) snprintf(x, sizeof x, "%s", r32[d]);
    snprintf(y, sizeof y, "%cmm%u", up ? 'x' : letter, a);
    snprintf(z, sizeof z, "%cmm%u", letter, b);
    switch (info->shape) {
    case 'u': snprintf(text, sizeof text, "%s, %s", x, y); break;
    case 'i': snprintf(text, sizeof text, "%s, %s, 0x07", x, y); break;
    case 'c':
    case 'b':
        snprintf(text, sizeof text, "%s, %s%s%s%s", x, vex ? y : "", vex ? ", " : "", z,
                 info->shape == 'c' ? ", 0x07" : "");
        break;
    default: snprintf(text, sizeof text, "%s%s%s, 0x07", x, vex ? ", " : "", vex ? y : "");
    }
    begin_vector(vex), x64_vector(&e, op, wide, d, a, b, 7);
    reads("%s%s %s", vex ? "v" : "", info->text, text);
}

static void vector_memory(bool vex, bool wide, unsigned reg)
{
    static const struct x64_mem forms[] = {
        {.base = RAX, .index = X64_NONE},
        {.base = RBP, .index = X64_NONE, .disp = 8},
        {.base = R12, .index = R13, .scale = 2, .disp = 1000},
        {.base = X64_NONE, .index = R9, .scale = 3, .disp = -5},
    };
    static const char *const texts[] = {"[rax]", "[rbp+0x08]", "[r12+r13*4+0x3E8]", "[r9*8-0x05]"};
    const char *v = vex ? "v" : "", *size = wide ? "ymmword" : "xmmword";
    char letter = wide ? 'y' : 'x';
    for (int i = 0; i < 4; i++) {
        begin_vector(vex), x64_movups_load(&e, wide, reg, forms[i]);
        reads("%smovups %cmm%u, %s ptr %s", v, letter, reg, size, texts[i]);
        begin_vector(vex), x64_movups_store(&e, wide, forms[i], reg);
        reads("%smovups %s ptr %s, %cmm%u", v, size, texts[i], letter, reg);
        for (int f64 = 0; f64 < 2 && !wide; f64++) {
            const char *t = f64 ? "sd" : "ss", *word = f64 ? "qword" : "dword";
            begin_vector(vex), x64_movs_load(&e, f64, reg, forms[i]);
            reads("%smov%s xmm%u, %s ptr %s", v, t, reg, word, texts[i]);
            begin_vector(vex), x64_movs_store(&e, f64, forms[i], reg);
            reads("%smov%s %s ptr %s, xmm%u", v, t, word, texts[i], reg);
        }
    }
}

static void x64_test_vectors(void)
{
    for (int kind = 0; kind < 3; kind++) { /* The kinds are SSE2, AVX on 16 bytes, and AVX on 32
                                            * bytes. */
        bool vex = kind > 0, wide = kind > 1;
        for (unsigned d = 0; d < 16; d++) {
            vector_memory(vex, wide, d);
            for (unsigned s = 0; s < 16; s++) {
                if (!wide) x64_test_scalars(vex, d, s);
                begin_vector(vex), x64_movaps(&e, wide, d, s);
                reads("%smovaps %cmm%u, %cmm%u", vex ? "v" : "", wide ? 'y' : 'x', d,
                      wide ? 'y' : 'x', s);
                for (enum x64_vector op = 1; op < X64_VECTORS; op++) {
                    bool one = x64_vectors[op].shape == 'u' || x64_vectors[op].shape == 'i';
                    if (x64_needs_vex(op) && !vex) continue;
                    one_vector(op, vex, wide, d, vex || one ? (d + 5) % 16 : d, s);
                    if (vex || one) one_vector(op, vex, wide, d, s, (s + 9) % 16);
                }
            }
        }
    }
    x64_test_begin(), x64_vzeroupper(&e), reads("vzeroupper");
}

static void x64_test_rest(void)
{
    x64_test_begin(), x64_ret(&e), reads("ret");
    x64_test_begin(), x64_ret_pop(&e, 8), reads("ret 0x08");
    x64_test_begin(), x64_cdq(&e), reads("cdq");
    x64_test_begin(), x64_cqo(&e), reads("cqo");
    x64_test_begin(), x64_ud2(&e), reads("ud2");
    x64_init(&e, memory, X64_MARGIN + 4); /* x64_full is true before the memory ends. */
    unsigned written = 0;
    for (; !x64_full(&e); written++) x64_mov_imm(&e, R9, UINT64_MAX - 5u);
    CHECK(written == 1 && x64_here(&e) == 7);
}

int main(void)
{
    x64_test_registers();
    x64_test_conditional();
    with_immediates();
    three_operands();
    x64_test_addresses();
    x64_test_jumps();
    x64_test_vectors();
    x64_test_rest();
    return checks_end();
}
