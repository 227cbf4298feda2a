/* Trains a network in epochs and batches and keeps the best weights (TVMR 21). */
#include "tvmr/train/train.h"
#include "base/bytes.h"
#include "core/snapshot.h"
#include "tvmr/vm/ops.h"
#include <stdlib.h>
#include <time.h>

struct training {
    struct tvmr_vm *vm;
    struct samples samples, test; /* test.data is NULL when no tests are given. */
    struct penta_table files[4];  /* the files that options name */
    uint64_t epochs, batch, seed, patience;
    double goal; /* The share of right outputs at which training stops, from 0 to 1; above 1 for
                  * none. */
    const char *save;
    penta_tvmr_progress *progress;
    void *user;
    size_t *order;
    int64_t batch_end; /* the instruction to run after each batch, or -1 */
    bool interrupted;  /* A run was interrupted, so the epoch does not count. */
    struct timespec start;
    struct writer best; /* a snapshot of the machine with the best weights */
    struct score best_score;
};

static bool read_samples(struct training *t, const penta_tvmr_samples *given,
                         const penta_option *options, size_t count, penta_error *err)
{
    static const char *const keys[] = {"data", "targets", "test-data", "test-targets"};
    const struct penta_table *tables[] = {given ? given->data : NULL, given ? given->targets : NULL,
                                          given ? given->test_data : NULL,
                                          given ? given->test_targets : NULL};
    double scale = option_real(options, count, "scale", 1);
    for (size_t i = 0; i < 4; i++) {
        const char *path = option_text(options, count, keys[i]);
        bool targets = i & 1;
        if (tables[i] || !path) continue;
        if (!table_read_file(path, targets ? 1 : scale, &t->files[i], err)) return false;
        tables[i] = &t->files[i];
    }
    if (!samples_open(&t->samples, tables[0], tables[1], options, count, err)) return false;
    if ((tables[2] || tables[3]) &&
        !samples_open(&t->test, tables[2], tables[3], options, count, err))
        return false;
    return samples_classes(&t->samples, &t->test, options, count, err);
}

static int64_t label_of(const struct tvmr_vm *vm, const char *name)
{
    const struct tvmr_module *m = tvmr_module(vm->base.module);
    if (m->inner) m = m->inner;
    for (size_t i = 0; i < m->meta.label_count; i++)
        if (!strcmp(m->meta.labels[i].name, name)) return m->meta.labels[i].index;
    return -1;
}

static bool read_options(struct training *t, const penta_option *options, size_t count,
                         penta_error *err)
{
    if (!options_check(options, count, tvmr_driver.options, OPTION_TRAIN, err)) return false;
    t->epochs = option_number(options, count, "epochs", 10);
    t->batch = option_number(options, count, "batch", 0);
    t->seed = option_number(options, count, "seed", 0);
    t->patience = option_number(options, count, "patience", 0);
    t->goal = option_real(options, count, "goal", 200) / 100;
    t->save = option_text(options, count, "save");
    t->batch_end = label_of(t->vm, "batch_end");
    if (t->batch && t->batch_end < 0) {
        error_at(err, BASE_OPTION_VALUE, 0, "option 'batch': the program has no label batch_end");
        return error_note(err, "labels are in the metadata: option 'metadata' of asm writes it");
    }
    return true;
}

static bool all_zero(const struct tvmr_cold *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->weights[i].polarity || c->weights[i].magnitude) return false;
    return true;
}

static bool train_initialise(struct training *t, const penta_option *options, size_t count,
                             penta_error *err)
{
    bool structured = option_is(options, count, "init", "structured"),
         random = option_is(options, count, "init", "random");
    for (unsigned i = 0; (structured || random) && i < TVMR_BANK; i++) {
        struct tvmr_cold *c = &t->vm->cold[i];
        if (!c->present || !c->key_size || !all_zero(c)) continue;
        if (structured)
            penta_tvmr_init((penta_tvmr_signal *)(void *)c->weights, c->count, false, t->seed + i);
        else
            tvmr_random_fill(c->weights, c->count, t->seed + i);
        tvmr_cold_changed(c);
    }
    int64_t label = label_of(t->vm, "init");
    return label < 0 ||
           run_from(t->vm, (uint64_t)label, NULL, 0, NULL, 0, SIZE_MAX, &t->interrupted, err);
}

/* Shuffles the samples. The order depends only on the seed and the number of the epoch. */
static void train_shuffle(struct training *t, uint64_t epoch)
{
    uint64_t state = t->seed * UINT64_C(0x9E3779B97F4A7C15) + epoch;
    size_t rows = t->samples.data->rows;
    for (size_t i = 0; i < rows; i++) t->order[i] = i;
    for (size_t i = rows; i > 1; i--) {
        state += UINT64_C(0x9E3779B97F4A7C15); /* This is the generator splitmix64. */
        uint64_t z = state;
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        size_t k = (size_t)((z ^ z >> 31) % i), swapped = t->order[k];
        t->order[k] = t->order[i - 1];
        t->order[i - 1] = swapped;
    }
}

