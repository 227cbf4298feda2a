#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef long jmp_buf[4]; /* ra, sp, s0 and s1: the registers that a function must preserve */
__attribute__((returns_twice)) int setjmp(jmp_buf where);
#define setjmp setjmp
__attribute__((noreturn)) void longjmp(jmp_buf where, int value);
/* The functions of POSIX do the same, because there are no signals to mask. */
typedef jmp_buf sigjmp_buf;
#define sigsetjmp(where, mask) ((void)(mask), setjmp(where))
#define siglongjmp(where, value) longjmp(where, value)
#define _setjmp(where) setjmp(where)
#define _longjmp(where, value) longjmp(where, value)
#ifdef __cplusplus
}
#endif
