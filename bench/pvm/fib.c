/* The same program as fib.pvmasm. */
#include "bench.h"

static __attribute__((noinline)) u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

void initialize(void) {}
u64 run(void) { return fib(34); }
