/* Makes the checks that the device makes, in the same order, and gives the warnings (KBLOB 2). */
#include "base/codec/checksum.h"
#include "base/long_work.h"
#include "kblob/kblob.h"

static void verify_header(const struct kblob_module *m, struct findings *f)
{
    const struct kblob_header *h = &m->header;
    if (h->magic != KBLOB_MAGIC)
        findings_add(f, KBLOB_BAD_MAGIC, 0,
                     h->magic == UINT32_C(0x05B105B1)
                         ? "these are the bytes of the magic in the wrong order"
                         : NULL,
                     "magic 0x%08x, expected 0xb105b105", (unsigned)h->magic);
    if (h->version != KBLOB_VERSION && h->version != KBLOB_VERSION_2)
        findings_add(f, KBLOB_BAD_VERSION, 4, NULL, "version %u, expected 1 or 2", h->version);
    unsigned known = h->version == KBLOB_VERSION_2 ? KBLOB_FUELLED : 0;
    if (h->flags & ~known)
        findings_add(f, KBLOB_BAD_FLAGS, 6, NULL, "header flags 0x%x, expected %s", h->flags,
                     known ? "0 or 1" : "0");
    if (h->entryOffset < kblob_header_bytes || h->entryOffset % 16)
        findings_add(f, KBLOB_BAD_ENTRY, 8, "the code starts at a multiple of 16, 16 or more",
                     "entryOffset is %u", (unsigned)h->entryOffset);
    if (!h->instCount) findings_add(f, KBLOB_EMPTY, 12, NULL, "instCount is 0");
    if (h->instCount > m->instructions_max)
        findings_add(f, KBLOB_TOO_LARGE, 12, NULL, "%u instructions, at most %llu",
                     (unsigned)h->instCount, (unsigned long long)m->instructions_max);
    if (m->base.file.size > KBLOB_BYTES_MAX)
        findings_add(f, KBLOB_TOO_LARGE, KBLOB_BYTES_MAX, NULL, "%zu bytes, at most %d",
                     m->base.file.size, KBLOB_BYTES_MAX);
}

static void verify_inst(const struct kblob_module *m, size_t i, struct findings *f)
{
    const struct kblob_inst *in = &m->insts[i];
    uint64_t at = m->code_offset + i * kblob_inst_bytes;
    if (!kblob_op(m->header.version, in->opcode))
        findings_add(f, KBLOB_BAD_OPCODE, at, NULL, "instruction %zu has opcode 0x%02x", i,
                     in->opcode);
    if (in->flags)
        findings_add(f, KBLOB_BAD_INST_FLAGS, at + 1, NULL, "instruction %zu has flags 0x%02x", i,
                     in->flags);
    if (in->reserved)
        findings_add(f, KBLOB_BAD_RESERVED, at + 2, NULL, "instruction %zu has 0x%04x in reserved",
                     i, in->reserved);
}

static bool of_version_1(const struct kblob_inst *in)
{
    return (unsigned)(in->opcode - 1) < KBLOB_OP_HALT;
}

/* Tells by one test whether an instruction of version 1 is right, as most are: its opcode is
 * defined, and its unused bytes are zero. */
static bool verify_sound(const struct kblob_inst *in)
{
    return of_version_1(in) && !(in->flags | in->reserved);
}

static void verify_register(const struct kblob_inst *in, unsigned number, bool used, uint64_t at,
                            struct findings *f)
{
    const char *name = kblob_ops[in->opcode].mnemonic;
    if (!used && number)
        findings_add(f, KBLOB_BAD_OPERAND, at, NULL, "%s does not use this field, which has 0x%02x",
                     name, number);
    else if (used && number >= KBLOB_REGISTERS)
        findings_add(f, KBLOB_BAD_REGISTER, at, NULL, "%s has register %u, the last is %d", name,
                     number, KBLOB_REGISTERS - 1);
}

