/* Implements the default host's banks of vectors (TVMR 17.12). Entries are found by their cosine
 * and are linked by edges. */
#include "tvmr/vm/ops.h"
#include "base/array.h"
#include "tvmr/host/domain_state.h"
#include <math.h>
#include <stdlib.h>

enum { BANK_MAX = 1 << 20 };

static bool domain_bank_damaged(struct act *a, const char *name)
{
    a->err = (penta_error){0};
    return error_at(&a->err, BASE_RANGE, 0, "'%s' in the store is damaged", name);
}

static bool read_entry(struct act *a, struct bank *b, struct reader *r)
{
    struct entry e = {.id = reader_uint(r, 8), .touched = reader_uint(r, 8)};
    size_t count = reader_count(r, reader_uint(r, 4), 4);
    if (r->err->code || !ARRAY_GROW(b->entries, b->capacity, b->count, r->err)) return false;
    int32_t *data = malloc((count + 1) * sizeof *data);
    if (!data) return error_at(r->err, BASE_MEMORY, 0, "no memory for a bank");
    for (size_t i = 0; i < count; i++) data[i] = (int32_t)reader_uint(r, 4);
    e.vector = (struct numbers){data, count};
    a->w->held += count;
    b->entries[b->count++] = e;
    if (e.id > a->w->next_id) a->w->next_id = e.id;
    if (e.touched > a->w->clock) a->w->clock = e.touched;
    return true;
}

/* Returns the bank of a slot, which is loaded from the folder at its first use, or NULL when its
 * file is damaged. */
static struct bank *bank_of(struct act *a, uint64_t slot)
{
    struct bank *b = &a->w->banks[slot & 255];
    char name[24];
    penta_bytes bytes;
    penta_error err = {0};
    if (b->loaded) return b;
    b->loaded = true;
    snprintf(name, sizeof name, "bank-%u", (unsigned)slot & 255);
    if (!a->w->folder || !named_get(a->w, name, &bytes)) return b;
    struct reader r = {.in = bytes, .err = &err};
    while (reader_left(&r) && b->count < BANK_MAX)
        if (!read_entry(a, b, &r)) {
            b->loaded = false;
            while (b->count) numbers_drop(a->w, &b->entries[--b->count].vector);
            if (err.code == BASE_MEMORY)
                a->err = err;
            else
                domain_bank_damaged(a, name);
            return NULL;
        }
    return b;
}

static bool bank_save(struct act *a, uint64_t slot)
{
    const struct bank *b = &a->w->banks[slot & 255];
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
    snprintf(name, sizeof name, "bank-%u", (unsigned)slot & 255);
    return named_put(a->w, name, &out, &a->err);
}

enum { EDGE_BYTES = 8 + 8 + 3 + 4 };

static bool edges_load(struct act *a)
{
    struct tvmr_domain *w = a->w;
    penta_bytes bytes;
    if (w->edges_loaded || !w->folder) return true;
    w->edges_loaded = true;
    if (!named_get(w, "bank-edges", &bytes)) return true;
    size_t count = bytes.size / EDGE_BYTES;
    if (bytes.size % EDGE_BYTES || count > BANK_MAX) return domain_bank_damaged(a, "bank-edges");
    if (!ARRAY_RESERVE(w->edges, w->edge_capacity, count))
        return error_at(&a->err, BASE_MEMORY, 0, "no memory for %zu edges", count);
    penta_error err = {0};
    struct reader r = {.in = bytes, .err = &err};
    for (; w->edge_count < count; w->edge_count++) {
        struct edge *e = &w->edges[w->edge_count];
        e->from = reader_uint(&r, 8);
        e->to = reader_uint(&r, 8);
        e->from_slot = (uint8_t)reader_uint(&r, 1);
        e->to_slot = (uint8_t)reader_uint(&r, 1);
        e->type = (uint8_t)reader_uint(&r, 1);
        e->weight = (int32_t)reader_uint(&r, 4);
    }
    return true;
}

