/* Banks of vectors, found by cosine, and a pool of leaky neurons. */
#include "tvmr/ops.h"
#include "tvmr/world_parts.h"
#include <math.h>
#include <stdlib.h>

enum { BANK_MAX = 1 << 20, POOL_SIZE = 65536, FIRE = 256 };

/* ---- banks in files: per entry id, touched, count, elements ---- */

static void bank_load(struct tvmr_world *w, unsigned slot)
{
    struct bank *b = &w->banks[slot];
    char name[24];
    penta_bytes bytes;
    penta_error err = {0};
    if (b->loaded) return;
    b->loaded = true;
    snprintf(name, sizeof name, "bank-%u", slot);
    if (!w->folder || !named_get(w, name, &bytes)) return;
    struct reader r = {.in = bytes, .err = &err};
    while (reader_left(&r) && b->count < BANK_MAX) {
        struct entry e = {.id = reader_uint(&r, 8), .touched = reader_uint(&r, 8)};
        size_t count = reader_count(&r, reader_uint(&r, 4), 4);
        struct entry *more = realloc(b->entries, (b->count + 1) * sizeof *more);
        if (!more) return;
        b->entries = more;
        if (err.code) return;
        e.vector = (struct numbers){malloc((count + 1) * 4), count};
        for (size_t i = 0; e.vector.data && i < count; i++)
            e.vector.data[i] = (int32_t)reader_uint(&r, 4);
        if (!e.vector.data) return;
        b->entries[b->count++] = e;
        if (e.id > w->next_id) w->next_id = e.id;
        if (e.touched > w->clock) w->clock = e.touched;
    }
}

static bool bank_save(struct act *a, unsigned slot)
{
    const struct bank *b = &a->w->banks[slot];
    struct writer out = {0};
    char name[24];
    if (!a->w->folder) return true;
    for (size_t i = 0; i < b->count; i++) {
        const struct entry *e = &b->entries[i];
        writer_uint(&out, e->id, 8);
        writer_uint(&out, e->touched, 8);
        writer_uint(&out, e->vector.count, 4);
        for (size_t k = 0; k < e->vector.count; k++)
            writer_uint(&out, (uint32_t)e->vector.data[k], 4);
    }
    snprintf(name, sizeof name, "bank-%u", slot);
    return writer_ok(&out, &a->err) && named_put(a->w, name, &out, &a->err);
}

static struct bank *bank_of(struct act *a, uint64_t slot)
{
    bank_load(a->w, (unsigned)slot & 255);
    return &a->w->banks[slot & 255];
}

static struct entry *entry_of(struct bank *b, struct numbers id)
{
    uint64_t wanted =
        id.count >= 2 ? (uint64_t)(uint32_t)id.data[0] << 32 | (uint32_t)id.data[1] : 0;
    for (size_t i = 0; wanted && i < b->count; i++)
        if (b->entries[i].id == wanted) return &b->entries[i];
    return NULL;
}

static bool answer_id(struct act *a, uint64_t id)
{
    int32_t pair[] = {(int32_t)(uint32_t)(id >> 32), (int32_t)(uint32_t)id};
    return answer_list(a->vm, a->args[0], pair, 2);
}

static int32_t likeness(struct numbers x, struct numbers y)
{
    double dot = 0, xx = 0, yy = 0;
    for (size_t i = 0; i < x.count; i++)
        xx += (double)x.data[i] * x.data[i];
    for (size_t i = 0; i < y.count; i++)
        yy += (double)y.data[i] * y.data[i];
    for (size_t i = 0; i < min_size(x.count, y.count); i++)
        dot += (double)x.data[i] * y.data[i];
    return xx > 0 && yy > 0 ? (int32_t)lround(256 * dot / sqrt(xx * yy)) : 0;
}

bool world_BankQuery(struct act *a)
{
    struct bank *b = bank_of(a, a->args[2]);
    struct numbers x = source_of(a->vm, a->args[1]);
    int32_t list[1 + 3 * 255], score;
    size_t found = 0, top = a->args[3] & 255;
    for (size_t i = 0; i < b->count; i++) {
        score = likeness(x, b->entries[i].vector);
        size_t at = found;
        while (at && list[1 + 3 * (at - 1)] < score)
            at--;
        if (at >= top) continue;
        size_t kept = found < top ? found : top - 1;
        memmove(&list[1 + 3 * (at + 1)], &list[1 + 3 * at], (kept - at) * 3 * sizeof *list);
        list[1 + 3 * at] = score;
        list[2 + 3 * at] = (int32_t)(uint32_t)(b->entries[i].id >> 32);
        list[3 + 3 * at] = (int32_t)(uint32_t)b->entries[i].id;
        if (found < top) found++;
    }
    list[0] = (int32_t)found;
    return answer_list(a->vm, a->args[0], list, 1 + 3 * found);
}

