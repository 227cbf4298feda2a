/* What -fstack-protector calls. The guard is a number of no meaning: runs are the same each time, so it cannot be a secret. */
#include <stdio.h>
#include <stdlib.h>

unsigned long __stack_chk_guard = 0x0a57ac4cu;

_Noreturn void __stack_chk_fail(void);
void __stack_chk_fail(void)
{
    fputs("stack smashing detected\n", stderr);
    abort();
}
