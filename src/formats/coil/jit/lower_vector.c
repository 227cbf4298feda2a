/* Compiles instructions on vectors and matrices: it finds their operands and divides them into
 * pieces. Compiled code calls the interpreter's function for instructions that are not handled
 * here, or whose flags are read. */
#include "coil/jit/vector.h"

/* PIECES is the most pieces that an instruction may have, KEPT the most pieces of a result that
 * is stored only at the end. */
enum { PIECES = 32, KEPT = 8 };

struct operand {
    const uint8_t *image;  /* bytes of a constant, or NULL */
    struct ssa_address at; /* place of the operand in memory */
    uint32_t word;         /* an SSA value whose 8 bytes are repeated over all lanes, or 0 */
    unsigned word_bytes;   /* number of its low bytes that are repeated */
};

/* Returns the size of the largest piece. Constants have pieces of at most 16 bytes. */
static unsigned most_bytes(const struct coil_lower *l, bool constants)
{
    return l->f->avx2 && !constants ? 32 : 16;
}

/* Returns how many bytes the next piece has, or 0 if the processor has no instruction for the
 * rest. */
static unsigned piece_bytes(unsigned most, uint64_t left)
{
    return left >= most ? most : left >= 16 ? 16 : left >= 8 ? 8 : left >= 4 ? 4 : 0;
}

static unsigned piece_count(unsigned most, uint64_t size)
{
    unsigned n = 0;
    for (unsigned bytes; size && n <= PIECES; size -= bytes, n++) {
        bytes = piece_bytes(most, size);
        if (!bytes) return UINT32_MAX;
    }
    return n;
}

static enum ssa_mem piece_mem(unsigned bytes)
{
    return bytes == 32 ? SSA_M256 : bytes == 16 ? SSA_M128 : bytes == 8 ? SSA_MF64 : SSA_MF32;
}
static enum ssa_type piece_type(unsigned bytes) { return bytes == 32 ? SSA_V256 : SSA_V128; }

static struct ssa_address lower_vector_after(struct ssa_address at, uint64_t offset)
{
    at.disp += (int64_t)offset;
    return at;
}

static bool is_in_memory(const struct coil_place *p)
{
    return p->at == COIL_AT_FRAME || p->at == COIL_AT_MEMORY;
}

/* Returns the kind of access that checks a whole operand of this size, or SSA_MEMS if there is
 * none. */
static enum ssa_mem whole_mem(uint64_t size)
{
    switch (size) {
    case 4: return SSA_U32;
    case 8: return SSA_X64;
    case 16: return SSA_M128;
    case 32: return SSA_M256;
    case 64: return SSA_M512;
    default: return SSA_MEMS;
    }
}

static bool open_place(struct coil_lower *l, const struct coil_place *p, bool write,
                       struct operand *o)
{
    *o = (struct operand){0};
    if (p->at == COIL_AT_CONST) {
        o->image = p->image;
        return p->image && !write;
    }
    enum ssa_mem mem = whole_mem(p->type->size);
    bool unchecked = l->native || p->at == COIL_AT_FRAME;
    if (!is_in_memory(p) || l->vm->m->big_endian || p->ext & (COIL_VOLATILE | COIL_ATOMIC) ||
        (mem == SSA_MEMS && !unchecked))
        return false;
    return coil_lower_reach(l, p, mem, write, &o->at);
}

/* Makes an operand that has a scalar in every lane. */
static bool fill_lanes(struct coil_lower *l, uint32_t value, uint8_t type, struct operand *o)
{
    static const uint8_t unsigned_of[] = {COIL_T_UNT8,  COIL_T_UNT8,  COIL_T_UNT16, COIL_T_UNT16,
                                          COIL_T_UNT32, COIL_T_UNT32, COIL_T_UNT64, COIL_T_UNT64};
    static const uint64_t ones[] = {0, UINT64_C(0x0101010101010101), UINT64_C(0x0001000100010001),
                                    0, UINT64_C(0x0000000100000001)};
    unsigned bytes = coil_types[type].bytes;
    *o = (struct operand){.word = value, .word_bytes = bytes};
    if (!value || coil_types[type].family == COIL_F_REAL) return value;
    value = coil_lower_canon(l, value, unsigned_of[type]);
    if (bytes < 8)
        value =
            ssa_op2(l->f, SSA_MUL, SSA_INT, false, value, ssa_const(l->f, (int64_t)ones[bytes]));
    o->word = ssa_op1(l->f, SSA_REAL, SSA_F64, value);
    o->word_bytes = 8;
    return o->word;
}

