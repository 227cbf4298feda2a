/* Reads, writes and describes the polkavm dialect (PVM 1): sections with an id, after a header. */
#include <stdlib.h>
#include "pvm/format/container.h"

enum { HEADER = 13 };

/* The version byte is the number of the ISA in enum pvm_isa. */
enum pvm_isa pvm_isa_of_version(uint8_t version) { return (enum pvm_isa)version; }

static bool take_memory(struct pvm_parse *p, struct reader *r)
{
    struct pvm_program *program = &p->m->program;
    program->ro_size = pvm_take_varint(p, r);
    program->rw_size = pvm_take_varint(p, r);
    program->stack_size = pvm_take_varint(p, r);
    return !r->err->code;
}

static bool take_imports(struct pvm_parse *p, struct reader *r)
{
    struct pvm_program *program = &p->m->program;
    uint32_t count = pvm_take_varint(p, r);
    if (r->err->code) return false;
    if (count > reader_left(r) / 4) {
        error_at(r->err, PVM_IMPORT_TABLE, reader_at(r),
                 "the offsets of %u imports do not fit %zu bytes", (unsigned)count, reader_left(r));
        if (!module_pass_over(&p->m->base, r->err)) return false;
        count = (uint32_t)(reader_left(r) / 4);
    }
    const uint8_t *offsets = reader_take(r, (size_t)count * 4);
    penta_bytes names = reader_bytes(r, reader_left(r));
    program->imports = arena_alloc(&p->m->arena, count, sizeof *program->imports, p->fatal);
    if (!program->imports) return false;
    program->import_count = count;
    for (size_t i = 0; i < count; i++) {
        uint32_t from = bytes_get32(offsets + 4 * i);
        size_t to = i + 1 < count ? bytes_get32(offsets + 4 * i + 4) : names.size;
        if (from > to || to > names.size)
            program->imports[i].broken = true;
        else
            program->imports[i].name = bytes_slice(names, from, to - from);
    }
    return true;
}

/* Takes the exports. By PVM 1.2 an entry that does not decode ends the list and is no error. */
static bool take_exports(struct pvm_parse *p, struct reader *r)
{
    struct pvm_program *program = &p->m->program;
    penta_error ignored = {0};
    penta_error *damage = r->err;
    r->err = &ignored;
    uint32_t count = pvm_take_varint(p, r);
    size_t good = r->pos;
    if (count > reader_left(r) / 2) count = (uint32_t)(reader_left(r) / 2);
    program->exports = arena_alloc(&p->m->arena, count, sizeof *program->exports, p->fatal);
    for (uint32_t i = 0; program->exports && i < count; i++) {
        uint32_t pc = pvm_take_varint(p, r);
        penta_bytes name = reader_bytes(r, pvm_take_varint(p, r));
        if (ignored.code) break;
        good = r->pos;
        program->exports[program->export_count++] = (struct pvm_export){name, pc};
    }
    r->err = damage;
    r->pos = good;
    return program->exports != NULL;
}

static bool take_payload(struct pvm_parse *p, const struct pvm_section *s, struct reader *r)
{
    struct pvm_program *program = &p->m->program;
    switch (s->id) {
    case PVM_SECTION_MEMORY: p->m->memory_offset = s->payload_offset; return take_memory(p, r);
    case PVM_SECTION_RO_DATA:
        program->ro_data = s->payload;
        p->m->ro_offset = s->payload_offset;
        return true;
    case PVM_SECTION_RW_DATA:
        program->rw_data = s->payload;
        p->m->rw_offset = s->payload_offset;
        return true;
    case PVM_SECTION_IMPORTS: p->m->imports_offset = s->payload_offset; return take_imports(p, r);
    case PVM_SECTION_EXPORTS: p->m->exports_offset = s->payload_offset; return take_exports(p, r);
    case PVM_SECTION_CODE: return program->has_code = pvm_take_code(p, r, 4);
    case PVM_SECTION_DEBUG_STRINGS: program->debug_strings = s->payload; return true;
    case PVM_SECTION_DEBUG_LINES: program->debug_lines = s->payload; return true;
    case PVM_SECTION_DEBUG_RANGES: program->debug_ranges = s->payload; return true;
    default: return true;
    }
}

