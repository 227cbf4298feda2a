/* Checks the rules of rules.def about the program (PVM 19.1): first all code, whether it can be
 * reached or not, then the places that lead into it. */
#include "base/long_work.h"
#include "pvm/format/code_bits.h"
#include "pvm/format/debug_info.h"
#include "base/codec/varint.h"

enum { WORD_UNITS = 64 }; /* the units of work for checking the instructions in 64 bytes */

struct check {
    const struct pvm_module *m;
    const struct pvm_code *code;
    struct findings *f;
    struct pvm_code_bits bits;
    bool load;  /* jam_v1: one invalid instruction keeps the program from loading */
    bool falls; /* Control goes on after the last instruction that was checked. */
};

static uint64_t pc_file_offset(const struct check *c, uint32_t pc)
{
    return c->m->code_offset + pc;
}

static bool verify_is_target(const struct check *c, uint32_t pc)
{
    return pvm_may_go(&c->bits, c->code, pc);
}

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
            findings_add(c->f, PVM_HOLE, pc_file_offset(c, pc), NULL,
                         "no instruction starts at pc %u, for %u byte%s", pc, in->length,
                         in->length == 1 ? "" : "s");
    } else if (op == PVM_OP_invalid) {
        findings_add(c->f, PVM_BAD_OPCODE, pc_file_offset(c, pc), NULL,
                     "opcode %u at pc %u is not in %s", byte, pc, pvm_isas[c->code->isa].name);
    } else { /* This doc instruction has a known opcode, and its operands are wrong or missing. */
        struct pvm_insn longer;
        uint8_t bytes[32] = {0};
        size_t left = c->code->bytes.size - pc, n = left < sizeof bytes ? left : sizeof bytes;
        memcpy(bytes, c->code->bytes.data + pc, n);
        struct pvm_code padded = {.isa = c->code->isa, .doc = true, .bytes = {bytes, sizeof bytes}};
        pvm_decode(&padded, 0, &longer);
        const char *name = pvm_ops[op].name;
        enum pvm_shape shape = pvm_ops[op].shape;
        if (longer.op != PVM_OP_invalid)
            findings_add(c->f, PVM_OVERRUN, pc_file_offset(c, pc), NULL,
                         "%s at pc %u needs %u bytes, and %zu are left", name, pc, longer.length,
                         left);
        else if (left > 1 && shape >= PVM_REG_IMM &&
                 ((bytes[1] & 15) > 12 || bytes[1] >> 4 > 12 ||
                  (shape == PVM_REG_REG_REG && bytes[2] > 12)))
            findings_add(c->f, PVM_BAD_REGISTER, pc_file_offset(c, pc) + 1, NULL,
                         "%s at pc %u names a register above 12", name, pc);
        else
            findings_add(c->f, PVM_BAD_IMMEDIATE, pc_file_offset(c, pc) + 1, NULL,
                         "%s at pc %u has a malformed immediate", name, pc);
    }
}

static void load_invalid(struct check *c, uint32_t pc, const char *why)
{
    if (!c->load) return;
    c->load = false; /* Only the first invalid instruction is reported. */
    findings_add(c->f, PVM_LOAD_INVALID, pc_file_offset(c, pc), NULL,
                 "%s at pc %u: the program does not load", why, (unsigned)pc);
}

/* Checks quickly the instructions that pvm_usual.plain does not cover: those with two
 * immediates, and jumps and branches to a known target. It cannot check the last bytes of the
 * code. */
static bool insn_is_usual(const struct check *c, uint32_t pc, uint32_t length)
{
    const struct pvm_code *code = c->code;
    const uint8_t *p = code->bytes.data + pc;
    const struct pvm_usual *u = &c->bits.usual[p[0]];
    uint32_t size = bytes_get32(p) >> u->size_at & u->size_mask,
             used = u->need + (size < 4 ? size : 4);
    if (length < used || u->first & c->bits.high[p[1]]) return false;
    if (!u->jumps) return u->size_at;
    uint32_t left = length - used < 4 ? length - used : 4;
    uint64_t distance =
        (uint64_t)bytes_get32(p + used) << (64 - 8 * left) % 64 & (0 - (uint64_t) !!left);
    uint32_t target = pc + (uint32_t)((int64_t)distance >> (64 - 8 * left) % 64);
    return target < code->bytes.size && pvm_word_bit(c->bits.targets, target);
}

/* Warns about odd operands. This is for the dialects in which the bitmask gives the lengths of
 * instructions. */