static bool train_learn(struct training *t, uint64_t epoch, struct score *score, penta_error *err)
{
    const struct penta_table *data = t->samples.data;
    *score = (struct score){0};
    train_shuffle(t, epoch);
    for (size_t i = 0; i < data->rows; i++) {
        size_t row = t->order[i], count;
        const int32_t *target = samples_target(&t->samples, row, &count);
        if (!run_from(t->vm, 0, data->numbers + row * data->columns, data->columns, target, count,
                      row, &t->interrupted, err))
            return false;
        score_add(score, t->vm, &t->samples, row, NULL);
        bool ends = i + 1 == data->rows || (t->batch && (i + 1) % t->batch == 0);
        if (ends && t->batch_end >= 0 &&
            !run_from(t->vm, (uint64_t)t->batch_end, NULL, 0, NULL, 0, SIZE_MAX, &t->interrupted,
                      err))
            return false;
    }
    return true;
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Keeps the weights if they are the best so far. */
static bool keep_best(struct training *t, const struct score *score, bool *better, penta_error *err)
{
    double now = score_accuracy(score), best = score_accuracy(&t->best_score);
    *better = !t->best_score.rows || now > best ||
              (now == best && score_error(score) < score_error(&t->best_score));
    if (!*better) return true;
    t->best_score = *score;
    t->best.out.size = 0;
    if (!snapshot_save(&t->vm->base, &t->best))
        return error_at(err, BASE_MEMORY, 0, "no memory for the best weights");
    return !t->save || tvmr_weights_save(t->vm, t->save, err);
}

static bool one_epoch(struct training *t, penta_tvmr_trained *out, bool *goes_on, penta_error *err)
{
    struct score learnt, tested = {0};
    if (!train_learn(t, out->epochs, &learnt, err) ||
        (t->test.data && !train_judge(t->vm, &t->test, &tested, NULL, &t->interrupted, err)))
        return false;
    const struct score *score = t->test.data ? &tested : &learnt;
    penta_tvmr_epoch epoch = {.number = ++out->epochs,
                              .trained = learnt.rows,
                              .right = learnt.right,
                              .tested = tested.rows,
                              .tested_right = tested.right,
                              .error = score_error(&learnt),
                              .tested_error = score_error(&tested)};
    if (!keep_best(t, score, &epoch.best, err)) return false;
    if (epoch.best) out->best = out->epochs;
    epoch.seconds = out->seconds = seconds_since(&t->start);
    const char *ended = NULL;
    if (score_accuracy(score) >= t->goal)
        ended = "goal";
    else if (t->patience && out->epochs - out->best >= t->patience)
        ended = "patience";
    if (t->progress && !t->progress(t->user, &epoch)) ended = "stopped";
    if (ended) out->ended = ended;
    *goes_on = !ended;
    return true;
}

/* Gives the result of the best epoch after an interrupt. Judging again would take as long as a
 * part of an epoch. */
static void train_judged_before(const struct score *best, penta_tvmr_judged *out)
{
    out->rows = best->rows;
    out->right = best->right;
    out->accuracy = score_accuracy(best);
    out->error = score_error(best);
}

static bool train_judge_start(struct training *t, penta_error *err)
{
    struct score score;
    bool better;
    return !t->test.data || (train_judge(t->vm, &t->test, &score, NULL, &t->interrupted, err) &&
                             keep_best(t, &score, &better, err));
}

static bool train_epochs(struct training *t, const penta_option *options, size_t count,
                         penta_tvmr_trained *out, penta_error *err)
{
    bool goes_on = true, judged = false;
    clock_gettime(CLOCK_MONOTONIC, &t->start);
    out->ended = "epochs";
    t->order = malloc(t->samples.data->rows * sizeof *t->order);
    if (!t->order) return error_at(err, BASE_MEMORY, 0, "no memory for the order of rows");
    bool ok = train_initialise(t, options, count, err) && train_judge_start(t, err);
    while (ok && goes_on && out->epochs < t->epochs) ok = one_epoch(t, out, &goes_on, err);
    if (!ok && !t->interrupted) return false;
    *err = (penta_error){0}; /* The weights learnt so far are kept after an interrupt. */
    if (t->best.out.size && !machine_restore(t->vm, &t->best, err)) return false;
    if (ok) {
        const struct samples *samples = t->test.data ? &t->test : &t->samples;
        judged = judge_fully(t->vm, samples, &t->interrupted, &out->judged, err);
    }
    if (judged || !t->interrupted) return judged;
    *err = (penta_error){0};
    out->ended = "stopped";
    train_judged_before(&t->best_score, &out->judged);
    return true;
}

bool penta_tvmr_train(penta_vm *vm, const penta_tvmr_samples *samples, const penta_option *options,
                      size_t count, penta_tvmr_trained *out, penta_tvmr_progress *progress,
                      void *user, penta_error *err)
{
    struct training t = {.vm = tvmr_vm(vm), .progress = progress, .user = user};
    *err = (penta_error){0};
    *out = (penta_tvmr_trained){0};
    bool ok = read_options(&t, options, count, err) &&
              read_samples(&t, samples, options, count, err) &&
              train_epochs(&t, options, count, out, err);
    if (!ok) penta_tvmr_trained_free(out);
    samples_close(&t.samples);
    samples_close(&t.test);
    for (size_t i = 0; i < 4; i++) table_free(&t.files[i]);
    writer_free(&t.best);
    free(t.order);
    return ok;
}

void penta_tvmr_trained_free(penta_tvmr_trained *trained)
{
    penta_tvmr_judged_free(&trained->judged);
    *trained = (penta_tvmr_trained){0};
}