/* Sets s->raw unless the writer would make the same bytes from the fields. The numbers in a raw
 * section are forgotten, because it is written back as it is. Returns false when memory ran out. */
static bool check_raw(struct pvm_parse *p, struct pvm_section *s, uint32_t varint_next,
                      size_t varint_count)
{
    struct pvm_program *program = &p->m->program;
    bool plain = s->id == PVM_SECTION_RO_DATA || s->id == PVM_SECTION_RW_DATA ||
                 s->id == PVM_SECTION_CODE || s->id >= PVM_SECTION_OPTIONAL;
    s->raw = !s->payload.size;
    if (plain || s->raw) return true;
    struct writer again = {0};
    struct pvm_emit e = {.out = &again, .program = program, .varint_next = varint_next};
    pvm_section_write(&e, s->id);
    bool ok = writer_ok(&again, p->fatal);
    s->raw = !bytes_equal(writer_view(&again), s->payload);
    writer_free(&again);
    if (s->raw) {
        p->varint_next = varint_next;
        program->varint_count = varint_count;
    }
    return ok;
}

/* Tells whether a section is known. Known sections come in ascending order; every section after
 * an unknown one counts as unknown, too. */
static bool section_known(uint8_t id, unsigned *last)
{
    if (*last == UINT8_MAX || id <= *last || id > PVM_SECTION_DEBUG_RANGES ||
        (id > PVM_SECTION_CODE && id < PVM_SECTION_OPTIONAL))
        return false;
    *last = id;
    return true;
}

static bool take_section(struct pvm_parse *p, struct pvm_section *s, unsigned *last)
{
    struct reader *r = &p->in;
    s->offset = reader_at(r);
    s->id = (uint8_t)reader_uint(r, 1);
    bool known = section_known(s->id, last);
    if (!known && s->id < PVM_SECTION_OPTIONAL) {
        error_at(r->err, PVM_BAD_SECTION, s->offset,
                 s->id > PVM_SECTION_CODE ? "unexpected section %u"
                                          : "section %u is out of order or there twice",
                 s->id);
        if (!module_pass_over(&p->m->base, r->err)) return false;
    } else if (!known) {
        *last = UINT8_MAX;
    }
    s->extra = !known;
    uint64_t length_at = reader_at(r);
    uint32_t length = pvm_take_varint(p, r);
    if (r->err->code) return false;
    if (length > reader_left(r))
        return error_at(r->err, PVM_TRUNCATED, length_at,
                        "section %u has %u bytes, and %zu are left", s->id, (unsigned)length,
                        reader_left(r));
    s->payload_offset = reader_at(r);
    s->payload = reader_bytes(r, length);
    uint32_t varint_next = p->varint_next;
    size_t varint_count = p->m->program.varint_count;
    if (s->extra) return true;
    /* An empty section counts as missing. */
    struct reader payload = pvm_part(p, s->payload, s->payload_offset);
    if (s->payload.size && !take_payload(p, s, &payload)) return false;
    s->used = payload.pos;
    return check_raw(p, s, varint_next, varint_count);
}

/* Counts the sections, at most, before memory for them is allocated. */
static size_t count_sections(penta_bytes file)
{
    size_t count = 0, pos = HEADER;
    while (pos < file.size && file.data[pos]) {
        uint32_t length = 0;
        unsigned size = varint_prefix_read(bytes_slice(file, pos + 1, VARINT_BYTES), &length);
        count++;
        if (!size || length > file.size - pos - 1 - size) break;
        pos += 1 + size + length;
    }
    return count;
}