static uint32_t image_piece(struct coil_lower *l, const uint8_t *image, unsigned bytes)
{
    uint64_t words[2] = {0};
    memcpy(words, image, bytes < 16 ? bytes : 16);
    if (words[0] == words[1]) return coil_lane_bits(l, SSA_V128, words[0]);
    uint32_t low = ssa_op1(l->f, SSA_REAL, SSA_F64, ssa_const(l->f, (int64_t)words[0])),
             high = ssa_op1(l->f, SSA_REAL, SSA_F64, ssa_const(l->f, (int64_t)words[1]));
    return coil_lane2(l, X64_PUNPCKLQDQ, SSA_V128, low, high, 0);
}

/* Returns the piece of an operand that starts at an offset. */
static uint32_t piece_of(struct coil_lower *l, const struct operand *o, uint64_t offset,
                         unsigned bytes)
{
    if (o->image) return image_piece(l, o->image + offset, bytes);
    if (o->word) return coil_lane_fill(l, piece_type(bytes), o->word, o->word_bytes);
    return ssa_load(l->f, piece_mem(bytes), lower_vector_after(o->at, offset));
}

static void store_pieces(struct coil_lower *l, const struct operand *to, unsigned most,
                         uint64_t size, const uint32_t *pieces)
{
    uint64_t offset = 0;
    for (unsigned n = 0, bytes; offset < size; offset += bytes, n++) {
        bytes = piece_bytes(most, size - offset);
        ssa_store(l->f, piece_mem(bytes), lower_vector_after(to->at, offset), pieces[n]);
    }
}

/* Tells whether a move copies bits without converting them. */
static bool moves_bits(const struct coil_place *to, const struct coil_place *from)
{
    const struct coil_type *d = to->type, *v = from->type;
    if (!coil_is_array(d) || !coil_is_array(v) || d->size != v->size) return false;
    uint8_t lane = coil_lane_of(to), other = coil_lane_of(from);
    if (lane == other || lane == COIL_T_VOID || other == COIL_T_VOID) return true;
    return coil_is_int(lane) && coil_is_int(other) && lane != COIL_T_BIT && other != COIL_T_BIT &&
           !(to->ext & COIL_SATURATE) && coil_types[lane].bytes == coil_types[other].bytes;
}

static bool move_vector(struct coil_lower *l, const struct coil_step *s,
                        const struct coil_place *to, const struct coil_place *from)
{
    struct operand in, out;
    uint32_t pieces[PIECES];
    uint64_t size = to->type ? to->type->size : 0, offset = 0;
    uint8_t lane = coil_lane_of(to);
    unsigned most = most_bytes(l, from && from->at == COIL_AT_CONST && !coil_place_scalar(from));
    if (!coil_is_array(to->type) || !is_in_memory(to) || piece_count(most, size) > PIECES)
        return false;
    if (!from) {
        in = (struct operand){.word = coil_lane_zero(l, SSA_F64), .word_bytes = 8};
    } else if (coil_place_scalar(from)) {
        uint8_t type = from->at == COIL_AT_REGISTER ? coil_step_type(s) : from->op;
        if (lane == COIL_T_VOID || lane == COIL_T_BIT || to->ext & COIL_SATURATE) return false;
        uint32_t value = coil_lower_convert(l, coil_lower_place(l, from, type, type), type, lane);
        if (!fill_lanes(l, value, lane, &in)) return false;
    } else if (!moves_bits(to, from) || !open_place(l, from, false, &in)) {
        return false;
    }
    if (!open_place(l, to, true, &out)) return false;
    for (unsigned n = 0, bytes; offset < size; offset += bytes, n++) {
        bytes = piece_bytes(most, size - offset);
        pieces[n] = piece_of(l, &in, offset, bytes);
    }
    store_pieces(l, &out, most, size, pieces);
    return true;
}

