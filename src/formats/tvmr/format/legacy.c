/* The legacy format TERN (TVMR 13). A file is opened by building the image that the program would be today.
 *
 *     header (32) | definitions, with one byte for the type | instructions of 8 bytes:
 *     action u16 BE | target | source | aux | mod0 | mod1 | mod2
 *
 * Action numbers are the core opcodes of today. Only the places of operands have changed. */
#include "core/describe.h"
#include "tvmr/tvmr.h"

enum { TERN_VERSION = 2, TERN_REGDEF_MIN = 5 };

static const uint16_t type_of[] = {
    TVMR_TYPE_F32, TVMR_TYPE_I32, TVMR_TYPE_TERNARY, TVMR_TYPE_PACKED_SIGNAL,
    TVMR_TYPE_F16, TVMR_TYPE_I16, TVMR_TYPE_I8,      TVMR_TYPE_I64};

struct tern_def {
    const uint8_t *p; /* the bytes of a definition: register, type, flags, ndims, dims, key_len,
                       * key */
    size_t size;
};

static bool next_def(penta_bytes defs, size_t *at, struct tern_def *out)
{
    size_t left = defs.size - *at;
    const uint8_t *p = defs.data + *at;
    if (left < TERN_REGDEF_MIN) return false;
    size_t size = TERN_REGDEF_MIN + 2 * (size_t)p[3];
    if (left < size || left < size + p[size - 1]) return false;
    size += p[size - 1];
    *out = (struct tern_def){p, size};
    *at += size;
    return true;
}

/* Tells whether registers fit their banks when the register byte is split after `shift` bits.
 * The split is 2/6 bits, or 4/4 in the oldest files. */
static bool banks_match(penta_bytes defs, const struct tvmr_tern *h, unsigned shift)
{
    size_t at = 0, counts[16] = {0};
    struct tern_def d;
    while (next_def(defs, &at, &d)) counts[d.p[0] >> shift]++;
    return counts[0] == h->hot && counts[1] == h->cold && counts[2] == h->param &&
           counts[3] == h->shape;
}

static uint8_t legacy_remap(uint8_t reg, bool old)
{
    return old && reg != TVMR_NULL ? (uint8_t)((reg >> 4) << 6 | (reg & 15)) : reg;
}

static bool legacy_lose(struct tvmr_module *m, size_t index, const char *what)
{
    m->losses[m->loss_count++] = (struct tern_loss){(uint32_t)index, what};
    return true;
}

/* Converts an instruction with target, source, aux, mod0, mod1 and mod2 into one with A, B, C
 * and D. */
static void convert_insn(struct tvmr_module *m, const uint8_t *p, size_t index, bool old,
                         struct writer *code)
{
    unsigned action = (unsigned)p[0] << 8 | p[1];
    const struct tvmr_op *op = tvmr_op_find(0, (uint16_t)action);
    uint8_t r[3] = {p[2], p[3], p[4]}, mod[3] = {p[5], p[6], p[7]}, out[4];
    const char *bytes = op ? op->bytes : "----";
    for (int i = 0; i < 3; i++)
        if (bytes[i] == 'd' || bytes[i] == 's' || bytes[i] == 'm') r[i] = legacy_remap(r[i], old);
    uint8_t last = bytes[3] == 's' ? legacy_remap(mod[0], old) : mod[0];
    memcpy(out, (uint8_t[4]){r[0], r[1], r[2], last}, 4);
    if (action >> 8 == TVMR_OP_LOOP >> 8 || action == TVMR_OP_DEQUANTIZE ||
        action == TVMR_OP_SCALE) {
        bool target = action == TVMR_OP_CALL || action == TVMR_OP_JUMP;
        memcpy(out, (uint8_t[4]){target ? 0 : r[0], target ? 0 : r[1], mod[0], mod[1]}, 4);
    } else if (action == TVMR_OP_ALLOC_TENSOR) {
        memcpy(out, (uint8_t[4]){r[0], mod[0], mod[1], mod[2]}, 4);
    } else if (action == TVMR_OP_MASTERY_UPDATE && mod[1]) {
        legacy_lose(m, index, "divisor, now always 4");
    } else if (action == TVMR_OP_MASTERY_COMMIT && mod[1]) {
        legacy_lose(m, index, "step, now always 5");
    } else if ((action == TVMR_OP_GROW_NEURON || action == TVMR_OP_INIT_RANDOM) &&
               (mod[1] || mod[2])) {
        legacy_lose(m, index, "low 16 seed bits");
    }
    writer_uint(code, 0, 2);
    writer_bytes(code, p, 2);
    writer_bytes(code, out, 4);
}

static bool convert_defs(penta_bytes defs, bool old, struct writer *out, penta_error *damage)
{
    size_t at = 0;
    struct tern_def d;
    while (next_def(defs, &at, &d)) {
        if (d.p[1] >= sizeof type_of / sizeof *type_of)
            return error_at(damage, TVMR_LEGACY, tvmr_tern_bytes + at - d.size + 1,
                            "no type has the old number %u", d.p[1]);
        writer_uint(out, legacy_remap(d.p[0], old), 1);
        writer_uint(out, type_of[d.p[1]], 2);
        writer_bytes(out, d.p + 2, d.size - 2);
    }
    return true;
}

