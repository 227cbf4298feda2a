/* For fuzzers: a mutated file whose checksums, sizes and counts fit again gets past the checks of the
 * container, to the code after them. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* In place, for bytes that begin as files of the format do; others stay as they are. */
void repair(const char *format, uint8_t *data, size_t size);

/* What a target's LLVMFuzzerCustomMutator does: libFuzzer's own mutation, then, three times of four,
 * the repair. */
size_t mutate_and_repair(const char *format, uint8_t *data, size_t size, size_t max, unsigned seed);

/* Defines it for a target. */
#define REPAIRING_MUTATOR(format)                                                                  \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);         \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)          \
    {                                                                                              \
        return mutate_and_repair(format, data, size, max, seed);                                   \
    }
