/* The disassembler prints the plain form, assembles it in memory, and adds to .image what
 * differs from the file. When nothing else helps, .image has all bytes of the file. */
#include "base/utf8.h"
#include "core/assembles.h"
#include "text/hex.h"
#include "text/lexer.h"
#include "tvmr/text/assemble.h"
#include <stdio.h>
#include <stdlib.h>

static bool is_register(char kind) { return kind == 'd' || kind == 's' || kind == 'm'; }

static void print_register(struct writer *out, uint8_t reg)
{
    char name[8];
    tvmr_register_name(reg, name);
    writer_text(out, name);
}

static void print_raw(struct writer *out, const struct tvmr_words *w)
{
    writer_print(out, "raw 0x%04x, 0x%04x, %u, %u, %u, %u", w->ext, w->opcode, w->a[0], w->a[1],
                 w->a[2], w->a[3]);
}

/* Returns a mask of the bytes that the operands of the text fill. The other bytes must be those
 * of the table. */
static uint32_t print_filled(const struct tvmr_op *op)
{
    uint32_t mask = 0;
    for (const char *p = op->text; *p; p++) {
        if (*p >= 'A' && *p <= 'D') mask |= 0xff000000u >> 8 * (*p - 'A');
        if (*p == 'W' || *p == 'q' || *p == 'l') mask |= 0xffff;
        if (*p == 'L') mask = 0xffffffffu;
        if (*p == 'g') mask |= 0xff;
    }
    return mask;
}

static bool core_expressible(const struct tvmr_op *op, const struct tvmr_words *w, size_t count)
{
    uint32_t all = tvmr_operands(w);
    if (!op->text || (all ^ op->base) & ~print_filled(op)) return false;
    if (strchr(op->text, 'L')) return all <= count;
    if (strchr(op->text, 'l')) return (all & 0xffff) <= count;
    return true;
}

static void print_core(struct writer *out, const struct tvmr_op *op, const struct tvmr_words *w)
{
    char name[64];
    unsigned low = tvmr_operands(w) & 0xffff;
    const char *separator = " ";
    tvmr_mnemonic(op, name);
    writer_text(out, name);
    for (const char *p = op->text; *p; p++) {
        if (*p == '?' || *p == 'x' || *p == 'p') continue;
        if (*p == 'W' && op->opcode == TVMR_OP_ALLOC_TENSOR && !low)
            continue; /* The tensor has one dimension, so there is nothing to print. */
        writer_text(out, separator);
        separator = ", ";
        if (*p == 'W' || *p == 'q')
            writer_dec(out, low);
        else if (*p == 'l')
            writer_print(out, "L%u", low);
        else if (*p == 'L')
            writer_print(out, "L%u", (unsigned)tvmr_operands(w));
        else if (*p == 'g')
            writer_print(out, "gain=%.10g", w->a[3] / 16.0);
        else if (is_register(op->bytes[*p - 'A']))
            print_register(out, w->a[*p - 'A']);
        else
            writer_dec(out, w->a[*p - 'A']);
    }
}

static bool print_ext(struct writer *out, const struct tvmr_op *op, const struct tvmr_words *w)
{
    char name[64];
    unsigned last = 0;
    for (unsigned k = 0; k < 4; k++) {
        if (op->bytes[k] == '-' && w->a[k])
            return false; /* The text has no operand for this byte. */
        if (op->bytes[k] != '-') last = k + 1;
    }
    tvmr_mnemonic(op, name);
    writer_text(out, name);
    for (unsigned k = 0; k < last; k++) {
        writer_text(out, k ? ", " : " ");
        if (op->bytes[k] == 'w') {
            writer_dec(out, tvmr_operands(w) & 0xffff);
            break;
        }
        if (is_register(op->bytes[k]))
            print_register(out, w->a[k]);
        else
            writer_dec(out, w->a[k]);
    }
    return true;
}

static void print_insn(struct writer *out, const struct tvmr_words *w, size_t count)
{
    const struct tvmr_op *op = tvmr_op_find(w->ext, w->opcode);
    if (op && !w->ext && core_expressible(op, w, count)) {
        print_core(out, op, w);
        return;
    }
    if (op && w->ext && (w->ext < TVMR_ID_USER || op->domain) && print_ext(out, op, w)) return;
    print_raw(out, w);
    if (op) writer_print(out, "  ; %s", op->name);
}

bool tvmr_print_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    const struct tvmr_module *m = tvmr_module(module);
    if (pc >= m->count) return false;
    struct tvmr_words w = tvmr_word(m->code.data + pc * TVMR_INSN);
    print_insn(out, &w, m->count);
    return true;
}

bool tvmr_line_text(penta_bytes text)
{
    for (penta_bytes left = text; left.size;) {
        uint32_t point;
        size_t n = utf8_next(left, &point);
        if (!n || point < 0x20 || point == ';' || point == '"' || point == 0x7f) return false;
        left = bytes_slice(left, n, left.size);
    }
    return text.size && text.data[0] != ' ' && text.data[text.size - 1] != ' ';
}

