/* Checks the rules of rules.def: the container, then all code, whether it can be reached or not. */
#include <stdlib.h>
#include "pvm/format/debug_info.h"
#include "pvm/format/varint.h"

enum rule_scope pvm_scope(uint32_t code)
{
    return code < (PVM_FORMAT << 16 | 100) ? SCOPE_CONTAINER : SCOPE_RUNTIME;
}

/* ---- container ---- */

static uint64_t up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

static void verify_memory(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    const uint64_t zone = 65536, space = UINT64_C(1) << 32;
    uint64_t need = 5 * zone + up(p->ro_size, zone) + up(p->stack_size, zone) +
                    up(p->rw_size + (uint64_t)p->heap_pages * PVM_PAGE, zone);
    if (p->dialect == PVM_JAM && p->spi) need += 1 << 24;
    if (need > space)
        findings_add(f, PVM_MEMORY_SIZE, m->memory_offset, NULL,
                     "%llu bytes with guard zones, at most 4294967296", (unsigned long long)need);
    if (p->ro_data.size > p->ro_size)
        findings_add(f, PVM_DATA_TOO_LONG, m->ro_offset, NULL,
                     "%zu bytes of read-only data, memory for %u", p->ro_data.size,
                     (unsigned)p->ro_size);
    if (p->rw_data.size > p->rw_size)
        findings_add(f, PVM_DATA_TOO_LONG, m->rw_offset, NULL,
                     "%zu bytes of read-write data, memory for %u", p->rw_data.size,
                     (unsigned)p->rw_size);
}

static void verify_sections(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    if (p->dialect != PVM_POLKAVM) return;
    if (p->length_wrong)
        findings_add(f, PVM_BAD_LENGTH, 5, NULL, "the header says %llu bytes, the file has %zu",
                     (unsigned long long)p->length, m->base.file.size);
    for (size_t i = 0; i < p->section_count; i++) {
        const struct pvm_section *s = &p->sections[i];
        if (!s->payload.size)
            findings_add(f, PVM_EMPTY_SECTION, s->offset, NULL, "section %u is empty", s->id);
        else if (!s->extra && s->id == PVM_SECTION_MEMORY && s->used < s->payload.size)
            findings_add(f, PVM_MEMORY_CONFIG, s->payload_offset + s->used, NULL,
                         "%zu bytes after the three numbers", s->payload.size - s->used);
        else if (s->raw && !s->extra && s->id == PVM_SECTION_EXPORTS &&
                 (p->export_count || s->used < s->payload.size))
            findings_add(f, PVM_EXPORTS_REST, s->payload_offset + s->used, NULL,
                         "only %zu exports can be read", p->export_count);
    }
    if (p->import_count > PVM_IMPORTS_MAX)
        findings_add(f, PVM_TOO_MANY_IMPORTS, m->imports_offset, NULL, "%zu imports, at most %d",
                     p->import_count, PVM_IMPORTS_MAX);
    for (size_t i = 0; i < p->import_count; i++)
        if (p->imports[i].broken)
            findings_add(f, PVM_BROKEN_IMPORT, m->imports_offset, NULL,
                         "import %zu has no range inside the names", i);
    if (!p->has_code)
        findings_add(f, PVM_NO_CODE, m->base.file.size - p->trailing.size - 1, NULL,
                     "the file ends without code");
    if (p->trailing.size)
        findings_add(f, PVM_TRAILING, m->base.file.size - p->trailing.size, NULL,
                     "%zu bytes after the end", p->trailing.size);
}

static void verify_names(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    if (p->dialect != PVM_DOC) return;
    for (size_t i = 0; i < p->import_count; i++)
        if (!pvm_doc_name_ok(p->imports[i].name))
            findings_add(f, PVM_BAD_NAME, m->imports_offset, NULL, "the name of import %zu", i);
    for (size_t i = 0; i < p->export_count; i++)
        if (!pvm_doc_name_ok(p->exports[i].name))
            findings_add(f, PVM_BAD_NAME, (uint64_t)(p->exports[i].name.data - m->base.file.data),
                         NULL, "the name of export %zu", i);
}

static void verify_varints(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    if (p->varint_count)
        findings_add(f, PVM_LONG_VARINT, m->varint_offset, NULL,
                     "%zu number%s longer than needed, this is the first", p->varint_count,
                     p->varint_count == 1 ? " is" : "s are");
}