bool tvmr_legacy(struct tvmr_module *m, penta_error *damage, penta_error *err)
{
    penta_bytes file = m->base.file;
    if (file.size < tvmr_tern_bytes)
        return error_at(damage, TVMR_TRUNCATED, file.size,
                        "fewer than the 32 bytes of a legacy header");
    struct tvmr_tern h;
    struct reader r = {.in = file, .err = damage};
    tvmr_tern_read(&r, &h);
    size_t rest = file.size - tvmr_tern_bytes;
    if (h.reg_defs_size > rest || h.instr_count > (rest - h.reg_defs_size) / TVMR_INSN)
        return error_at(damage, TVMR_TRUNCATED, file.size,
                        "the legacy file ends inside its sections");
    penta_bytes defs = bytes_slice(file, tvmr_tern_bytes, h.reg_defs_size);
    m->tern_code = tvmr_tern_bytes + h.reg_defs_size;
    m->trailing =
        bytes_slice(file, (size_t)m->tern_code + TVMR_INSN * (size_t)h.instr_count, file.size);
    m->tern_mix = tvmr_mix(bytes_slice(file, tvmr_tern_bytes, rest - m->trailing.size));
    size_t count = 0, at = 0;
    struct tern_def d;
    while (next_def(defs, &at, &d)) count++;
    if (at != defs.size)
        return error_at(damage, TVMR_REGDEF, tvmr_tern_bytes + at,
                        "a register definition runs past its section");
    bool old = !banks_match(defs, &h, 6);
    if (old && !banks_match(defs, &h, 4))
        return error_at(damage, TVMR_REGDEF, 8,
                        "the register counts fit no reading of the definitions");
    m->losses = arena_alloc(&m->arena, h.instr_count, sizeof *m->losses, err);
    struct writer regs = {0}, code = {0};
    bool ok = m->losses && convert_defs(defs, old, &regs, damage);
    for (size_t i = 0; ok && i < h.instr_count; i++)
        convert_insn(m, file.data + m->tern_code + i * TVMR_INSN, i, old, &code);
    if (ok)
        tvmr_write(&m->expanded, NULL, 0, writer_view(&regs), count, writer_view(&code),
                   (penta_bytes){0});
    m->expanded.failed |= regs.failed || code.failed;
    ok = ok && writer_ok(&m->expanded, err);
    writer_free(&regs);
    writer_free(&code);
    if (ok) m->image = writer_view(&m->expanded);
    return ok;
}

static void describe_def(const struct tern_def *d, uint64_t at, const penta_visitor *v)
{
    static const char *const names[] = {"register", "type", "flags", "ndims"};
    penta_node node = {.name = "definition", .offset = at, .size = d->size};
    if (!describe_enter(v, node)) return;
    for (unsigned i = 0; i < 4; i++)
        describe_field(v, (penta_field){.name = names[i],
                                        .offset = at + i,
                                        .size = 1,
                                        .kind = i == 3 ? PENTA_UINT : PENTA_WORD,
                                        .as.u = d->p[i]});
    size_t dims = 2 * (size_t)d->p[3];
    if (dims) describe_raw(v, "dims", (penta_bytes){d->p + 4, dims}, at + 4, NULL);
    describe_field(v, (penta_field){.name = "key_len",
                                    .offset = at + 4 + dims,
                                    .size = 1,
                                    .kind = PENTA_UINT,
                                    .as.u = d->p[4 + dims]});
    size_t key = d->size - dims - TERN_REGDEF_MIN;
    if (key)
        describe_field(v, (penta_field){.name = "key",
                                        .offset = at + 5 + dims,
                                        .size = key,
                                        .kind = PENTA_TEXT,
                                        .as.bytes = {d->p + 5 + dims, key}});
    describe_leave(v, node);
}

void tvmr_legacy_describe(const struct tvmr_module *m, const penta_visitor *v)
{
    penta_bytes file = m->base.file;
    if (file.size < tvmr_tern_bytes || m->base.damage.code) {
        size_t head = file.size < tvmr_tern_bytes ? 0 : tvmr_tern_bytes;
        if (head) layout_describe(v, "header", tvmr_tern_fields, file.data, 0, false, NULL);
        if (file.size > head)
            describe_raw(v, "damaged", bytes_slice(file, head, file.size), head,
                         m->base.damage.message);
        return;
    }
    layout_describe(v, "header", tvmr_tern_fields, file.data, 0, false, NULL);
    penta_bytes defs = bytes_slice(file, tvmr_tern_bytes, (size_t)m->tern_code - tvmr_tern_bytes);
    penta_node list = {
        .name = "definitions", .offset = tvmr_tern_bytes, .size = defs.size, .list = true};
    if (defs.size && describe_enter(v, list)) {
        size_t at = 0;
        struct tern_def d;
        while (next_def(defs, &at, &d)) describe_def(&d, tvmr_tern_bytes + at - d.size, v);
        describe_leave(v, list);
    }
    penta_node code = {
        .name = "code", .offset = m->tern_code, .size = m->count * TVMR_INSN, .list = true};
    if (m->count && describe_enter(v, code)) {
        for (size_t i = 0; i < m->count; i++) {
            uint64_t at = m->tern_code + i * TVMR_INSN;
            const uint8_t *p = file.data + at;
            const struct tvmr_op *op = tvmr_op_find(0, (uint16_t)(p[0] << 8 | p[1]));
            describe_raw(v, "insn", (penta_bytes){p, TVMR_INSN}, at, op ? op->name : NULL);
        }
        describe_leave(v, code);
    }
    uint64_t end = m->tern_code + m->count * TVMR_INSN;
    if (end < file.size)
        describe_raw(v, "trailing", bytes_slice(file, (size_t)end, file.size), end, "ignored");
}