static void print_text(struct writer *out, const char *key, const char *text)
{
    if (text && tvmr_line_text(bytes_of(text))) writer_print(out, "    %-9s \"%s\"\n", key, text);
}

static void print_meta(struct writer *out, const struct tvmr_meta *m)
{
    static const char *const skulls[] = {"skull_x", "skull_y", "skull_z"};
    writer_text(out, ".meta\n");
    print_text(out, "name", m->name);
    print_text(out, "domain", m->domain);
    if (m->has_version) writer_print(out, "    version   %u\n", (unsigned)m->version);
    if (m->input_dim >= 0 && m->input_dim <= UINT32_MAX)
        writer_print(out, "    input_dim %lld\n", (long long)m->input_dim);
    if (m->output_dim >= 0 && m->output_dim <= UINT32_MAX)
        writer_print(out, "    output_dim %lld\n", (long long)m->output_dim);
    bool skull = true;
    for (int i = 0; i < 3; i++) skull &= m->skull[i] >= 0 && m->skull[i] <= UINT16_MAX;
    for (int i = 0; skull && i < 3; i++)
        writer_print(out, "    %s   %lld\n", skulls[i], (long long)m->skull[i]);
    for (size_t i = 0; i < m->projection_count; i++) {
        const struct tvmr_projection *p = &m->projections[i];
        if (!p->target || !p->bundle || !tvmr_line_text(bytes_of(p->target)) ||
            !tvmr_line_text(bytes_of(p->bundle)))
            continue;
        writer_text(out, ".projection\n");
        print_text(out, "target", p->target);
        print_text(out, "bundle", p->bundle);
        writer_print(out, "    weight    %d\n    delay     %u\n", p->weight, p->delay);
        print_text(out, "density", p->density);
        print_text(out, "mapping", p->mapping);
        print_text(out, "modulator", p->modulator);
    }
}

static void print_requires(struct writer *out, const struct tvmr_module *m)
{
    if (!m->ext_count) return;
    writer_text(out, ".requires\n");
    uint8_t bits[8192] = {0};
    for (size_t i = 0; i < m->ext_count; i++) {
        uint16_t id = m->exts[i].id;
        const struct tvmr_extension *e = id ? tvmr_extension_find(id) : NULL;
        if (bits[id / 8] >> (id & 7) & 1) continue;
        bits[id / 8] |= (uint8_t)(1u << (id & 7));
        if (e && (id < TVMR_ID_USER || e->manifest))
            writer_print(out, "    %s 0x%04x\n", e->name, id);
        else
            writer_print(out, "    ext_%04x 0x%04x\n", id, id);
    }
}

/* Tells whether a line can express the whole definition. */
static bool plain_regdef(const struct tvmr_regdef *r)
{
    return (r->flags == TVMR_ALLOCATED || r->flags == (TVMR_ALLOCATED | TVMR_FROZEN)) && r->ndims &&
           tvmr_type_find(r->type) && (!r->key.size || tvmr_line_text(r->key));
}

static void print_registers(struct writer *out, const struct tvmr_module *m)
{
    if (m->reg_count) writer_text(out, ".registers\n");
    for (size_t i = 0; i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        const struct tvmr_type *type = tvmr_type_find(r->type);
        writer_text(out, "    ");
        if (r->reg == TVMR_NULL)
            writer_text(out, "S63"); /* A line cannot define this register, so .image gives the
                                      * definition. */
        else
            print_register(out, r->reg);
        writer_print(out, ": %s", type ? type->name : "i32");
        for (unsigned k = 0; k < r->ndims; k++)
            writer_print(out, "%s%u", k ? ", " : "[", tvmr_dim(r, k));
        if (r->ndims) writer_char(out, ']');
        if (r->key.size && tvmr_line_text(r->key))
            writer_print(out, " key=\"%.*s\"", BYTES_ARG(r->key, INT_MAX));
        if (r->flags & TVMR_FROZEN) writer_text(out, " frozen=true");
        if (!(r->flags & TVMR_ALLOCATED)) writer_text(out, "  ; unallocated");
        writer_char(out, '\n');
    }
}

/* Marks the instructions that a printed jump names. */
static uint8_t *print_targets(const struct tvmr_module *m)
{
    uint8_t *bits = calloc(1, m->count / 8 + 1);
    for (size_t i = 0; bits && i < m->count; i++) {
        struct tvmr_words w = tvmr_word(m->code.data + i * TVMR_INSN);
        const struct tvmr_op *op = w.ext ? NULL : tvmr_op_find(0, w.opcode);
        if (!op || !op->text || !core_expressible(op, &w, m->count)) continue;
        uint32_t to = strchr(op->text, 'L')   ? tvmr_operands(&w)
                      : strchr(op->text, 'l') ? tvmr_operands(&w) & 0xffff
                                              : UINT32_MAX;
        if (to <= m->count) bits[to / 8] |= (uint8_t)(1u << (to & 7));
    }
    return bits;
}