static void verify_operands(const struct check *c, const struct pvm_insn *in)
{
    enum pvm_shape shape = pvm_ops[in->op].shape;
    unsigned fixed = pvm_fixed_bytes[shape], have = in->length - 1u;
    const uint8_t *p = c->code->bytes.data + in->pc + 1;
    if (shape == PVM_IMM_IMM || shape == PVM_REG_IMM_IMM || shape == PVM_REG_IMM_OFFSET ||
        shape == PVM_REG_REG_IMM_IMM)
        fixed += in->size1;
    if (have < fixed) {
        findings_add(c->f, PVM_SHORT_OPERANDS, pc_file_offset(c, in->pc), NULL,
                     "%s at pc %u has %u operand bytes, and reads %u", pvm_ops[in->op].name,
                     (unsigned)in->pc, have, fixed);
        return;
    }
    bool low = shape >= PVM_REG_IMM, high = shape >= PVM_REG_REG;
    if ((low && (p[0] & 15) > 12) || (high && p[0] >> 4 > 12) ||
        (shape == PVM_REG_REG_REG && (p[1] & 15) > 12))
        findings_add(c->f, PVM_HIGH_REGISTER, pc_file_offset(c, in->pc) + 1, NULL,
                     "%s at pc %u has a register nibble above 12", pvm_ops[in->op].name,
                     (unsigned)in->pc);
}

static void verify_jump(const struct check *c, const struct pvm_insn *in)
{
    uint32_t next = in->pc + in->length;
    if (!verify_is_target(c, in->target)) {
        bool bit = c->code->doc && pvm_starts(c->code, in->target);
        findings_add(c->f, bit ? PVM_BIT_MISSING : PVM_JUMP_TARGET, pc_file_offset(c, in->pc), NULL,
                     "%s at pc %u goes to %u, %s", pvm_ops[in->op].name, (unsigned)in->pc,
                     (unsigned)in->target,
                     bit                                 ? "whose bit is not set"
                     : in->target >= c->code->bytes.size ? "outside the code"
                     : !pvm_starts(c->code, in->target)  ? "which is no instruction"
                                                         : "which does not start a block");
    }
    if (pvm_ops[in->op].flow == PVM_FLOW_BRANCH && !pvm_starts(c->code, next))
        findings_add(c->f, PVM_BRANCH_END, pc_file_offset(c, in->pc), NULL,
                     "no instruction follows %s at pc %u", pvm_ops[in->op].name, (unsigned)in->pc);
}

static void verify_insn(struct check *c, const struct pvm_insn *in)
{
    const struct pvm_program *p = &c->m->program;
    enum pvm_flow flow = pvm_ops[in->op].flow;
    if (flow == PVM_FLOW_BRANCH || flow == PVM_FLOW_JUMP) verify_jump(c, in);
    if (flow == PVM_FLOW_HOST && p->dialect != PVM_JAM && (uint32_t)in->imm1 >= p->import_count)
        findings_add(c->f, PVM_NO_IMPORT, pc_file_offset(c, in->pc), NULL,
                     "ecalli %u names no import; the program has %zu", (unsigned)in->imm1,
                     p->import_count);
    if (!c->code->doc) {
        verify_operands(c, in);
    } else if (pvm_ends_block(in->op)) {
        uint32_t next = in->pc + in->length;
        if (next < c->code->bytes.size && !pvm_bit(c->code->mask.data, next))
            findings_add(c->f, PVM_BIT_MISSING, c->m->mask_offset + next / 8, NULL,
                         "pc %u follows the end of a block, and its bit is not set",
                         (unsigned)next);
    }
}

/* Makes all checks of one instruction or hole. */
static void verify_at(struct check *c, uint32_t pc, struct pvm_insn *in)
{
    pvm_decode(c->code, pc, in);
    if (in->op != PVM_OP_invalid) {
        verify_insn(c, in);
        c->falls = pvm_falls_through(in->op);
    } else {
        /* PolkaVM stops checking at a hole that control does not run into. The Gray Paper allows
         * no hole. */
        verify_invalid(c, in);
        load_invalid(c, pc, "an invalid instruction");
        c->falls = false;
    }
}

/* Checks the instruction at pc and the holes after it. Returns where the next instruction
 * starts. */
static uint32_t verify_from(struct check *c, uint32_t pc)
{
    struct pvm_insn in;
    do {
        verify_at(c, pc, &in);
        pc += in.length;
    } while (pc < c->code->bytes.size && !pvm_bit(c->code->starts, pc));
    return pc;
}

/* Checks all code except the last bytes, and skips instructions that need no checks. Returns
 * where it stopped. */
