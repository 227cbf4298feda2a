/* Has the parts of reading that the dialects share: guessing the dialect, numbers, the code
 * section, opening and closing. */
#include <stdlib.h>
#include "pvm/format/container.h"
#include "base/array.h"

const char *const pvm_dialect_names[] = {
    [PVM_POLKAVM] = "polkavm", [PVM_DOC] = "doc", [PVM_JAM] = "jam", NULL};
const char *const pvm_doc_end_names[] = {[PVM_DOC_BITMASK] = "bitmask",
                                         [PVM_DOC_IMPORT_OFFSETS] = "import_offsets",
                                         [PVM_DOC_IMPORT_SYMBOLS] = "import_symbols",
                                         [PVM_DOC_EXPORTS] = "exports",
                                         [PVM_DOC_DEBUG] = "debug",
                                         NULL};

static const uint8_t magic[4] = {'P', 'V', 'M', 0};

static int polkavm_probe(penta_bytes file, struct writer *evidence)
{
    if (file.size < 5 || memcmp(file.data, magic, 4)) return 0;
    bool known = file.data[4] < PVM_ISAS;
    if (evidence)
        writer_print(evidence, "dialect polkavm: starts with 'PVM' and a zero, ISA %s",
                     known ? pvm_isas[pvm_isa_of_version(file.data[4])].name : "unknown");
    return known ? 100 : 80;
}

/* Finds the likeliest dialect. Returns how sure the guess is, from 0 to 100. */
static int guess_dialect(penta_bytes file, enum pvm_dialect *dialect)
{
    int polkavm = polkavm_probe(file, NULL);
    int doc = polkavm ? 0 : pvm_doc_probe(file, NULL);
    int jam = polkavm ? 0 : pvm_jam_probe(file, NULL);
    *dialect = polkavm ? PVM_POLKAVM : doc > jam ? PVM_DOC : PVM_JAM;
    return polkavm ? polkavm : doc > jam ? doc : jam;
}

int pvm_probe(penta_bytes file, struct writer *evidence)
{
    enum pvm_dialect dialect;
    int sure = guess_dialect(file, &dialect);
    if (sure && evidence) {
        if (dialect == PVM_POLKAVM) polkavm_probe(file, evidence);
        if (dialect == PVM_DOC) pvm_doc_probe(file, evidence);
        if (dialect == PVM_JAM) pvm_jam_probe(file, evidence);
    }
    return sure;
}

/* Remembers a number that is longer than needed, so that it is written back in the same form. */
static void keep_varint(struct pvm_parse *p, const uint8_t *bytes, unsigned size, uint64_t offset)
{
    struct pvm_program *program = &p->m->program;
    if (program->varint_count == p->varint_capacity) {
        size_t capacity = p->varint_capacity ? 2 * p->varint_capacity : 16;
        struct pvm_varint *more = arena_alloc(&p->m->arena, capacity, sizeof *more, p->fatal);
        if (!more) return;
        if (program->varint_count)
            memcpy(more, program->varints, program->varint_count * sizeof *more);
        program->varints = more;
        p->varint_capacity = capacity;
    }
    if (!program->varint_count) p->m->varint_offset = offset;
    struct pvm_varint *v = &program->varints[program->varint_count++];
    *v = (struct pvm_varint){.index = p->varint_next, .size = (uint8_t)size};
    memcpy(v->bytes, bytes, size);
}

uint32_t pvm_take_varint(struct pvm_parse *p, struct reader *r)
{
    uint32_t value = 0;
    penta_bytes left = bytes_slice(r->in, r->pos, VARINT_BYTES);
    unsigned size = p->leb ? varint_leb_read(left, &value) : varint_prefix_read(left, &value);
    if (!size) {
        error_at(r->err, PVM_BAD_VARINT, reader_at(r),
                 left.size ? "no number starts with byte 0x%02x here" : "a number is missing here",
                 left.size ? left.data[0] : 0u);
        return 0;
    }
    uint64_t offset = reader_at(r);
    const uint8_t *bytes = reader_take(r, size);
    if (!bytes) return 0;
    uint8_t shortest[VARINT_BYTES];
    unsigned least =
        p->leb ? varint_leb_write(shortest, value) : varint_prefix_write(shortest, value);
    if (least != size || memcmp(shortest, bytes, size)) keep_varint(p, bytes, size, offset);
    p->varint_next++;
    return value;
}

