/* Assembles instructions (TVMR 10.2, TVMR 10.3). Each core mnemonic has its own form of operands
 * (isa.def). The operands of extensions fill the bytes A B C D one by one. */
#include "base/thread/lock.h"
#include "base/suggest.h"
#include "tvmr/text/assemble.h"
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define QUOTE(s) (int)((s).size > 60 ? 60 : (s).size), (const char *)(s).at

/* The table of mnemonics is made once for the process. */

enum { MNEMONICS = 1024 };
static struct mnemonic { /* An entry is free when its op is NULL. */
    char text[56];
    const struct tvmr_op *op;
} table[MNEMONICS];

static uint32_t assemble_insn_hash(const uint8_t *text, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++) h = (h ^ (uint32_t)tolower(text[i])) * 16777619u;
    return h;
}

static void table_add(const char *text, size_t size, const struct tvmr_op *op)
{
    uint32_t at = assemble_insn_hash((const uint8_t *)text, size) % MNEMONICS;
    if (size >= sizeof table->text) return;
    while (table[at].op) at = (at + 1) % MNEMONICS;
    memcpy(table[at].text, text, size);
    table[at].op = op;
}

static void make_table(void)
{
    for (const struct tvmr_extension *e = tvmr_standard; e->name; e++)
        for (size_t i = 0; i < e->count; i++) {
            char text[64];
            if (e->id) {
                tvmr_mnemonic(&e->ops[i], text);
                table_add(text, strlen(text), &e->ops[i]);
                continue;
            }
            for (const char *p = e->ops[i].mnemonic; *p;) {
                size_t n = strcspn(p, "|");
                table_add(p, n, &e->ops[i]);
                p += n + (p[n] == '|');
            }
        }
}

static const struct tvmr_op *table_find(struct span word)
{
    static struct once once;
    once_do(&once, make_table);
    uint32_t at = assemble_insn_hash(word.at, word.size) % MNEMONICS;
    for (; table[at].op; at = (at + 1) % MNEMONICS)
        if (span_is(word, table[at].text)) return table[at].op;
    return NULL;
}

/* `raw` takes six operands, the most. One more shows a surplus. */
enum { OPERANDS = 7, HINTS = 20 };
struct operands {
    struct span at[OPERANDS];
    size_t count;
    const uint8_t *end;
};

static struct operands assemble_insn_split(struct span rest)
{
    struct operands o = {.end = rest.at + rest.size};
    while (rest.size && o.count < OPERANDS) {
        const uint8_t *comma = memchr(rest.at, ',', rest.size);
        size_t size = comma ? (size_t)(comma - rest.at) : rest.size;
        o.at[o.count++] = span_trim((struct span){rest.at, size});
        rest = comma ? (struct span){comma + 1, rest.size - size - 1}
                     : (struct span){rest.at + size, 0};
    }
    return o;
}

static bool assemble_insn_immediate(struct span s, int64_t *value)
{
    bool signed_text = s.size && (s.at[0] == '-' || s.at[0] == '+');
    bool minus = signed_text && s.at[0] == '-';
    struct span digits = {s.at + signed_text, s.size - signed_text};
    uint64_t n;
    if (signed_text && digits.size > 1 && tolower(digits.at[1]) == 'x') return false;
    if (!span_uint(digits, minus ? UINT64_C(1) << 31 : INT32_MAX, &n)) return false;
    *value = minus ? -(int64_t)n : (int64_t)n;
    return true;
}

/* Reads a number of `bits` bits. A number that does not fit is cut, with a warning. */
static bool assemble_insn_number(struct assembly *a, struct span s, unsigned bits, uint32_t *out)
{
    int64_t v;
    if (!assemble_insn_immediate(s, &v))
        return asm_fail(a, BASE_NUMBER, s.at, "invalid number: %.*s", QUOTE(s));
    if (v >= INT64_C(1) << bits || v < -(INT64_C(1) << (bits - 1)))
        asm_warn(a, TVMR_CUT, s.at, "%lld does not fit %u bits", (long long)v, bits);
    *out = (uint32_t)v & ((1u << bits) - 1);
    return true;
}