bool pvm_polkavm_parse(struct pvm_parse *p)
{
    struct pvm_program *program = &p->m->program;
    struct reader *r = &p->in;
    reader_take(r, 4);
    if (!r->err->code && memcmp(r->in.data, "PVM", 4))
        return error_at(r->err, PVM_BAD_MAGIC, 0, "the file does not start with 'PVM' and a zero");
    p->m->parsed = r->pos;
    uint8_t version = (uint8_t)reader_uint(r, 1);
    if (!r->err->code && version >= PVM_ISAS)
        return error_at(r->err, PVM_BAD_ISA, 4, "version byte %u; 0 to 3 are known", version);
    program->length = reader_uint(r, 8);
    if (r->err->code) return false;
    program->length_wrong = program->length != r->in.size;
    program->code.isa = pvm_isa_of_version(version);
    p->m->parsed = r->pos;
    size_t most = count_sections(r->in);
    program->sections = arena_alloc(&p->m->arena, most, sizeof *program->sections, p->fatal);
    if (!program->sections) return false;
    unsigned last = 0;
    while (reader_left(r) && r->in.data[r->pos]) {
        struct pvm_section *s = &program->sections[program->section_count];
        if (!take_section(p, s, &last)) return false;
        program->section_count++;
        p->m->parsed = r->pos;
    }
    if (!reader_take(r, 1)) {
        *r->err = (penta_error){0};
        return error_at(r->err, PVM_TRUNCATED, r->pos, "the file ends without its end section");
    }
    program->trailing = reader_bytes(r, reader_left(r));
    p->m->parsed = r->pos;
    return true;
}

static void write_imports(struct pvm_emit *e)
{
    const struct pvm_program *p = e->program;
    uint32_t at = 0;
    pvm_emit_varint(e, (uint32_t)p->import_count);
    for (size_t i = 0; i < p->import_count; i++) {
        writer_uint(e->out, at, 4);
        at += (uint32_t)p->imports[i].name.size;
    }
    for (size_t i = 0; i < p->import_count; i++)
        writer_bytes(e->out, p->imports[i].name.data, p->imports[i].name.size);
}

static void write_exports(struct pvm_emit *e)
{
    const struct pvm_program *p = e->program;
    pvm_emit_varint(e, (uint32_t)p->export_count);
    for (size_t i = 0; i < p->export_count; i++) {
        pvm_emit_varint(e, p->exports[i].pc);
        pvm_emit_framed(e, p->exports[i].name);
    }
}

void pvm_section_write(struct pvm_emit *e, uint8_t id)
{
    const struct pvm_program *p = e->program;
    switch (id) {
    case PVM_SECTION_MEMORY:
        if (!(p->ro_size | p->rw_size | p->stack_size)) break;
        pvm_emit_varint(e, p->ro_size);
        pvm_emit_varint(e, p->rw_size);
        pvm_emit_varint(e, p->stack_size);
        break;
    case PVM_SECTION_RO_DATA: writer_bytes(e->out, p->ro_data.data, p->ro_data.size); break;
    case PVM_SECTION_RW_DATA: writer_bytes(e->out, p->rw_data.data, p->rw_data.size); break;
    case PVM_SECTION_IMPORTS:
        if (p->import_count) write_imports(e);
        break;
    case PVM_SECTION_EXPORTS:
        if (p->export_count) write_exports(e);
        break;
    case PVM_SECTION_CODE:
        if (p->has_code) pvm_emit_code(e);
        break;
    case PVM_SECTION_DEBUG_STRINGS:
        writer_bytes(e->out, p->debug_strings.data, p->debug_strings.size);
        break;
    case PVM_SECTION_DEBUG_LINES:
        writer_bytes(e->out, p->debug_lines.data, p->debug_lines.size);
        break;
    case PVM_SECTION_DEBUG_RANGES:
        writer_bytes(e->out, p->debug_ranges.data, p->debug_ranges.size);
        break;
    }
}

