/* Reads the text that text.c writes. Values may have any numbers in the text; they get new
 * numbers in the order in which the text names them. The caller must check the result with
 * ssa_verify. */
#include "ssa/ssa.h"
#include <stdlib.h>
#include <string.h>

struct parser {
    struct ssa_function *f;
    const char *start, *at;
    penta_error *err;
    uint32_t *values; /* per number in the text: the value it stands for */
    size_t value_capacity, value_count;
    uint32_t block;
    bool ok;
};

static void parse_wrong(struct parser *p, const char *what)
{
    if (p->ok) error_at(p->err, BASE_SYNTAX, (uint64_t)(p->at - p->start), "%s", what);
    p->ok = false;
}

static void parse_skip(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t') p->at++;
}

static bool parse_take(struct parser *p, const char *text)
{
    size_t n = strlen(text);
    parse_skip(p);
    if (strncmp(p->at, text, n)) return false;
    p->at += n;
    return true;
}

static int64_t parse_number(struct parser *p)
{
    char *end;
    parse_skip(p);
    long long v = strtoll(p->at, &end, 10);
    if (end == p->at) parse_wrong(p, "a number is missing");
    p->at = end;
    return v;
}

/* Reads the number of a value or a block. Numbers are limited, so that memory is in proportion
 * to the size of the text. */
static uint32_t parse_name(struct parser *p)
{
    int64_t v = parse_number(p);
    if (v < 0 || v > 100000) parse_wrong(p, "a number is too large");
    return p->ok ? (uint32_t)v : 0;
}

static uint32_t parse_value(struct parser *p)
{
    if (!parse_take(p, "v")) parse_wrong(p, "a value is missing");
    uint32_t n = p->ok ? parse_name(p) : 0;
    if (!p->ok) return 0;
    size_t before = p->value_capacity;
    if (!SSA_RESERVE(p->f, p->values, p->value_capacity, n + 1)) return 0;
    if (p->value_capacity > before)
        memset(p->values + before, 0, (p->value_capacity - before) * sizeof *p->values);
    if (!p->values[n]) p->values[n] = ssa_new(p->f, SSA_NONE, SSA_INT);
    return p->values[n];
}

static uint32_t parse_block(struct parser *p)
{
    if (!parse_take(p, "b")) parse_wrong(p, "a block is missing");
    uint32_t n = p->ok ? parse_name(p) : 0;
    while (p->ok && !p->f->failed && p->f->block_count <= n) ssa_block(p->f);
    return n;
}

static void parse_address(struct parser *p, struct ssa_insn *parsed)
{
    bool minus = false, first = true;
    while (p->ok && !parse_take(p, "]")) {
        if (!first) {
            minus = parse_take(p, "-");
            if (!minus && !parse_take(p, "+")) parse_wrong(p, "+ or - is missing");
        }
        parse_skip(p);
        if (*p->at == 'v') {
            uint32_t v = parse_value(p);
            if (parse_take(p, "*")) {
                int64_t scale = parse_number(p);
                if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
                    parse_wrong(p, "a wrong scale");
                parsed->arg[1] = v;
                parsed->scale = (uint8_t)(scale > 0 ? __builtin_ctzll((uint64_t)scale) : 0);
            } else {
                parsed->arg[0] = v;
            }
        } else {
            int64_t v = parse_number(p);
            parsed->imm = minus ? -v : v;
        }
        first = false;
    }
}

static void parse_list(struct parser *p, struct ssa_insn *parsed)
{
    uint32_t *items = NULL;
    size_t capacity = 0, n = 0;
    while (p->ok && !p->f->failed && !parse_take(p, ")")) {
        if (n && !parse_take(p, ",")) parse_wrong(p, ", is missing");
        if (!ARRAY_RESERVE(items, capacity, n + 1))
            p->f->failed = true;
        else
            items[n++] = parsed->op == SSA_SWITCH ? parse_block(p) : parse_value(p);
    }
    if (p->ok && !p->f->failed) parsed->list = ssa_list(p->f, items, (uint32_t)n);
    parsed->count = (uint32_t)n;
    free(items);
}

static void exit_of(struct parser *p, struct ssa_insn *parsed)
{
    uint32_t kind = (uint32_t)parse_number(p), position = (uint32_t)parse_number(p);
    struct ssa_state *states = NULL;
    size_t capacity = 0, n = 0;
    if (!parse_take(p, "{")) parse_wrong(p, "{ is missing");
    while (p->ok && !p->f->failed && !parse_take(p, "}")) {
        if (n && !parse_take(p, ",")) parse_wrong(p, ", is missing");
        uint32_t key = (uint32_t)parse_number(p);
        if (!parse_take(p, ":")) parse_wrong(p, ": is missing");
        if (!ARRAY_RESERVE(states, capacity, n + 1))
            p->f->failed = true;
        else
            states[n++] = (struct ssa_state){key, parse_value(p)};
    }
    parsed->exit = ssa_exit(p->f, kind, position);
    for (size_t i = 0; i < n; i++) ssa_keep(p->f, states[i].key, states[i].value);
    free(states);
}

static bool parse_word(struct parser *p, const char *text)
{
    size_t n = strlen(text);
    bool ends = !strncmp(p->at, text, n) && strchr(". \t\n", p->at[n]);
    if (ends) p->at += n;
    return ends;
}