static void verify_tables(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_code *code = &m->program.code;
    size_t size = code->bytes.size;
    if (size > PVM_CODE_MAX)
        findings_add(f, PVM_TOO_LARGE, m->code_offset, NULL, "%zu bytes of code, at most %d", size,
                     PVM_CODE_MAX);
    if (code->table_count > PVM_JUMP_TABLE_MAX)
        findings_add(f, PVM_TOO_LARGE, m->table_offset, NULL, "%u jump table entries, at most %d",
                     (unsigned)code->table_count, PVM_JUMP_TABLE_MAX);
    if (size % 8 && code->mask.data[size / 8] >> size % 8)
        findings_add(f, PVM_BITMASK_PADDING, m->mask_offset + size / 8, NULL,
                     "the last bitmask byte is 0x%02x, only %zu of its bits are code",
                     code->mask.data[size / 8], size % 8);
    if (code->table_count && !code->table_entry)
        findings_add(f, PVM_TABLE_IGNORED, m->code_offset, NULL, "%u entries of no bytes",
                     (unsigned)code->table_count);
    uint8_t usual = pvm_isas[code->isa].bits / 8;
    if (code->doc && code->table_count && code->table_entry != usual)
        findings_add(f, PVM_TABLE_SIZE, m->table_offset, NULL, "entries of %u bytes, usually %u",
                     code->table_entry, usual);
}

/* ---- program ---- */

enum { LOW_NIBBLE = 1, HIGH_NIBBLE = 2 };

struct plain {
    uint8_t need;          /* operand bytes; 255: never plain */
    uint8_t first, second; /* which nibbles of the first and second one are registers */
};

struct check {
    const struct pvm_module *m;
    const struct pvm_code *code;
    struct findings *f;
    bool load; /* jam_v1: one invalid instruction keeps the program from loading */
    struct plain plain[256];
    uint8_t high[256]; /* which nibbles of a byte are above 12 */
};

static uint64_t at_pc(const struct check *c, uint32_t pc) { return c->m->code_offset + pc; }

/* Reports which rule is broken at a place where no instruction decodes. */
static void verify_invalid(const struct check *c, const struct pvm_insn *in)
{
    uint8_t byte = c->code->bytes.data[in->pc];
    enum pvm_op op = pvm_isas[c->code->isa].op[byte];
    unsigned pc = in->pc;
    if (!pvm_starts(c->code, in->pc)) {
        if (!pc)
            findings_add(c->f, PVM_NO_START, c->m->mask_offset, NULL,
                         "bit 0 of the bitmask is not set");
        else
            findings_add(c->f, PVM_HOLE, at_pc(c, pc), NULL, "nothing starts at pc %u, %u byte%s",
                         pc, in->length, in->length == 1 ? "" : "s");
    } else if (op == PVM_OP_invalid) {
        findings_add(c->f, PVM_BAD_OPCODE, at_pc(c, pc), NULL, "opcode %u at pc %u is not in %s",
                     byte, pc, pvm_isas[c->code->isa].name);
    } else { /* doc: defined, but its operands are not there */
        struct pvm_insn longer;
        uint8_t bytes[32] = {0};
        size_t left = c->code->bytes.size - pc, n = left < sizeof bytes ? left : sizeof bytes;
        memcpy(bytes, c->code->bytes.data + pc, n);
        struct pvm_code padded = {.isa = c->code->isa, .doc = true, .bytes = {bytes, sizeof bytes}};
        pvm_decode(&padded, 0, &longer);
        const char *name = pvm_ops[op].name;
        enum pvm_shape shape = pvm_ops[op].shape;
        if (longer.op != PVM_OP_invalid)
            findings_add(c->f, PVM_OVERRUN, at_pc(c, pc), NULL,
                         "%s at pc %u needs %u bytes, %zu are left", name, pc, longer.length, left);
        else if (left > 1 && shape >= PVM_REG_IMM &&
                 ((bytes[1] & 15) > 12 || bytes[1] >> 4 > 12 ||
                  (shape == PVM_REG_REG_REG && bytes[2] > 12)))
            findings_add(c->f, PVM_BAD_REGISTER, at_pc(c, pc) + 1, NULL,
                         "%s at pc %u names a register above 12", name, pc);
        else
            findings_add(c->f, PVM_BAD_IMMEDIATE, at_pc(c, pc) + 1, NULL,
                         "%s at pc %u has a malformed immediate", name, pc);
    }
}