static bool lower_move(struct coil_lower *l, const struct coil_step *s)
{
    if (s->opcode == COIL_OP_CAST && s->count == 3) return false;
    if (s->opcode != COIL_OP_VAR) return move_vector(l, s, &s->places[0], &s->places[1]);
    const struct coil_place *to = &s->places[1], *from = s->count == 3 ? &s->places[2] : NULL;
    bool covers = from && (coil_place_scalar(from) || from->at == COIL_AT_CONST);
    if (from && !covers && !moves_bits(to, from)) return false;
    if (!covers && !move_vector(l, s, to, NULL)) return false;
    return !from || move_vector(l, s, to, from);
}

static bool counts_constant(const struct coil_place *p, uint8_t type, unsigned *count)
{
    if (p->at != COIL_AT_CONST || !coil_is_int(p->op) || p->symbol) return false;
    uint64_t n = p->value & (UINT64_MAX >> (64 - 8u * coil_types[p->op].bytes));
    unsigned bits = 8u * coil_types[type].bytes;
    /* With such a count the processor, too, shifts all bits out. */
    *count = n < bits ? (unsigned)n : bits;
    return true;
}

struct lanes { /* an instruction that works lane by lane */
    struct coil_lane_op o;
    struct coil_roles r;
    uint64_t size;
    struct operand in[3]; /* the operands a, b and c */
    bool used[3];
    bool apart; /* true if no two operands overlap partly */
    bool constants;
};

/* Finds the type and number of lanes. All operands must have the same. */
static bool find_shape(struct lanes *n, const struct coil_step *s)
{
    const int order[4] = {n->r.a, n->r.b, n->r.c, n->r.to};
    n->o.type = COIL_T_VOID;
    n->apart = true;
    for (int k = 0; k < 4; k++) {
        const struct coil_place *p = order[k] < 0 ? NULL : &s->places[order[k]];
        if (!p || !coil_is_array(p->type) || p->at == COIL_AT_REGISTER) {
            if (p && !coil_place_scalar(p)) return false;
            continue;
        }
        uint8_t lane = coil_lane_of(p);
        if (n->size && n->size != p->type->size) return false;
        n->size = p->type->size;
        if (lane != COIL_T_VOID && n->o.type != COIL_T_VOID && lane != n->o.type) return false;
        if (lane != COIL_T_VOID) n->o.type = lane;
        n->apart &= p->at != COIL_AT_MEMORY;
        n->constants |= p->at == COIL_AT_CONST;
    }
    /* If no operand has lanes, this is a bitwise operation on bytes. */
    if (n->o.type == COIL_T_VOID) n->o.type = COIL_T_UNT8;
    return n->size && n->o.type != COIL_T_BIT;
}

static bool open_operands(struct coil_lower *l, struct lanes *n, const struct coil_step *s)
{
    const int order[3] = {n->r.a, n->r.b, n->r.c};
    bool counts = coil_keeps_value_type(s->opcode);
    for (int k = 0; k < 3; k++) {
        const struct coil_place *p = order[k] < 0 ? NULL : &s->places[order[k]];
        if (k == 1 && (s->opcode == COIL_OP_INC || s->opcode == COIL_OP_DEC)) {
            uint64_t one = coil_convert_bits(1, COIL_T_UNT8, n->o.type, false);
            uint32_t value = ssa_const(l->f, (int64_t)one);
            if (coil_types[n->o.type].family == COIL_F_REAL)
                value = ssa_op1(l->f, SSA_REAL, coil_ssa_type(n->o.type), value);
            n->used[k] = true;
            if (!fill_lanes(l, value, n->o.type, &n->in[k])) return false;
        } else if (p && k == 1 && counts) {
            if (!counts_constant(p, n->o.type, &n->o.count)) return false;
        } else if (p && coil_place_scalar(p)) {
            n->used[k] = true;
            uint32_t value = coil_lower_read(l, s, (unsigned)order[k], n->o.type);
            if (!fill_lanes(l, value, n->o.type, &n->in[k])) return false;
        } else if (p) {
            n->used[k] = true;
            if (!open_place(l, p, false, &n->in[k])) return false;
        }
    }
    return true;
}