static void parse_suffixes(struct parser *p, struct ssa_insn *parsed)
{
    while (p->ok && *p->at == '.') {
        p->at++;
        bool found = false;
        if (ssa_has(parsed->op, 'k'))
            for (uint8_t i = 0; !found && i < SSA_CONDS; i++)
                if ((found = parse_word(p, ssa_cond_names[i]))) parsed->cond = i;
        if (!found && (ssa_has(parsed->op, 'a') || parsed->op == SSA_FOREIGN))
            for (uint8_t i = 0; !found && i < SSA_MEMS; i++)
                if ((found = parse_word(p, ssa_mem_names[i]))) parsed->mem = i;
        for (uint8_t i = SSA_F32; !found && i < SSA_TYPES; i++)
            if ((found = parse_word(p, ssa_type_names[i]))) parsed->type = i;
        if (parsed->op == SSA_LANE1 || parsed->op == SSA_LANE2)
            for (uint8_t i = 1; !found && i < X64_VECTORS; i++)
                if ((found = parse_word(p, x64_vectors[i].text))) parsed->imm = i;
        if (!found &&
            (found = parse_word(p, "write") || parse_word(p, "more") || parse_word(p, "far")))
            parsed->cond = 1;
        if (!found && (found = parse_word(p, "w"))) parsed->narrow = true;
        if (!found) parse_wrong(p, "an unknown suffix");
    }
    if (parsed->op == SSA_LOAD) parsed->type = (uint8_t)ssa_loaded((enum ssa_mem)parsed->mem);
}

static void parse_operands(struct parser *p, struct ssa_insn *parsed, uint32_t *to)
{
    unsigned arg = ssa_has(parsed->op, 'a') ? 2 : 0, targets = 0;
    for (parse_skip(p); p->ok && *p->at && *p->at != '\n'; parse_skip(p)) {
        if (parse_take(p, "[")) {
            parse_address(p, parsed);
        } else if (parse_take(p, "(")) {
            parse_list(p, parsed);
        } else if (parse_take(p, "#")) {
            if (parsed->op == SSA_WINDOW)
                parsed->list = (uint32_t)parse_number(p);
            else if (parsed->op == SSA_LANE1 || parsed->op == SSA_LANE2)
                parsed->imm |= (int64_t)(parse_name(p) & 255) << 8;
            else
                parsed->imm = parse_number(p);
        } else if (parse_take(p, "->")) {
            do {
                if (targets < 2)
                    to[targets++] = parse_block(p);
                else
                    parse_wrong(p, "too many targets");
            } while (p->ok && parse_take(p, ","));
        } else if (parse_take(p, "exit")) {
            exit_of(p, parsed);
        } else if (*p->at == 'v') {
            if (arg >= ssa_ops[parsed->op].args)
                parse_wrong(p, "too many operands");
            else
                parsed->arg[arg++] = parse_value(p);
        } else if (!parse_take(p, ",")) {
            parse_wrong(p, "not an operand");
        }
    }
}

static void parse_insn(struct parser *p)
{
    struct ssa_insn parsed = {.type = SSA_VOID};
    uint32_t result = 0, to[2] = {0}, op = 0;
    parse_skip(p);
    if (*p->at == 'v') {
        result = parse_value(p);
        parsed.type = SSA_INT;
        if (!parse_take(p, "=")) parse_wrong(p, "= is missing");
        parse_skip(p);
    }
    while (op < SSA_OPS && !parse_word(p, ssa_ops[op].text)) op++;
    if (op == SSA_OPS) parse_wrong(p, "an unknown operation");
    if (!p->ok) return;
    parsed.op = (uint8_t)op;
    parse_suffixes(p, &parsed);
    parse_operands(p, &parsed, to);
    if (!result) result = ssa_new(p->f, SSA_NONE, SSA_VOID);
    if (!p->ok || p->f->failed) return;
    if (p->f->insns[result].op != SSA_NONE) {
        parse_wrong(p, "a value is defined twice");
        return;
    }
    if (op == SSA_RESULT) { /* A result belongs to the call before it. */
        uint32_t call = p->f->blocks[p->block].last;
        while (call && p->f->insns[call].op == SSA_RESULT) call = p->f->insns[call].prev;
        parsed.arg[0] = call;
    }
    p->f->insns[result] = parsed;
    ssa_append(p->f, p->block, result);
    if (ssa_has((enum ssa_op)op, 't')) memcpy(p->f->blocks[p->block].to, to, sizeof to);
}

bool ssa_parse(struct ssa_function *f, const char *text, penta_error *err)
{
    struct parser p = {.f = f, .start = text, .at = text, .err = err, .ok = true};
    bool any = false;
    while (p.ok && !f->failed && *p.at) {
        parse_skip(&p);
        if (*p.at == 'b' && p.at[1] >= '0' && p.at[1] <= '9') {
            any = true;
            p.block = parse_block(&p);
            if (!parse_take(&p, ":")) parse_wrong(&p, ": is missing");
            for (parse_skip(&p); p.ok && *p.at == 'b'; parse_skip(&p)) {
                uint32_t from = parse_block(&p);
                if (p.ok) ssa_edge(f, from, p.block);
                parse_take(&p, ",");
            }
        } else if (*p.at && *p.at != '\n') {
            if (any)
                parse_insn(&p);
            else
                parse_wrong(&p, "an instruction before the first block");
        }
        if (p.ok && *p.at == '\n')
            p.at++;
        else if (p.ok && *p.at)
            parse_wrong(&p, "the end of the line is missing");
    }
    free(p.values);
    if (f->failed) error_at(err, BASE_MEMORY, 0, "no memory for a function");
    return p.ok && !f->failed;
}
