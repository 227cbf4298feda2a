/* Reads, writes and describes the doc dialect (PVM 13), which is a fixed sequence of fields. */
#include "base/utf8.h"
#include "pvm/format/container.h"

/* Computes the bits of code.starts for a doc program, because its bitmask has only jump targets. */
static uint8_t *doc_starts(const struct pvm_code *code, struct arena *arena, penta_error *err)
{
    uint8_t *starts = arena_alloc(arena, (code->bytes.size + 7) / 8, 1, err);
    struct pvm_insn in;
    for (uint32_t pc = 0; starts && pc < code->bytes.size; pc += in.length) {
        starts[pc / 8] |= (uint8_t)(1u << pc % 8);
        pvm_decode(code, pc, &in);
    }
    return starts;
}

static penta_bytes take_framed(struct pvm_parse *p)
{
    struct reader *r = &p->in;
    uint64_t at = reader_at(r);
    uint32_t size = pvm_take_varint(p, r);
    if (size > reader_left(r))
        error_at(r->err, PVM_TRUNCATED, at, "a length asks for %u bytes, and %zu are left",
                 (unsigned)size, reader_left(r));
    return reader_bytes(r, size);
}

static bool dialect_doc_done(struct pvm_parse *p)
{
    if (p->in.err->code) return false;
    p->m->parsed = p->in.pos;
    return true;
}

static bool take_memory(struct pvm_parse *p)
{
    struct pvm_program *program = &p->m->program;
    struct reader *r = &p->in;
    uint8_t isa = (uint8_t)reader_uint(r, 1);
    if (!r->err->code && isa > 1)
        return error_at(r->err, PVM_BAD_ISA, 0, "isa %u; 0 is Latest32, 1 is Latest64", isa);
    program->code.isa = isa ? PVM_LATEST64 : PVM_LATEST32;
    p->m->memory_offset = reader_at(r);
    program->ro_size = pvm_take_varint(p, r);
    program->rw_size = pvm_take_varint(p, r);
    program->stack_size = pvm_take_varint(p, r);
    if (!dialect_doc_done(p)) return false;
    p->m->ro_offset = reader_at(r);
    program->ro_data = reader_bytes(r, program->ro_size);
    p->m->rw_offset = reader_at(r);
    program->rw_data = reader_bytes(r, program->rw_size);
    return dialect_doc_done(p);
}

static bool take_code(struct pvm_parse *p)
{
    struct pvm_code *code = &p->m->program.code;
    struct reader *r = &p->in;
    code->doc = code->table_filler = true;
    code->bytes = take_framed(p);
    p->m->code_offset = reader_at(r) - code->bytes.size;
    if (r->err->code) return false;
    code->starts = doc_starts(code, &p->m->arena, p->fatal);
    if (!code->starts || !dialect_doc_done(p)) return false;
    code->table = take_framed(p);
    p->m->table_offset = reader_at(r) - code->table.size;
    uint64_t entry_at = reader_at(r);
    code->table_entry = (uint8_t)reader_uint(r, 1);
    if (r->err->code) return false;
    if (code->table_entry > 8 || (!code->table_entry && code->table.size))
        return error_at(r->err, PVM_ENTRY_SIZE, entry_at,
                        "jump table entries of %u bytes; 1 to 8, or 0 for an empty table",
                        code->table_entry);
    if (code->table_entry && code->table.size % code->table_entry)
        return error_at(r->err, PVM_TABLE_LENGTH, p->m->table_offset,
                        "the jump table has %zu bytes, which is no multiple of its entries of %u",
                        code->table.size, code->table_entry);
    if (code->table_entry) code->table_count = (uint32_t)(code->table.size / code->table_entry);
    dialect_doc_done(p);
    uint64_t mask_at = reader_at(r);
    code->mask = take_framed(p);
    p->m->mask_offset = reader_at(r) - code->mask.size;
    if (!r->err->code && code->mask.size != (code->bytes.size + 7) / 8)
        return error_at(r->err, PVM_BITMASK_LENGTH, mask_at,
                        "the bitmask has %zu bytes, %zu bytes of code need %zu", code->mask.size,
                        code->bytes.size, (code->bytes.size + 7) / 8);
    p->m->program.has_code = true;
    return dialect_doc_done(p);
}