static uint32_t lower_vector_compute(struct coil_lower *l, const struct lanes *n, uint64_t offset,
                                     unsigned bytes)
{
    uint32_t v[3];
    for (int k = 0; k < 3; k++) v[k] = n->used[k] ? piece_of(l, &n->in[k], offset, bytes) : 0;
    return coil_lane_compute(l, &n->o, piece_type(bytes), v[0], v[1], v[2]);
}

/* Makes CMP of vectors, which sets Z if all lanes are equal: the value is 0 in that case. */
static bool lower_vector_compare(struct coil_lower *l, const struct lanes *n)
{
    struct ssa_function *f = l->f;
    uint32_t different = 0;
    for (uint64_t offset = 0, bytes; offset < n->size; offset += bytes) {
        bytes = piece_bytes(most_bytes(l, n->constants), n->size - offset);
        /* In a piece shorter than 16 bytes the rest is zero, but not if one operand is a
         * repeated value. The comparison would then see a difference. */
        if (bytes < 16 && (n->in[0].word || n->in[1].word)) return false;
        uint32_t equal = lower_vector_compute(l, n, offset, (unsigned)bytes);
        uint32_t mask = equal ? coil_lane1(l, X64_PMOVMSKB, SSA_INT, equal, 0) : 0;
        if (!mask) return false;
        uint32_t all = ssa_const(f, bytes == 32 ? 0xffffffff : 0xffff),
                 rest = ssa_op2(f, SSA_XOR, SSA_INT, false, mask, all);
        different = different ? ssa_op2(f, SSA_OR, SSA_INT, false, different, rest) : rest;
    }
    l->flags =
        (struct coil_pending_flags){COIL_OP_TEST, COIL_T_UNT64, different, different, different};
    return different;
}

static bool flags_are_read(const struct coil_lower *l, uint8_t except)
{
    uint8_t live = l->flow.flags_live[l->cell - l->flow.first];
    return coil_flags_written(l->p, l->cell) & live & ~except;
}

static bool lower_lanes(struct coil_lower *l, const struct coil_step *s)
{
    struct lanes n = {.o = {.opcode = s->opcode}, .r = coil_roles_of(s)};
    const struct coil_place *to = n.r.to >= 0 ? &s->places[n.r.to] : NULL;
    if (!find_shape(&n, s) || (to && !coil_is_array(to->type))) return false;
    unsigned most = most_bytes(l, n.constants), count = piece_count(most, n.size);
    if (count > PIECES || (!n.apart && count > KEPT)) return false;
    n.o.saturate = to && to->ext & COIL_SATURATE;
    if (!open_operands(l, &n, s)) return false;
    if (s->opcode == COIL_OP_CMP)
        return !flags_are_read(l, COIL_Z | COIL_N) && lower_vector_compare(l, &n);
    if (!to || flags_are_read(l, 0)) return false;
    struct operand out;
    uint32_t results[PIECES];
    uint64_t offset = 0;
    if (n.apart && !open_place(l, to, true, &out)) return false;
    for (unsigned k = 0, bytes; offset < n.size; offset += bytes, k++) {
        bytes = piece_bytes(most, n.size - offset);
        results[k] = lower_vector_compute(l, &n, offset, bytes);
        if (!results[k]) return false;
        if (n.apart)
            ssa_store(l->f, piece_mem(bytes), lower_vector_after(out.at, offset), results[k]);
    }
    if (n.apart) return true;
    if (!open_place(l, to, true, &out)) return false;
    store_pieces(l, &out, most, n.size, results);
    return true;
}

/* Computes the matrix product row by row: a row of the result is the sum over j of A[i][j] times
 * row j of B. The terms of each element are added in the same order as in the interpreter. */
