/* What every fuzz target shares: its entry, checks that end the process, and what several of them need. */
#pragma once
#include "base/bytes.h"
#include "checks.h"
#include "repair.h"
#include <stdio.h>
#include <stdlib.h>

/* A target defines this function; fuzz.c calls it with every input of libFuzzer. */
void fuzz_one(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void)0 : check_failed(#condition, __LINE__, 0))

/* Is given findings whose text has to be made, but is of no interest. */
void ignore_finding(void *user, const penta_error *finding);
/* Adds the findings that are errors to a size_t. */
void count_errors(void *count, const penta_error *finding);

/* With a zero byte at its end; the caller frees it. */
char *copy_as_text(const uint8_t *data, size_t size);

bool same_buffer(const penta_buffer *a, const penta_buffer *b);
/* Both machines save the same snapshot; `what` is said when they do not. */
void check_same_state(const penta_vm *a, const penta_vm *b, const char *what);

/* libFuzzer's own mutation of a file, then, three times of four, its repair. */
size_t mutate_and_repair(const char *format, uint8_t *data, size_t size, size_t max, unsigned seed);

/* Makes this the mutation of a target. */
#define REPAIRING_MUTATOR(format)                                                                  \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);         \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)          \
    {                                                                                              \
        return mutate_and_repair(format, data, size, max, seed);                                   \
    }