void pvm_emit_varint(struct pvm_emit *e, uint32_t value)
{
    const struct pvm_program *program = e->program;
    uint32_t index = e->varint_next++;
    size_t low;
    ARRAY_SEARCH(low, 0, program->varint_count, program->varints[low].index >= index);
    if (low < program->varint_count && program->varints[low].index == index) {
        writer_bytes(e->out, program->varints[low].bytes, program->varints[low].size);
        return;
    }
    uint8_t bytes[VARINT_BYTES];
    writer_bytes(e->out, bytes,
                 e->leb ? varint_leb_write(bytes, value) : varint_prefix_write(bytes, value));
}

void pvm_emit_framed(struct pvm_emit *e, penta_bytes bytes)
{
    pvm_emit_varint(e, (uint32_t)bytes.size);
    writer_bytes(e->out, bytes.data, bytes.size);
}

struct reader pvm_part(struct pvm_parse *p, penta_bytes bytes, uint64_t offset)
{
    return (struct reader){.in = bytes, .origin = offset, .err = p->in.err};
}

bool pvm_take_code(struct pvm_parse *p, struct reader *r, unsigned entry_max)
{
    struct pvm_code *code = &p->m->program.code;
    uint32_t count = pvm_take_varint(p, r);
    uint64_t entry_at = reader_at(r);
    uint8_t entry = (uint8_t)reader_uint(r, 1);
    uint32_t length = pvm_take_varint(p, r);
    if (r->err->code) return false;
    if (entry > entry_max)
        return error_at(r->err, PVM_ENTRY_SIZE, entry_at,
                        "a jump table entry has %u bytes, and at most %u are allowed", entry,
                        entry_max);
    uint64_t table = (uint64_t)count * entry, mask = ((uint64_t)length + 7) / 8;
    uint64_t need = table + length, left = reader_left(r);
    if (need > left)
        return error_at(r->err, PVM_TRUNCATED, reader_at(r),
                        "jump table and code have %llu bytes, and %llu are left",
                        (unsigned long long)need, (unsigned long long)left);
    if (left - need != mask)
        return error_at(r->err, PVM_BITMASK_LENGTH, reader_at(r) + need,
                        "the bitmask has %llu bytes, %u bytes of code need %llu",
                        (unsigned long long)(left - need), (unsigned)length,
                        (unsigned long long)mask);
    code->table_count = count;
    code->table_entry = entry;
    p->m->table_offset = reader_at(r);
    code->table = reader_bytes(r, (size_t)table);
    p->m->code_offset = reader_at(r);
    code->bytes = reader_bytes(r, length);
    p->m->mask_offset = reader_at(r);
    code->mask = reader_bytes(r, (size_t)mask);
    code->starts = code->mask.data;
    return true;
}

void pvm_emit_code(struct pvm_emit *e)
{
    const struct pvm_code *code = &e->program->code;
    pvm_emit_varint(e, code->table_count);
    writer_uint(e->out, code->table_entry, 1);
    pvm_emit_varint(e, (uint32_t)code->bytes.size);
    writer_bytes(e->out, code->table.data, code->table.size);
    writer_bytes(e->out, code->bytes.data, code->bytes.size);
    writer_bytes(e->out, code->mask.data, code->mask.size);
}

const char *pvm_dialect_name(size_t i) { return pvm_dialect_names[i]; }

const char *pvm_isa_name(size_t i) { return i < PVM_ISAS ? pvm_isas[i].name : NULL; }

bool pvm_dialect_of(const char *name, enum pvm_dialect *out, penta_error *err)
{
    for (size_t i = 0; pvm_dialect_name(i); i++) {
        if (strcmp(name, pvm_dialect_name(i))) continue;
        *out = (enum pvm_dialect)i;
        return true;
    }
    return error_not_in(err, "dialect", name, pvm_dialect_name);
}

