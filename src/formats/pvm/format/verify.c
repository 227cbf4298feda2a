/* Checks the rules of rules.def: this file checks the container, and verify_code.c the program. */
#include "pvm/pvm.h"
#include "base/number.h"

static void verify_memory(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    const uint64_t zone = 65536, space = UINT64_C(1) << 32;
    uint64_t need = 5 * zone + round_up(p->ro_size, zone) + round_up(p->stack_size, zone) +
                    round_up(p->rw_size + (uint64_t)p->heap_pages * PVM_PAGE, zone);
    if (p->dialect == PVM_JAM && p->spi) need += 1 << 24;
    if (need > space)
        findings_add(f, PVM_MEMORY_SIZE, m->memory_offset, NULL,
                     "memory needs %llu bytes with guard zones, and has 4294967296",
                     (unsigned long long)need);
    if (p->ro_data.size > p->ro_size)
        findings_add(f, PVM_DATA_TOO_LONG, m->ro_offset, NULL,
                     "there are %zu bytes of read-only data, and memory for %u", p->ro_data.size,
                     (unsigned)p->ro_size);
    if (p->rw_data.size > p->rw_size)
        findings_add(f, PVM_DATA_TOO_LONG, m->rw_offset, NULL,
                     "there are %zu bytes of read-write data, and memory for %u", p->rw_data.size,
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
                         "the memory section has %zu bytes after its three numbers",
                         s->payload.size - s->used);
        else if (s->raw && !s->extra && s->id == PVM_SECTION_EXPORTS &&
                 (p->export_count || s->used < s->payload.size))
            findings_add(f, PVM_EXPORTS_REST, s->payload_offset + s->used, NULL,
                         "only %zu exports can be read", p->export_count);
    }
    if (p->import_count > PVM_IMPORTS_MAX)
        findings_add(f, PVM_TOO_MANY_IMPORTS, m->imports_offset, NULL,
                     "the program has %zu imports, and at most %d are allowed", p->import_count,
                     PVM_IMPORTS_MAX);
    for (size_t i = 0; i < p->import_count; i++)
        if (p->imports[i].broken)
            findings_add(f, PVM_BROKEN_IMPORT, m->imports_offset, NULL,
                         "import %zu has no range inside the names", i);
    if (!p->has_code)
        findings_add(f, PVM_NO_CODE, m->base.file.size - p->trailing.size - 1, NULL,
                     "the file ends without code");
    if (p->trailing.size)
        findings_add(f, PVM_TRAILING, m->base.file.size - p->trailing.size, NULL,
                     "%zu bytes follow the end of the program", p->trailing.size);
}

/* Returns the offset of the first byte of a name, or of the end of its length when the name is
 * empty. */
static uint64_t name_file_offset(const struct pvm_module *m, penta_bytes name)
{
    return (uint64_t)(name.data - m->base.file.data) - !name.size;
}

static void verify_names(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    if (p->dialect != PVM_DOC) return;
    for (size_t i = 0; i < p->import_count; i++)
        if (!pvm_doc_name_ok(p->imports[i].name))
            findings_add(f, PVM_BAD_NAME, name_file_offset(m, p->imports[i].name), NULL,
                         "the name of import %zu is not readable text", i);
    for (size_t i = 0; i < p->export_count; i++)
        if (!pvm_doc_name_ok(p->exports[i].name))
            findings_add(f, PVM_BAD_NAME, name_file_offset(m, p->exports[i].name), NULL,
                         "the name of export %zu is not readable text", i);
}

static void verify_varints(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    if (p->varint_count)
        findings_add(f, PVM_LONG_VARINT, m->varint_offset, NULL,
                     "%zu number%s longer than needed; this is the first", p->varint_count,
                     p->varint_count == 1 ? " is" : "s are");
}

static void verify_tables(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_code *code = &m->program.code;
    size_t size = code->bytes.size;
    if (size > PVM_CODE_MAX)
        findings_add(f, PVM_TOO_LARGE, m->code_offset, NULL,
                     "the code has %zu bytes, and at most %d are allowed", size, PVM_CODE_MAX);
    if (code->table_count > PVM_JUMP_TABLE_MAX)
        findings_add(f, PVM_TOO_LARGE, m->table_offset, NULL,
                     "the jump table has %u entries, and at most %d are allowed",
                     (unsigned)code->table_count, PVM_JUMP_TABLE_MAX);
    if (size % 8 && code->mask.data[size / 8] >> size % 8)
        findings_add(f, PVM_BITMASK_PADDING, m->mask_offset + size / 8, NULL,
                     "the last bitmask byte is 0x%02x, and only %zu of its bits are for code",
                     code->mask.data[size / 8], size % 8);
    if (code->table_count && !code->table_entry)
        findings_add(f, PVM_TABLE_IGNORED, m->code_offset, NULL,
                     "the jump table has %u entries of no bytes", (unsigned)code->table_count);
    uint8_t usual = pvm_isas[code->isa].bits / 8;
    if (code->doc && code->table_count && code->table_entry != usual)
        findings_add(f, PVM_TABLE_SIZE, m->table_offset, NULL,
                     "jump table entries have %u bytes, and usually %u", code->table_entry, usual);
}

/* A struct limiter limits how often a rule is reported. Random bytes break the same rule at
 * every byte, so the first places are reported, and the rest are only counted. */
enum { TOLD_MAX = 50, RULES = 256 };

struct limiter {
    struct findings *to;
    size_t count[RULES];
    uint64_t next[RULES]; /* for each rule: the first place that was not reported */
};

static void verify_limit(void *user, const penta_error *finding)
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
    if (module->damage.code) return; /* The rest of a damaged module cannot be trusted. */
    struct limiter l = {.to = f};
    struct findings limited = {
        .rules = pvm_rules, .report = verify_limit, .user = &l, .work = f->work};
    verify_sections(m, &limited);
    verify_memory(m, &limited);
    verify_names(m, &limited);
    verify_tables(m, &limited);
    verify_varints(m, &limited);
    if (m->program.has_code) pvm_verify_code(m, &limited);
    for (uint32_t number = 0; number < RULES; number++)
        if (l.count[number] > TOLD_MAX)
            findings_add(f, PVM_FORMAT << 16 | number, l.next[number], NULL,
                         "there are %zu more findings of this rule", l.count[number] - TOLD_MAX);
}
