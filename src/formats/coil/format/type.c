/* Types (COIL 2): reading and writing what follows a type opcode, the size and alignment of values,
 * comparing types, and types given by id. The table of type opcodes comes from types.def. */
#include "coil/coil.h"
#include <stdlib.h>
#include "base/array.h"
#include "base/number.h"

const struct coil_type_info coil_types[256] = {
#define TYPE(code, name, text, family, bytes, align, data)                                         \
    [code] = {text, #name, COIL_F_##family, bytes, align, COIL_D_##data},
#include "coil/types.def"
};

const struct coil_type coil_scalar_types[256] = {
#define TYPE(code, name, text, family, bytes, alignment, data)                                     \
    [code] = {.op = code, .align = (alignment) ? (alignment) : 1, .size = bytes},
#include "coil/types.def"
};

const struct coil_type *coil_scalar(uint8_t op) { return &coil_scalar_types[op]; }

#define SIZE_CAP (UINT64_C(1) << 48) /* a size larger than any file and any memory */

static uint64_t type_times(uint64_t a, uint64_t b)
{
    uint64_t r;
    return __builtin_mul_overflow(a, b, &r) || r > SIZE_CAP ? SIZE_CAP : r;
}

/* Returns the number of components of a symmetric tensor: C(d + r - 1, r). */
static uint64_t type_combinations(uint64_t rank, uint64_t dim)
{
    uint64_t n = 1;
    for (uint64_t i = 0; i < rank; i++) n = n * (dim + i) / (i + 1);
    return n;
}

static void size_of_bits(struct coil_type *t, uint64_t bits)
{
    uint64_t bytes = (bits + 7) / 8;
    t->align = 1;
    while (t->align < bytes && t->align < 16) t->align *= 2;
    t->size = round_up(bytes, t->align);
}

static void size_of_members(struct coil_type *t)
{
    struct coil_member *members = (struct coil_member *)t->members;
    uint64_t end = 0;
    t->align = 1;
    t->size = 0;
    for (uint32_t i = 0; i < t->member_count; i++) {
        const struct coil_type *m = members[i].type;
        if (t->op != COIL_T_PACK && m->align > t->align) t->align = m->align;
        uint64_t at = t->op == COIL_T_UNION  ? 0
                      : t->op == COIL_T_PACK ? end
                                             : round_up(end, m->align);
        members[i].offset = at;
        end = at + m->size > SIZE_CAP ? SIZE_CAP : at + m->size;
        if (end > t->size) t->size = end;
    }
    t->size = round_up(t->size, t->align);
}

static bool has_elem(const struct coil_type *t)
{
    uint8_t d = coil_types[t->op].data;
    return d == COIL_D_ELEM || d == COIL_D_COUNT || d == COIL_D_ROWS || d == COIL_D_DIMS ||
           d == COIL_D_ORDER;
}

/* Tells whether a type is one that machines do not compute with. It does not look at the members
 * of a composite type. */
static bool is_bare(const struct coil_type *t)
{
    uint8_t data = coil_types[t->op].data;
    bool wide = t->elem && coil_types[t->elem->op].data == COIL_D_BITS;
    return data == COIL_D_FLOAT || (data == COIL_D_BITS && t->dims[0] > COIL_WIDE_BITS) ||
           (t->elem && t->elem->bare) || (wide && data != COIL_D_ALIAS);
}

static void type_set_size(struct coil_type *t)
{
    const struct coil_type_info *info = &coil_types[t->op];
    uint64_t elem = t->elem ? t->elem->size : 0, count = 1;
    t->size = info->bytes;
    t->align = info->align ? info->align : 1;
    t->open = t->elem && t->elem->open;
    t->bare = is_bare(t);
    for (unsigned i = 0; i < t->rank; i++) count = type_times(count, t->dims[i]);
    switch ((enum coil_data)info->data) {
    case COIL_D_BITS: size_of_bits(t, t->dims[0]); break;
    case COIL_D_FLOAT: size_of_bits(t, UINT64_C(1) + t->dims[0] + t->dims[1]); break;
    case COIL_D_COUNT:
        if (t->op == COIL_T_SQMAT) count = type_times(count, t->dims[0]);
        t->size = type_times(count, elem);
        t->align = t->elem->align;
        break;
    case COIL_D_ROWS:
    case COIL_D_DIMS: t->size = type_times(count, elem); break;
    case COIL_D_ORDER: t->size = type_times(type_combinations(t->dims[0], t->dims[1]), elem); break;
    case COIL_D_MEMBERS:
        size_of_members(t);
        for (uint32_t i = 0; i < t->member_count; i++) {
            t->open |= t->members[i].type->open;
            t->bare |= t->members[i].type->bare;
        }
        break;
    case COIL_D_ALIAS:
        t->open |= !t->elem;
        t->size = elem;
        t->align = t->elem ? t->elem->align : 1;
        break;
    default: break;
    }
    uint8_t family = info->family;
    if ((family == COIL_F_MATRIX || family == COIL_F_TENSOR) && t->elem) {
        t->align = t->elem->align > 16 ? t->elem->align : 16;
    }
}

static bool distinct_members(const struct coil_type *t, uint64_t at, penta_error *err)
{
    /* The array has one bit per id, so that the check takes linear time. */
    uint64_t seen[1024] = {0};
    for (uint32_t i = 0; i < t->member_count; i++) {
        uint16_t id = t->members[i].id;
        if (seen[id / 64] >> id % 64 & 1)
            return error_at(err, COIL_MEMBER_DUP, at, "member %u occurs twice", id);
        seen[id / 64] |= UINT64_C(1) << id % 64;
    }
    return true;
}

bool coil_type_finish(struct coil_type *t, uint64_t at, penta_error *err)
{
    const struct coil_type_info *info = &coil_types[t->op];
    bool order = info->data == COIL_D_ORDER;
    if ((info->data == COIL_D_DIMS && (t->rank < 1 || t->rank > 4)) ||
        (order && (t->dims[0] < 1 || t->dims[0] > 4)))
        return error_at(err, COIL_TENSOR_RANK, at, "a tensor of rank %u, at most 4",
                        order ? t->dims[0] : t->rank);
    for (unsigned i = 0; i < t->rank; i++)
        if (!t->dims[i])
            return error_at(err, COIL_TYPE_DIM, at, "%s has a dimension of 0", info->name);
    if (info->data == COIL_D_MEMBERS) {
        if (!t->member_count)
            return error_at(err, COIL_TYPE_MEMBERS, at, "%s without members", info->name);
        if (!distinct_members(t, at, err)) return false;
    }
    if (info->data == COIL_D_ELEM && t->elem && !coil_is_scalar(t->elem->op) &&
        t->elem->op != COIL_T_VOID)
        return error_at(err, COIL_TYPE_ELEM, at, "%s of %s, not of scalars", info->name,
                        coil_types[t->elem->op].name);
    type_set_size(t);
    return true;
}

/* Checks that a type may be a part of another one. */
static bool type_nestable(uint8_t op, uint8_t ext, uint64_t at, penta_error *err)
{
    uint8_t data = coil_types[op].data;
    if (ext & COIL_VALUE_BITS || data == COIL_D_ID || data == COIL_D_MEMORY ||
        data == COIL_D_NUMBER || data == COIL_D_VALUE || data == COIL_D_MEASURED)
        return error_at(err, COIL_TYPE_NESTED, at, "%02x %02x is not a type alone", op, ext);
    return true;
}

struct type_reader {
    struct reader *in;
    struct arena *arena;
    uint64_t ids; /* number of types given by id that were read */
};

static const struct coil_type *read_type(struct type_reader *r, unsigned level, unsigned vectors);

static const struct coil_type *read_elem(struct type_reader *r, unsigned level, unsigned vectors)
{
    return read_type(r, level + 1, vectors);
}

static void read_dims(struct type_reader *r, struct coil_type *t, unsigned count)
{
    t->rank = (uint8_t)count;
    for (unsigned i = 0; i < count && i < 4; i++) t->dims[i] = (uint16_t)reader_uint(r->in, 2);
}

static bool read_members(struct type_reader *r, struct coil_type *t, unsigned level)
{
    uint64_t claimed = reader_uint(r->in, 2);
    if (r->in->err->code) return false;
    if (claimed > reader_left(r->in) / 4)
        return error_at(r->in->err, BASE_TRUNCATED, reader_at(r->in), "%u members in %zu bytes",
                        (unsigned)claimed, reader_left(r->in));
    struct coil_member *members =
        arena_alloc(r->arena, (size_t)claimed, sizeof *members, r->in->err);
    if (!members) return false;
    for (uint64_t i = 0; i < claimed; i++) {
        members[i].id = (uint16_t)reader_uint(r->in, 2);
        members[i].type = read_elem(r, level, 0);
        if (!members[i].type) return false;
    }
    t->member_count = (uint32_t)claimed;
    t->members = members;
    return true;
}

/* Reads alias<T>, or the form with a type id: A3 ext 07 10 id. */
static bool read_alias(struct type_reader *r, struct coil_type *t, unsigned level, unsigned vectors)
{
    const uint8_t *p = r->in->in.data + r->in->pos;
    if (reader_left(r->in) >= 2 && p[0] == COIL_T_UNT64 && p[1] == COIL_IMMEDIATE) {
        reader_take(r->in, 2);
        t->id = reader_uint(r->in, 8);
        return !r->in->err->code;
    }
    t->elem = read_elem(r, level, vectors);
    return t->elem != NULL;
}

static const struct coil_type *read_data(struct type_reader *r, uint8_t op, uint8_t ext,
                                         unsigned level, unsigned vectors, uint64_t at)
{
    struct reader *in = r->in;
    const struct coil_type_info *info = &coil_types[op];
    bool vector = info->family == COIL_F_VECTOR;
    if (level > COIL_TYPE_LEVELS) {
        error_at(in->err, COIL_NEST_TYPE, at, "more than %d levels of types", COIL_TYPE_LEVELS);
        return NULL;
    }
    vectors = vector ? vectors + 1 : info->data == COIL_D_ALIAS ? vectors : 0;
    if (vectors > COIL_VECTOR_LEVELS) {
        error_at(in->err, COIL_NEST_VECTOR, at, "more than %d levels of vectors",
                 COIL_VECTOR_LEVELS);
        return NULL;
    }
    uint8_t qualifiers = ext & COIL_QUALIFIERS;
    if (info->data == COIL_D_NONE && !qualifiers) return &coil_scalar_types[op];
    struct coil_type *t = arena_alloc(r->arena, 1, sizeof *t, in->err);
    if (!t) return NULL;
    t->op = op;
    t->ext = qualifiers;
    bool ok = true;
    switch ((enum coil_data)info->data) {
    case COIL_D_ELEM: ok = (t->elem = read_elem(r, level, vectors)) != NULL; break;
    case COIL_D_BITS: read_dims(r, t, 1); break;
    case COIL_D_FLOAT: read_dims(r, t, 2); break;
    case COIL_D_COUNT:
        ok = (t->elem = read_elem(r, level, vectors)) != NULL;
        if (ok) read_dims(r, t, 1);
        break;
    case COIL_D_ROWS:
        ok = (t->elem = read_elem(r, level, vectors)) != NULL;
        if (ok) read_dims(r, t, 2);
        break;
    case COIL_D_DIMS:
        ok = (t->elem = read_elem(r, level, vectors)) != NULL;
        if (ok) read_dims(r, t, (unsigned)reader_uint(in, 1));
        break;
    case COIL_D_ORDER:
        ok = (t->elem = read_elem(r, level, vectors)) != NULL;
        t->dims[0] = (uint16_t)reader_uint(in, 1);
        t->dims[1] = (uint16_t)reader_uint(in, 2);
        t->rank = 2;
        break;
    case COIL_D_MEMBERS: ok = read_members(r, t, level); break;
    case COIL_D_ALIAS: ok = read_alias(r, t, level, vectors); break;
    default: break;
    }
    return ok && !in->err->code && coil_type_finish(t, at, in->err) ? t : NULL;
}

static const struct coil_type *read_type(struct type_reader *r, unsigned level, unsigned vectors)
{
    struct reader *in = r->in;
    uint64_t at = reader_at(in);
    const uint8_t *p = reader_take(in, 2);
    if (!p) return NULL;
    if (!coil_types[p[0]].text) {
        error_at(in->err, COIL_TYPE_UNKNOWN, at, "type opcode 0x%02x is not assigned", p[0]);
        return NULL;
    }
    if (!type_nestable(p[0], p[1], at, in->err)) return NULL;
    return read_data(r, p[0], p[1], level, vectors, at);
}

const struct coil_type *coil_type_read(struct reader *in, struct arena *arena)
{
    struct type_reader r = {in, arena, 0};
    return read_type(&r, 1, 0);
}

const struct coil_type *coil_type_data(struct reader *in, struct arena *arena, uint8_t op,
                                       uint8_t ext)
{
    struct type_reader r = {in, arena, 0};
    return read_data(&r, op, ext, 1, 0, reader_at(in) - 2);
}

void coil_type_write(struct writer *out, const struct coil_type *t)
{
    writer_uint(out, t->op, 1);
    writer_uint(out, t->ext, 1);
    coil_type_write_data(out, t);
}

void coil_type_write_data(struct writer *out, const struct coil_type *t)
{
    uint8_t data = coil_types[t->op].data;
    if (has_elem(t) && t->elem) coil_type_write(out, t->elem);
    if (data == COIL_D_ALIAS) {
        if (t->elem) {
            coil_type_write(out, t->elem);
        } else {
            writer_uint(out, COIL_T_UNT64, 1);
            writer_uint(out, COIL_IMMEDIATE, 1);
            writer_uint(out, t->id, 8);
        }
        return;
    }
    if (data == COIL_D_MEMBERS) {
        writer_uint(out, t->member_count, 2);
        for (uint32_t i = 0; i < t->member_count; i++) {
            writer_uint(out, t->members[i].id, 2);
            coil_type_write(out, t->members[i].type);
        }
        return;
    }
    if (data == COIL_D_DIMS) writer_uint(out, t->rank, 1);
    for (unsigned i = 0; i < t->rank; i++)
        writer_uint(out, t->dims[i], data == COIL_D_ORDER && i == 0 ? 1 : 2);
}

/* The functions below check the limits of types that were not read from bytes. */

static bool type_nesting(const struct coil_type *t, unsigned level, unsigned vectors, uint64_t at,
                         penta_error *err)
{
    if (level > COIL_TYPE_LEVELS)
        return error_at(err, COIL_NEST_TYPE, at, "more than %d levels of types", COIL_TYPE_LEVELS);
    const struct coil_type_info *info = &coil_types[t->op];
    vectors = info->family == COIL_F_VECTOR ? vectors + 1
              : info->data == COIL_D_ALIAS  ? vectors
                                            : 0;
    if (vectors > COIL_VECTOR_LEVELS)
        return error_at(err, COIL_NEST_VECTOR, at, "more than %d levels of vectors",
                        COIL_VECTOR_LEVELS);
    if (t->elem && !type_nesting(t->elem, level + 1, vectors, at, err)) return false;
    for (uint32_t i = 0; i < t->member_count; i++)
        if (!type_nesting(t->members[i].type, level + 1, 0, at, err)) return false;
    return true;
}

bool coil_type_nesting(const struct coil_type *t, uint64_t at, penta_error *err)
{
    return type_nesting(t, 1, 0, at, err);
}

static uint64_t type_mix(uint64_t digest, uint64_t value)
{
    return coil_hash_id(digest ^ value) + (digest << 7 | digest >> 57);
}

static uint64_t digest_of(const struct coil_type *t)
{
    if (t->digest || t->elem || t->member_count) return t->digest;
    /* A scalar of the table has no stored digest, so this computes it. */
    return type_mix(t->op, 1) | 1;
}

/* Sets the digest of a type whose parts have their digests already. */
static void set_digest(struct coil_type *t)
{
    uint64_t d = type_mix(t->op, t->rank);
    for (unsigned i = 0; i < t->rank; i++) d = type_mix(d, t->dims[i]);
    if (t->elem) d = type_mix(d, digest_of(t->elem));
    for (uint32_t i = 0; i < t->member_count; i++)
        d = type_mix(type_mix(d, t->members[i].id), digest_of(t->members[i].type));
    t->digest = t->elem || t->member_count || t->rank ? d | 1 : digest_of(t);
}

/* Closed types share parts, so comparing two of them part by part could take exponential time.
 * Their digests are compared instead. A type that was read from bytes is a tree that is no
 * larger than the file. */
bool coil_type_equal(const struct coil_type *a, const struct coil_type *b)
{
    if (a == b) return true;
    if (a->op != b->op || a->rank != b->rank || a->member_count != b->member_count ||
        a->id != b->id || memcmp(a->dims, b->dims, sizeof a->dims) || !a->elem != !b->elem)
        return false;
    if (a->digest && b->digest) return a->digest == b->digest;
    if (a->elem && !coil_type_equal(a->elem, b->elem)) return false;
    for (uint32_t i = 0; i < a->member_count; i++)
        if (a->members[i].id != b->members[i].id ||
            !coil_type_equal(a->members[i].type, b->members[i].type))
            return false;
    return true;
}

static int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool index_members(struct coil_type *t, struct arena *arena, penta_error *err)
{
    enum { FEW = 16 };
    if (t->member_count <= FEW) return true;
    uint32_t *keys = arena_alloc(arena, t->member_count, sizeof *keys, err);
    if (!keys) return false;
    for (uint32_t i = 0; i < t->member_count; i++) keys[i] = (uint32_t)t->members[i].id << 16 | i;
    qsort(keys, t->member_count, sizeof *keys, by_key);
    t->by_id = keys;
    return true;
}

const struct coil_member *coil_type_member(const struct coil_type *t, uint64_t id)
{
    if (!t->by_id) {
        for (uint32_t i = 0; i < t->member_count; i++)
            if (t->members[i].id == id) return &t->members[i];
        return NULL;
    }
    size_t low;
    ARRAY_SEARCH(low, 0, t->member_count, t->by_id[low] >> 16 >= id);
    return low < t->member_count && t->by_id[low] >> 16 == id ? &t->members[t->by_id[low] & 0xffff]
                                                              : NULL;
}

static struct coil_type_id *find_id(const struct coil_type_ids *ids, uint64_t id)
{
    size_t i = ids ? coil_scopes_first(&ids->index, coil_hash_id(id)) : COIL_SCOPES_END;
    while (i != COIL_SCOPES_END && ids->items[i].id != id) i = coil_scopes_next(&ids->index, i);
    return i != COIL_SCOPES_END ? &ids->items[i] : NULL;
}

const struct coil_type *coil_type_resolve(const struct coil_type_ids *ids,
                                          const struct coil_type *t)
{
    for (int i = 0; t && t->op == COIL_T_ALIAS && i < 64; i++) {
        if (t->elem) {
            t = t->elem;
            continue;
        }
        const struct coil_type_id *found = find_id(ids, t->id);
        t = found && found->bound ? found->type : NULL;
    }
    return t;
}

const struct coil_type *coil_type_close(const struct coil_type_ids *ids, const struct coil_type *t,
                                        struct arena *arena, penta_error *err)
{
    t = coil_type_resolve(ids, t);
    /* Types that ids own, and scalars of the table, exist longer than the copy. */
    if (!t || t->bound || t == &coil_scalar_types[t->op]) return t;
    struct coil_type *copy = arena_alloc(arena, 1, sizeof *copy, err);
    if (!copy) return NULL;
    *copy = *t;
    copy->by_id = NULL;
    if (t->elem && !(copy->elem = coil_type_close(ids, t->elem, arena, err))) return NULL;
    if (t->member_count) {
        struct coil_member *members = arena_alloc(arena, t->member_count, sizeof *members, err);
        if (!members) return NULL;
        for (uint32_t i = 0; i < t->member_count; i++) {
            members[i] = t->members[i];
            members[i].type = coil_type_close(ids, t->members[i].type, arena, err);
            if (!members[i].type) return NULL;
        }
        copy->members = members;
    }
    type_set_size(copy);
    set_digest(copy);
    return index_members(copy, arena, err) ? copy : NULL;
}

/* A type is closed before it is bound to an id, so ids never form a circle. */
bool coil_type_bind(struct coil_type_ids *ids, uint64_t id, const struct coil_type *type,
                    penta_error *err)
{
    const struct coil_type *closed = coil_type_close(ids, type, &ids->arena, err);
    if (!closed) return false;
    if (!closed->bound && closed != &coil_scalar_types[closed->op])
        ((struct coil_type *)closed)->bound = true; /* `closed` is the copy that was just made. */
    struct coil_type_id *found = find_id(ids, id);
    if (!found) {
        if (!ARRAY_GROW(ids->items, ids->capacity, ids->count, err)) return false;
        if (!coil_scopes_push(&ids->index, coil_hash_id(id)))
            return error_at(err, BASE_MEMORY, 0, "no memory for type ids");
        found = &ids->items[ids->count++];
    }
    *found = (struct coil_type_id){id, closed, true};
    return true;
}

void coil_type_unbind(struct coil_type_ids *ids, uint64_t id)
{
    struct coil_type_id *found = find_id(ids, id);
    if (found) found->bound = false;
}

void coil_type_ids_free(struct coil_type_ids *ids)
{
    free(ids->items);
    coil_scopes_free(&ids->index);
    arena_free(&ids->arena);
    *ids = (struct coil_type_ids){0};
}

uint64_t coil_lanes(const struct coil_type *t)
{
    if (coil_types[t->op].family != COIL_F_VECTOR || !t->elem || !t->elem->size) return 0;
    return t->size / t->elem->size;
}

void coil_image_swap(const struct coil_type *t, uint8_t *image)
{
    const struct coil_type_info *info = &coil_types[t->op];
    if (info->data == COIL_D_NONE || info->family == COIL_F_WIDE) {
        for (uint64_t i = 0; i < t->size / 2; i++) {
            uint8_t byte = image[i];
            image[i] = image[t->size - 1 - i];
            image[t->size - 1 - i] = byte;
        }
    } else if (t->member_count) {
        /* The members of a union share their bytes, so only the first member decides which bytes
         * are reversed. */
        uint32_t count = t->op == COIL_T_UNION ? 1 : t->member_count;
        for (uint32_t i = 0; i < count; i++)
            coil_image_swap(t->members[i].type, image + t->members[i].offset);
    } else if (t->elem && t->elem->size) {
        for (uint64_t at = 0; at + t->elem->size <= t->size; at += t->elem->size)
            coil_image_swap(t->elem, image + at);
    }
}

void coil_matrix_shape(const struct coil_type *t, unsigned *rows, unsigned *columns)
{
    *rows = *columns = 0;
    if (coil_types[t->op].family != COIL_F_MATRIX) return;
    *rows = t->dims[0];
    *columns = t->op == COIL_T_MAT ? t->dims[1] : t->dims[0];
}