static bool print_program(struct writer *out, const struct tvmr_module *m, penta_error *err)
{
    uint8_t *named = print_targets(m);
    if (!named) return error_at(err, BASE_MEMORY, 0, "no memory for the labels");
    writer_text(out, ".program\n");
    for (size_t i = 0; i <= m->count; i++) {
        if (named[i / 8] >> (i & 7) & 1) writer_print(out, "L%zu:\n", i);
        for (size_t k = 0; k < m->meta.label_count; k++)
            if (m->meta.label_count <= 1024 && m->meta.labels[k].index == i &&
                tvmr_line_text(bytes_of(m->meta.labels[k].name)) &&
                !strpbrk(m->meta.labels[k].name, " \t:.,"))
                writer_print(out, "%s:\n", m->meta.labels[k].name);
        if (i == m->count) break;
        struct tvmr_words w = tvmr_word(m->code.data + i * TVMR_INSN);
        writer_text(out, "    ");
        print_insn(out, &w, m->count);
        writer_char(out, '\n');
    }
    free(named);
    return true;
}

enum level { LEVEL_PLAIN, LEVEL_METADATA, LEVEL_STORED, LEVEL_FILE };

static void print_hex(struct writer *out, const char *key, penta_bytes bytes)
{
    writer_print(out, "    %s ", key);
    hex_line(out, bytes);
    writer_char(out, '\n');
}

static bool plain_exts(const struct tvmr_module *m)
{
    uint8_t seen[8192] = {0};
    bool plain = true;
    for (size_t i = 0; plain && i < m->ext_count; i++) {
        const struct tvmr_extension_entry *e = &m->exts[i];
        struct tvmr_extension_entry usual = tvmr_required_version(e->id);
        plain = e->major == usual.major && e->minor == usual.minor && e->patch == usual.patch &&
                !(seen[e->id / 8] >> (e->id & 7) & 1);
        seen[e->id / 8] |= (uint8_t)(1u << (e->id & 7));
    }
    return plain;
}

static void image_fields(struct writer *out, const struct tvmr_module *m, enum level level)
{
    const struct tvmr_header *h = &m->header;
    if (h->version != TVMR_VERSION) writer_print(out, "    version %u\n", h->version);
    if (h->flags) writer_print(out, "    flags %u\n", h->flags);
    if (h->checksum != m->checksum)
        writer_print(out, "    checksum 0x%016llx\n", (unsigned long long)h->checksum);
    if (h->reserved) writer_print(out, "    reserved 0x%016llx\n", (unsigned long long)h->reserved);
    if (!plain_exts(m))
        for (size_t i = 0; i < m->ext_count; i++)
            writer_print(out, "    ext 0x%04x %u %u %u\n", m->exts[i].id, m->exts[i].major,
                         m->exts[i].minor, m->exts[i].patch);
    for (size_t i = 0; i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        if (plain_regdef(r)) continue;
        writer_print(out, "    regdef %zu ", i);
        hex_line(out, bytes_slice(m->image, r->offset, r->size));
        writer_char(out, '\n');
    }
    if (m->metadata.size && level >= LEVEL_METADATA) print_hex(out, "metadata", m->metadata);
    if (m->trailing.size) print_hex(out, "trailing", m->trailing);
    bool packed = h->flags & (TVMR_COMPRESSED | TVMR_ENCRYPTED);
    if (packed && (level >= LEVEL_STORED || (h->flags & TVMR_ENCRYPTED))) {
        writer_print(out, "    stored %u ", (unsigned)m->envelope.plain_size);
        hex_line(out, m->stored);
        writer_char(out, '\n');
    }
    if (m->tail.size) print_hex(out, "tail", m->tail);
}

static bool print_render(const struct tvmr_module *m, enum level level, struct writer *out,
                         penta_error *err)
{
    struct writer image = {0};
    if (m->metadata.size && !m->metadata_error.code) print_meta(out, &m->meta);
    if (level == LEVEL_FILE)
        print_hex(&image, "file", m->base.file);
    else
        image_fields(&image, m, level);
    if (image.out.size) {
        writer_text(out, ".image\n");
        writer_append(out, &image);
    }
    out->failed |= image.failed;
    writer_free(&image);
    print_requires(out, m);
    print_registers(out, m);
    return print_program(out, m, err) && writer_ok(out, err);
}

bool tvmr_print(const penta_module *module, const penta_option *options, size_t count,
                struct writer *out, penta_error *err)
{
    const struct tvmr_module *m = tvmr_module(module);
    (void)options, (void)count;
    for (enum level level = m->legacy || m->is_card || m->is_weights ? LEVEL_FILE : LEVEL_PLAIN;
         level <= LEVEL_FILE; level++) {
        struct writer text = {0};
        bool done = print_render(m, level, &text, err) &&
                    (level == LEVEL_FILE ||
                     assembles_to(&tvmr_driver, writer_view(&text), NULL, 0, module->file, err));
        if (done) writer_append(out, &text);
        writer_free(&text);
        if (done || err->code) break;
    }
    return !err->code && writer_ok(out, err);
}
