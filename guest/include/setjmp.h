#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef long jmp_buf[4]; /* ra, sp, s0, s1: what a function must preserve */
__attribute__((returns_twice)) int setjmp(jmp_buf where);
__attribute__((noreturn)) void longjmp(jmp_buf where, int value);
#ifdef __cplusplus
}
#endif