/* Takes the imports, which are two lists of the same length: pcs and names. */
static bool take_imports(struct pvm_parse *p)
{
    struct pvm_program *program = &p->m->program;
    struct reader *r = &p->in;
    p->m->imports_offset = reader_at(r);
    penta_bytes offsets = take_framed(p);
    struct reader pcs = pvm_part(p, offsets, reader_at(r) - offsets.size);
    size_t most = 0;
    for (size_t i = 0; i < offsets.size; i++) most += offsets.data[i] < 0x80;
    if (most > reader_left(r)) /* Each import needs a name of at least one byte. */
        return error_at(r->err, PVM_IMPORT_COUNT, reader_at(r),
                        "there are %zu import offsets, and %zu bytes for their names", most,
                        reader_left(r));
    program->imports = arena_alloc(&p->m->arena, most, sizeof *program->imports, p->fatal);
    if (!program->imports) return false;
    while (reader_left(&pcs)) {
        uint32_t pc = pvm_take_varint(p, &pcs);
        if (r->err->code) return false;
        program->imports[program->import_count++].pc = pc;
    }
    program->doc_end = PVM_DOC_IMPORT_OFFSETS;
    uint64_t names_at = reader_at(r);
    if (!reader_left(r)) {
        if (!program->import_count) return dialect_doc_done(p);
        return error_at(r->err, PVM_IMPORT_COUNT, names_at,
                        "there are %zu import offsets and no names", program->import_count);
    }
    dialect_doc_done(p);
    penta_bytes symbols = take_framed(p);
    struct reader names = pvm_part(p, symbols, reader_at(r) - symbols.size);
    size_t count = 0;
    for (; reader_left(&names) && !r->err->code; count++) {
        penta_bytes name = reader_bytes(&names, pvm_take_varint(p, &names));
        if (count < program->import_count) program->imports[count].name = name;
    }
    if (!r->err->code && count != program->import_count)
        return error_at(r->err, PVM_IMPORT_COUNT, names_at,
                        "there are %zu import offsets and %zu names", program->import_count, count);
    program->doc_end = PVM_DOC_IMPORT_SYMBOLS;
    return dialect_doc_done(p);
}

/* Counts the exports before memory for them is allocated. */
static size_t count_exports(const struct reader *r)
{
    size_t count = 0;
    uint32_t value = 0;
    for (size_t at = r->pos; at < r->in.size; count++) {
        unsigned n = varint_leb_read(bytes_slice(r->in, at, VARINT_BYTES), &value);
        if (!n || !value || value > r->in.size - at - n) break;
        at += n + value;
        n = varint_leb_read(bytes_slice(r->in, at, VARINT_BYTES), &value);
        if (!n) break;
        at += n;
    }
    return count;
}

static bool take_exports(struct pvm_parse *p)
{
    struct pvm_program *program = &p->m->program;
    struct reader *r = &p->in;
    p->m->exports_offset = reader_at(r);
    program->exports =
        arena_alloc(&p->m->arena, count_exports(r), sizeof *program->exports, p->fatal);
    if (!program->exports) return false;
    while (reader_left(r)) {
        penta_bytes name = take_framed(p);
        if (r->err->code) return false;
        if (!name.size) {
            program->doc_end = PVM_DOC_EXPORTS;
            return dialect_doc_done(p);
        }
        uint32_t pc = pvm_take_varint(p, r);
        if (r->err->code) return false;
        program->exports[program->export_count++] = (struct pvm_export){name, pc};
        dialect_doc_done(p);
    }
    return true;
}

static bool take_debug(struct pvm_parse *p)
{
    struct pvm_program *program = &p->m->program;
    struct reader *r = &p->in;
    uint64_t at = reader_at(r);
    program->debug_strings = take_framed(p);
    program->debug_ranges = take_framed(p);
    program->debug_lines = take_framed(p);
    if (!r->err->code && reader_left(r))
        return error_at(r->err, PVM_DEBUG_FIELDS, reader_at(r), "%zu bytes after the debug fields",
                        reader_left(r));
    if (r->err->code == PVM_TRUNCATED || r->err->code == PVM_BAD_VARINT) {
        *r->err = (penta_error){0};
        return error_at(r->err, PVM_DEBUG_FIELDS, at,
                        "%zu bytes after the exports are not three framed fields",
                        r->in.size - (size_t)at);
    }
    program->doc_end = PVM_DOC_DEBUG;
    return dialect_doc_done(p);
}

bool pvm_doc_parse(struct pvm_parse *p)
{
    struct reader *r = &p->in;
    if (!take_memory(p) || !take_code(p)) return false;
    if (reader_left(r) && !take_imports(p)) return false;
    if (reader_left(r) && !take_exports(p)) return false;
    return !reader_left(r) || take_debug(p);
}

bool pvm_doc_name_ok(penta_bytes name)
{
    uint32_t point;
    for (size_t at = 0, n; at < name.size; at += n) {
        n = utf8_next(bytes_slice(name, at, name.size), &point);
        if (!n || point < 0x20 || point == 0x7f) return false;
    }
    return name.size > 0;
}