/* Returns the value of an operand name=value. */
static struct span value_of(struct span s)
{
    const uint8_t *equals = memchr(s.at, '=', s.size);
    return equals ? span_trim((struct span){equals + 1, s.size - (size_t)(equals + 1 - s.at)}) : s;
}

static bool assemble_insn_decimal(struct span s, uint64_t max, uint64_t *out)
{
    if (s.size && s.at[0] == '+') s.at++, s.size--;
    return !(s.size > 1 && tolower(s.at[1]) == 'x') && span_uint(s, max, out);
}

static void put_byte(uint32_t *word, unsigned place, uint32_t value)
{
    unsigned shift = 24 - 8 * place;
    *word = (*word & ~(0xffu << shift)) | (value & 0xff) << shift;
}

static bool operand_label(struct assembly *a, struct span s, unsigned width)
{
    uint64_t place = a->code.out.size + 8 - width; /* The operand ends where the instruction
                                                    * ends. */
    return labels_use(&a->labels, (penta_bytes){s.at, s.size}, place, width,
                      (uint64_t)(s.at - a->s->text.data), &a->err);
}

static uint32_t gain_of(struct span s)
{
    char text[40], *end;
    struct span v = value_of(s);
    if (!v.size || v.size >= sizeof text) return 64;
    memcpy(text, v.at, v.size);
    text[v.size] = 0;
    double x = strtod(text, &end);
    if (*end || end == text || x != x) return 64;
    x *= 16;
    return x <= 0 ? 0 : x >= 255 ? 255 : (uint32_t)x;
}

static bool assemble_insn_missing(struct assembly *a, const struct tvmr_op *op, char form,
                                  const struct operands *o)
{
    char name[64];
    tvmr_mnemonic(op, name);
    if (form == 'L') return asm_fail(a, BASE_SYNTAX, o->end, "%s needs a label", name);
    if (form == 'l')
        return asm_fail(a, BASE_SYNTAX, o->end, "%s needs a register and a label", name);
    return asm_fail(a, BASE_SYNTAX, o->end, "%s: operand %zu is missing", name, o->count + 1);
}

/* Reports operands after the last one that the instruction takes. */
static bool assemble_insn_surplus(struct assembly *a, struct span mnemonic,
                                  const struct operands *o, size_t taken)
{
    const uint8_t *at = o->at[taken].at;
    if (!taken) return asm_fail(a, BASE_SYNTAX, at, "%.*s takes no operands", QUOTE(mnemonic));
    return asm_fail(a, BASE_SYNTAX, at, "%.*s takes %zu operand%s", QUOTE(mnemonic), taken,
                    taken == 1 ? "" : "s");
}

/* Reads an operand. `form` is a letter of the column "text" of isa.def. */
static bool core_operand(struct assembly *a, const struct tvmr_op *op, char form, char place,
                         struct span s, uint32_t *word)
{
    uint32_t value;
    uint64_t n;
    switch (form) {
    case 'W':
        if (!assemble_insn_number(a, s, 16, &value)) return false;
        *word = (*word & 0xffff0000u) | value;
        return true;
    case 'q':
        if (!assemble_insn_decimal(value_of(s), UINT16_MAX, &n))
            return asm_fail(a, BASE_NUMBER, s.at, "invalid scale: %.*s", QUOTE(s));
        *word = (*word & 0xffff0000u) | (uint32_t)n;
        return true;
    case 'L': return operand_label(a, s, 4);
    case 'l': return operand_label(a, s, 2);
    case 'g': put_byte(word, 3, gain_of(s)); return true;
    case 'x': return true;
    case 'p':
        if (!assemble_insn_decimal(value_of(s), 255, &n))
            return asm_fail(a, BASE_NUMBER, s.at, "invalid parameter: %.*s", QUOTE(s));
        put_byte(word, (unsigned)(place - 'A'), (uint32_t)n);
        return true;
    default: break;
    }
    unsigned at = (unsigned)(form - 'A');
    uint8_t reg;
    if (strchr("dsm", op->bytes[at])) {
        if (!span_register(s, &reg)) {
            asm_fail(a, BASE_SYNTAX, s.at, "invalid register: %.*s", QUOTE(s));
            return error_note(&a->err, "registers are H, C, P or S with a number 0..63");
        }
        put_byte(word, at, reg);
        return true;
    }
    if (!assemble_insn_number(a, s, 8, &value)) return false;
    put_byte(word, at, value);
    return true;
}