static bool lower_product(struct coil_lower *l, const struct coil_step *s)
{
    struct coil_roles r = coil_roles_of(s);
    const struct coil_place *left = &s->places[r.a], *right = &s->places[r.b], *to = &s->places[0];
    uint8_t type = coil_lane_of(left);
    struct coil_lane_op times = {.opcode = COIL_OP_MUL, .type = type}, plus = times;
    plus.opcode = COIL_OP_ADD;
    unsigned rows, inner, columns, ignored;
    struct operand a, b, out;
    coil_matrix_shape(left->type, &rows, &inner);
    coil_matrix_shape(right->type, &ignored, &columns);
    const struct coil_place *all[] = {left, right, to};
    for (int i = 0; i < 3; i++)
        if (coil_lane_of(all[i]) != type || all[i]->type->op == COIL_T_DIAGMAT ||
            !is_in_memory(all[i]))
            return false;
    unsigned bytes = coil_types[type].bytes, row = columns * bytes;
    unsigned piece = row % 32 == 0 && l->f->avx2 ? 32 : 16, across = row / piece;
    if ((bytes != 4 && bytes != 8) || !row || row % 16 || to->ext & COIL_SATURATE ||
        rows * across > KEPT || inner > 16 || flags_are_read(l, 0) ||
        !open_place(l, left, false, &a) || !open_place(l, right, false, &b))
        return false;
    uint32_t results[KEPT];
    for (unsigned n = 0; n < rows * across; n++) {
        unsigned i = n / across, k = n % across * piece;
        uint32_t sum = coil_lane_zero(l, piece_type(piece));
        for (unsigned j = 0; j < inner; j++) {
            uint32_t one = ssa_load(l->f, bytes == 8 ? SSA_MF64 : SSA_MF32,
                                    lower_vector_after(a.at, ((uint64_t)i * inner + j) * bytes)),
                     each = coil_lane_fill(l, piece_type(piece), one, bytes),
                     product = coil_lane_compute(l, &times, piece_type(piece), each,
                                                 piece_of(l, &b, (uint64_t)j * row + k, piece), 0);
            if (!product) return false;
            sum = coil_lane_compute(l, &plus, piece_type(piece), sum, product, 0);
        }
        results[n] = sum;
    }
    if (!open_place(l, to, true, &out)) return false;
    for (unsigned n = 0; n < rows * across; n++)
        ssa_store(l->f, piece_mem(piece), lower_vector_after(out.at, (uint64_t)n * piece),
                  results[n]);
    return true;
}

static enum ssa_mem element_mem(uint8_t type) { return coil_lower_mem(type); }

/* Finds the address of an element of a vector, after a check that the index is in the vector. */
static bool reach_element(struct coil_lower *l, const struct coil_step *s, unsigned vector,
                          unsigned index_at, uint8_t type, bool write, struct operand *o)
{
    const struct coil_place *p = &s->places[vector], *x = &s->places[index_at];
    uint64_t bytes = coil_types[type].bytes, count = p->type->size / bytes;
    uint8_t own = coil_type_at(s, index_at);
    int64_t known;
    if (!is_in_memory(p) || !coil_is_int(own) || own == COIL_T_BIT) return false;
    uint32_t index = coil_lower_place(l, x, own, own);
    if (!index) return false;
    bool constant = ssa_is_const(l->f, index, &known);
    if (constant ? (uint64_t)known >= count : l->native != NULL) return false;
    /* If the index is not in the vector, the interpreter's function for the instruction decides
     * which trap this is. */
    if (!constant) {
        uint32_t most = ssa_const(l->f, (int64_t)count), exit = coil_lower_exit(l, COIL_EXIT_STEP),
                 guard = ssa_compare(l->f, SSA_GUARD, SSA_B, false, index, most);
        if (!guard) return false;
        l->f->insns[guard].type = SSA_VOID;
        l->f->insns[guard].exit = exit;
    }
    if (!open_place(l, p, write, o)) return false;
    if (constant) {
        o->at.disp += known * (int64_t)bytes;
        return true;
    }
    if (o->at.index) { /* The address of the vector itself has an index already. */
        uint32_t sum = ssa_op2(l->f, SSA_ADDRESS, SSA_INT, false, o->at.base, o->at.index);
        if (!sum) return false;
        l->f->insns[sum].scale = o->at.scale;
        o->at.base = sum;
    }
    o->at.index = index;
    o->at.scale = (uint8_t)__builtin_ctzll(bytes);
    return true;
}

