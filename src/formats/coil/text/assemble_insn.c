/* Assembles the instructions of the text form (COIL 10.2). The type of a number without a type
 * is chosen when the whole line has been read: it depends on the position of the operand, or
 * else on the first operand that has a type. */
#include "base/thread/lock.h"
#include "base/array.h"
#include "base/number.h"
#include "base/suggest.h"
#include "coil/text/assemble.h"
#include <stdlib.h>

/* Returns the type that follows from the position of an operand alone, or -1 if the position
 * does not decide it. */
static int fixed_type(uint8_t opcode, unsigned i, unsigned count)
{
    const char *forms = coil_ops[opcode].forms;
    switch (opcode) {
    case COIL_OP_GETE: return i == 2 ? COIL_T_INT32 : -1;
    case COIL_OP_SETE: return i == 1 ? COIL_T_INT32 : -1;
    case COIL_OP_EXTRACT:
    case COIL_OP_INSERT: return i >= 2 ? COIL_T_INT32 : -1;
    case COIL_OP_ROW:
    case COIL_OP_COL:
    case COIL_OP_DIAG: return i >= 1 ? COIL_T_INT32 : -1;
    case COIL_OP_INPORT: return i == 1 ? COIL_T_UNT16 : -1;
    case COIL_OP_OUTPORT: return i == 0 ? COIL_T_UNT16 : -1;
    case COIL_OP_MEMGET:
    case COIL_OP_MEMADDR: return i == 2 ? COIL_T_UNT16 : -1;
    case COIL_OP_MEMPUT: return i == 1 ? COIL_T_UNT16 : -1;
    case COIL_OP_MEMSET: return i == 1 ? COIL_T_UNT8 : COIL_T_UNT64;
    case COIL_OP_MEMCPY:
    case COIL_OP_MEMZERO:
    case COIL_OP_FREE: return COIL_T_UNT64;
    case COIL_OP_ALLOC:
    case COIL_OP_LOADALIGN: return i >= 1 ? COIL_T_UNT64 : -1;
    case COIL_OP_STOREALIGN: return i != 1 ? COIL_T_UNT64 : -1;
    case COIL_OP_TRAP: return COIL_T_INT32;
    default: break;
    }
    if (!forms) return -1;
    if (*forms == 'U') return i == 0 ? COIL_T_UNT64 : -1;
    return strchr(forms, 'S') && i + 1 == count ? COIL_T_INT32 : -1;
}

/* Returns the scalar type or lane type that an operand has, or -1 if it has none. */
static int operand_type(const struct coil_asm *a, const struct asm_parsed *p)
{
    const struct coil_type *t = p->typed ? p->o->type : NULL;
    if (t && coil_types[t->op].family == COIL_F_VECTOR && !t->elem) t = p->lanes;
    t = t ? coil_type_resolve(&a->ids, t) : NULL;
    uint8_t family = t ? coil_types[t->op].family : COIL_F_NONE;
    if (family == COIL_F_VECTOR || family == COIL_F_MATRIX || family == COIL_F_TENSOR) t = t->elem;
    return t && coil_is_scalar(t->op) ? t->op : -1;
}

/* Returns the type of an operand if that is CINT or CUNT, or NULL. */
static const struct coil_type *operand_wide_type(const struct coil_asm *a,
                                                 const struct asm_parsed *p)
{
    const struct coil_type *t = p->typed ? coil_type_resolve(&a->ids, p->o->type) : NULL;
    return coil_is_wide(t) ? t : NULL;
}