static bool core_operands(struct assembly *a, const struct tvmr_op *op, struct span mnemonic,
                          const struct operands *o, uint32_t *word)
{
    size_t used = 0;
    for (const char *p = op->text; *p; p++) {
        char form = *p, place = form == 'p' ? *++p : 0;
        bool optional = p[1] == '?';
        if (optional) p++;
        struct span s = used < o->count ? o->at[used] : (struct span){o->end, 0};
        if (!s.size) {
            if (optional) {
                used++;
                continue;
            }
            return assemble_insn_missing(a, op, form, o);
        }
        if (!core_operand(a, op, form, place, s, word)) return false;
        used++;
    }
    return o->count <= used || assemble_insn_surplus(a, mnemonic, o, used);
}

/* Operands of extensions are assembled byte by byte. */

static bool byte_operand(struct assembly *a, struct span s, uint32_t *out)
{
    uint8_t reg;
    if (span_register(s, &reg)) {
        *out = reg;
        return true;
    }
    return assemble_insn_number(a, s, 8, out);
}

/* Tells whether operands are checked against the table. Those of standard extensions and
 * manifests are; those of extensions that C programs add are not. */
static bool assemble_insn_listed(const struct tvmr_op *op)
{
    return op->ext < TVMR_ID_USER || op->domain;
}

/* Returns how many operands an instruction takes: up to its last byte that has a meaning. */
static size_t ext_taken(const struct tvmr_op *op)
{
    size_t taken = 4;
    while (op && assemble_insn_listed(op) && taken && op->bytes[taken - 1] == '-') taken--;
    return taken;
}

static const struct tvmr_op *core_twin(const struct tvmr_op *op)
{
    for (size_t i = 0; i < tvmr_standard->count; i++)
        if (!strcmp(tvmr_standard->ops[i].name, op->name)) return &tvmr_standard->ops[i];
    return NULL;
}

/* Warns about a missing operand. The core form of an instruction has no operand for an unused
 * byte, but the form of an extension has one, so people leave it out by mistake. */
static void check_form(struct assembly *a, const struct tvmr_op *op, struct span mnemonic,
                       const struct operands *o, size_t taken)
{
    const struct tvmr_op *twin = op && op->ext < TVMR_ID_USER ? core_twin(op) : NULL;
    const char *unused = twin ? strchr(op->bytes, '-') : NULL;
    if (unused && (size_t)(unused - op->bytes) < taken && o->count < taken)
        asm_warn(a, TVMR_FORM, mnemonic.at,
                 "%.*s fills operand bytes A to %c one by one, unlike %s of the core",
                 QUOTE(mnemonic), (char)('A' + taken - 1), twin->mnemonic);
}

static bool ext_operands(struct assembly *a, const struct tvmr_op *op, struct span mnemonic,
                         const struct operands *o, uint32_t *word)
{
    bool wide = op && op->bytes[2] == 'w' && o->count == 3;
    size_t taken = ext_taken(op);
    check_form(a, op, mnemonic, o, taken);
    for (unsigned i = 0; i < o->count; i++) {
        uint32_t value;
        if (i == taken) return assemble_insn_surplus(a, mnemonic, o, taken);
        if (!o->at[i].size) return asm_fail(a, BASE_SYNTAX, o->at[i].at, "an operand is missing");
        if (i == 2 && wide) {
            if (!assemble_insn_number(a, o->at[i], 16, &value)) return false;
            *word |= value;
            return true;
        }
        if (!byte_operand(a, o->at[i], &value)) return false;
        if (value && op && assemble_insn_listed(op) && op->bytes[i] == '-')
            return asm_fail(a, BASE_SYNTAX, o->at[i].at, "%.*s does not use operand %u: write 0",
                            QUOTE(mnemonic), i + 1);
        put_byte(word, i, value);
    }
    return true;
}

