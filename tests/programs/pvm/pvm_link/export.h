/* Defines export and import records in the form that the linker reads. */
#pragma once
#if __riscv
#if __riscv_xlen == 64
#define POINTER ".8byte "
#else
#define POINTER ".4byte "
#endif
#define RECORD(name, inputs, outputs)                                                              \
    ".pushsection .polkavm_metadata,\"aw\",@progbits\n.L" #name "_name: .ascii \"" #name           \
    "\"\n.L" #name "_end:\n.L" #name "_meta: .byte 1\n.4byte 0\n.4byte .L" #name "_end - .L" #name \
    "_name\n" POINTER ".L" #name "_name\n.byte " #inputs "\n.byte " #outputs "\n.popsection\n"
#define EXPORT(name, inputs, outputs)                                                              \
    __asm__(RECORD(name, inputs,                                                                   \
                   outputs) ".pushsection .polkavm_exports,\"R\",@note\n.byte 1\n" POINTER         \
                            ".L" #name "_meta\n" POINTER #name "\n.popsection\n")
#define IMPORT(name, inputs, outputs)                                                              \
    __asm__(RECORD(name, inputs, outputs) ".pushsection .text." #name ",\"ax\",@progbits\n"        \
                                          ".globl " #name "\n" #name                               \
                                          ": .word 0x0000000b\n" POINTER ".L" #name                \
                                          "_meta\nret\n.popsection\n")
#else
#define EXPORT(name, inputs, outputs) extern int exported_##name
#endif
typedef unsigned long long u64;
typedef unsigned int u32;
u64 run(void);
EXPORT(run, 0, 2);