static void verify_inst_2(const struct kblob_module *m, size_t i, struct findings *f)
{
    const struct kblob_inst *in = &m->insts[i];
    uint64_t at = m->code_offset + i * kblob_inst_bytes;
    unsigned uses = kblob_uses(&kblob_ops[in->opcode]);
    const char *name = kblob_ops[in->opcode].mnemonic;
    bool constant = uses & KBLOB_FIELD_B && kblob_b(in) == KBLOB_CONSTANT;
    verify_register(in, kblob_d(in), uses & KBLOB_FIELD_D, at + 1, f);
    verify_register(in, kblob_a(in), uses & KBLOB_FIELD_A, at + 2, f);
    if (!constant)
        verify_register(in, kblob_b(in), uses & (KBLOB_FIELD_B | KBLOB_FIELD_B_REGISTER), at + 3,
                        f);
    if (in->arg0 && !constant && !(uses & KBLOB_FIELD_OFFSET))
        findings_add(f, KBLOB_BAD_OPERAND, at + 4, NULL, "%s does not use arg0, which has 0x%llx",
                     name, (unsigned long long)in->arg0);
    if (uses & KBLOB_FIELD_TARGET) {
        if (in->arg1 > m->count)
            findings_add(f, KBLOB_BAD_TARGET, at + 12, NULL, "%s to instruction %u of %zu", name,
                         (unsigned)in->arg1, m->count);
    } else if (uses & KBLOB_FIELD_SPECIAL) {
        if (in->arg1 >= KBLOB_SPECIALS)
            findings_add(f, KBLOB_BAD_SPECIAL, at + 12, NULL,
                         "ID asks for number %u, the last is %d", (unsigned)in->arg1,
                         KBLOB_SPECIALS - 1);
    } else if (in->arg1) {
        findings_add(f, KBLOB_BAD_OPERAND, at + 12, NULL, "%s does not use arg1, which has 0x%x",
                     name, (unsigned)in->arg1);
    }
}

static void verify_code(const struct kblob_module *m, struct findings *f)
{
    bool two = m->header.version == KBLOB_VERSION_2;
    for (size_t i = 0; i < m->count; i++) {
        if (long_work_over(f->work, 1)) return;
        if (verify_sound(&m->insts[i])) continue;
        if (two && m->insts[i].opcode >= KBLOB_FIRST_2 && kblob_op(2, m->insts[i].opcode))
            verify_inst_2(m, i, f);
        else
            verify_inst(m, i, f);
    }
    if (two) kblob_verify_flow(m, f);
}

static void verify_trailer(const struct kblob_module *m, struct findings *f)
{
    uint64_t before = m->base.file.size - m->tail.size;
    uint32_t stored = bytes_get32(m->tail.data + 4);
    uint32_t right = checksum_crc32(bytes_slice(m->base.file, 0, (size_t)before));
    if (stored != right)
        findings_add(f, KBLOB_BAD_TRAILER, before + 4, NULL, "CRC 0x%08x, the bytes have 0x%08x",
                     (unsigned)stored, (unsigned)right);
    if (bytes_get32(m->tail.data + 8) > m->tail.size - kblob_trailer_bytes)
        findings_add(f, KBLOB_BAD_TRAILER, before + 8, NULL, "%u bytes of metadata, %zu are there",
                     (unsigned)bytes_get32(m->tail.data + 8), m->tail.size - kblob_trailer_bytes);
    if (m->symbol_damage.code) findings_pass(f, &m->symbol_damage);
}

static void warn_operands(const struct kblob_module *m, size_t i, struct findings *f)
{
    const struct kblob_inst *in = &m->insts[i];
    uint64_t at = m->code_offset + i * kblob_inst_bytes;
    if ((!in->arg1 && !in->arg0) || !of_version_1(in)) return;
    unsigned uses = kblob_uses(&kblob_ops[in->opcode]);
    const char *name = kblob_ops[in->opcode].mnemonic;
    if (in->opcode == KBLOB_OP_WRITE8 && in->arg1 > 255)
        findings_add(f, KBLOB_VALUE_CUT, at + 12, NULL, "WRITE8 writes 0x%02x of 0x%x",
                     in->arg1 & 255, (unsigned)in->arg1);
    if (in->arg0 && !(uses & KBLOB_FIELD_ARG0))
        findings_add(f, KBLOB_UNUSED_OPERAND, at + 4, NULL, "%s ignores its arg0, 0x%llx", name,
                     (unsigned long long)in->arg0);
    if (in->arg1 && !(uses & KBLOB_FIELD_ARG1))
        findings_add(f, KBLOB_UNUSED_OPERAND, at + 12, NULL, "%s ignores its arg1, 0x%x", name,
                     (unsigned)in->arg1);
}