static void load_invalid(struct check *c, uint32_t pc, const char *why)
{
    if (!c->load) return;
    c->load = false; /* the first one decides */
    findings_add(c->f, PVM_LOAD_INVALID, at_pc(c, pc), NULL,
                 "%s at pc %u: the program does not load", why, (unsigned)pc);
}

/* Bytes that a shape reads even if the instruction is shorter. */
static const uint8_t fixed_bytes[PVM_SHAPES] = {
    [PVM_IMM_IMM] = 1,        [PVM_REG_IMM] = 1,        [PVM_REG_IMM_IMM] = 1,
    [PVM_REG_IMM_OFFSET] = 1, [PVM_REG_IMM64] = 9,      [PVM_REG_REG] = 1,
    [PVM_REG_REG_IMM] = 1,    [PVM_REG_REG_OFFSET] = 1, [PVM_REG_REG_IMM_IMM] = 2,
    [PVM_REG_REG_REG] = 2,
};

/* For speed, a plain instruction is not decoded: it goes on to the next one, is long enough for its
 * operands, and no register is above 12. One row per opcode byte. */
static void fill_plain(struct check *c)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        const struct pvm_op_info *op = &pvm_ops[pvm_isas[c->code->isa].op[byte]];
        enum pvm_shape shape = op->shape;
        bool plain = op->flow == PVM_FLOW_NEXT && shape != PVM_IMM_IMM &&
                     shape != PVM_REG_IMM_IMM && shape != PVM_REG_REG_IMM_IMM;
        c->plain[byte] = (struct plain){.need = plain ? fixed_bytes[shape] : UINT8_MAX,
                                        .first = shape >= PVM_REG_REG   ? LOW_NIBBLE | HIGH_NIBBLE
                                                 : shape >= PVM_REG_IMM ? LOW_NIBBLE
                                                                        : 0,
                                        .second = shape == PVM_REG_REG_REG ? LOW_NIBBLE : 0};
        c->high[byte] =
            (uint8_t)(((byte & 15) > 12 ? LOW_NIBBLE : 0) | (byte >> 4 > 12 ? HIGH_NIBBLE : 0));
    }
}

/* No branch depends on the instruction: mispredicted ones would cost most of the time here. */
static bool is_plain(const struct check *c, uint32_t pc, unsigned skip)
{
    const uint8_t *p = c->code->bytes.data + pc;
    const struct plain *plain = &c->plain[p[0]];
    unsigned odd = (unsigned)(plain->first & c->high[p[1]]) | (plain->second & c->high[p[2]]) |
                   !pvm_bit(c->code->starts, pc) | (skip < plain->need);
    return !odd;
}

/* The same for a jump or branch: its operands are complete, its targets are legal. */
static bool is_plain_jump(const struct check *c, uint32_t pc, unsigned skip)
{
    const struct pvm_code *code = c->code;
    const uint8_t *p = code->bytes.data + pc;
    const struct pvm_op_info *op = &pvm_ops[pvm_isas[code->isa].op[p[0]]];
    if ((op->flow != PVM_FLOW_BRANCH && op->flow != PVM_FLOW_JUMP) || !pvm_bit(code->starts, pc))
        return false;
    unsigned first = op->shape == PVM_REG_IMM_OFFSET ? p[1] >> 4 & 7 : 0;
    if (first > 4) first = 4;
    return skip >= fixed_bytes[op->shape] + first && !(c->plain[p[0]].first & c->high[p[1]]) &&
           pvm_is_target(code, pvm_jump_target(code, pc, skip)) &&
           (op->flow == PVM_FLOW_JUMP || pvm_bit(code->starts, pc + 1 + skip));
}

/* Warns about odd operands, in the dialects whose instruction lengths come from the bitmask. */
static void verify_operands(const struct check *c, const struct pvm_insn *in)
{
    enum pvm_shape shape = pvm_ops[in->op].shape;
    unsigned fixed = fixed_bytes[shape], have = in->length - 1u;
    const uint8_t *p = c->code->bytes.data + in->pc + 1;
    if (shape == PVM_IMM_IMM || shape == PVM_REG_IMM_IMM || shape == PVM_REG_IMM_OFFSET ||
        shape == PVM_REG_REG_IMM_IMM)
        fixed += in->size1;
    if (have < fixed) {
        findings_add(c->f, PVM_SHORT_OPERANDS, at_pc(c, in->pc), NULL,
                     "%s at pc %u has %u operand bytes, reads %u", pvm_ops[in->op].name,
                     (unsigned)in->pc, have, fixed);
        return;
    }
    bool low = shape >= PVM_REG_IMM, high = shape >= PVM_REG_REG;
    if ((low && (p[0] & 15) > 12) || (high && p[0] >> 4 > 12) ||
        (shape == PVM_REG_REG_REG && (p[1] & 15) > 12))
        findings_add(c->f, PVM_HIGH_REGISTER, at_pc(c, in->pc) + 1, NULL,
                     "%s at pc %u has a register nibble above 12", pvm_ops[in->op].name,
                     (unsigned)in->pc);
}

