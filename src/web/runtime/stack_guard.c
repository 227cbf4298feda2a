/* Defines what stack protection needs. Debian's compiler-rt for wasm32 was built with it, but its C library lacks
 * it. */
#include <stdint.h>

uintptr_t __stack_chk_guard = UINT32_C(0x5e17a9c4);
_Noreturn void __stack_chk_fail(void);
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }
