/* Compares interpreter and compiler. The input only chooses how a program is generated
 * (pvm_programs.h), so that nearly every program runs. tests/units/pvm_differ.c does the same
 * with random numbers. */
#include "fuzz.h"
#include "pvm_trial.h"

void trial_failed(const char *what, const struct program *program)
{
    (void)program;
    check_failed(what, 0, 0);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    struct choices c = {data, size, 0, 88172645463325252u};
    for (size_t i = 0; i < size; i++) c.state = c.state * 1099511628211u ^ data[i];
    trial_run(&c, NULL);
}