static void verify_jump(const struct check *c, const struct pvm_insn *in)
{
    uint32_t next = in->pc + in->length;
    if (!pvm_is_target(c->code, in->target)) {
        bool bit = c->code->doc && pvm_starts(c->code, in->target);
        findings_add(c->f, bit ? PVM_BIT_MISSING : PVM_JUMP_TARGET, at_pc(c, in->pc), NULL,
                     "%s at pc %u goes to %u, %s", pvm_ops[in->op].name, (unsigned)in->pc,
                     (unsigned)in->target,
                     bit                                 ? "whose bit is not set"
                     : in->target >= c->code->bytes.size ? "outside the code"
                     : !pvm_starts(c->code, in->target)  ? "which is no instruction"
                                                         : "which does not start a block");
    }
    if (pvm_ops[in->op].flow == PVM_FLOW_BRANCH && !pvm_starts(c->code, next))
        findings_add(c->f, PVM_BRANCH_END, at_pc(c, in->pc), NULL,
                     "no instruction follows %s at pc %u", pvm_ops[in->op].name, (unsigned)in->pc);
}

static void verify_insn(struct check *c, const struct pvm_insn *in)
{
    const struct pvm_program *p = &c->m->program;
    enum pvm_flow flow = pvm_ops[in->op].flow;
    if (flow == PVM_FLOW_BRANCH || flow == PVM_FLOW_JUMP) verify_jump(c, in);
    if (flow == PVM_FLOW_HOST && p->dialect != PVM_JAM && (uint32_t)in->imm1 >= p->import_count)
        findings_add(c->f, PVM_NO_IMPORT, at_pc(c, in->pc), NULL,
                     "ecalli %u, there are %zu imports", (unsigned)in->imm1, p->import_count);
    if (!c->code->doc) {
        verify_operands(c, in);
    } else if (pvm_ends_block(in->op)) {
        uint32_t next = in->pc + in->length;
        if (next < c->code->bytes.size && !pvm_bit(c->code->mask.data, next))
            findings_add(c->f, PVM_BIT_MISSING, c->m->mask_offset + next / 8, NULL,
                         "pc %u follows a block end, its bit is not set", (unsigned)next);
    }
}

static void verify_code(struct check *c)
{
    const struct pvm_code *code = c->code;
    struct pvm_insn in = {0};
    uint32_t inside = 0; /* up to here the quick checks may read past an instruction */
    if (!code->doc && code->bytes.size > 32) inside = (uint32_t)code->bytes.size - 32;
    bool falls = true; /* control can come here from the instruction before */
    for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
        if (pc < inside) {
            unsigned skip = pvm_skip(code, pc);
            in.length = (uint8_t)(1 + skip);
            if (is_plain(c, pc, skip) || is_plain_jump(c, pc, skip)) continue;
        }
        pvm_decode(code, pc, &in);
        if (in.op != PVM_OP_invalid) {
            verify_insn(c, &in);
            falls = pvm_falls_through(in.op);
        } else {
            /* PolkaVM stops checking at a hole that nothing falls into; the Gray Paper allows no
             * hole */
            verify_invalid(c, &in);
            load_invalid(c, pc, "an invalid instruction");
            falls = false;
        }
    }
    if (falls && code->bytes.size) {
        load_invalid(c, (uint32_t)code->bytes.size, "control runs off the end");
        if (code->isa != PVM_JAM_V1 && pvm_ops[in.op].flow != PVM_FLOW_BRANCH)
            findings_add(c->f, PVM_FALLS_OFF, at_pc(c, in.pc), NULL,
                         "%s at pc %u is the last instruction", pvm_ops[in.op].name,
                         (unsigned)in.pc);
    } else if (!code->bytes.size && c->m->program.has_code) {
        load_invalid(c, 0, "no instruction");
    }
}

