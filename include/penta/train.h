/* Trains ternary networks: reads tables of samples, runs over them, and tells the results. The rules of
 * penta.h about errors and NULL hold.
 *
 *     penta_vm *vm = penta_vm_new(module, NULL, NULL, 0, NULL, &err);
 *     penta_option options[] = {{"data", "train.idx"}, {"targets", "labels.idx"}, {"epochs", "20"}};
 *     penta_tvmr_trained result;
 *     if (penta_tvmr_train(vm, NULL, options, 3, &result, NULL, NULL, &err)) ... result.accuracy
 *     penta_tvmr_trained_free(&result);
 *
 * A run learns from a row of data: input and target buffer are set, and the program runs from its
 * start. Without a target (an empty buffer) a program must not change its weights, so that it can be
 * judged. Host calls are answered without results. Code at two labels of the metadata runs, where
 * there are such, with empty buffers: init once before, batch_end after every batch (TVMR 21). */
#pragma once
#include "penta/tvmr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions below are about tables of 32-bit numbers. */

typedef struct penta_table penta_table;
/* Reads a table from a CSV, NPY or IDX file, whose kind is known by its first bytes. Numbers are
 * multiplied by `scale` and rounded. Dimensions after the first become columns. */
PENTA_API penta_table *penta_table_read(const char *path, double scale, penta_error *err);
/* Makes a table of copied numbers. */
PENTA_API penta_table *penta_table_new(const int32_t *numbers, size_t rows, size_t columns,
                                       penta_error *err);
PENTA_API size_t penta_table_rows(const penta_table *table);
PENTA_API size_t penta_table_columns(const penta_table *table);
/* Returns a row, which is borrowed. */
PENTA_API const int32_t *penta_table_row(const penta_table *table, size_t row);
PENTA_API void penta_table_free(penta_table *table); /* `table` may be NULL. */

/* The declarations below are about training. */

/* A penta_tvmr_samples has tables with as many rows of targets as of data. Targets of one column
 * are classes from 0 on; targets of several columns are outputs as they should be. Both test
 * tables may be NULL. */
typedef struct penta_tvmr_samples {
    const penta_table *data, *targets, *test_data, *test_targets;
} penta_tvmr_samples;

typedef struct penta_tvmr_epoch {
    size_t number; /* the number of the epoch, from 1 on */
    /* `trained` says how many rows were learnt from, `right` how many outputs were right before
     * the weights changed. */
    size_t trained, right;
    /* `tested` says how many rows of the test ran, `tested_right` how many outputs were right.
     * Both are 0 without a test. */
    size_t tested, tested_right;
    double error, tested_error; /* the mean absolute difference of outputs and targets */
    bool best;                  /* The epoch is the best so far: its weights are kept. */
    double seconds;             /* the time since the start of training */
} penta_tvmr_epoch;
/* Is called after every epoch. Returning false ends the training. */
typedef bool penta_tvmr_progress(void *user, const penta_tvmr_epoch *epoch);

typedef struct penta_tvmr_judged {
    size_t rows, right, classes;
    double accuracy; /* right / rows, from 0 to 1 */
    double error;    /* the mean absolute difference of outputs and targets */
    /* classes * classes numbers: how often a row of class [row] was taken for class [column] */
    uint64_t *confusion;
} penta_tvmr_judged;

typedef struct penta_tvmr_trained {
    /* `epochs` says how many were done; `best` is the number of the best one, or 0 when the
     * start was better. */
    size_t epochs, best;
    const char *ended; /* why the training ended: "epochs", "goal", "patience" or "stopped" */
    double seconds;
    /* The best weights are judged by the test, or else by the data. After an interrupt this is
     * how the best epoch was judged, without classes; it has no rows when no epoch had ended. */
    penta_tvmr_judged judged;
} penta_tvmr_trained;

/* Trains the cold registers of a machine, which then hold the best weights. Weights are judged
 * by the test if there is one, else by the data. Options are those for PENTA_USE_TRAIN; the
 * files that they name are read for samples that are NULL. A failed call leaves the machine
 * between two runs. */
PENTA_API bool penta_tvmr_train(penta_vm *vm, const penta_tvmr_samples *samples,
                                const penta_option *options, size_t count, penta_tvmr_trained *out,
                                penta_tvmr_progress *progress, void *user, penta_error *err);
PENTA_API void penta_tvmr_trained_free(penta_tvmr_trained *trained);

/* Runs all rows without targets and compares the outputs with the targets. The machine stays as
 * it was. Options are those of penta_tvmr_train. */
PENTA_API bool penta_tvmr_judge(penta_vm *vm, const penta_table *data, const penta_table *targets,
                                const penta_option *options, size_t count, penta_tvmr_judged *out,
                                penta_error *err);
PENTA_API void penta_tvmr_judged_free(penta_tvmr_judged *judged);

#ifdef __cplusplus
}
#endif
