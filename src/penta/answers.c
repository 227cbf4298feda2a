/* The answers of the host as bytes, so that another run can repeat them: a frame as around
 * snapshots (core/snapshot.h), with
 *
 *     u64 number of answers, of each:
 *         u64 number of results, u64 each | u64 gas | u64 end
 *         u64 size of its memory writes, the bytes (core/host.h)
 *         u64 size of what else it changed, the bytes (core/delta.h)                              */
#include <stdlib.h>
#include "base/array.h"
#include "base/bytes.h"
#include "core/snapshot.h"
#include "penta/debugger/debugger_struct.h"

static const char magic[] = "PNTA";

static void walk_buffer(struct walk *w, penta_buffer *b)
{
    walk_array(w, &b->data, &b->size, &b->capacity, 1);
}

/* Memory writes are {u64 address, u64 size, bytes} each. */
static bool sound_pokes(penta_bytes left)
{
    while (left.size) {
        if (left.size < 16 || get64(left.data + 8) > left.size - 16) return false;
        left = bytes_slice(left, 16 + (size_t)get64(left.data + 8), SIZE_MAX);
    }
    return true;
}

static void walk_answer(struct walk *w, struct recorded_answer *a)
{
    a->count = (size_t)walk_number(w, a->count);
    if (a->count > sizeof a->results / sizeof *a->results) {
        walk_wrong(w, "more results than any call has");
        a->count = 0;
    }
    walk_numbers(w, a->results, a->count, sizeof *a->results);
    WALK_NUMBER(w, a->gas);
    WALK_NUMBER(w, a->end);
    if (a->end > CALL_UNPAID) walk_wrong(w, "no call ends so");
    walk_buffer(w, &a->pokes);
    walk_buffer(w, &a->effect);
    if (!sound_pokes((penta_bytes){a->pokes.data, a->pokes.size}))
        walk_wrong(w, "a memory write that is cut off");
}

bool penta_debugger_record(const penta_debugger *d, penta_buffer *out, penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    struct walk walk = {.out = &w};
    size_t from = frame_begin(d->session->vm, magic, &w);
    walk_number(&walk, d->answer_count);
    for (size_t i = 0; i < d->answer_count; i++) walk_answer(&walk, &d->answers[i]);
    frame_end(&w, from);
    return writer_give(&w, true, out, err);
}

bool penta_debugger_replay(penta_debugger *d, penta_bytes recorded, penta_error *err)
{
    *err = (penta_error){0};
    struct walk w;
    if (d->furthest || d->answer_count)
        return error_at(err, BASE_STATE, 0, "answers are repeated from the first step on");
    if (!frame_open(d->session->vm, magic, "a record of answers", recorded, &w, err)) return false;
    size_t count = walk_count(&w, 0, 5 * 8), done = 0;
    struct recorded_answer *answers = NULL;
    size_t capacity = 0;
    if (!walk_failed(&w) && !ARRAY_RESERVE(answers, capacity, count))
        return error_at(err, BASE_MEMORY, 0, "no memory for the answers");
    for (; done < count && !walk_failed(&w); done++) {
        answers[done] = (struct recorded_answer){0};
        walk_answer(&w, &answers[done]);
    }
    if (!frame_finished(&w)) {
        answers_free(answers, done);
        return false;
    }
    free(d->answers);
    d->answers = answers;
    d->answer_count = count;
    d->answer_capacity = capacity;
    return true;
}
