/* Reads, writes and describes the jam dialect (PVM 12): generic programs and standard programs.
 * They have no magic number, so a file is one of them when its lengths add up to its size. */
#include "pvm/format/container.h"

enum { ENTRY_MAX = 8, SPI_HEADER = 11 };

enum form { FORM_NONE, FORM_GENERIC, FORM_SPI, FORM_METADATA_SPI };

bool pvm_generic_program(penta_bytes bytes, enum pvm_isa isa, struct pvm_code *out)
{
    uint32_t count = 0, length = 0;
    unsigned first = varint_prefix_read(bytes, &count);
    if (!first || bytes.size <= first) return false;
    uint8_t entry = bytes.data[first];
    unsigned second = varint_prefix_read(bytes_slice(bytes, first + 1, bytes.size), &length);
    if (!second || entry > ENTRY_MAX) return false;
    size_t at = first + 1 + second;
    uint64_t table = (uint64_t)count * entry, mask = ((uint64_t)length + 7) / 8;
    if (table + length + mask != bytes.size - at) return false;
    *out = (struct pvm_code){.isa = isa, .table_count = count, .table_entry = entry};
    out->table = bytes_slice(bytes, at, (size_t)table);
    out->bytes = bytes_slice(bytes, at + (size_t)table, length);
    out->mask = bytes_slice(bytes, at + (size_t)table + length, (size_t)mask);
    out->starts = out->mask.data;
    return true;
}

static bool read_spi(penta_bytes file, size_t at, penta_bytes *program)
{
    if (file.size < at || file.size - at < SPI_HEADER) return false;
    const uint8_t *p = file.data + at;
    uint64_t data = bytes_uint(p, 3, false) + bytes_uint(p + 3, 3, false);
    uint64_t size_at = at + SPI_HEADER + data;
    if (size_at + 4 > file.size) return false;
    uint32_t size = bytes_get32(file.data + size_at);
    *program = bytes_slice(file, (size_t)size_at + 4, size);
    return size == file.size - size_at - 4;
}

static bool read_form(penta_bytes file, enum form form, struct pvm_code *code)
{
    penta_bytes program = file;
    uint32_t metadata = 0;
    unsigned size = 0;
    if (form == FORM_METADATA_SPI && !(size = varint_prefix_read(file, &metadata))) return false;
    if (form != FORM_GENERIC && !read_spi(file, (size_t)size + metadata, &program)) return false;
    return pvm_generic_program(program, PVM_LATEST64, code);
}

/* Returns the number of bytes of registers and lengths, which come before the immediates. */
static unsigned head_bytes(enum pvm_shape shape)
{
    if (shape == PVM_NONE || shape == PVM_IMM || shape == PVM_OFFSET) return 0;
    return shape == PVM_REG_REG_REG || shape == PVM_REG_REG_IMM_IMM ? 2 : 1;
}

/* Returns the number of instructions when the code has nothing odd (PVM 12.4), else 0. Nothing
 * is odd when bit 0 of the bitmask is set, every opcode is defined, there is no hole, every byte
 * is an operand, and every static target and jump table entry is an instruction. */
static size_t jam_sound_count(const struct pvm_code *code)
{
    size_t size = code->bytes.size, count = 0;
    if (!size || !pvm_bit(code->starts, 0)) return 0;
    if (size % 8 && code->mask.data[size / 8] >> size % 8) return 0;
    if (!code->table_count != !code->table_entry) return 0;
    for (uint32_t i = 0; i < code->table_count; i++) {
        uint64_t pc = 0;
        pvm_table_entry(code, i, &pc);
        if (pc >= size || !pvm_bit(code->starts, (uint32_t)pc)) return 0;
    }
    struct pvm_insn in;
    for (uint32_t pc = 0; pc < size; pc += in.length, count++) {
        pvm_decode(code, pc, &in);
        if (in.op == PVM_OP_invalid) return 0;
        if (1u + head_bytes(pvm_ops[in.op].shape) + in.size1 + in.size2 != in.length) return 0;
        if (pvm_has_target(in.op) && !pvm_starts(code, in.target)) return 0;
    }
    return count;
}

/* Guesses the ISA, because the file does not say it. Gray Paper 0.7 numbers instructions as
 * latest64 does, and 0.8 as jam_v1. The result is the first ISA that makes sense of the code, or
 * else latest64. */
static enum pvm_isa guess_isa(struct pvm_code code, size_t *count)
{
    code.isa = PVM_LATEST64;
    if ((*count = jam_sound_count(&code))) return PVM_LATEST64;
    code.isa = PVM_JAM_V1;
    if ((*count = jam_sound_count(&code))) return PVM_JAM_V1;
    return PVM_LATEST64;
}

/* Finds the form whose lengths fit the file. When there are several, a form with sound code
 * comes first, then the form with the most fields. */
