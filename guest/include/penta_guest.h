/* Defines what a program for PolkaVM declares: which functions it exports and imports, and how much
 * stack it needs. The macros write records into sections that `penta link` reads.
 *
 *     PENTA_IMPORT(long, get_number, int, const void *);      long get_number(int, const void *);
 *     long add(long a, long b) { return a + b; }
 *     PENTA_EXPORT(add, 2);                                   callable as `add`, two arguments
 *     PENTA_STACK(65536);                                     at least 64 KiB of stack
 *
 * A program with main() needs none of this, because the start-up code exports `main` and calls it. */
#pragma once

#ifdef __cplusplus
#define PENTA_C extern "C"
#else
#define PENTA_C extern
#endif

#if __riscv_xlen == 64
#define PENTA_POINTER_ ".8byte "
#else
#define PENTA_POINTER_ ".4byte "
#endif

#define PENTA_TEXT_(x) PENTA_TEXT__(x)
#define PENTA_TEXT__(x) #x
/* Counts the types that follow, 0 to 9. */
#define PENTA_COUNT_(...) PENTA_PICK_(0 __VA_OPT__(, ) __VA_ARGS__, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PENTA_PICK_(z, a, b, c, d, e, f, g, h, i, n, ...) n
/* Becomes void if no types follow. */
#define PENTA_VOID_(...) PENTA_FIRST_(__VA_OPT__(, ) void, )
#define PENTA_FIRST_(a, ...) a

/* The record of a function has a version, flags, its name, and a tail with the numbers of inputs
 * and outputs. It is in a section group, of which the linker keeps one, because many files may
 * include the same header. */
/* clang-format off */
#define PENTA_RECORD_(label, name, version, tail)                                                  \
    ".pushsection .polkavm_metadata,\"awG\",@progbits," label ",comdat\n"                          \
    "." label "_text: .ascii \"" name "\"\n"                                                       \
    "." label "_end:\n"                                                                            \
    "." label "_record: .byte " version "\n.4byte 0\n"                                             \
    ".4byte ." label "_end - ." label "_text\n"                                                    \
    PENTA_POINTER_ "." label "_text\n"                                                             \
    tail ".popsection\n"
#define PENTA_METADATA_(label, name, inputs)                                                       \
    PENTA_RECORD_(label, name, "1", ".byte " inputs ", 1\n")

/* The function that calls an import consists of an instruction that `penta link` replaces, and a
 * pointer to the record. */
#define PENTA_CALL_(function, name)                                                                \
    ".pushsection .text.penta_import_" name                                                        \
        ",\"axG\",@progbits,penta_import_" name ",comdat\n"                                        \
    ".globl " function "\n.type " function ", @function\n"                                         \
    function ": .4byte 0x0000000b\n"                                                               \
    PENTA_POINTER_ ".penta_import_" name "_record\n"                                               \
    "ret\n"                                                                                        \
    ".size " function ", . - " function "\n"                                                       \
    ".popsection\n"

#define PENTA_IMPORT(type, name, ...) PENTA_IMPORT_AS(type, name, name, __VA_ARGS__)
/* Declares an import that has another name in the program. */
#define PENTA_IMPORT_AS(type, function, name, ...)                                                 \
    __asm__(PENTA_METADATA_("penta_import_" #name, #name,                                          \
                            PENTA_TEXT_(PENTA_COUNT_(__VA_ARGS__)))                                \
            PENTA_CALL_(#function, #name));                                                        \
    PENTA_C type function(PENTA_VOID_(__VA_ARGS__) __VA_ARGS__)
/* Declares an import of a host whose calls have numbers. Results of up to two words are returned
 * in registers. Either all imports of a program have numbers, or none has. */
#define PENTA_IMPORT_NUMBER(type, function, name, number, ...)                                     \
    __asm__(PENTA_RECORD_("penta_import_" #name, #name, "2",                                       \
                          ".byte " PENTA_TEXT_(PENTA_COUNT_(__VA_ARGS__)) ", 2, 1\n"               \
                          ".4byte " PENTA_TEXT_(number) "\n")                                      \
            PENTA_CALL_(#function, #name));                                                        \
    PENTA_C type function(PENTA_VOID_(__VA_ARGS__) __VA_ARGS__)

#define PENTA_EXPORT(name, inputs) PENTA_EXPORT_AS(name, name, inputs)
/* Exports a function under another name. */
#define PENTA_EXPORT_AS(function, name, inputs)                                                    \
    __asm__(PENTA_METADATA_("penta_export_" #name, #name, #inputs)                                 \
            ".pushsection .polkavm_exports,\"RG\",@note,penta_export_" #name ",comdat\n"           \
            ".byte 1\n"                                                                            \
            PENTA_POINTER_ ".penta_export_" #name "_record\n"                                      \
            PENTA_POINTER_ #function "\n"                                                          \
            ".popsection\n");                                                                      \
    struct penta_export_##name##_
/* clang-format on */

#define PENTA_STACK(bytes)                                                                         \
    __asm__(".pushsection .polkavm_min_stack_size,\"R\",@note\n.4byte " #bytes "\n.popsection\n"); \
    struct penta_stack_

/* Grows the heap by n bytes. Returns its new end, or NULL if it cannot grow. With n = 0 it only
 * returns the end. */
static inline char *penta_sbrk(unsigned long n)
{
    char *end;
    __asm__ volatile(".insn r 0x0b, 1, 0, %0, %1, x0" : "=r"(end) : "r"(n) : "memory");
    return end;
}

/* Returns the start of the heap, which is after the program's data. */
static inline char *penta_heap_base(void)
{
    char *base;
    __asm__(".insn r 0x0b, 3, 0, %0, x0, x0" : "=r"(base));
    return base;
}

/* Ends the run with a trap. */
static inline __attribute__((noreturn)) void penta_trap(void)
{
    __asm__ volatile("unimp");
    __builtin_unreachable();
}