static void verify_entries(const struct check *c)
{
    const struct pvm_code *code = c->code;
    for (uint32_t i = 0; code->table_entry && i < code->table_count; i++) {
        uint64_t pc = 0, at = c->m->table_offset + (uint64_t)i * code->table_entry;
        if (!pvm_table_entry(code, i, &pc)) continue;
        if (pc <= UINT32_MAX && pvm_is_target(code, (uint32_t)pc)) continue;
        bool bit = code->doc && pc <= UINT32_MAX && pvm_starts(code, (uint32_t)pc);
        if (code->doc && code->table_entry < 4 && pc >= code->bytes.size) continue; /* a filler */
        findings_add(c->f, bit ? PVM_BIT_MISSING : PVM_TABLE_ENTRY, at, NULL,
                     "jump table entry %u is %llu, %s", (unsigned)i, (unsigned long long)pc,
                     bit ? "whose bit is not set" : "not a place to jump to");
    }
}

static void verify_exports(const struct check *c)
{
    const struct pvm_program *p = &c->m->program;
    for (size_t i = 0; i < p->export_count; i++) {
        uint32_t pc = p->exports[i].pc;
        uint64_t at = (uint64_t)(p->exports[i].name.data - c->m->base.file.data);
        if (!p->exports[i].name.size) at = c->m->exports_offset;
        if (!pvm_starts(c->code, pc))
            findings_add(c->f, PVM_EXPORT_PC, at, NULL,
                         "export %zu is at pc %u, not an instruction", i, (unsigned)pc);
        else if (!pvm_is_target(c->code, pc))
            findings_add(c->f, c->code->doc ? PVM_BIT_MISSING : PVM_EXPORT_BLOCK, at, NULL,
                         "export %zu is at pc %u, inside a block", i, (unsigned)pc);
    }
    for (size_t i = 0; c->code->doc && i < p->import_count; i++)
        if (!pvm_starts(c->code, p->imports[i].pc))
            findings_add(c->f, PVM_IMPORT_PC, c->m->imports_offset, NULL,
                         "import %zu is used at pc %u, not an instruction", i,
                         (unsigned)p->imports[i].pc);
    for (uint32_t pc = 0; c->code->doc && pc < c->code->bytes.size; pc++)
        if (pvm_bit(c->code->mask.data, pc) && !pvm_bit(c->code->starts, pc))
            findings_add(c->f, PVM_BIT_STRAY, c->m->mask_offset + pc / 8, NULL,
                         "bit %u is set inside an instruction", (unsigned)pc);
}

static void verify_program(const struct pvm_module *m, struct findings *f)
{
    struct check c = {.m = m, .code = &m->program.code, .f = f};
    c.load = c.code->isa == PVM_JAM_V1;
    fill_plain(&c);
    verify_code(&c);
    verify_entries(&c);
    verify_exports(&c);
    pvm_reach_verify(m, f);
    pvm_debug_verify(m, f);
}

/* ---- limits ---- */

/* Random bytes break the same rule at every byte: the first places are reported, the rest
 * counted. */
enum { TOLD_MAX = 50, RULES = 256 };

struct limiter {
    struct findings *to;
    size_t count[RULES];
    uint64_t next[RULES]; /* the first place that was not reported */
};

static void limit(void *user, const penta_error *finding)
{
    struct limiter *l = user;
    uint32_t number = finding->code & 0xffff;
    if (number >= RULES || l->count[number]++ < TOLD_MAX)
        findings_pass(l->to, finding);
    else if (l->count[number] == TOLD_MAX + 1)
        l->next[number] = finding->offset;
}

void pvm_verify(const penta_module *module, struct findings *f)
{
    const struct pvm_module *m = pvm_module(module);
    if (module->damage.code) findings_pass(f, &module->damage);
    if (module->damage.code) return; /* what follows cannot be trusted */
    struct limiter l = {.to = f};
    struct findings limited = {.rules = pvm_rules, .report = limit, .user = &l};
    verify_sections(m, &limited);
    verify_memory(m, &limited);
    verify_names(m, &limited);
    verify_tables(m, &limited);
    verify_varints(m, &limited);
    if (m->program.has_code) verify_program(m, &limited);
    for (uint32_t number = 0; number < RULES; number++)
        if (l.count[number] > TOLD_MAX)
            findings_add(f, PVM_FORMAT << 16 | number, l.next[number], NULL, "%zu more of these",
                         l.count[number] - TOLD_MAX);
}
