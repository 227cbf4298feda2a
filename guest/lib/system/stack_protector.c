/* Implements what -fstack-protector calls. The guard is an arbitrary number. It cannot be a
 * secret, because runs are the same each time. */
#include <stdio.h>
#include <stdlib.h>

unsigned long __stack_chk_guard = 0x0a57ac4cu;

_Noreturn void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
    fputs("stack smashing detected\n", stderr);
    abort();
}
