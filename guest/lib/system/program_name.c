/* Keeps the name of the program for its messages, as GNU's library does. The constructor is linked
 * only into programs that use the name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "penta_console.h"
#include "system/system.h"
#include "system/weak.h"

static char no_name[] = "";
WEAK char *program_invocation_name = no_name, *program_invocation_short_name = no_name;

__attribute__((constructor)) static void read_program_name(void)
{
    int count;
    char **list = penta_words(console_arguments, &count);
    if (!count) return;
    char *slash = strrchr(list[0], '/');
    program_invocation_name = list[0];
    program_invocation_short_name = slash ? slash + 1 : list[0];
}

WEAK const char *getprogname(void) { return program_invocation_short_name; }