bool world_BankWrite(struct act *a)
{
    struct bank *b = bank_of(a, a->args[2]);
    struct numbers x = source_of(a->vm, a->args[1]);
    struct entry *more =
        b->count < BANK_MAX ? realloc(b->entries, (b->count + 1) * sizeof *more) : NULL;
    if (!more) return false;
    b->entries = more;
    struct entry e = {.id = ++a->w->next_id, .touched = ++a->w->clock};
    if (!numbers_copy(&e.vector, x.data, x.count)) return false;
    b->entries[b->count++] = e;
    return answer_id(a, e.id) && bank_save(a, a->args[2] & 255);
}

bool world_BankLoad(struct act *a)
{
    const struct entry *e = entry_of(bank_of(a, a->args[2]), source_of(a->vm, a->args[1]));
    return !e || answer_list(a->vm, a->args[0], e->vector.data, e->vector.count);
}

bool world_BankCount(struct act *a)
{
    return answer_number(a->vm, a->args[0], (int64_t)bank_of(a, a->args[1])->count);
}

bool world_BankTouch(struct act *a)
{
    struct entry *e = entry_of(bank_of(a, a->args[1]), source_of(a->vm, a->args[0]));
    if (e) e->touched = ++a->w->clock;
    return true;
}
bool world_BankPromote(struct act *a)
{
    return world_BankTouch(a);
}

bool world_BankDemote(struct act *a)
{
    struct entry *e = entry_of(bank_of(a, a->args[1]), source_of(a->vm, a->args[0]));
    if (e) e->touched = 0;
    return true;
}

static void bank_remove(struct bank *b, struct entry *e)
{
    free(e->vector.data);
    memmove(e, e + 1, (size_t)(b->entries + b->count - (e + 1)) * sizeof *e);
    b->count--;
}

bool world_BankDelete(struct act *a)
{
    struct bank *b = bank_of(a, a->args[1]);
    struct entry *e = entry_of(b, source_of(a->vm, a->args[0]));
    if (e) bank_remove(b, e);
    return bank_save(a, a->args[1] & 255);
}

bool world_BankEvict(struct act *a)
{
    struct bank *b = bank_of(a, a->args[0]);
    for (uint64_t n = a->args[1]; n && b->count; n--) {
        struct entry *oldest = b->entries;
        for (size_t i = 1; i < b->count; i++)
            if (b->entries[i].touched < oldest->touched) oldest = &b->entries[i];
        bank_remove(b, oldest);
    }
    return bank_save(a, a->args[0] & 255);
}
bool world_BankCompact(struct act *a)
{
    return bank_save(a, a->args[0] & 255);
}

/* [from_hi, from_lo, to_slot, to_hi, to_lo, weight] */
bool world_BankLink(struct act *a)
{
    struct numbers x = source_of(a->vm, a->args[0]);
    struct edge *more = x.count >= 5 && a->w->edge_count < BANK_MAX
                            ? realloc(a->w->edges, (a->w->edge_count + 1) * sizeof *more)
                            : NULL;
    if (x.count < 5) return true;
    if (!more) return false;
    a->w->edges = more;
    more[a->w->edge_count++] =
        (struct edge){(uint64_t)(uint32_t)x.data[0] << 32 | (uint32_t)x.data[1],
                      (uint64_t)(uint32_t)x.data[3] << 32 | (uint32_t)x.data[4],
                      (uint8_t)a->args[2], (uint8_t)x.data[2], (uint8_t)a->args[1]};
    return true;
}