static bool edges_save(struct act *a)
{
    struct writer out = {0};
    if (!a->w->folder) return true;
    for (size_t i = 0; i < a->w->edge_count; i++) {
        const struct edge *e = &a->w->edges[i];
        writer_uint(&out, e->from, 8);
        writer_uint(&out, e->to, 8);
        writer_uint(&out, e->from_slot, 1);
        writer_uint(&out, e->to_slot, 1);
        writer_uint(&out, e->type, 1);
        writer_uint(&out, (uint32_t)e->weight, 4);
    }
    return named_put(a->w, "bank-edges", &out, &a->err);
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

static double sum_of_products(struct tvmr_vm *vm, const int32_t *x, const int32_t *y, size_t count)
{
    double sum = 0;
    for (PIECES(from, n, count))
        for (size_t i = from; i < from + n; i++) sum += (double)x[i] * y[i];
    return sum;
}

static int32_t domain_bank_likeness(struct tvmr_vm *vm, struct numbers x, struct numbers y)
{
    double xx = sum_of_products(vm, x.data, x.data, x.count);
    double yy = sum_of_products(vm, y.data, y.data, y.count);
    double dot = sum_of_products(vm, x.data, y.data, min_size(x.count, y.count));
    return xx > 0 && yy > 0 ? (int32_t)lround(256 * dot / sqrt(xx * yy)) : 0;
}

bool domain_BankQuery(struct act *a)
{
    struct tvmr_vm *vm = a->vm;
    struct bank *b = bank_of(a, a->args[2]);
    struct numbers x = source_of(a->vm, a->args[1]);
    int32_t list[1 + 3 * 255], score;
    size_t found = 0, top = a->args[3] & 255;
    if (!b) return false;
    for (size_t i = 0; MORE(i, b->count); i++) {
        score = domain_bank_likeness(vm, x, b->entries[i].vector);
        size_t at = found;
        while (at && list[1 + 3 * (at - 1)] < score) at--;
        if (at >= top) continue;
        size_t kept = found < top ? found : top - 1;
        memmove(&list[1 + 3 * (at + 1)], &list[1 + 3 * at], (kept - at) * 3 * sizeof *list);
        list[1 + 3 * at] = score;
        list[2 + 3 * at] = (int32_t)(uint32_t)(b->entries[i].id >> 32);
        list[3 + 3 * at] = (int32_t)(uint32_t)b->entries[i].id;
        if (found < top) found++;
    }
    a->interrupted = vm->paused;
    vm->paused = false;
    if (a->interrupted) return false;
    list[0] = (int32_t)found;
    return answer_list(a->vm, a->args[0], list, 1 + 3 * found);
}

bool domain_BankWrite(struct act *a)
{
    struct bank *b = bank_of(a, a->args[2]);
    struct numbers x = source_of(a->vm, a->args[1]);
    if (!b) return false;
    if (b->count >= BANK_MAX)
        return error_at(&a->err, BASE_LIMIT, 0, "a bank has %d entries at most", BANK_MAX);
    if (!ARRAY_GROW(b->entries, b->capacity, b->count, &a->err)) return false;
    struct entry e = {.id = a->w->next_id + 1, .touched = ++a->w->clock};
    if (!numbers_keep(a, &e.vector, x.data, x.count)) return false;
    a->w->next_id++;
    b->entries[b->count++] = e;
    return answer_id(a, e.id) && bank_save(a, a->args[2]);
}

bool domain_BankLoad(struct act *a)
{
    struct bank *b = bank_of(a, a->args[2]);
    const struct entry *e = b ? entry_of(b, source_of(a->vm, a->args[1])) : NULL;
    return b && (!e || answer_list(a->vm, a->args[0], e->vector.data, e->vector.count));
}

bool domain_BankCount(struct act *a)
{
    const struct bank *b = bank_of(a, a->args[1]);
    return b && answer_number(a->vm, a->args[0], (int64_t)b->count);
}

/* Sets the time of an entry's last use. The entry that was unused for longest is evicted first;
 * demoted entries go before all others. */
static bool domain_bank_touch(struct act *a, uint64_t clock)
{
    struct bank *b = bank_of(a, a->args[1]);
    struct entry *e = b ? entry_of(b, source_of(a->vm, a->args[0])) : NULL;
    if (e) e->touched = clock;
    return b && (!e || bank_save(a, a->args[1]));
}
bool domain_BankTouch(struct act *a) { return domain_bank_touch(a, ++a->w->clock); }
bool domain_BankPromote(struct act *a) { return domain_BankTouch(a); }
bool domain_BankDemote(struct act *a) { return domain_bank_touch(a, 0); }

/* Removes an entry and the edges from and to it. */
static bool bank_remove(struct act *a, uint64_t slot, struct entry *e)
{
    struct bank *b = &a->w->banks[slot & 255];
    size_t kept = 0;
    if (!edges_load(a)) return false;
    for (size_t i = 0; i < a->w->edge_count; i++) {
        const struct edge *at = &a->w->edges[i];
        bool hit = (at->from == e->id && at->from_slot == (slot & 255)) ||
                   (at->to == e->id && at->to_slot == (slot & 255));
        if (!hit) a->w->edges[kept++] = *at;
    }
    bool fewer = kept < a->w->edge_count;
    a->w->edge_count = kept;
    numbers_drop(a->w, &e->vector);
    memmove(e, e + 1, (size_t)(b->entries + b->count - (e + 1)) * sizeof *e);
    b->count--;
    return !fewer || edges_save(a);
}

bool domain_BankDelete(struct act *a)
{
    struct bank *b = bank_of(a, a->args[1]);
    struct entry *e = b ? entry_of(b, source_of(a->vm, a->args[0])) : NULL;
    return b && (!e || (bank_remove(a, a->args[1], e) && bank_save(a, a->args[1])));
}

bool domain_BankEvict(struct act *a)
{
    struct bank *b = bank_of(a, a->args[0]);
    for (uint64_t n = a->args[1]; b && n && b->count; n--) {
        struct entry *oldest = b->entries;
        for (size_t i = 1; i < b->count; i++)
            if (b->entries[i].touched < oldest->touched) oldest = &b->entries[i];
        if (!bank_remove(a, a->args[0], oldest)) return false;
    }
    return b && bank_save(a, a->args[0]);
}
bool domain_BankCompact(struct act *a)
{
    return bank_of(a, a->args[0]) && bank_save(a, a->args[0]);
}

/* Adds an edge [from_hi, from_lo, to_slot, to_hi, to_lo, weight]. */
bool domain_BankLink(struct act *a)
{
    struct numbers x = source_of(a->vm, a->args[0]);
    if (x.count < 5) return true;
    if (!edges_load(a)) return false;
    if (a->w->edge_count >= BANK_MAX)
        return error_at(&a->err, BASE_LIMIT, 0, "there are %d edges at most", BANK_MAX);
    if (!ARRAY_GROW(a->w->edges, a->w->edge_capacity, a->w->edge_count, &a->err)) return false;
    a->w->edges[a->w->edge_count++] =
        (struct edge){(uint64_t)(uint32_t)x.data[0] << 32 | (uint32_t)x.data[1],
                      (uint64_t)(uint32_t)x.data[3] << 32 | (uint32_t)x.data[4],
                      (uint8_t)a->args[2],
                      (uint8_t)x.data[2],
                      (uint8_t)a->args[1],
                      x.count > 5 ? x.data[5] : 0};
    return edges_save(a);
}

/* Follows edges of one type breadth first, up to the given depth. */
bool domain_BankTraverse(struct act *a)
{
    enum { REACHED = 256 };
    struct {
        uint64_t id;
        uint8_t slot;
    } at[REACHED];
    struct numbers x = source_of(a->vm, a->args[1]);
    int32_t list[1 + 3 * REACHED];
    if (x.count < 2) return true;
    if (!edges_load(a)) return false;
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

void domain_bank_free(struct tvmr_domain *w)
{
    for (unsigned s = 0; s < 256; s++) {
        for (size_t i = 0; i < w->banks[s].count; i++)
            numbers_drop(w, &w->banks[s].entries[i].vector);
        free(w->banks[s].entries);
    }
    free(w->edges);
}
