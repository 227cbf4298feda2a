/* The start-up code is exported as `main`: it reads the arguments, runs constructors, calls main
 * and exits. */
#include <stdlib.h>
#include <unistd.h>
#include "penta_console.h"
#include "system/system.h"

int main(int argc, char **argv, char **environment);
typedef void constructor(void);
extern constructor *const __init_array_start[] __attribute__((visibility("hidden")));
extern constructor *const __init_array_end[] __attribute__((visibility("hidden")));
/* Without any constructor no section would define the two symbols above. */
static void construct_nothing(void) {}
static constructor *const first __attribute__((section(".init_array"), used)) = construct_nothing;

int penta_start(void)
{
    int count, variables;
    char **list = penta_words(console_arguments, &count);
    environ = penta_words(console_environment, &variables);
    for (constructor *const *c = __init_array_start; c != __init_array_end; c++) (*c)();
    exit(main(count, list, environ));
}

PENTA_EXPORT_AS(penta_start, main, 0);
PENTA_STACK(1048576);