static void tvmr_insn_emit(struct assembly *a, uint32_t ext, uint32_t opcode, uint32_t operands)
{
    uint32_t head = ext << 16 | opcode;
    uint8_t bytes[TVMR_INSN];
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(head >> (24 - 8 * i));
        bytes[4 + i] = (uint8_t)(operands >> (24 - 8 * i));
    }
    writer_bytes(&a->code, bytes, sizeof bytes);
}

static bool assemble_insn_raw(struct assembly *a, struct span mnemonic, const struct operands *o)
{
    static const unsigned bits[] = {16, 16, 8, 8, 8, 8};
    uint32_t v[6];
    if (o->count < 6)
        return asm_fail(a, BASE_SYNTAX, o->end, "raw needs extension, opcode and four operands");
    for (unsigned i = 0; i < 6; i++)
        if (!assemble_insn_number(a, o->at[i], bits[i], &v[i])) return false;
    if (o->count > 6) return assemble_insn_surplus(a, mnemonic, o, 6);
    tvmr_insn_emit(a, v[0], v[1], v[2] << 24 | v[3] << 16 | v[4] << 8 | v[5]);
    return true;
}

static const struct tvmr_op *op_named(const struct tvmr_extension *e, struct span name)
{
    for (size_t i = 0; i < e->count; i++)
        if (span_is(name, e->ops[i].name)) return &e->ops[i];
    return NULL;
}

/* Assembles ext.mnemonic where the extension is not standard but named by .requires, or added by
 * a C program. */
static bool assemble_insn_foreign(struct assembly *a, struct span word, const uint8_t *dot,
                                  const struct operands *o, bool *known)
{
    struct span name = {word.at, (size_t)(dot - word.at)},
                rest = {dot + 1, word.size - name.size - 1};
    const struct tvmr_extension *e = tvmr_extension_named((penta_bytes){name.at, name.size});
    int id = e ? e->id : -1;
    for (size_t i = 0; !e && i < a->required_count; i++) {
        struct span r = a->required[i].name;
        if (r.size != name.size) continue;
        bool same = true;
        for (size_t k = 0; k < r.size; k++) same &= tolower(r.at[k]) == tolower(name.at[k]);
        if (!same) continue;
        id = a->required[i].entry.id;
        e = tvmr_extension_find((uint16_t)id);
    }
    const struct tvmr_op *op = e ? op_named(e, rest) : NULL;
    uint32_t operands = 0;
    if (e && !op && e->id >= TVMR_ID_USER) {
        struct suggest near = {.word = {rest.at, rest.size}};
        for (size_t i = 0; i < e->count; i++) suggest_offer(&near, e->ops[i].name);
        *known = true;
        asm_fail(a, BASE_MNEMONIC, rest.at, "%s has no instruction %.*s", e->name, QUOTE(rest));
        return near.best ? error_note(&a->err, "did you mean '%s'?", near.best) : false;
    }
    if (id < 0 || (e && !op)) return false;
    *known = true;
    if (!e)
        asm_warn(a, TVMR_MNEMONIC_OPEN, word.at,
                 "extension 0x%04x has no list of instructions: opcode 0", (unsigned)id);
    if (!ext_operands(a, op, word, o, &operands)) return false;
    tvmr_insn_emit(a, (uint32_t)id, op ? op->opcode : 0, operands);
    return true;
}

