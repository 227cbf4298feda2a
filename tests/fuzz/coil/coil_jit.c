/* Compares interpreter and compiler. The input chooses how a program is generated
 * (coil_programs.h), so that nearly every program runs. tests/units/coil_differ.c does the same
 * with random numbers. */
#include "fuzz.h"
#include "coil_programs.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct coil_choices c = {data, size, 0, 1};
    struct writer w = {0};
    char note[160];
    bool ran;
    for (size_t i = 0; i < size; i++) c.state = c.state * 1099511628211u ^ data[i];
    coil_program_write(&c, &w);
    if (coil_trial(writer_view(&w), &ran, note, sizeof note)) check_failed(note, 0, 0);
    writer_free(&w);
}
