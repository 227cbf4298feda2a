/* Implements the default host's registers, regions and messages (TVMR 17.6, TVMR 17.7). */
#include "tvmr/vm/ops.h"
#include "tvmr/host/domain_state.h"
#include <stdlib.h>

enum { MESSAGE = 8 }; /* A message counts this much in addition to its numbers. */

#define ACT(name) bool domain_##name(struct act *a)

/* Gives a register to the program. Param and shape registers always exist, so a bit tells which
 * ones were given. */
static bool domain_region_take(struct act *a, unsigned i)
{
    struct tvmr_vm *vm = a->vm;
    uint32_t size = (uint32_t)a->args[2];
    uint64_t bit = UINT64_C(1) << i;
    switch (a->args[1]) {
    case 0: return !vm->hot[i].present && tvmr_hot_set(vm, i, NULL, size, &size, 1);
    case 1: return !vm->cold[i].present && tvmr_cold_new(vm, i, size, &size, 1);
    case 2:
        if (a->w->params & bit || vm->param[i]) return false;
        a->w->params |= bit;
        return true;
    case 3:
        if (a->w->shapes & bit || vm->shape[i].rank) return false;
        a->w->shapes |= bit;
        return tvmr_shape_set(vm, &vm->shape[i], &size, 1);
    default: return false;
    }
}

/* Gives the program the last free register of a bank, because programs number their own from 0.
 * The register 63 of the last bank is never given, because its number as an operand means "no
 * register". */
ACT(AllocRegister)
{
    for (unsigned i = TVMR_BANK - 1; i-- > 0;) {
        a->vm->no_memory = false;
        if (domain_region_take(a, i))
            return answer_number(a->vm, a->args[0], (int64_t)(a->args[1] << 6 | i));
        if (a->vm->no_memory) return false;
    }
    return answer_number(a->vm, a->args[0], TVMR_NULL);
}

ACT(FreeRegister)
{
    unsigned reg = (unsigned)a->args[0], i = INDEX(reg);
    uint64_t bit = UINT64_C(1) << i;
    if (reg == TVMR_NULL) return true;
    switch (reg >> 6) {
    case 0: tvmr_hot_drop(a->vm, &a->vm->hot[i]); break;
    case 1: tvmr_cold_drop(a->vm, &a->vm->cold[i]); break;
    case 2:
        a->vm->param[i] = 0;
        a->w->params &= ~bit;
        break;
    default:
        a->vm->shape[i].rank = 0;
        a->w->shapes &= ~bit;
        break;
    }
    return true;
}

static bool domain_region_push(struct act *a, struct queue *q, struct numbers n)
{
    if (!numbers_fit(a, n.count + MESSAGE)) return false;
    struct message *m = calloc(1, sizeof *m);
    if (!m || !numbers_keep(a, &m->body, n.data, n.count)) {
        free(m);
        return false;
    }
    a->w->held += MESSAGE; /* Empty messages must count, too. */
    if (q->first)
        q->last->next = m;
    else
        q->first = m;
    q->last = m;
    return true;
}

static void drop_first(struct tvmr_domain *w, struct queue *q)
{
    struct message *m = q->first;
    q->first = m->next;
    numbers_drop(w, &m->body);
    w->held -= MESSAGE;
    free(m);
}

/* Reads the first message of a queue, or [0] when the queue is empty. */
static bool domain_region_front(struct act *a, struct queue *q, bool pop)
{
    static const int32_t nothing = 0;
    struct message *m = q->first;
    bool ok = m ? answer_list(a->vm, a->args[0], m->body.data, m->body.count)
                : answer_list(a->vm, a->args[0], &nothing, 1);
    if (m && pop) drop_first(a->w, q);
    return ok;
}

ACT(SendSignal)
{
    return domain_region_push(a, &a->w->regions[a->args[1] & 255], source_of(a->vm, a->args[0]));
}
ACT(RecvSignal) { return domain_region_front(a, &a->w->regions[a->args[1] & 255], true); }
ACT(RouteInput) { return domain_SendSignal(a); }
ACT(RegionFire) { return domain_RecvSignal(a); }

/* Sends a message to a channel. Only the program itself can listen, so a channel is a queue to
 * which it has subscribed. */
ACT(Broadcast)
{
    uint64_t channel = a->args[1] & 255;
    return !a->w->subscribed[channel] ||
           domain_region_push(a, &a->w->mailboxes[channel], source_of(a->vm, a->args[0]));
}
ACT(Subscribe)
{
    a->w->subscribed[a->args[1] & 255] = true;
    return answer_number(a->vm, a->args[0], (int64_t)(a->args[1] & 255));
}
ACT(MailboxPeek) { return domain_region_front(a, &a->w->mailboxes[a->args[1] & 255], false); }
ACT(MailboxPop) { return domain_region_front(a, &a->w->mailboxes[a->args[1] & 255], true); }

ACT(CollectOutputs)
{
    for (unsigned i = 0; i < 256; i++)
        if (a->w->regions[i].first) return domain_region_front(a, &a->w->regions[i], true);
    return answer_list(a->vm, a->args[0], NULL, 0);
}

ACT(RegionStatus)
{
    unsigned id = a->args[1] & 255;
    return answer_number(a->vm, a->args[0],
                         !a->w->enabled[id]        ? 0
                         : a->w->regions[id].first ? 2
                                                   : 1);
}
ACT(RegionEnable)
{
    a->w->enabled[a->args[0] & 255] = true;
    return true;
}
ACT(RegionDisable)
{
    a->w->enabled[a->args[0] & 255] = false;
    return true;
}

ACT(HaltRegion) { return domain_RegionDisable(a); }
ACT(BarrierWait) /* The barrier does not wait, because the program is the only participant. */
{
    (void)a;
    return true;
}

/* Compares and swaps the cell of a target register. Each register has its own cell. */
ACT(AtomicCas)
{
    struct numbers *cell = &a->w->cells[a->args[0] & 255];
    struct numbers expected = source_of(a->vm, a->args[1]), desired = source_of(a->vm, a->args[2]);
    struct numbers old = *cell, fresh = {0};
    bool same = old.count == expected.count &&
                (!old.count || !memcmp(old.data, expected.data, old.count * sizeof *old.data));
    if (same && !numbers_keep(a, &fresh, desired.data, desired.count)) return false;
    bool ok = answer_list(a->vm, a->args[0], old.data, old.count);
    if (!same) return ok;
    numbers_drop(a->w, cell);
    *cell = fresh;
    return ok;
}

void domain_region_free(struct tvmr_domain *w)
{
    for (unsigned i = 0; i < 256; i++) {
        while (w->regions[i].first) drop_first(w, &w->regions[i]);
        while (w->mailboxes[i].first) drop_first(w, &w->mailboxes[i]);
        numbers_drop(w, &w->cells[i]);
    }
}
