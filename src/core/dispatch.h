/* Gives the loop of an interpreter one of two forms: computed goto where the compiler has it, else a switch. The loop
 * has a local variable `op`, the first operation, and a macro FETCH() that gives each next operation. */
#pragma once
#if defined(__GNUC__) && !defined(PENTA_PLAIN_SWITCH)
/* clang-format off */
#define THREADED     1
#define DISPATCH(op) goto *entry[op];
#define CASE(op)     on_##op
#define NEXT         goto *entry[FETCH()]
#else
#define THREADED     0
#define DISPATCH(op) switch (op)
#define CASE(op)     case op
#define NEXT         { op = FETCH(); continue; }
#endif
/* clang-format on */