static bool assemble_insn_settle(struct coil_asm *a, struct asm_parsed *parsed, unsigned count,
                                 uint8_t opcode)
{
    int first = -1;
    const struct coil_type *wide = NULL;
    for (unsigned i = 0; i < count && first < 0 && !wide; i++) {
        first = operand_type(a, &parsed[i]);
        wide = operand_wide_type(a, &parsed[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        struct coil_operand *o = parsed[i].o;
        if (o->form != ASM_PENDING) continue;
        int type = fixed_type(opcode, i, count);
        if (type < 0 && wide && !parsed[i].literal.real) {
            asm_plain(o, wide->op, COIL_IMMEDIATE, COIL_IMM, 0);
            o->type = wide;
            if (!asm_wide_literal(a, &parsed[i].literal, wide, o)) return false;
            continue;
        }
        if (type < 0) type = first < 0 ? COIL_T_INT64 : first;
        asm_plain(o, (uint8_t)type, COIL_IMMEDIATE, COIL_IMM, 0);
        o->type = coil_scalar((uint8_t)type);
        if (!asm_literal_bits(a, &parsed[i].literal, (uint8_t)type, &o->value)) return false;
    }
    return true;
}

/* Reads the variable that VAR declares and gives it an id, a new one for every name. */
static bool declared_id(struct coil_asm *a, struct asm_variable *v, struct coil_operand *o)
{
    struct source *s = a->s;
    struct token t = source_next(s);
    *v = (struct asm_variable){.depth = a->depth};
    asm_plain(o, COIL_T_VARID, 0, COIL_VARID, t.as.u);
    if (t.kind == TOKEN_INT) {
        v->id = t.as.u;
        return true;
    }
    if (t.kind != TOKEN_NAME) return source_unexpected(s, t, "the name of a variable");
    penta_bytes name = token_text(s, t);
    const struct asm_variable *known = asm_find_variable(a, name, 0, false);
    if (known && known->depth == a->depth)
        return error_at(s->err, COIL_VAR_DUP, t.offset, "%%%.*s is declared already in this scope",
                        BYTES_ARG(name, 60));
    const uint8_t *copy = arena_copy(&a->arena, name, s->err);
    if (!copy) return false;
    v->name = (penta_bytes){copy, name.size};
    o->value = v->id = ++a->next_id;
    return true;
}

/* Records the scopes and variables that the instruction opens, closes or declares. */
static void assemble_insn_track(struct coil_asm *a)
{
    penta_error ignored = {0};
    const struct coil_operand *o = a->insn->operands;
    switch (a->insn->opcode) {
    case COIL_OP_SCOPE: a->depth++; break;
    case COIL_OP_SCOPL:
        if (a->depth) a->depth--;
        asm_pop_variables(a, a->depth);
        break;
    case COIL_OP_TYPE:
    case COIL_OP_TYPEAL:
        if (a->insn->count == 2 && o[1].type)
            coil_type_bind(&a->ids, o[0].value, o[1].type, &ignored);
        break;
    default: break;
    }
}

static bool assemble_insn_emit(struct coil_asm *a)
{
    struct coil_insn *insn = a->insn;
    struct coil_out_section *section = asm_section(a);
    penta_error *err = a->s->err;
    if (section->head.type == COIL_S_BSS)
        return error_at(err, COIL_DIRECTIVE, a->s->pos,
                        "an instruction in a section without bytes");
    uint64_t at = section->data.out.size;
    for (unsigned i = 0; i < insn->count; i++) {
        /* Up to this place the operand of a string literal holds the text itself. The size of
         * the operands before it tells where the offset of the text in the string table will be
         * filled in. */
        if (insn->operands[i].form != COIL_STRING || !insn->operands[i].image.data) continue;
        struct writer before = {.big_endian = a->object.big_endian};
        uint8_t count = insn->count;
        insn->count = (uint8_t)i;
        coil_insn_write(&before, insn);
        insn->count = count;
        struct coil_literal literal = {a->section, at + before.out.size + 2, 8,
                                       insn->operands[i].image};
        writer_free(&before);
        if (!coil_object_literal(&a->object, literal, err)) return false;
    }
    coil_insn_write(&section->data, insn);
    return true;
}

struct limits { /* the least and greatest number of operands */
    unsigned least, most;
};

static bool wrong_count(struct coil_asm *a, struct limits l, unsigned n, uint64_t at,
                        const char *name)
{
    char wanted[32];
    coil_count_text(l.least, l.most, wanted, sizeof wanted);
    return error_at(a->s->err, COIL_OPERAND_COUNT, at, "%s takes %s, not %u", name, wanted, n);
}

/* Reads all operands of a line into a->insn. The function fills *declared, the variable of a
 * VAR, as soon as its type is known. */
static bool parse_operands(struct coil_asm *a, bool more, struct limits limits, uint64_t at,
                           const char *name, struct asm_variable *declared)
{
    struct source *s = a->s;
    struct coil_insn *insn = a->insn;
    struct asm_parsed parsed[COIL_OPERANDS_MAX];
    struct asm_variable variable;
    bool declares = false;
    unsigned n = 0;
    for (; more; more = source_accept(s, ',')) {
        if (n == COIL_OPERANDS_MAX)
            return error_at(s->err, COIL_OPERAND_COUNT, s->pos, "more than 255 operands");
        struct coil_operand *o = &insn->operands[n];
        *o = (struct coil_operand){0};
        parsed[n] = (struct asm_parsed){.o = o};
        declares |= insn->opcode == COIL_OP_VAR && !n && source_accept(s, '%');
        if (declares && !n ? !declared_id(a, &variable, o)
                           : !asm_operand(a, &parsed[n], insn->opcode, n))
            return false;
        if (declares && n == 1) {
            *declared = variable;
            declared->type = o->type;
        }
        n++;
    }
    struct token end = source_peek(s);
    if (end.kind != TOKEN_LINE && end.kind != TOKEN_END)
        return source_unexpected(s, end, "a comma or the end of the line");
    if (n < limits.least || n > limits.most) return wrong_count(a, limits, n, at, name);
    if (!assemble_insn_settle(a, parsed, n, insn->opcode)) return false;
    insn->count = (uint8_t)n;
    return true;
}

/* Declares the variable of a VAR even if the rest of its line is wrong, so that one mistake
 * gives one error. */
static bool assemble_insn_operands(struct coil_asm *a, uint8_t opcode, bool more,
                                   struct limits limits, uint64_t at, const char *name)
{
    struct asm_variable declared = {.type = NULL};
    a->insn->opcode = opcode;
    a->insn->parts_count = 0;
    a->insn->count = 0;
    bool ok = parse_operands(a, more, limits, at, name, &declared) && assemble_insn_emit(a);
    if (declared.type && !asm_push_variable(a, declared)) return false;
    if (ok) assemble_insn_track(a);
    return ok;
}

/* Opcodes in the order of their names, sorted when they are first needed. */
static uint8_t by_name[256];
static size_t name_count;

static int compare_names(const void *a, const void *b)
{
    return strcmp(coil_ops[*(const uint8_t *)a].name, coil_ops[*(const uint8_t *)b].name);
}

static void sort_names(void)
{
    for (unsigned op = 0; op < 256; op++)
        if (coil_ops[op].name) by_name[name_count++] = (uint8_t)op;
    qsort(by_name, name_count, sizeof *by_name, compare_names);
}

/* Returns the opcode of a mnemonic, in upper or lower case, or -1. */
static int find_name(penta_bytes text)
{
    static struct once once;
    char name[24];
    size_t i;
    if (text.size >= sizeof name) return -1;
    for (i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        name[i] = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
    }
    name[i] = 0;
    once_do(&once, sort_names);
    ARRAY_SEARCH(i, 0, name_count, strcmp(coil_ops[by_name[i]].name, name) >= 0);
    return i < name_count && !strcmp(coil_ops[by_name[i]].name, name) ? by_name[i] : -1;
}

static bool coil_insn_unknown(struct coil_asm *a, struct token t)
{
    struct suggest near = {.word = token_text(a->s, t)};
    for (unsigned op = 0; op < 256; op++)
        if (coil_ops[op].name) suggest_offer(&near, coil_ops[op].name);
    error_at(a->s->err, BASE_MNEMONIC, t.offset, "unknown instruction '%.*s'",
             BYTES_ARG(near.word, 40));
    if (near.best) error_note(a->s->err, "did you mean %s?", near.best);
    return false;
}

static bool more_on_line(struct coil_asm *a)
{
    struct token t = source_peek(a->s);
    return t.kind != TOKEN_LINE && t.kind != TOKEN_END;
}

static bool assemble_insn_vendor(struct coil_asm *a, struct token t)
{
    uint64_t extended;
    penta_bytes digits = bytes_slice(token_text(a->s, t), 7, t.size);
    if (!number_parse_bytes(digits, &extended) || extended > 255)
        return source_unexpected(a->s, t, "VENDOR.0x00 to VENDOR.0xff");
    a->insn->extended = (uint8_t)extended;
    return assemble_insn_operands(a, COIL_OP_VENDOR, more_on_line(a), (struct limits){0, 255},
                                  t.offset, "VENDOR");
}

bool coil_asm_instruction(struct coil_asm *a, struct token t)
{
    struct token stem = t;
    stem.size = 7;
    if (t.size > 7 && token_is(a->s, stem, "VENDOR.")) return assemble_insn_vendor(a, t);
    int opcode = find_name(token_text(a->s, t));
    if (opcode >= 0) {
        struct limits limits;
        coil_op_counts((uint8_t)opcode, &limits.least, &limits.most);
        return assemble_insn_operands(a, (uint8_t)opcode, more_on_line(a), limits, t.offset,
                                      coil_ops[opcode].name);
    }
    unsigned unit = a->object.header.target_pu ? a->object.header.target_pu : COIL_UNIT_CPU;
    for (const struct coil_unit_op *op = coil_unit_ops; op->name; op++)
        if ((op->unit == unit || op->unit == COIL_UNIT_ABI) && token_is(a->s, t, op->name))
            return assemble_insn_operands(a, op->code, more_on_line(a),
                                          (struct limits){op->least, op->most}, t.offset, op->name);
    return coil_insn_unknown(a, t);
}

bool asm_opcode(struct coil_asm *a)
{
    uint64_t opcode;
    struct token t = source_peek(a->s);
    if (!asm_unsigned(a, 255, &opcode)) return false;
    a->insn->extended = 0;
    return assemble_insn_operands(a, (uint8_t)opcode, source_accept(a->s, ','),
                                  (struct limits){0, 255}, t.offset, ".opcode");
}
