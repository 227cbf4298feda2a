/* Runs the WebAssembly module (src/web) as a program of this machine, so that its calls are also
 * tested where no compiler for WebAssembly exists. Standard input has requests, standard output
 * the answers. Each is a line with two sizes, then that many bytes of JSON and of other bytes. */
#include <stdio.h>
#include <stdlib.h>

/* The module exports these functions (src/web/exports.c). */
void *web_room(unsigned which, size_t size);
void web_serve(size_t request, size_t data);
const void *web_result(unsigned which);
size_t web_result_size(unsigned which);

int main(void)
{
    size_t sizes[2];
    if (web_room(2, 1)) return 3; /* Only rooms 0 and 1 exist. */
    while (scanf("%zu %zu", &sizes[0], &sizes[1]) == 2) {
        getchar(); /* This is the end of the line. */
        for (unsigned which = 0; which < 2; which++) {
            void *room = web_room(which, sizes[which]);
            if (!room || fread(room, 1, sizes[which], stdin) != sizes[which]) return 2;
        }
        web_serve(sizes[0], sizes[1]);
        printf("%zu %zu\n", web_result_size(0), web_result_size(1));
        for (unsigned which = 0; which < 2; which++)
            if (web_result_size(which))
                fwrite(web_result(which), 1, web_result_size(which), stdout);
        fflush(stdout);
    }
    return 0;
}
