/* Prints and reads single instructions by the texts of forms.def (forms.h). To read a line, its
 * tokens make a key, and a binary search finds the form with that key. */
#include <stdlib.h>
#include "pvm/text/forms.h"
#include "base/array.h"
#include "base/suggest.h"
#include "base/thread/lock.h"

/* clang-format off */
enum when {
    WHEN_ALWAYS,
    WHEN_ZERO, WHEN_ZERO2,   /* ZERO: the first immediate is 0; ZERO2: the second one is 0 */
    WHEN_NEGATIVE,           /* The first immediate is in -4095 .. -1. */
    WHEN_RETURN,             /* A is ra and the immediate is 0. */
    /* A and B are the same register; SAME_ZERO2: and the second immediate is 0 */
    WHEN_SAME, WHEN_SAME_ZERO2,
    WHEN_FITS,               /* A 64-bit immediate fits in 32 bits; not in PolkaVM's style. */
    WHEN_INPUT,              /* The form is read and never printed. */
    WHEN_OUTPUT,             /* The form is printed and never read. */
    /* The form is a quirk of PolkaVM's disassembler; it is printed and never read. */
    WHEN_QUIRK_ZERO, WHEN_QUIRK_32,
};
/* clang-format on */

static const struct form {
    uint8_t op, when;
    const char *text;
} forms[] = {
#define FORM(op, when, text) {PVM_OP_##op, WHEN_##when, text},
#include "pvm/forms.def"
};
enum { FORMS = sizeof forms / sizeof *forms };

/* Every instruction must have a row. Each row declares a name for its instruction, and a missing
 * name is a compiler error below. */
#define FORM(op, when, text) extern const char form_of_##op[1];
#include "pvm/forms.def"
#define OP(name, ...) _Static_assert(sizeof form_of_##name, #name " has a row in forms.def");
#include "pvm/isa.def"

/* The table has the index of the last row of each op. The rows of an op stand together, so its
 * other rows are before that one. */
#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b
enum {
#define FORM(op, when, text) JOIN(ROW_, __LINE__),
#include "pvm/forms.def"
};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const uint16_t last_form[PVM_OPS] = {
#define FORM(op, when, text) [PVM_OP_##op] = JOIN(ROW_, __LINE__),
#include "pvm/forms.def"
};
#pragma GCC diagnostic pop

static bool forms_holds(enum when when, const struct pvm_insn *in, unsigned bits, bool upstream)
{
    int64_t first = (int64_t)in->imm1;
    switch (when) {
    case WHEN_ALWAYS:
    case WHEN_OUTPUT: return true;
    case WHEN_ZERO: return !first;
    case WHEN_ZERO2: return !in->imm2;
    case WHEN_NEGATIVE: return first < 0 && first > -4096;
    case WHEN_RETURN: return !first && !in->a;
    case WHEN_SAME: return in->a == in->b;
    case WHEN_SAME_ZERO2: return in->a == in->b && !in->imm2;
    case WHEN_FITS: return !upstream && first == (int32_t)first;
    case WHEN_INPUT: return false;
    case WHEN_QUIRK_ZERO: return upstream && !first;
    case WHEN_QUIRK_32: return upstream && bits == 32;
    }
    return false;
}