static bool tvmr_insn_unknown(struct assembly *a, struct span word)
{
    struct suggest near = {.word = {word.at, word.size}};
    /* The search for similar words is slow, and a text with many errors does not need all suggestions. */
    for (size_t i = 0; i < MNEMONICS && a->findings->errors < HINTS; i++)
        if (table[i].op) suggest_offer(&near, table[i].text);
    asm_fail(a, BASE_MNEMONIC, word.at, "unknown mnemonic: %.*s", QUOTE(word));
    return near.best ? error_note(&a->err, "did you mean '%s'?", near.best) : false;
}

bool tvmr_asm_instruction(struct assembly *a, struct span line)
{
    struct span rest = line, word = span_word(&rest);
    struct operands o = assemble_insn_split(rest);
    const struct tvmr_op *op = table_find(word);
    if (!op) {
        const uint8_t *dot = memchr(word.at, '.', word.size);
        bool known = false;
        if (span_is(word, "raw")) return assemble_insn_raw(a, word, &o);
        if (dot && assemble_insn_foreign(a, word, dot, &o, &known)) return true;
        return known ? false : tvmr_insn_unknown(a, word);
    }
    uint32_t operands = op->base;
    if (op->ext ? !ext_operands(a, op, word, &o, &operands)
                : !core_operands(a, op, word, &o, &operands))
        return false;
    if (!op->ext && op->opcode == TVMR_OP_LOAD_INPUT && a->input_reg < 0)
        a->input_reg = (int)(operands >> 24);
    if (!op->ext && op->opcode == TVMR_OP_STORE_OUTPUT && a->output_reg < 0)
        a->output_reg = (int)(operands >> 16 & 0xff);
    tvmr_insn_emit(a, op->ext, op->opcode, operands);
    return true;
}

/* Makes the note of the error about an undefined label: where the label is used first, and which
 * label was probably meant. */
static void label_note(const struct assembly *a, const struct fixup *f, char *note, size_t size)
{
    const struct label *l = &a->labels.items[f->label];
    char best[64] = "";
    unsigned distance = UINT_MAX;
    size_t line = 1;
    for (size_t i = 0; i < a->labels.count; i++) {
        const struct label *other = &a->labels.items[i];
        char name[sizeof best];
        if (!other->defined || other->name.size >= sizeof name) continue;
        bytes_copy(name, other->name);
        name[other->name.size] = 0;
        struct suggest near = {.word = l->name};
        suggest_offer(&near, name);
        if (!near.best || near.distance >= distance) continue;
        distance = near.distance;
        memcpy(best, name, sizeof name);
    }
    for (uint64_t i = 0; i < f->offset; i++) line += a->s->text.data[i] == '\n';
    snprintf(note, size, *best ? "used in line %zu; did you mean '%s'?" : "used in line %zu", line,
             best);
}

void asm_resolve(struct assembly *a)
{
    unsigned notes = 20; /* Only the first 20 errors get a note, because each note needs a
                          * search. */
    for (size_t i = 0; i < a->labels.fixup_count; i++) {
        const struct fixup *f = &a->labels.fixups[i];
        const struct label *l = &a->labels.items[f->label];
        int size = (int)(l->name.size > 60 ? 60 : l->name.size);
        if (!l->defined) {
            char note[120];
            if (notes) label_note(a, f, note, sizeof note);
            findings_add(a->findings, BASE_NAME_UNKNOWN, a->last_line, notes ? note : NULL,
                         "undefined label: %.*s", size, (const char *)l->name.data);
            notes -= notes > 0;
            continue;
        }
        if (f->width == 2 && l->value > UINT16_MAX)
            findings_add(a->findings, BASE_RANGE, f->offset, NULL,
                         "label %.*s is too far for a condition", size, (const char *)l->name.data);
        for (uint32_t k = 0; k < f->width && f->place + k < a->code.out.size; k++)
            a->code.out.data[f->place + k] = (uint8_t)(l->value >> 8 * (f->width - 1 - k));
    }
}