static void warn_flow(const struct kblob_module *m, struct findings *f)
{
    size_t first = SIZE_MAX, reads = 0, i = 0;
    for (; i < m->count && m->insts[i].opcode != KBLOB_OP_HALT; i++) {
        if (m->insts[i].opcode != KBLOB_OP_READ8 && m->insts[i].opcode != KBLOB_OP_READ64) continue;
        if (!reads++) first = i;
    }
    /* One finding stands for all such reads, because programs often read only to test an
     * address. */
    if (reads > 1)
        findings_add(f, KBLOB_READ_UNUSED, m->code_offset + first * kblob_inst_bytes, NULL,
                     "of %zu reads only the last is seen", reads);
    if (i + 1 < m->count)
        findings_add(f, KBLOB_CODE_AFTER_HALT, m->code_offset + (i + 1) * kblob_inst_bytes, NULL,
                     "%zu instruction%s after HALT", m->count - i - 1,
                     m->count - i == 2 ? "" : "s");
}

/* Warns about bytes after the code. Machines ignore them (KBLOB 1.3). Bytes that the tools
 * ignore too are probably a mistake. */
static void warn_tail(const struct kblob_module *m, struct findings *f)
{
    uint64_t at = m->base.file.size - m->tail.size;
    penta_bytes metadata = kblob_metadata(m);
    size_t known = m->tail_is_trailer ? kblob_trailer_bytes : 0;
    if (m->symbols.file || m->symbol_damage.code) known += metadata.size;
    if (known == m->tail.size) return;
    findings_add(f, KBLOB_UNUSED, at + known, NULL, "%zu byte%s after the %s", m->tail.size - known,
                 m->tail.size - known == 1 ? "" : "s",
                 !known                         ? "code"
                 : known == kblob_trailer_bytes ? "trailer that are no symbols"
                                                : "symbols");
}

/* Finds the errors. Returns false if the file ends too early to check everything. */
static bool verify_errors(const struct kblob_module *m, struct findings *f)
{
    const penta_error *damage = &m->base.damage;
    if (damage->code == KBLOB_TRUNCATED_HEADER) {
        findings_pass(f, damage);
        return false;
    }
    verify_header(m, f);
    if (damage->code) { /* A damaged file has no instructions that could be checked. */
        if (damage->code != KBLOB_BAD_ENTRY) findings_pass(f, damage);
        return false;
    }
    verify_code(m, f);
    if (m->check_trailer && m->tail_is_trailer) verify_trailer(m, f);
    return true;
}

void kblob_verify(const penta_module *module, struct findings *f)
{
    const struct kblob_module *m = kblob_module(module);
    if (!verify_errors(m, f)) return;
    for (size_t i = 0; i < m->count && !long_work_over(f->work, 1); i++) warn_operands(m, i, f);
    if (m->header.version == KBLOB_VERSION_2)
        kblob_warn_unreached(m, f);
    else
        warn_flow(m, f);
    warn_tail(m, f);
    if (m->symbol_damage.code && !m->check_trailer)
        findings_add(f, KBLOB_SYMBOLS_UNUSED, m->symbol_damage.offset, NULL, "%s",
                     m->symbol_damage.message);
}

struct verdict {
    const struct kblob_module *module;
    unsigned number;
    uint32_t instruction;
};

static void verdict_keep_first(void *user, const penta_error *finding)
{
    struct verdict *v = user;
    if (v->number) return;
    v->number = finding->code & 0xffff;
    v->instruction = UINT32_MAX;
    if (finding->code >= KBLOB_BAD_OPCODE && finding->code <= KBLOB_UNBOUNDED &&
        finding->code != KBLOB_BAD_TRAILER)
        v->instruction = (uint32_t)((finding->offset - v->module->code_offset) / kblob_inst_bytes);
}

unsigned kblob_verdict(const penta_module *module, uint32_t *instruction)
{
    struct verdict verdict = {kblob_module(module), 0, UINT32_MAX};
    struct findings f = {.rules = kblob_rules, .report = verdict_keep_first, .user = &verdict};
    verify_errors(verdict.module, &f);
    *instruction = verdict.instruction;
    return verdict.number;
}