static const struct pvm_section *kept_section(const struct pvm_program *p, uint8_t id)
{
    for (size_t i = 0; i < p->section_count; i++)
        if (p->sections[i].id == id && p->sections[i].raw && !p->sections[i].extra)
            return &p->sections[i];
    return NULL;
}

/* Writes a section. Its length is written after the payload but counts as the earlier number, so
 * the payload's numbers begin at varint_next + 1. */
static void write_section(struct pvm_emit *e, uint8_t id)
{
    const struct pvm_section *kept = kept_section(e->program, id);
    struct writer payload = {0};
    uint32_t own = e->varint_next;
    struct pvm_emit inner = {.out = &payload, .program = e->program, .varint_next = own + 1};
    if (kept)
        writer_bytes(&payload, kept->payload.data, kept->payload.size);
    else
        pvm_section_write(&inner, id);
    if (kept || payload.out.size) {
        writer_uint(e->out, id, 1);
        pvm_emit_framed(e, writer_view(&payload));
        e->varint_next = inner.varint_next;
    }
    e->out->failed |= payload.failed;
    writer_free(&payload);
}

void pvm_polkavm_write(struct pvm_emit *e)
{
    const struct pvm_program *p = e->program;
    size_t start = e->out->out.size;
    writer_bytes(e->out, "PVM", 4);
    writer_uint(e->out, p->code.isa, 1);
    writer_uint(e->out, 0, 8);
    for (uint8_t id = PVM_SECTION_MEMORY; id <= PVM_SECTION_CODE; id++) write_section(e, id);
    for (uint8_t id = PVM_SECTION_DEBUG_STRINGS; id <= PVM_SECTION_DEBUG_RANGES; id++)
        write_section(e, id);
    for (size_t i = 0; i < p->section_count; i++) {
        if (!p->sections[i].extra) continue;
        writer_uint(e->out, p->sections[i].id, 1);
        pvm_emit_framed(e, p->sections[i].payload);
    }
    writer_uint(e->out, PVM_SECTION_END, 1);
    writer_bytes(e->out, p->trailing.data, p->trailing.size);
    uint64_t length = e->out->out.size - start;
    writer_patch(e->out, start + 5, p->length_wrong ? p->length : length, 8);
}

static const char *section_name(const struct pvm_section *s)
{
    static const char *const names[] = {"end",     "memory",  "ro_data", "rw_data",
                                        "imports", "exports", "code"};
    if (s->extra) return "unknown_section";
    switch (s->id) {
    case PVM_SECTION_DEBUG_STRINGS: return "debug_strings";
    case PVM_SECTION_DEBUG_LINES: return "debug_lines";
    case PVM_SECTION_DEBUG_RANGES: return "debug_ranges";
    default: return names[s->id];
    }
}

static void describe_imports(struct pvm_walk *w)
{
    uint32_t count = 0;
    if (!pvm_walk_varint(w, "count", &count)) return;
    penta_node offsets = {
        .name = "offsets", .offset = w->pos, .size = (uint64_t)count * 4, .list = true};
    if (count && describe_enter(w->v, offsets)) {
        for (uint32_t i = 0; i < count; i++) pvm_walk_uint(w, "offset", 4, PENTA_UINT, NULL);
        describe_leave(w->v, offsets);
    } else {
        w->pos += (size_t)count * 4;
    }
    const struct pvm_program *p = &w->m->program;
    size_t size = w->end - w->pos, sum = 0;
    bool tiled = true; /* names are in order, without gaps or overlaps */
    for (size_t i = 0; i < p->import_count; i++) {
        penta_bytes name = p->imports[i].name;
        bool here = !name.size || name.data == w->file.data + w->pos + sum;
        tiled = tiled && here && !p->imports[i].broken;
        sum += name.size;
    }
    penta_node names = {.name = "names", .offset = w->pos, .size = size, .list = true};
    if (!tiled || sum != size) {
        if (size) pvm_walk_raw(w, "names", size, "not in order");
    } else if (size && describe_enter(w->v, names)) {
        for (size_t i = 0; i < p->import_count; i++)
            pvm_walk_text(w, "name", p->imports[i].name.size);
        describe_leave(w->v, names);
    } else {
        w->pos += size;
    }
}

