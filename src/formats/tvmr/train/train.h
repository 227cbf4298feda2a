/* Declares how a network is trained and judged (TVMR 21). */
#pragma once
#include "base/table/table.h"
#include "penta/train.h"
#include "tvmr/vm/vm.h"

/* The samples of a training, with how their targets are made. */
struct samples {
    const struct penta_table *data, *targets;
    size_t classes; /* number of classes; 0 when targets are outputs and not classes */
    int32_t on, off;
    int32_t *row; /* the target of one row, made from its class */
};

/* Reads the samples as the options say. Returns false with an error. */
bool samples_open(struct samples *s, const struct penta_table *data,
                  const struct penta_table *targets, const penta_option *options, size_t count,
                  penta_error *err);
/* Gives samples and tests the same number of classes. */
bool samples_classes(struct samples *s, struct samples *test, const penta_option *options,
                     size_t count, penta_error *err);
void samples_close(struct samples *s);
/* Returns the target of a row. *count becomes how many numbers it has. */
const int32_t *samples_target(const struct samples *s, size_t row, size_t *count);

struct score {
    size_t rows, right;
    double difference; /* the sum of the differences between outputs and targets */
    uint64_t elements;
};
/* Compares the machine's output with the target of a row. */
void score_add(struct score *score, const struct tvmr_vm *vm, const struct samples *s, size_t row,
               uint64_t *confusion);
double score_accuracy(const struct score *score);
double score_error(const struct score *score);

/* Makes one run from the instruction `pc`. `row` is the row that messages name, or SIZE_MAX for
 * none. *interrupted, unless it is NULL, tells whether an interrupt ended the run. */
bool run_from(struct tvmr_vm *vm, uint64_t pc, const int32_t *input, size_t count,
              const int32_t *target, size_t target_count, size_t row, bool *interrupted,
              penta_error *err);
/* Brings the machine back to a saved state. Lengths that did not fit since then are still
 * reported. */
bool machine_restore(struct tvmr_vm *vm, const struct writer *saved, penta_error *err);
/* Runs all rows without targets, and restores the machine afterwards. *interrupted is set as by
 * run_from. */
bool train_judge(struct tvmr_vm *vm, const struct samples *s, struct score *score,
                 uint64_t *confusion, bool *interrupted, penta_error *err);
/* Judges a machine and gives all results, which the caller frees. *interrupted is set as by run_from. */
bool judge_fully(struct tvmr_vm *vm, const struct samples *s, bool *interrupted,
                 penta_tvmr_judged *out, penta_error *err);