/* Breadth first along edges of one type, as deep as asked. */
bool world_BankTraverse(struct act *a)
{
    enum { REACHED = 256 };
    struct {
        uint64_t id;
        uint8_t slot;
    } at[REACHED];
    struct numbers x = source_of(a->vm, a->args[1]);
    int32_t list[1 + 3 * REACHED];
    if (x.count < 2) return true;
    at[0].id = (uint64_t)(uint32_t)x.data[0] << 32 | (uint32_t)x.data[1];
    at[0].slot = (uint8_t)a->args[2];
    size_t count = 1, from = 0;
    for (uint64_t depth = a->args[4]; depth; depth--) {
        size_t end = count;
        for (; from < end; from++)
            for (size_t i = 0; i < a->w->edge_count && count < REACHED; i++) {
                const struct edge *e = &a->w->edges[i];
                bool follows = e->from == at[from].id && e->from_slot == at[from].slot &&
                               e->type == a->args[3];
                for (size_t k = 0; follows && k < count; k++)
                    follows = at[k].id != e->to || at[k].slot != e->to_slot;
                if (!follows) continue;
                at[count].id = e->to;
                at[count++].slot = e->to_slot;
            }
    }
    list[0] = (int32_t)count - 1;
    for (size_t i = 1; i < count; i++) {
        list[3 * i - 2] = at[i].slot;
        list[3 * i - 1] = (int32_t)(uint32_t)(at[i].id >> 32);
        list[3 * i] = (int32_t)(uint32_t)at[i].id;
    }
    return answer_list(a->vm, a->args[0], list, 1 + 3 * (count - 1));
}

/* ---- pool ---- */

static bool pool_room(struct act *a)
{
    if (a->w->pool.data) return true;
    a->w->pool = (struct numbers){calloc(2 * POOL_SIZE, sizeof(int32_t)), 2 * POOL_SIZE};
    return a->w->pool.data != NULL;
}

static void inject(struct act *a, struct numbers x, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to && i < POOL_SIZE && i - from < x.count; i++)
        a->w->pool.data[i] = clamp32((int64_t)a->w->pool.data[i] + x.data[i - from]);
}

bool world_PoolInject(struct act *a)
{
    if (!pool_room(a)) return false;
    inject(a, source_of(a->vm, a->args[0]), a->args[1], a->args[2]);
    return true;
}

bool world_PoolTick(struct act *a)
{
    if (!pool_room(a)) return false;
    struct numbers x = source_of(a->vm, a->args[0]);
    int32_t *potential = a->w->pool.data, *spikes = potential + POOL_SIZE;
    int64_t fired = 0;
    inject(a, x, 0, x.count);
    for (size_t i = 0; i < POOL_SIZE; i++) {
        spikes[i] = potential[i] >= FIRE;
        fired += spikes[i];
        potential[i] = spikes[i] ? 0 : (int32_t)((int64_t)potential[i] * 230 / 256);
    }
    a->w->pool_spikes += fired;
    a->w->pool_ticks++;
    if (x.count) x.data[0] = clamp32(fired);
    return true;
}

bool world_PoolReadOutput(struct act *a)
{
    uint64_t from = a->args[1], to = a->args[2] < POOL_SIZE ? a->args[2] : POOL_SIZE;
    if (!pool_room(a)) return false;
    return answer_list(a->vm, a->args[0], a->w->pool.data + POOL_SIZE + (from < to ? from : 0),
                       from < to ? (size_t)(to - from) : 0);
}

bool world_PoolReadStats(struct act *a)
{
    int32_t stats[] = {clamp32(a->w->pool_spikes), 0,
                       clamp32(a->w->pool_ticks)}; /* there are no synapses */
    return answer_list(a->vm, a->args[0], stats, 3);
}

bool world_PoolModulate(struct act *a)
{
    int32_t none[] = {0, 0};
    return answer_list(a->vm, a->args[0], none, 2);
}
bool world_PoolPruneDead(struct act *a)
{
    return answer_number(a->vm, a->args[0], 0);
}
bool world_PoolSynaptogenesis(struct act *a)
{
    return answer_number(a->vm, a->args[0], 0);
}

bool world_PoolSave(struct act *a)
{
    struct writer out = {0};
    if (!pool_room(a)) return false;
    for (size_t i = 0; i < a->w->pool.count; i++)
        writer_uint(&out, (uint32_t)a->w->pool.data[i], 4);
    return writer_ok(&out, &a->err) && named_put(a->w, "pool", &out, &a->err);
}

bool world_PoolLoad(struct act *a)
{
    penta_bytes bytes;
    if (!pool_room(a)) return false;
    if (!named_get(a->w, "pool", &bytes) || bytes.size != a->w->pool.count * 4) return true;
    for (size_t i = 0; i < a->w->pool.count; i++)
        a->w->pool.data[i] = (int32_t)get32(bytes.data + 4 * i);
    return true;
}

void world_bank_free(struct tvmr_world *w)
{
    for (unsigned s = 0; s < 256; s++) {
        for (size_t i = 0; i < w->banks[s].count; i++)
            free(w->banks[s].entries[i].vector.data);
        free(w->banks[s].entries);
    }
    free(w->edges);
    free(w->pool.data);
}
