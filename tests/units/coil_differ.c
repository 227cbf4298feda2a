/* Runs random COIL programs on the interpreter and the compiler. differ.h has the options.
 * --print prints the programs. */
#include "coil_programs.h"
#include "differ.h"
#include <stdio.h>

static uint64_t valid;

static bool program_trial(uint64_t seed, uint64_t number, bool print)
{
    struct writer w = {0};
    char note[160];
    bool ran;
    struct coil_choices c = {.state = (seed * UINT64_C(0x9E3779B97F4A7C15)) ^
                                      (number * UINT64_C(0xBF58476D1CE4E5B9))};
    coil_program_write(&c, &w);
    if (print) fwrite(w.out.data, 1, w.out.size, stdout);
    const char *wrong = coil_trial(writer_view(&w), &ran, note, sizeof note);
    writer_free(&w);
    valid += ran;
    if (print) printf("; %s\n", note);
    if (wrong) fprintf(stderr, "%s: ", note);
    if (wrong) differ_failed(wrong);
    return true;
}

int main(int argc, char **argv)
{
    static const struct differ differ = {"coil_differ", "--print", program_trial, NULL};
    bool print = false;
    int status = differ_run(&differ, argc, argv, &print);
    if (status) return status;
    printf("%llu programs are valid\n", (unsigned long long)valid);
    return valid ? 0 : 77;
}
