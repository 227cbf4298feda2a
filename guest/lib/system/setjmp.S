/* jmp_buf has the return address and the registers that a function must preserve. */
#if __riscv_xlen == 64
#define STORE sd
#define LOAD ld
#define SIZE 8
#else
#define STORE sw
#define LOAD lw
#define SIZE 4
#endif

    .section .text.setjmp, "ax", @progbits
    .globl setjmp
    .type setjmp, @function
setjmp:
    STORE ra, 0(a0)
    STORE sp, SIZE(a0)
    STORE s0, 2 * SIZE(a0)
    STORE s1, 3 * SIZE(a0)
    li a0, 0
    ret
    .size setjmp, . - setjmp

    .section .text.longjmp, "ax", @progbits
    .globl longjmp
    .type longjmp, @function
longjmp:
    LOAD ra, 0(a0)
    LOAD sp, SIZE(a0)
    LOAD s0, 2 * SIZE(a0)
    LOAD s1, 3 * SIZE(a0)
    mv a0, a1
    bnez a0, 1f
    li a0, 1
1:
    ret
    .size longjmp, . - longjmp