/* Returns the number of instructions when all of them decode and the bitmask marks only their
 * starts, else 0. */
static size_t doc_sound_count(const struct pvm_code *code)
{
    size_t size = code->bytes.size, count = 0;
    struct pvm_insn in;
    if (!size || !pvm_bit(code->mask.data, 0)) return 0;
    for (uint32_t pc = 0; pc < size; pc += in.length, count++) {
        pvm_decode(code, pc, &in);
        if (in.op == PVM_OP_invalid) return 0;
    }
    for (size_t i = 0; i < code->mask.size; i++)
        if (code->mask.data[i] & ~code->starts[i]) return 0;
    return count;
}

/* Parses into a module on the stack of the caller, who frees its arena. Returns false when the
 * file is damaged, or, with an error, when memory ran out. */
static bool doc_try_parse(penta_bytes file, struct pvm_module *m, penta_error *err)
{
    *m = (struct pvm_module){.base.file = file, .program.dialect = PVM_DOC};
    struct pvm_parse p = {
        .m = m, .leb = true, .fatal = err, .in = {.in = file, .err = &m->base.damage}};
    return pvm_doc_parse(&p);
}

bool pvm_doc_fits(penta_bytes file, penta_error *err)
{
    struct pvm_module m;
    bool ok = doc_try_parse(file, &m, err);
    arena_free(&m.arena);
    return ok;
}

int pvm_doc_probe(penta_bytes file, struct writer *evidence)
{
    if (file.size < 9 || file.data[0] > 1) return 0;
    struct pvm_module m;
    penta_error err = {0};
    size_t count = doc_try_parse(file, &m, &err) ? doc_sound_count(&m.program.code) : 0;
    for (size_t i = 0; i < m.program.export_count; i++)
        if (!pvm_doc_name_ok(m.program.exports[i].name)) count = 0;
    for (size_t i = 0; i < m.program.import_count; i++)
        if (!pvm_doc_name_ok(m.program.imports[i].name)) count = 0;
    arena_free(&m.arena);
    if (!count) return 0;
    if (evidence)
        writer_print(evidence,
                     "dialect doc, no magic: all fields end with the file, and %zu "
                     "instruction%s of %s decode",
                     count, count == 1 ? "" : "s", pvm_isas[m.program.code.isa].name);
    return 60 + (int)(count > 30 ? 30 : count);
}

/* Writes a list after its size in bytes. The size is written after the list but counts as the
 * earlier number, so the list's numbers begin at varint_next + 1. */
static void write_list(struct pvm_emit *e, void (*body)(struct pvm_emit *e))
{
    struct writer bytes = {0};
    struct pvm_emit inner = {
        .out = &bytes, .program = e->program, .leb = true, .varint_next = e->varint_next + 1};
    body(&inner);
    pvm_emit_framed(e, writer_view(&bytes));
    e->varint_next = inner.varint_next;
    e->out->failed |= bytes.failed;
    writer_free(&bytes);
}

static void write_offsets(struct pvm_emit *e)
{
    for (size_t i = 0; i < e->program->import_count; i++)
        pvm_emit_varint(e, e->program->imports[i].pc);
}

static void write_symbols(struct pvm_emit *e)
{
    for (size_t i = 0; i < e->program->import_count; i++)
        pvm_emit_framed(e, e->program->imports[i].name);
}

enum pvm_doc_end pvm_doc_shortest_end(const struct pvm_program *p)
{
    if (p->debug_strings.size + p->debug_lines.size + p->debug_ranges.size) return PVM_DOC_DEBUG;
    return p->import_count || p->export_count ? PVM_DOC_IMPORT_SYMBOLS : PVM_DOC_BITMASK;
}

void pvm_doc_write(struct pvm_emit *e)
{
    const struct pvm_program *p = e->program;
    writer_uint(e->out, p->code.isa == PVM_LATEST64, 1);
    pvm_emit_varint(e, p->ro_size);
    pvm_emit_varint(e, p->rw_size);
    pvm_emit_varint(e, p->stack_size);
    writer_bytes(e->out, p->ro_data.data, p->ro_data.size);
    writer_bytes(e->out, p->rw_data.data, p->rw_data.size);
    pvm_emit_framed(e, p->code.bytes);
    pvm_emit_framed(e, p->code.table);
    writer_uint(e->out, p->code.table_entry, 1);
    pvm_emit_framed(e, p->code.mask);
    if (p->doc_end < PVM_DOC_IMPORT_OFFSETS) return;
    write_list(e, write_offsets);
    if (p->doc_end < PVM_DOC_IMPORT_SYMBOLS) return;
    write_list(e, write_symbols);
    for (size_t i = 0; i < p->export_count; i++) {
        pvm_emit_framed(e, p->exports[i].name);
        pvm_emit_varint(e, p->exports[i].pc);
    }
    if (p->doc_end < PVM_DOC_EXPORTS) return;
    pvm_emit_varint(e, 0);
    if (p->doc_end < PVM_DOC_DEBUG) return;
    pvm_emit_framed(e, p->debug_strings);
    pvm_emit_framed(e, p->debug_ranges);
    pvm_emit_framed(e, p->debug_lines);
}