static bool lower_element(struct coil_lower *l, const struct coil_step *s)
{
    bool get = s->opcode == COIL_OP_GETE;
    unsigned vector = get ? 1 : 0, scalar = get ? 0 : 2;
    if (!coil_is_array(s->places[vector].type)) return false;
    uint8_t type = coil_lane_of(&s->places[vector]), own = coil_type_at(s, scalar);
    if (type == COIL_T_VOID) type = own;
    if (!coil_is_scalar(type) || type == COIL_T_BIT || flags_are_read(l, 0)) return false;
    struct operand o;
    if (get) {
        if (!reach_element(l, s, vector, 2, type, false, &o)) return false;
        return coil_lower_write(l, &s->places[0], ssa_load(l->f, element_mem(type), o.at), type);
    }
    if (s->places[0].ext & COIL_SATURATE || !reach_element(l, s, vector, 1, type, true, &o))
        return false;
    uint32_t value = coil_lower_convert(l, coil_lower_place(l, &s->places[2], own, own), own, type);
    if (!value) return false;
    ssa_store(l->f, element_mem(type), o.at, value);
    return true;
}

/* Makes the dot product. Lanes are added one after the other, because the sum of reals depends
 * on the order. */
static bool lower_dot(struct coil_lower *l, const struct coil_step *s)
{
    enum { LANES = 16 };
    const struct coil_place *x = &s->places[1], *y = &s->places[2];
    uint8_t type = coil_lane_of(x);
    struct operand a, b;
    if (type == COIL_T_VOID || type == COIL_T_BIT || coil_lane_of(y) != type || !is_in_memory(x) ||
        !is_in_memory(y) || x->type->size != y->type->size || flags_are_read(l, 0))
        return false;
    unsigned bytes = coil_types[type].bytes, lanes = (unsigned)(x->type->size / bytes);
    if (lanes > LANES || !open_place(l, x, false, &a) || !open_place(l, y, false, &b)) return false;
    bool real = coil_types[type].family == COIL_F_REAL;
    enum ssa_type t = coil_ssa_type(type);
    uint32_t sum = ssa_const(l->f, 0);
    if (real) sum = ssa_op1(l->f, SSA_REAL, t, sum);
    for (unsigned i = 0; i < lanes; i++) {
        uint32_t p = ssa_load(l->f, element_mem(type),
                              lower_vector_after(a.at, (uint64_t)i * bytes)),
                 q = ssa_load(l->f, element_mem(type),
                              lower_vector_after(b.at, (uint64_t)i * bytes)),
                 product = ssa_op2(l->f, real ? SSA_FMUL : SSA_MUL, t, false, p, q);
        sum = ssa_op2(l->f, real ? SSA_FADD : SSA_ADD, t, false, sum, product);
    }
    if (!real) sum = coil_lower_canon(l, sum, type);
    return coil_lower_write(l, &s->places[0], sum, type);
}

bool coil_lower_vector(struct coil_lower *l, const struct coil_step *s)
{
    bool matrices = s->opcode == COIL_OP_MUL;
    for (unsigned i = 0; i < s->count; i++) {
        const struct coil_type *t = s->places[i].type;
        if (coil_is_wide(t)) return false;
        matrices &= t && coil_types[t->op].family == COIL_F_MATRIX;
    }
    switch (coil_ops[s->opcode].group) {
    case COIL_G_MOVE: return lower_move(l, s);
    case COIL_G_ARITH:
    case COIL_G_BITS:
    case COIL_G_COMPARE: return matrices ? lower_product(l, s) : lower_lanes(l, s);
    default: break;
    }
    if (s->opcode == COIL_OP_GETE || s->opcode == COIL_OP_SETE) return lower_element(l, s);
    return s->opcode == COIL_OP_DOT && lower_dot(l, s);
}
