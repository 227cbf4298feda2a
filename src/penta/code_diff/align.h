/* Aligns two lists of numbers: finds pairs of equal items, in the order of both lists. */
#pragma once
#include "base/error.h"

typedef void align_pair(void *user, size_t a, size_t b);

/* Reports a longest common subsequence, in no particular order of its pairs, where the lists differ in at most some
 * hundreds of items. Beyond that, items that are unique in both lists cut them into parts first; a part without such
 * items has no pairs then. The work is at most in proportion to n * log n, with a large constant. */
bool align_lists(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count,
                 align_pair *report, void *user, penta_error *err);
