/* Implements functions that C++ compilers call by their mangled names: new and delete, guards of
 * local statics, pure virtual functions. */
#include <stdlib.h>
#include "penta_guest.h"

void *__dso_handle;

void *penta_new(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p) abort(); /* Exceptions cannot be thrown, so the program ends. */
    return p;
}

void __cxa_pure_virtual(void) { abort(); }
int __cxa_guard_acquire(char *guard) { return !*guard; }
void __cxa_guard_release(char *guard) { *guard = 1; }
void __cxa_guard_abort(char *guard) { (void)guard; }

#if __SIZEOF_POINTER__ == 8
#define SIZE "m"
#else
#define SIZE "j"
#endif
#define ALIAS(name, target) __asm__(".globl " name "\n.set " name ", " target "\n")
ALIAS("_Znw" SIZE, "penta_new"); /* operator new and operator new[] */
ALIAS("_Zna" SIZE, "penta_new");

void penta_delete(void *p) { free(p); }
ALIAS("_ZdlPv", "penta_delete"); /* operator delete and delete[], without and with sizes */
ALIAS("_ZdaPv", "penta_delete");
ALIAS("_ZdlPv" SIZE, "penta_delete");
ALIAS("_ZdaPv" SIZE, "penta_delete");