static void print_signed(struct writer *out, int64_t value)
{
    if (value < 0) writer_char(out, '-');
    writer_dec(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void print_hex(struct writer *out, uint64_t value, unsigned bits)
{
    if (bits == 32) value = (uint32_t)value;
    if (value)
        writer_0x(out, value);
    else
        writer_char(out, '0');
}

/* Prints what a letter of forms.def stands for, or the letter itself. */
static void print_letter(struct writer *out, char letter, const struct pvm_insn *in, unsigned bits,
                         const struct pvm_style *style)
{
    switch (letter) {
    case 'A': writer_text(out, pvm_register_names[in->a]); break;
    case 'B': writer_text(out, pvm_register_names[in->b]); break;
    case 'D': writer_text(out, pvm_register_names[in->d]); break;
    case 'G':
    case 'X': print_hex(out, in->imm1, bits); break;
    case 'V':
    case 'Y': print_hex(out, in->imm2, bits); break;
    case 'H': writer_0x(out, in->imm1); break;
    case 'P': print_signed(out, (int64_t)in->imm1); break;
    case 'M': print_signed(out, -(int64_t)in->imm1); break;
    case 'U': writer_dec(out, (uint32_t)in->imm1); break;
    case 'W':
        if (bits == 64) writer_text(out, "i32 ");
        break;
    case 'T':
        if (style->target)
            style->target(style->user, out, in->target);
        else
            writer_dec(out, in->target);
        break;
    default: writer_char(out, letter);
    }
}

void pvm_form_print(struct writer *out, const struct pvm_insn *in, enum pvm_isa isa,
                    const struct pvm_style *style)
{
    unsigned bits = pvm_isas[isa].bits, row = last_form[in->op];
    while (row && forms[row - 1].op == in->op) row--;
    while (!forms_holds(forms[row].when, in, bits, style->upstream)) row++;
    for (const char *text = forms[row].text; *text; text++)
        print_letter(out, *text, in, bits, style);
}

/* An entry has the order of operands after a mnemonic: the destination register, the other
 * registers, the immediates. */
/* clang-format off */
static const char *const mnemonic_slots[PVM_SHAPES] = {
    [PVM_NONE] = "",          [PVM_IMM] = "U",           [PVM_OFFSET] = "T",
    [PVM_IMM_IMM] = "GV",     [PVM_REG_IMM] = "AG",      [PVM_REG_IMM_IMM] = "AXV",
    [PVM_REG_IMM_OFFSET] = "AXT", [PVM_REG_IMM64] = "AH", [PVM_REG_REG] = "DA",
    [PVM_REG_REG_IMM] = "ABX", [PVM_REG_REG_OFFSET] = "ABT", [PVM_REG_REG_IMM_IMM] = "ABXY",
    [PVM_REG_REG_REG] = "DAB",
};
/* clang-format on */

void pvm_mnemonic_print(struct writer *out, const struct pvm_insn *in, enum pvm_isa isa)
{
    const struct pvm_style plain = {.upstream = false};
    writer_text(out, pvm_ops[in->op].name);
    for (const char *slot = mnemonic_slots[pvm_ops[in->op].shape]; *slot; slot++) {
        writer_text(out, slot == mnemonic_slots[pvm_ops[in->op].shape] ? " " : ", ");
        print_letter(out, *slot, in, pvm_isas[isa].bits, &plain);
    }
}

/* A key is the tokens of the line with a space after each. These two characters stand for
 * operands. */
enum { KEY_REGISTER = 1, KEY_NUMBER = 2 };

struct row {
    char key[48];
    uint8_t form;
    bool bare; /* The form has a W and is for 32-bit ISAs, so its key has no "i32 ". */
    /* A slot says what an operand is: a letter of forms.def, '0' for a zero, or 'a' + n for
     * register n. */
    char slots[8];
};

/* The rows are all forms that can be read, sorted by key. They are made before the first line is
 * matched. */
static struct row rows[2 * FORMS];
static size_t row_count;

static void key_put(char *key, size_t size, const void *text, size_t length)
{
    size_t at = strlen(key);
    if (at + 2 > size) return;
    /* A longer token is cut; it is too long for any form, so it will not match. */
    if (length + 2 > size - at) length = size - at - 2;
    memcpy(key + at, text, length);
    key[at + length] = ' ';
    key[at + length + 1] = 0;
}

static bool letter_is_slot(char c) { return c && strchr("ABDXYPGVMHUT", c); }

/* Makes the key of a form. The text is split into tokens as the lexer does it: words and single
 * characters. */
static void forms_compile(struct row *row, const struct form *form, bool bare)
{
    static const char number = KEY_NUMBER, reg = KEY_REGISTER;
    unsigned slots = 0;
    const char *p = form->text;
    *row = (struct row){.form = (uint8_t)(form - forms), .bare = bare};
    for (; *p; p++) {
        size_t n = 1;
        uint8_t fixed = 0;
        if (*p == ' ') continue;
        if (*p == 'W') {
            if (!bare) key_put(row->key, sizeof row->key, "i32", 3);
        } else if (letter_is_slot(*p)) {
            row->slots[slots++] = *p;
            key_put(row->key, sizeof row->key, strchr("ABD", *p) ? &reg : &number, 1);
        } else if (*p == '0') {
            row->slots[slots++] = '0';
            key_put(row->key, sizeof row->key, &number, 1);
        } else if (*p >= 'a' && *p <= 'z') {
            while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= '0' && p[n] <= '9') || p[n] == '.') n++;
            if (pvm_register_parse((penta_bytes){(const uint8_t *)p, n}, &fixed)) {
                row->slots[slots++] = (char)('a' + fixed);
                key_put(row->key, sizeof row->key, &reg, 1);
            } else {
                key_put(row->key, sizeof row->key, p, n);
            }
            p += n - 1;
        } else {
            key_put(row->key, sizeof row->key, p, 1);
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = strcmp(x->key, y->key);
    return order ? order : x->bare != y->bare ? x->bare - y->bare : x->form - y->form;
}

static void make_rows(void)
{
    for (size_t i = 0; i < FORMS; i++) {
        if (forms[i].when >= WHEN_OUTPUT) continue;
        forms_compile(&rows[row_count++], &forms[i], false);
        if (forms[i].text[0] == 'W') forms_compile(&rows[row_count++], &forms[i], true);
    }
    qsort(rows, row_count, sizeof *rows, compare_rows);
}

static bool add_operand(struct source *s, struct pvm_line *line, struct token t,
                        struct pvm_operand operand)
{
    if (line->count == sizeof line->operands / sizeof *line->operands)
        return error_at(s->err, BASE_SYNTAX, t.offset, "too many operands");
    operand.offset = t.offset;
    line->operands[line->count++] = operand;
    char key = operand.kind == PVM_OPERAND_REGISTER ? KEY_REGISTER : KEY_NUMBER;
    key_put(line->key, sizeof line->key, &key, 1);
    return true;
}

/* Tells whether a minus is the sign of a number. In a subtraction an operand comes before it. */
static bool token_is_sign(const struct pvm_line *line, struct token t, struct token next)
{
    size_t n = strlen(line->key);
    char before = n > 1 ? line->key[n - 2] : 0;
    return t.kind == TOKEN_PUNCT && t.as.punct == '-' && next.kind == TOKEN_INT &&
           before != KEY_REGISTER && before != KEY_NUMBER && before != ')' && before != ']';
}

static bool add_token(struct source *s, struct pvm_line *line, struct token t)
{
    penta_bytes text = token_text(s, t);
    uint8_t reg;
    if (token_is_sign(line, t, source_peek(s))) {
        t = source_next(s);
        return add_operand(s, line, t,
                           (struct pvm_operand){.kind = PVM_OPERAND_NUMBER, .value = 0 - t.as.u});
    }
    if (t.kind == TOKEN_INT)
        return add_operand(s, line, t,
                           (struct pvm_operand){.kind = PVM_OPERAND_NUMBER, .value = t.as.u});
    if (t.kind == TOKEN_NAME && text.data[0] == '@')
        return add_operand(s, line, t,
                           (struct pvm_operand){.kind = PVM_OPERAND_LABEL, .label = text});
    if (t.kind == TOKEN_NAME && pvm_register_parse(text, &reg))
        return add_operand(s, line, t,
                           (struct pvm_operand){.kind = PVM_OPERAND_REGISTER, .value = reg});
    if (t.kind != TOKEN_NAME && t.kind != TOKEN_PUNCT)
        return source_unexpected(s, t, "an instruction");
    key_put(line->key, sizeof line->key, text.data, text.size);
    return true;
}

bool pvm_line_read(struct source *s, struct pvm_line *line)
{
    *line = (struct pvm_line){.offset = source_peek(s).offset};
    for (;;) {
        struct source here = *s;
        struct token t = source_next(s);
        if (s->err->code) return false;
        line->end = t.offset;
        if (t.kind == TOKEN_LINE || t.kind == TOKEN_END ||
            (t.kind == TOKEN_PUNCT && t.as.punct == '%' && token_is(s, source_peek(s), "size"))) {
            s->pos = here.pos;
            return true;
        }
        if (!add_token(s, line, t)) return false;
    }
}

static bool fits_signed(uint64_t v) { return (int64_t)v == (int32_t)(uint32_t)v; }
static uint64_t forms_extend(uint64_t v) { return (uint64_t)(int64_t)(int32_t)(uint32_t)v; }

/* Puts an operand into its field of the instruction. Returns false when it does not fit. */
static bool forms_assign(struct pvm_match *m, char slot, const struct pvm_operand *o, unsigned bits)
{
    uint64_t v = o->value;
    bool narrow = bits == 32 && v <= UINT32_MAX;
    if (o->kind == PVM_OPERAND_LABEL && (slot == 'X' || slot == 'P')) {
        m->address = o;
        return true;
    }
    if (o->kind == PVM_OPERAND_LABEL && slot != 'T') return false;
    switch (slot) {
    case 'A': m->in.a = (uint8_t)v; return true;
    case 'B': m->in.b = (uint8_t)v; return true;
    case 'D': m->in.d = (uint8_t)v; return true;
    case 'T': m->target = o; return o->kind == PVM_OPERAND_LABEL || v <= UINT32_MAX;
    case 'X':
    case 'P': m->in.imm1 = forms_extend(v); return fits_signed(v) || narrow;
    case 'Y': m->in.imm2 = forms_extend(v); return fits_signed(v) || narrow;
    case 'G':
    case 'U': m->in.imm1 = forms_extend(v); return fits_signed(v) || v <= UINT32_MAX;
    case 'V': m->in.imm2 = forms_extend(v); return fits_signed(v) || v <= UINT32_MAX;
    case 'M': m->in.imm1 = forms_extend(0 - v); return fits_signed(0 - v);
    case 'H': m->in.imm1 = v; return true;
    case '0': return !v;
    default: return v == (uint64_t)(slot - 'a');
    }
}

static bool forms_fill(const struct row *row, const struct pvm_line *line, unsigned bits,
                       struct pvm_match *m, const struct pvm_operand **misfit)
{
    *m = (struct pvm_match){.in.op = forms[row->form].op};
    for (unsigned i = 0; i < line->count; i++) {
        *misfit = &line->operands[i];
        if (!forms_assign(m, row->slots[i], *misfit, bits)) return false;
    }
    /* The form "tmp = B, A = .., jump [tmp]" is only for the case that A and B are the same
     * register. */
    enum when when = forms[row->form].when;
    return (when != WHEN_SAME && when != WHEN_SAME_ZERO2) || m->in.a == m->in.b;
}

bool pvm_line_match(const struct pvm_line *line, enum pvm_isa isa, struct pvm_match *out,
                    penta_error *err)
{
    static struct once once;
    once_do(&once, make_rows);
    size_t low;
    ARRAY_SEARCH(low, 0, row_count, strcmp(rows[low].key, line->key) >= 0);
    const struct pvm_operand *misfit = NULL;
    bool known = false, here = false;
    for (; low < row_count && !strcmp(rows[low].key, line->key); low++) {
        const struct row *row = &rows[low];
        known = true;
        if (pvm_ops[forms[row->form].op].number[isa] < 0 || (row->bare && pvm_isas[isa].bits != 32))
            continue;
        here = true;
        if (forms_fill(row, line, pvm_isas[isa].bits, out, &misfit)) return true;
    }
    if (here)
        return error_at(err, BASE_NUMBER, misfit ? misfit->offset : line->offset,
                        "the operand does not fit this instruction");
    if (known)
        return error_at(err, BASE_MNEMONIC, line->offset, "%s has no such instruction",
                        pvm_isas[isa].name);
    return error_at(err, BASE_MNEMONIC, line->offset, "no instruction looks like this");
}

static enum pvm_op find_mnemonic(penta_bytes word, enum pvm_isa isa, bool *byte_only)
{
    *byte_only = word.size == 11 && !memcmp(word.data, "load_imm_u8", 11);
    if (*byte_only) return PVM_OP_load_imm;
    for (unsigned op = 1; op < PVM_OPS; op++) {
        const char *name = pvm_ops[op].name, *gp = pvm_ops[op].gp_name;
        if (pvm_ops[op].number[isa] < 0) continue;
        if ((strlen(name) == word.size && !memcmp(name, word.data, word.size)) ||
            (strlen(gp) == word.size && !memcmp(gp, word.data, word.size)))
            return (enum pvm_op)op;
    }
    return PVM_OP_invalid;
}

/* Reads one operand after an optional "word=", such as "imm=". A register may be a plain number. */
static bool take_operand(struct source *s, struct pvm_line *line, bool reg)
{
    struct source ahead = *s;
    struct token word = source_next(&ahead), equals = source_next(&ahead);
    if (word.kind == TOKEN_NAME && equals.kind == TOKEN_PUNCT && equals.as.punct == '=')
        s->pos = ahead.pos;
    unsigned before = line->count;
    struct token t = source_next(s);
    if (s->err->code || !add_token(s, line, t)) return false;
    struct pvm_operand *o = &line->operands[before];
    bool taken = line->count == before + 1;
    if (taken && reg && o->kind == PVM_OPERAND_NUMBER && o->value < PVM_REGISTERS)
        o->kind = PVM_OPERAND_REGISTER;
    if (taken && (o->kind == PVM_OPERAND_REGISTER) == reg) return true;
    return source_unexpected(s, t, reg ? "a register" : "a number");
}

bool pvm_line_mnemonic(struct source *s, enum pvm_isa isa, struct pvm_line *line,
                       struct pvm_match *out)
{
    struct source start = *s;
    struct token t = source_next(s);
    bool byte_only = false;
    enum pvm_op op = PVM_OP_invalid;
    if (t.kind == TOKEN_NAME) op = find_mnemonic(token_text(s, t), isa, &byte_only);
    if (op == PVM_OP_invalid) {
        s->pos = start.pos;
        return false;
    }
    *line = (struct pvm_line){.offset = t.offset};
    *out = (struct pvm_match){.in.op = (uint8_t)op};
    const char *slots = mnemonic_slots[pvm_ops[op].shape];
    for (unsigned i = 0; slots[i]; i++) {
        if (i && !source_expect(s, ',')) return false;
        key_put(line->key, sizeof line->key, ",", 1);
        if (!take_operand(s, line, strchr("ABD", slots[i]) != NULL)) return false;
        struct pvm_operand *o = &line->operands[i];
        if (!forms_assign(out, slots[i], o, pvm_isas[isa].bits) ||
            (byte_only && i && o->value > 255))
            return error_at(s->err, BASE_NUMBER, o->offset, "the operand does not fit %s",
                            pvm_ops[op].name);
    }
    return true;
}