static uint32_t verify_quickly(struct check *c)
{
    const struct pvm_code *code = c->code;
    uint32_t size = (uint32_t)code->bytes.size, next = 0;
    if (code->doc || size < 128) return 0;
    uint32_t to = (size - 32) / 64 * 64;
    if (!pvm_bit(code->starts, 0)) next = verify_from(c, 0);
    for (uint32_t base = 0; base < to; base += 64) {
        if (long_work_over(c->f->work, WORD_UNITS)) return size;
        for (uint64_t odd = c->bits.odd[base / 64]; odd; odd &= odd - 1) {
            uint32_t pc = base + (uint32_t)__builtin_ctzll(odd), length = 1 + pvm_skip(code, pc);
            if (!insn_is_usual(c, pc, length) || !pvm_bit(code->starts, pc + length))
                next = verify_from(c, pc);
        }
    }
    if (next < to) next = to;
    while (next < size && !pvm_bit(code->starts, next)) next++;
    return next;
}

static void verify_code(struct check *c)
{
    const struct pvm_code *code = c->code;
    struct pvm_insn in = {0};
    uint32_t size = (uint32_t)code->bytes.size, pc;
    c->falls = true;
    for (pc = verify_quickly(c); pc < size && !long_work_over(c->f->work, 1); pc += in.length)
        verify_at(c, pc, &in);
    if (c->f->work && c->f->work->ended) return;
    if (c->falls && size) {
        load_invalid(c, size, "control runs off the end");
        if (code->isa != PVM_JAM_V1 && pvm_ops[in.op].flow != PVM_FLOW_BRANCH)
            findings_add(c->f, PVM_FALLS_OFF, pc_file_offset(c, in.pc), NULL,
                         "%s at pc %u is the last instruction", pvm_ops[in.op].name,
                         (unsigned)in.pc);
    } else if (!size && c->m->program.has_code) {
        load_invalid(c, 0, "no instruction");
    }
}

static void verify_entries(const struct check *c)
{
    const struct pvm_code *code = c->code;
    for (uint32_t i = 0; code->table_entry && i < code->table_count; i++) {
        uint64_t pc = 0, at = c->m->table_offset + (uint64_t)i * code->table_entry;
        if (!pvm_table_entry(code, i, &pc)) continue;
        if (pc <= UINT32_MAX && verify_is_target(c, (uint32_t)pc)) continue;
        bool bit = code->doc && pc <= UINT32_MAX && pvm_starts(code, (uint32_t)pc);
        /* This entry of the jump table is a filler. */
        if (code->doc && code->table_entry < 4 && pc >= code->bytes.size) continue;
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
        if (c->code->doc)
            at += p->exports[i].name.size; /* The pc is stored after the name. */
        else if (!p->exports[i].name.size)
            at = c->m->exports_offset;
        if (!pvm_starts(c->code, pc))
            findings_add(c->f, PVM_EXPORT_PC, at, NULL,
                         "export %zu is at pc %u, not an instruction", i, (unsigned)pc);
        else if (!verify_is_target(c, pc))
            findings_add(c->f, c->code->doc ? PVM_BIT_MISSING : PVM_EXPORT_BLOCK, at, NULL,
                         "export %zu is at pc %u, inside a block", i, (unsigned)pc);
    }
}

/* Checks the places that the tables of a doc program name. */
static void verify_doc(const struct check *c)
{
    const struct pvm_program *p = &c->m->program;
    penta_bytes file = c->m->base.file;
    uint32_t ignored;
    size_t at = (size_t)c->m->imports_offset;
    if (p->import_count) at += varint_leb_read(bytes_slice(file, at, VARINT_BYTES), &ignored);
    for (size_t i = 0; i < p->import_count; i++) {
        if (!pvm_starts(c->code, p->imports[i].pc))
            findings_add(c->f, PVM_IMPORT_PC, at, NULL,
                         "import %zu is used at pc %u, not an instruction", i,
                         (unsigned)p->imports[i].pc);
        at += varint_leb_read(bytes_slice(file, at, VARINT_BYTES), &ignored);
    }
    for (uint32_t pc = 0; pc < c->code->bytes.size; pc++)
        if (pvm_bit(c->code->mask.data, pc) && !pvm_bit(c->code->starts, pc))
            findings_add(c->f, PVM_BIT_STRAY, c->m->mask_offset + pc / 8, NULL,
                         "bit %u is set inside an instruction", (unsigned)pc);
}

void pvm_verify_code(const struct pvm_module *m, struct findings *f)
{
    struct check c = {.m = m, .code = &m->program.code, .f = f};
    if (!pvm_code_bits_find(c.code, &c.bits)) {
        findings_add(f, BASE_MEMORY, m->code_offset, NULL, "no memory to check the code");
        return;
    }
    c.load = c.code->isa == PVM_JAM_V1;
    verify_code(&c);
    if (!f->work || !f->work->ended) {
        verify_entries(&c);
        verify_exports(&c);
        if (c.code->doc) verify_doc(&c);
        pvm_reach_verify(m, &c.bits, f);
        pvm_debug_verify(m, f);
    }
    pvm_code_bits_free(&c.bits);
}
