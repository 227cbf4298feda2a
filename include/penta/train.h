/* Training of ternary networks: tables of samples, runs over them, and what came out. The rules of
 * penta.h about errors and NULL hold.
 *
 *     penta_vm *vm = penta_vm_new(module, NULL, NULL, 0, NULL, &err);
 *     penta_option options[] = {{"data", "train.idx"}, {"targets", "labels.idx"}, {"epochs", "20"}};
 *     penta_tvmr_trained result;
 *     if (penta_tvmr_train(vm, NULL, options, 3, &result, NULL, NULL, &err)) ... result.accuracy
 *     penta_tvmr_trained_free(&result);
 *
 * A run learns from a row of data: input and target buffer are set, and the program runs from its
 * start. Without a target (an empty buffer) a program must not change its weights: so it is judged.
 * Host calls are answered with nothing. Two labels of the metadata are run, when they are there,
 * with empty buffers: init once before, batch_end after every batch (TVMR 21). */
#pragma once
#include "penta/tvmr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tables of 32-bit numbers ---- */

typedef struct penta_table penta_table;
/* CSV, NPY or IDX, known by the first bytes; numbers are multiplied by scale and rounded. Dimensions
 * after the first become columns. */
PENTA_API penta_table *penta_table_read(const char *path, double scale, penta_error *err);
PENTA_API penta_table *penta_table_new(const int32_t *numbers, size_t rows, size_t columns,
                                       penta_error *err); /* copied */
PENTA_API size_t penta_table_rows(const penta_table *table);
PENTA_API size_t penta_table_columns(const penta_table *table);
PENTA_API const int32_t *penta_table_row(const penta_table *table, size_t row); /* borrowed */
PENTA_API void penta_table_free(penta_table *table); /* NULL is allowed */

/* ---- training ---- */

/* Tables with as many rows of targets as of data. Targets of one column are classes from 0 on, others
 * are outputs as they should be. Both test tables may be NULL. */
typedef struct penta_tvmr_samples {
    const penta_table *data, *targets, *test_data, *test_targets;
} penta_tvmr_samples;

typedef struct penta_tvmr_epoch {
    size_t number;               /* from 1 */
    size_t trained, right;       /* rows learnt from; right before the weights followed them */
    size_t tested, tested_right; /* of the test, 0 without one */
    double error, tested_error;  /* mean absolute difference of outputs and targets */
    bool best;                   /* so far: these weights are kept */
    double seconds;              /* since the start of training */
} penta_tvmr_epoch;
/* Called after every epoch; false ends the training. */
typedef bool penta_tvmr_progress(void *user, const penta_tvmr_epoch *epoch);

typedef struct penta_tvmr_judged {
    size_t rows, right, classes;
    double accuracy;     /* right / rows, from 0 to 1 */
    double error;        /* mean absolute difference of outputs and targets */
    uint64_t *confusion; /* classes * classes: how often row [what it is] was taken for [column] */
} penta_tvmr_judged;

typedef struct penta_tvmr_trained {
    size_t epochs, best; /* done; the number of the best one, 0: the start was better */
    const char *ended;   /* "epochs", "goal", "patience" or "stopped" */
    double seconds;
    /* The best weights, by the test or else by the data. After an interrupt: as the best epoch was judged,
     * without classes; no rows when none had ended. */
    penta_tvmr_judged judged;
} penta_tvmr_trained;

/* Trains the cold registers of a machine; afterwards they hold the best weights, judged by the test
 * if there is one, else by the data. Options are those for PENTA_USE_TRAIN; files that they name are
 * read for samples that are NULL. A failed call leaves the machine between two runs. */
PENTA_API bool penta_tvmr_train(penta_vm *vm, const penta_tvmr_samples *samples,
                                const penta_option *options, size_t count, penta_tvmr_trained *out,
                                penta_tvmr_progress *progress, void *user, penta_error *err);
PENTA_API void penta_tvmr_trained_free(penta_tvmr_trained *trained);

/* Runs all rows without targets and compares. The machine is as before; options as above. */
PENTA_API bool penta_tvmr_judge(penta_vm *vm, const penta_table *data, const penta_table *targets,
                                const penta_option *options, size_t count, penta_tvmr_judged *out,
                                penta_error *err);
PENTA_API void penta_tvmr_judged_free(penta_tvmr_judged *judged);

#ifdef __cplusplus
}
#endif
