/* This is the program penta-device, the mock GPU. It uses the wire protocol on standard input
 * and output. --trace-fd N names an open descriptor for the trace. The library starts this
 * program. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/number.h"
#include "gpu/host/child_process.h"

int main(int argc, char **argv)
{
    uint64_t trace = 0;
    bool traced = argc == 3 && !strcmp(argv[1], "--trace-fd") && number_parse(argv[2], &trace);
    if (argc != 1 && !(traced && trace <= 1 << 20)) {
        static const char usage[] =
            "usage: penta-device [--trace-fd N], on a socket or two pipes\n";
        if (write(STDERR_FILENO, usage, sizeof usage - 1) < 0) return 2;
        return 2;
    }
    return child_main(STDIN_FILENO, STDOUT_FILENO, traced ? (int)trace : -1);
}