static void describe_imports(struct pvm_walk *w)
{
    uint32_t size = 0, ignored;
    pvm_walk_varint(w, "import_offsets_length", &size);
    penta_node pcs = {.name = "import_offsets", .offset = w->pos, .size = size, .list = true};
    size_t end = w->pos + size;
    if (size && describe_enter(w->v, pcs)) {
        while (w->pos < end && pvm_walk_varint(w, "pc", &ignored)) continue;
        describe_leave(w->v, pcs);
    }
    w->pos = end;
    if (w->pos >= w->end) return;
    pvm_walk_varint(w, "import_symbols_length", &size);
    penta_node names = {.name = "import_symbols", .offset = w->pos, .size = size, .list = true};
    end = w->pos + size;
    if (size && describe_enter(w->v, names)) {
        for (uint32_t length = 0; w->pos < end && pvm_walk_varint(w, "length", &length);)
            pvm_walk_text(w, "name", length);
        describe_leave(w->v, names);
    }
    w->pos = end;
}

static void describe_exports(struct pvm_walk *w)
{
    const struct pvm_program *p = &w->m->program;
    uint32_t ignored;
    size_t from = w->pos, end = from;
    for (size_t i = 0; i < p->export_count; i++) {
        penta_bytes name = p->exports[i].name, after;
        size_t at = (size_t)(name.data - w->file.data) + name.size;
        after = bytes_slice(w->file, at, VARINT_BYTES);
        end = at + varint_leb_read(after, &ignored);
    }
    penta_node list = {.name = "exports", .offset = from, .size = end - from, .list = true};
    if (p->export_count && describe_enter(w->v, list)) {
        for (size_t i = 0; i < p->export_count; i++) {
            pvm_walk_varint(w, "name_length", &ignored);
            pvm_walk_text(w, "name", p->exports[i].name.size);
            pvm_walk_varint(w, "pc", &ignored);
        }
        describe_leave(w->v, list);
    }
    w->pos = end;
    if (p->doc_end >= PVM_DOC_EXPORTS && w->pos < w->end)
        pvm_walk_varint(w, "exports_end", &ignored);
}

static void describe_framed(struct pvm_walk *w, const char *length_name, const char *name)
{
    uint32_t size = 0;
    if (w->pos >= w->end || !pvm_walk_varint(w, length_name, &size)) return;
    if (size) pvm_walk_raw(w, name, size, NULL);
}

/* Describes the fields up to the place where parsing ended. */
void pvm_doc_describe(struct pvm_walk *w)
{
    const struct pvm_program *p = &w->m->program;
    uint32_t size = 0;
    w->end = (size_t)w->m->parsed;
    if (!w->end) return;
    pvm_walk_uint(w, "isa", 1, PENTA_UINT, pvm_isas[p->code.isa].name);
    pvm_walk_varint(w, "ro_data_size", &size);
    pvm_walk_varint(w, "rw_data_size", &size);
    pvm_walk_varint(w, "stack_size", &size);
    if (w->pos < w->end && p->ro_data.size) pvm_walk_raw(w, "ro_data", p->ro_data.size, NULL);
    if (w->pos < w->end && p->rw_data.size) pvm_walk_raw(w, "rw_data", p->rw_data.size, NULL);
    if (w->pos < w->end && pvm_walk_varint(w, "code_length", &size)) pvm_walk_insns(w);
    if (w->pos < w->end && pvm_walk_varint(w, "jump_table_length", &size)) {
        pvm_walk_table(w, p->code.table_count, p->code.table_entry);
        pvm_walk_uint(w, "jump_table_entry_size", 1, PENTA_UINT, NULL);
    }
    describe_framed(w, "bitmask_length", "bitmask");
    if (w->pos < w->end) describe_imports(w);
    if (w->pos < w->end) describe_exports(w);
    describe_framed(w, "debug_strings_length", "debug_strings");
    describe_framed(w, "debug_ranges_length", "debug_ranges");
    describe_framed(w, "debug_lines_length", "debug_lines");
}
