/* Start-up code, exported as `main`: reads the arguments, runs constructors, calls main and exits. */
#include <stdlib.h>
#include "penta_console.h"

int main(int argc, char **argv);
typedef void constructor(void);
extern constructor *const __init_array_start[] __attribute__((visibility("hidden")));
extern constructor *const __init_array_end[] __attribute__((visibility("hidden")));
/* Without any constructor there would be no section that defines the two symbols above. */
static void nothing(void) {}
static constructor *const first __attribute__((section(".init_array"), used)) = nothing;

static char **arguments(int *count)
{
    long size = console_arguments(NULL, 0);
    if (size < 0) size = 0;
    char *text = malloc((size_t)size + 1);
    if (!text || console_arguments(text, (size_t)size) != size) penta_trap();
    for (long i = *count = 0; i < size; i++) *count += !text[i];
    char **list = calloc((size_t)*count + 1, sizeof *list);
    if (!list) penta_trap();
    for (int i = 0; i < *count; i++) {
        list[i] = text;
        while (*text++) continue;
    }
    return list;
}

int penta_start(void)
{
    int count;
    char **list = arguments(&count);
    for (constructor *const *c = __init_array_start; c != __init_array_end; c++) (*c)();
    exit(main(count, list));
}

PENTA_EXPORT_AS(penta_start, main, 0);
PENTA_STACK(1048576);