bool pvm_isa_of(const char *name, enum pvm_isa *out, penta_error *err)
{
    for (size_t i = 0; pvm_isa_name(i); i++) {
        if (strcmp(name, pvm_isa_name(i))) continue;
        *out = (enum pvm_isa)i;
        return true;
    }
    return error_not_in(err, "ISA", name, pvm_isa_name);
}

static bool choose_dialect(penta_bytes file, const char *wanted, enum pvm_dialect *dialect,
                           penta_error *err)
{
    if (wanted) return pvm_dialect_of(wanted, dialect, err);
    if (guess_dialect(file, dialect)) return true;
    /* The caller says that it is a pvm file, so less evidence is enough: the start of the magic
     * number, or lengths that fit. */
    *dialect = PVM_POLKAVM;
    if (file.size && !memcmp(file.data, magic, file.size < 4 ? file.size : 4)) return true;
    *dialect = PVM_JAM;
    if (pvm_jam_fits(file)) return true;
    *dialect = PVM_DOC;
    if (pvm_doc_fits(file, err)) return true;
    if (err->code) return false;
    error_at(err, PVM_NO_DIALECT, 0, "neither 'PVM' and a zero nor the structure of doc or jam");
    return error_note(err, "option 'dialect' chooses one: polkavm, doc or jam");
}

static bool parse_dialect(struct pvm_parse *p, const char *isa, penta_error *err)
{
    struct pvm_program *program = &p->m->program;
    switch (program->dialect) {
    case PVM_POLKAVM: pvm_polkavm_parse(p); break;
    case PVM_DOC: pvm_doc_parse(p); break;
    case PVM_JAM: pvm_jam_parse(p); break;
    }
    if (p->m->base.damage.code == BASE_TRUNCATED) p->m->base.damage.code = PVM_TRUNCATED;
    enum pvm_isa wanted = program->code.isa;
    if (isa && !pvm_isa_of(isa, &wanted, err)) return false;
    if (wanted != program->code.isa && program->dialect != PVM_JAM && !p->m->base.damage.code)
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "the file says %s; option 'isa' is for jam programs",
                        pvm_isas[program->code.isa].name);
    if (program->dialect == PVM_JAM) program->code.isa = wanted;
    return !p->fatal->code;
}

penta_module *pvm_parse(penta_bytes file, const penta_option *options, size_t count,
                        penta_error *err)
{
    enum pvm_dialect dialect;
    if (!choose_dialect(file, option_text(options, count, "dialect"), &dialect, err)) return NULL;
    struct pvm_module *m = module_new(sizeof *m, &pvm_driver, file, options, count, err);
    if (!m) return NULL;
    m->program.dialect = dialect;
    struct pvm_parse p = {.m = m,
                          .leb = dialect == PVM_DOC,
                          .fatal = err,
                          .in = {.in = file, .err = &m->base.damage}};
    if (parse_dialect(&p, option_text(options, count, "isa"), err)) return &m->base;
    pvm_close(&m->base);
    return NULL;
}

void pvm_close(penta_module *module)
{
    struct pvm_module *m = (struct pvm_module *)module;
    arena_free(&m->arena);
    free(m);
}

bool pvm_write(const struct pvm_program *program, struct writer *out, penta_error *err)
{
    struct pvm_emit e = {.out = out, .program = program, .leb = program->dialect == PVM_DOC};
    switch (program->dialect) {
    case PVM_POLKAVM: pvm_polkavm_write(&e); break;
    case PVM_DOC: pvm_doc_write(&e); break;
    case PVM_JAM: pvm_jam_write(&e); break;
    }
    return writer_ok(out, err);
}

bool pvm_encode(const penta_module *module, struct writer *out, penta_error *err)
{
    if (!module->damage.code && !module->passed_count)
        return pvm_write(&pvm_module(module)->program, out, err);
    writer_bytes(out, module->file.data, module->file.size);
    return writer_ok(out, err);
}