static enum form find_form(penta_bytes file, struct pvm_code *code, size_t *count)
{
    enum form found = FORM_NONE;
    *count = 0;
    for (enum form form = FORM_METADATA_SPI; form > FORM_NONE; form--) {
        struct pvm_code c;
        size_t n = 0;
        if (!read_form(file, form, &c)) continue;
        c.isa = guess_isa(c, &n);
        if (found && (*count || !n)) continue;
        found = form;
        *code = c;
        *count = n;
    }
    return found;
}

bool pvm_jam_fits(penta_bytes file)
{
    struct pvm_code code;
    size_t count;
    return find_form(file, &code, &count) != FORM_NONE;
}

int pvm_jam_probe(penta_bytes file, struct writer *evidence)
{
    static const char *const names[] = {"", "generic program", "standard program",
                                        "metadata and standard program"};
    struct pvm_code code = {0};
    size_t count = 0;
    enum form form = find_form(file, &code, &count);
    if (!count) return 0;
    if (evidence)
        writer_print(evidence,
                     "dialect jam, no magic: read as %s all lengths add up, and %zu "
                     "instruction%s of %s decode",
                     names[form], count, count == 1 ? "" : "s", pvm_isas[code.isa].name);
    int sure = form == FORM_GENERIC ? 40 : 70;
    return sure + (int)(count > 25 ? 25 : count);
}

static bool take_spi(struct pvm_parse *p)
{
    struct pvm_program *program = &p->m->program;
    struct reader *r = &p->in;
    if (program->has_metadata) program->metadata = reader_bytes(r, pvm_take_varint(p, r));
    p->m->memory_offset = reader_at(r);
    program->ro_size = (uint32_t)reader_uint(r, 3);
    program->rw_size = (uint32_t)reader_uint(r, 3);
    program->heap_pages = (uint32_t)reader_uint(r, 2);
    program->stack_size = (uint32_t)reader_uint(r, 3);
    p->m->ro_offset = reader_at(r);
    program->ro_data = reader_bytes(r, program->ro_size);
    p->m->rw_offset = reader_at(r);
    program->rw_data = reader_bytes(r, program->rw_size);
    reader_uint(r, 4);
    return !r->err->code;
}

bool pvm_jam_parse(struct pvm_parse *p)
{
    struct pvm_code code = {0};
    size_t count = 0;
    enum form form = find_form(p->in.in, &code, &count);
    if (form == FORM_NONE) {
        error_at(p->in.err, PVM_JAM_LENGTHS, 0, "the lengths inside do not add up to the %zu bytes",
                 p->in.in.size);
        return error_note(p->in.err,
                          "tried: generic program, standard program, metadata before it");
    }
    struct pvm_program *program = &p->m->program;
    program->code.isa = code.isa;
    program->spi = form != FORM_GENERIC;
    program->has_metadata = form == FORM_METADATA_SPI;
    program->has_code = true;
    if (program->spi && !take_spi(p)) return false;
    if (!pvm_take_code(p, &p->in, ENTRY_MAX)) return false;
    p->m->parsed = p->in.pos;
    return true;
}

void pvm_jam_write(struct pvm_emit *e)
{
    const struct pvm_program *p = e->program;
    if (!p->spi) {
        pvm_emit_code(e);
        return;
    }
    if (p->has_metadata) pvm_emit_framed(e, p->metadata);
    writer_uint(e->out, p->ro_data.size, 3);
    writer_uint(e->out, p->rw_data.size, 3);
    writer_uint(e->out, p->heap_pages, 2);
    writer_uint(e->out, p->stack_size, 3);
    writer_bytes(e->out, p->ro_data.data, p->ro_data.size);
    writer_bytes(e->out, p->rw_data.data, p->rw_data.size);
    size_t size_at = e->out->out.size;
    writer_uint(e->out, 0, 4);
    pvm_emit_code(e);
    writer_patch(e->out, size_at, e->out->out.size - size_at - 4, 4);
}

void pvm_jam_describe(struct pvm_walk *w)
{
    const struct pvm_program *p = &w->m->program;
    if (w->m->base.damage.code) return;
    if (p->has_metadata) {
        uint32_t size = 0;
        pvm_walk_varint(w, "metadata_length", &size);
        if (size) pvm_walk_raw(w, "metadata", size, NULL);
    }
    if (p->spi) {
        pvm_walk_uint(w, "ro_data_length", 3, PENTA_UINT, NULL);
        pvm_walk_uint(w, "rw_data_length", 3, PENTA_UINT, NULL);
        pvm_walk_uint(w, "heap_pages", 2, PENTA_UINT, NULL);
        pvm_walk_uint(w, "stack_size", 3, PENTA_UINT, NULL);
        if (p->ro_data.size) pvm_walk_raw(w, "ro_data", p->ro_data.size, NULL);
        if (p->rw_data.size) pvm_walk_raw(w, "rw_data", p->rw_data.size, NULL);
        pvm_walk_uint(w, "program_length", 4, PENTA_UINT, NULL);
    }
    pvm_walk_program(w);
}
