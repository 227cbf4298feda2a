/* COIL: decode and validate, assemble, and the interpreter on small loops.
 *
 *     bench_coil            rates of this build; the three programs of data/coil/bench run through
 * the tool */
#include "base/writer.h"
#include "bench.h"
#include "penta/penta.h"
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 9, FUNCTIONS = 20000 };

/* A text of many small functions, as a compiler would write it. */
static void make_text(struct writer *w)
{
    writer_text(w, ".global main\n.func main\n    RET\n.endfunc\n");
    for (int i = 0; i < FUNCTIONS; i++)
        writer_print(w,
                     ".func f%d\n    VAR %%a, i64, %d\n    VAR %%b, i64\n    MOV %%b, v0\n.next:\n "
                     "   ADD %%b, %%a\n"
                     "    MUL %%a, %%b, 3\n    DEC %%a\n    CMP %%a, 10\n    BR GT, @.next\n    "
                     "MOV i32 [@word + %%a*4 + 8], 7\n"
                     "    MOV v0, %%b\n    RET\n.endfunc\n",
                     i, i);
    writer_text(w, ".data\nword:\n    .zero 64\n");
}

int main(void)
{
    struct writer text = {0};
    double times[ROUNDS], decode[ROUNDS];
    size_t lines = 0, bytes = 0;
    make_text(&text);
    for (size_t i = 0; i < text.out.size; i++)
        lines += text.out.data[i] == '\n';
    for (int round = 0; round < ROUNDS; round++) {
        penta_error err;
        penta_buffer file = {0};
        double start = bench_now();
        penta_module *m = penta_assemble(writer_view(&text), "coil", NULL, 0, NULL, NULL);
        times[round] = bench_now() - start;
        if (!m || !penta_encode(m, &file, &err)) return 1;
        penta_close(m);
        start = bench_now();
        m = penta_open((penta_bytes){file.data, file.size}, "coil", NULL, 0, &err);
        bool valid = m && penta_validate(m, NULL, NULL);
        decode[round] = bench_now() - start;
        bytes = file.size;
        if (!valid) return 1;
        penta_close(m);
        penta_buffer_free(&file);
    }
    printf("coil assemble            %8.2f M lines/s\n",
           (double)lines / bench_median(times, ROUNDS) / 1e6);
    printf("coil decode+validate     %8.0f MB/s\n",
           (double)bytes / bench_median(decode, ROUNDS) / 1e6);
    writer_free(&text);
    return 0;
}
