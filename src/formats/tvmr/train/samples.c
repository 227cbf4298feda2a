/* Reads samples and their targets, and compares outputs with targets. */
#include "tvmr/train/train.h"
#include "base/number.h"
#include <math.h>
#include <stdlib.h>

bool samples_open(struct samples *s, const struct penta_table *data,
                  const struct penta_table *targets, const penta_option *options, size_t count,
                  penta_error *err)
{
    *s = (struct samples){.data = data, .targets = targets};
    if (!data || !targets)
        return error_at(err, BASE_OPTION_VALUE, 0, "samples need both data and targets");
    if (data->rows != targets->rows || !data->rows)
        return error_at(err, BASE_OPTION_VALUE, 0, "%zu rows of data, %zu of targets", data->rows,
                        targets->rows);
    s->on = (int32_t)option_number(options, count, "on", 255);
    s->off = (int32_t)option_number(options, count, "off", 0);
    return true;
}

/* Counts the classes: the largest class plus 1, or 0 when targets are outputs. */
static bool count_classes(const struct samples *s, size_t *classes, penta_error *err)
{
    enum { CLASSES_MAX = 65536 };
    for (size_t i = 0; s->targets && s->targets->columns == 1 && i < s->targets->rows; i++) {
        int32_t class = s->targets->numbers[i];
        if (class < 0 || class >= CLASSES_MAX)
            return error_at(err, BASE_OPTION_VALUE, 0, "row %zu of the targets: %d is no class", i,
                            class);
        if ((size_t) class >= *classes) *classes = (size_t) class + 1;
    }
    return true;
}

bool samples_classes(struct samples *s, struct samples *test, const penta_option *options,
                     size_t count, penta_error *err)
{
    uint64_t said = option_number(options, count, "classes", 0);
    size_t classes = 0;
    if (!count_classes(s, &classes, err) || !count_classes(test, &classes, err)) return false;
    if (said && said < classes)
        return error_at(err, BASE_OPTION_VALUE, 0, "class %zu in the targets, of %llu classes",
                        classes - 1, (unsigned long long)said);
    if (test->targets && test->targets->columns != s->targets->columns)
        return error_at(err, BASE_OPTION_VALUE, 0, "targets of %zu columns, those of the test %zu",
                        s->targets->columns, test->targets->columns);
    if (said && s->targets->columns == 1) classes = (size_t)said;
    struct samples *both[] = {s, test};
    for (size_t i = 0; i < 2; i++) {
        both[i]->classes = classes;
        both[i]->row = calloc(classes + 1, sizeof(int32_t));
        if (!both[i]->row) return error_at(err, BASE_MEMORY, 0, "no memory for targets");
        for (size_t k = 0; k < classes; k++) both[i]->row[k] = both[i]->off;
    }
    return true;
}

void samples_close(struct samples *s) { free(s->row); }

const int32_t *samples_target(const struct samples *s, size_t row, size_t *count)
{
    *count = s->classes ? s->classes : s->targets->columns;
    if (!s->classes) return s->targets->numbers + row * s->targets->columns;
    for (size_t k = 0; k < s->classes; k++) s->row[k] = s->off;
    s->row[s->targets->numbers[row]] = s->on;
    return s->row;
}

/* Returns the index of the largest element as ARGMAX does: the last one of equal elements. */
static size_t samples_largest(const int32_t *data, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (data[i] >= data[best]) best = i;
    return best;
}

void score_add(struct score *score, const struct tvmr_vm *vm, const struct samples *s, size_t row,
               uint64_t *confusion)
{
    size_t count, is, taken;
    const int32_t *target = samples_target(s, row, &count), *out = vm->output.data;
    size_t n = vm->output.count;
    bool chosen = n == 1 && s->classes > 1; /* The program's output is the class itself. */
    is = s->classes ? (size_t)s->targets->numbers[row] : samples_largest(target, count);
    taken = chosen ? (size_t)(out[0] < 0 ? SIZE_MAX : (size_t)out[0]) : samples_largest(out, n);
    for (size_t i = 0; !chosen && i < count; i++)
        score->difference += fabs((double)target[i] - (i < n ? out[i] : 0));
    score->elements += chosen ? 0 : count;
    score->rows++;
    score->right += n && taken == is;
    size_t classes = s->classes ? s->classes : count;
    if (confusion && n && taken < classes) confusion[is * classes + taken]++;
}

double score_accuracy(const struct score *s)
{
    return s->rows ? (double)s->right / (double)s->rows : 0;
}
double score_error(const struct score *s)
{
    return s->elements ? s->difference / (double)s->elements : 0;
}