static void describe_exports(struct pvm_walk *w)
{
    uint32_t count = 0;
    if (!pvm_walk_varint(w, "count", &count)) return;
    penta_node list = {.name = "exports", .offset = w->pos, .size = w->end - w->pos, .list = true};
    size_t known = w->m->program.export_count;
    if (!known || !describe_enter(w->v, list)) return;
    for (size_t i = 0; i < known; i++) {
        size_t size = w->m->program.exports[i].name.size;
        size_t at = (size_t)(w->m->program.exports[i].name.data - w->file.data) + size;
        penta_node item = {.name = "export", .offset = w->pos, .size = at - w->pos};
        uint32_t ignored;
        if (!describe_enter(w->v, item)) {
            w->pos = at;
            continue;
        }
        pvm_walk_varint(w, "pc", &ignored);
        pvm_walk_varint(w, "name_length", &ignored);
        pvm_walk_text(w, "name", size);
        describe_leave(w->v, item);
    }
    pvm_walk_rest(w, "rest", "ignored");
    describe_leave(w->v, list);
}

static void describe_payload(struct pvm_walk *w, const struct pvm_section *s)
{
    uint32_t ignored;
    if (s->extra) {
        pvm_walk_rest(w, "payload", "skipped");
        return;
    }
    switch (s->id) {
    case PVM_SECTION_MEMORY:
        if (pvm_walk_varint(w, "ro_data_size", &ignored) &&
            pvm_walk_varint(w, "rw_data_size", &ignored))
            pvm_walk_varint(w, "stack_size", &ignored);
        break;
    case PVM_SECTION_RO_DATA:
    case PVM_SECTION_RW_DATA: pvm_walk_rest(w, "data", NULL); break;
    case PVM_SECTION_IMPORTS: describe_imports(w); break;
    case PVM_SECTION_EXPORTS: describe_exports(w); break;
    case PVM_SECTION_CODE: pvm_walk_program(w); break;
    default: pvm_walk_debug(w, s->id); break;
    }
    pvm_walk_rest(w, "rest", "ignored");
}

static void describe_section(struct pvm_walk *w, const struct pvm_section *s)
{
    uint32_t ignored;
    size_t end = (size_t)s->payload_offset + s->payload.size;
    penta_node node = {.name = section_name(s), .offset = s->offset, .size = end - s->offset};
    w->pos = (size_t)s->offset;
    w->end = end;
    if (describe_enter(w->v, node)) {
        pvm_walk_uint(w, "id", 1, PENTA_UINT, NULL);
        pvm_walk_varint(w, "length", &ignored);
        if (s->payload.size) describe_payload(w, s);
        describe_leave(w->v, node);
    }
    w->pos = end;
}

void pvm_polkavm_describe(struct pvm_walk *w)
{
    const struct pvm_module *m = w->m;
    penta_node header = {.name = "header", .size = m->parsed < HEADER ? m->parsed : HEADER};
    if (header.size && describe_enter(w->v, header)) {
        pvm_walk_raw(w, "magic", 4, "PolkaVM");
        if (header.size == HEADER) {
            pvm_walk_uint(w, "isa", 1, PENTA_UINT, pvm_isas[m->program.code.isa].name);
            pvm_walk_uint(w, "length", 8, PENTA_UINT, NULL);
        }
        describe_leave(w->v, header);
    }
    w->pos = (size_t)header.size;
    for (size_t i = 0; i < m->program.section_count; i++)
        describe_section(w, &m->program.sections[i]);
    if (m->base.damage.code) return;
    w->end = w->file.size;
    pvm_walk_uint(w, "end", 1, PENTA_UINT, NULL);
    pvm_walk_rest(w, "trailing", "ignored");
}
