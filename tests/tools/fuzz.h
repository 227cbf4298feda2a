/* Declares what every fuzz target shares: its entry, checks that end the process, and what
 * several targets need. */
#pragma once
#include "base/bytes.h"
#include "checks.h"
#include "repair.h"
#include <stdio.h>
#include <stdlib.h>

/* A target defines this function; fuzz.c calls it with every input of libFuzzer. */
void fuzz_one(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __LINE__, 0))

/* Takes findings whose text must be made but is not used. */
void ignore_finding(void *user, const penta_error *finding);
/* Adds the findings that are errors to a size_t. */
void count_errors(void *count, const penta_error *finding);

/* Returns a copy with a zero byte at its end, which the caller frees. */
char *copy_as_text(const uint8_t *data, size_t size);

bool same_buffer(const penta_buffer *a, const penta_buffer *b);
/* Checks that both machines save the same snapshot. `what` is printed when they do not. */
void check_same_state(const penta_vm *a, const penta_vm *b, const char *what);

/* Mutates a file as libFuzzer does and then, three times of four, repairs it. */
size_t mutate_and_repair(const char *format, uint8_t *data, size_t size, size_t max, unsigned seed);

/* Makes mutate_and_repair the mutation of a target. */
#define REPAIRING_MUTATOR(format)                                                                  \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);         \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)          \
    {                                                                                              \
        return mutate_and_repair(format, data, size, max, seed);                                   \
    }
