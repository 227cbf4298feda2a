/* Converts a program from one dialect to another (PVM 18). polkavm and jam store code the same
 * way, so its bytes stay. To and from doc every instruction is written anew, and all offsets
 * change. */
#include <stdlib.h>
#include "pvm/code/assembly.h"
#include "base/array.h"
#include "pvm/format/debug_info.h"
#include "pvm/format/functions.h"

enum { PADDED_JUMP = 5, PADDING_MAX = 1 << 28 };

struct conversion {
    const struct pvm_program *from;
    const struct pvm_module *m;
    struct findings *f;
    struct pvm_program to;
    struct arena arena;
    struct pvm_assembly a;       /* the new code, when code is written anew */
    struct writer lines, ranges; /* the debug sections of the new code */
    penta_error err;
};

static void convert_lost(struct conversion *c, size_t count, const char *what)
{
    if (count)
        findings_add(c->f, PVM_LEFT_OUT, 0, NULL, "%s: %zu left out, %s has no place for them",
                     what, count, pvm_dialect_names[c->to.dialect]);
}

/* Tells whether a jump may go to pc in the old program. */
static bool block_starts(const struct pvm_code *code, uint32_t pc, bool falls)
{
    if (!falls) return true;
    return code->doc && pvm_bit(code->mask.data, pc);
}

static bool add_insn(struct conversion *c, struct pvm_insn in, int64_t *item_of)
{
    struct pvm_item item = {.in = in, .label = -1, .offset = c->m->code_offset + in.pc};
    if (item_of) *item_of = (int64_t)c->a.count;
    item.in.length = 0;
    return pvm_add_item(&c->a, item);
}

/* Makes each instruction an item of the assembly. item_of[old pc] is the index of the item plus
 * 1. */
static bool take_items(struct conversion *c, uint32_t *item_of)
{
    const struct pvm_code *code = &c->from->code;
    struct pvm_insn in;
    bool falls = false;
    for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
        pvm_decode(code, pc, &in);
        if (in.op == PVM_OP_invalid)
            return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->code_offset + pc,
                            "there is no instruction at pc %u to be written in another dialect",
                            (unsigned)pc);
        if (pvm_ops[in.op].number[c->to.code.isa] < 0)
            return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->code_offset + pc,
                            "%s has no %s, at pc %u", pvm_isas[c->to.code.isa].name,
                            pvm_ops[in.op].name, (unsigned)pc);
        struct pvm_insn fall = {.op = PVM_OP_fallthrough, .pc = pc};
        if (falls && block_starts(code, pc, true) && !c->to.code.doc && !add_insn(c, fall, NULL))
            return false;
        item_of[pc] = (uint32_t)c->a.count + 1;
        if (!add_insn(c, in, NULL)) return false;
        falls = !pvm_ends_block(in.op);
    }
    return true;
}

/* Gives each item a label, so that targets can name items. */
static bool name_items(struct conversion *c, const uint32_t *item_of)
{
    struct pvm_assembly *a = &c->a;
    const struct pvm_code *code = &c->from->code;
    a->labels.items = calloc(a->count + 1, sizeof *a->labels.items);
    if (!a->labels.items) return error_at(&c->err, BASE_MEMORY, 0, "no memory for the labels");
    a->labels.count = a->labels.capacity = a->count;
    for (size_t i = 0; i < a->count; i++)
        a->labels.items[i] = (struct label){.value = i, .defined = true};
    for (size_t i = 0; i < a->count; i++) {
        struct pvm_item *item = &a->items[i];
        uint32_t to = item->in.target;
        if (!pvm_has_target(item->in.op)) continue;
        if (to < code->bytes.size && item_of[to]) item->label = item_of[to] - 1;
        /* A jump to the old target traps, so a jump to the new one must trap, too. */
        else
            item->in.target = UINT32_MAX;
    }
    return true;
}

static bool new_table(struct conversion *c, const uint32_t *item_of)
{
    const struct pvm_code *code = &c->from->code;
    struct pvm_assembly *a = &c->a;
    for (uint32_t i = 0; code->table_entry && i < code->table_count; i++) {
        uint64_t pc = UINT64_MAX;
        struct pvm_reference entry = {.label = -1};
        bool real = pvm_table_entry(code, i, &pc) && pc < code->bytes.size && item_of[pc] &&
                    pvm_is_target(code, (uint32_t)pc);
        if (real)
            entry.label = item_of[pc] - 1;
        else if (!c->to.code.doc)
            /* The new entry is past the end of the code, so that a jump there traps, as before. */
            entry.value = PVM_CODE_MAX;
        else
            entry.value = c->to.code.isa == PVM_LATEST32 ? UINT32_C(0x0376ba8a)
                                                         : UINT64_C(0xfa6f29540376ba8a);
        if (!ARRAY_GROW(a->table, a->table_capacity, a->table_count, &c->err)) return false;
        a->table[a->table_count++] = entry;
    }
    return true;
}

static bool new_names(struct conversion *c, const uint32_t *item_of)
{
    const struct pvm_code *code = &c->from->code;
    for (size_t i = 0; i < c->to.export_count; i++) {
        struct pvm_export *e = &c->to.exports[i];
        if (e->pc >= code->bytes.size || !item_of[e->pc])
            return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->exports_offset,
                            "export %zu is not at an instruction", i);
        e->pc = c->a.items[item_of[e->pc] - 1].in.pc;
    }
    for (size_t i = 0; i < c->to.import_count; i++) c->to.imports[i].pc = 0;
    /* The loop goes backwards, so that the first use stays. */
    for (size_t i = c->a.count; i-- > 0 && c->to.code.doc;) {
        const struct pvm_insn *in = &c->a.items[i].in;
        if (in->op == PVM_OP_ecalli && (uint32_t)in->imm1 < c->to.import_count)
            c->to.imports[(uint32_t)in->imm1].pc = in->pc;
    }
    return true;
}

static size_t debug_bytes(const struct pvm_program *p)
{
    return p->debug_strings.size + p->debug_lines.size + p->debug_ranges.size;
}

static void drop_debug(struct conversion *c, const char *why)
{
    size_t bytes = debug_bytes(&c->to);
    if (!bytes) return;
    findings_add(c->f, PVM_LEFT_OUT, 0, NULL, "debug sections: %zu bytes left out, %s", bytes, why);
    c->to.debug_strings = c->to.debug_lines = c->to.debug_ranges = (penta_bytes){NULL, 0};
}

/* Replaces the indices of items in item_of by new pcs, for all old pcs, and moves the debug
 * sections to the new pcs. */
static void new_lines(struct conversion *c, uint32_t *item_of)
{
    if (!debug_bytes(&c->to) || c->to.dialect == PVM_JAM) return;
    uint32_t pc = (uint32_t)c->a.program.code.bytes.size;
    for (size_t old = c->from->code.bytes.size + 1; old-- > 0;) {
        if (item_of[old]) pc = c->a.items[item_of[old] - 1].in.pc;
        item_of[old] = pc;
    }
    if (!pvm_debug_move(c->from, item_of, &c->lines, &c->ranges)) {
        drop_debug(c, "they are damaged");
        return;
    }
    c->to.debug_lines = c->to.debug_lines.size ? writer_view(&c->lines) : c->to.debug_lines;
    c->to.debug_ranges = writer_view(&c->ranges);
}

static bool convert_rewrite(struct conversion *c)
{
    struct source none = {.err = &c->err};
    uint32_t *item_of = calloc(c->from->code.bytes.size + 1, sizeof *item_of);
    if (!item_of) return error_at(&c->err, BASE_MEMORY, 0, "no memory for the code");
    c->a.s = &none;
    c->a.program.code = (struct pvm_code){.isa = c->to.code.isa, .doc = c->to.code.doc};
    c->a.program.dialect = c->to.dialect;
    c->a.blocks_only = true;
    bool ok = take_items(c, item_of) && name_items(c, item_of) && new_table(c, item_of) &&
              pvm_place_code(&c->a, &c->err) && new_names(c, item_of);
    c->to.code = c->a.program.code;
    if (ok) new_lines(c, item_of);
    free(item_of);
    c->a.s = NULL;
    return ok;
}

/* Adds zeros after the stored data up to the size of its memory. */
static bool convert_pad(struct conversion *c, penta_bytes *data, uint32_t size)
{
    if (data->size >= size) return true;
    if (size > PADDING_MAX)
        return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->memory_offset,
                        "%u bytes of zeros would have to be stored", (unsigned)size);
    uint8_t *bytes = arena_alloc(&c->arena, size, 1, &c->err);
    if (!bytes) return false;
    bytes_copy(bytes, *data);
    *data = (penta_bytes){bytes, size};
    return true;
}

/* Drops zeros at the end of the data. Memory after the data is zero, so they need not be stored. */
static void convert_trim(penta_bytes *data)
{
    while (data->size && !data->data[data->size - 1]) data->size--;
}

static uint32_t convert_pages(uint64_t bytes)
{
    return (uint32_t)((bytes + PVM_PAGE - 1) / PVM_PAGE);
}

static bool data_to_jam(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    if (c->from->dialect == PVM_JAM) return true;
    p->spi = p->ro_size || p->rw_size || p->stack_size || p->export_count || p->import_count;
    uint32_t more = convert_pages(p->rw_size) - convert_pages(p->rw_data.size);
    p->heap_pages = more;
    if (more >> 16 || p->ro_size >> 24 || p->rw_data.size >> 24 || p->stack_size >> 24)
        return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->memory_offset,
                        "a standard program has at most 16 MiB of data and 65535 heap pages");
    return convert_pad(c, &p->ro_data, p->ro_size);
}

static void data_from_jam(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    if (c->from->dialect != PVM_JAM || c->to.dialect == PVM_JAM) return;
    if (p->heap_pages) p->rw_size = (convert_pages(p->rw_size) + p->heap_pages) * PVM_PAGE;
    p->heap_pages = 0;
    convert_lost(c, p->metadata.size, "bytes of metadata");
    p->has_metadata = false;
}

/* Puts a jump of five bytes for each export before the code. Offsets in jumps are relative, so
 * the code itself does not change. */
static bool add_dispatch(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    struct pvm_code *code = &p->code;
    uint32_t shift = PADDED_JUMP * (uint32_t)p->export_count;
    size_t size = code->bytes.size + shift;
    uint8_t *bytes = arena_alloc(&c->arena, size, 1, &c->err);
    uint8_t *mask = arena_alloc(&c->arena, (size + 7) / 8, 1, &c->err);
    uint8_t *table = arena_alloc(&c->arena, code->table_count, 4, &c->err);
    if (!bytes || !mask || !table) return false;
    bytes_copy(bytes + shift, code->bytes);
    for (uint32_t i = 0; i < p->export_count; i++) {
        uint32_t at = PADDED_JUMP * i;
        bytes[at] = (uint8_t)pvm_ops[PVM_OP_jump].number[code->isa];
        bytes_put32(bytes + at + 1, p->exports[i].pc + shift - at);
        mask[at / 8] |= (uint8_t)(1u << at % 8);
        p->exports[i].pc = at;
    }
    for (uint32_t pc = 0; pc < code->bytes.size; pc++)
        if (pvm_bit(code->mask.data, pc))
            mask[(pc + shift) / 8] |= (uint8_t)(1u << (pc + shift) % 8);
    for (uint32_t i = 0; code->table_entry && i < code->table_count; i++) {
        uint64_t pc =
            bytes_uint(code->table.data + (size_t)i * code->table_entry, code->table_entry, false);
        bytes_put32(table + 4 * (size_t)i, (uint32_t)(pc + shift));
    }
    code->bytes = (penta_bytes){bytes, size};
    code->mask = (penta_bytes){mask, (size + 7) / 8};
    code->starts = mask;
    if (code->table_entry) {
        code->table = (penta_bytes){table, (size_t)code->table_count * 4};
        code->table_entry = 4;
    }
    return true;
}

/* A jam program has at most three exports: refine, accumulate and on-transfer. */
enum { JAM_EXPORTS = 3 };

/* Sorts the exports in the order of the entry points. */
static bool order_entries(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    penta_bytes names[JAM_EXPORTS];
    struct pvm_export old[JAM_EXPORTS];
    size_t order[JAM_EXPORTS];
    for (size_t i = 0; i < p->export_count; i++) {
        old[i] = p->exports[i];
        names[i] = old[i].name;
    }
    if (!pvm_jam_order(names, p->export_count, order))
        return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->exports_offset,
                        "export '%s' would not be at pc %u", pvm_jam_entry_names[1], PADDED_JUMP) ||
               error_note(&c->err, "it takes the place of '%s', which is not exported",
                          pvm_jam_entry_names[0]);
    for (size_t i = 0; i < p->export_count; i++) p->exports[i] = old[order[i]];
    return true;
}

/* Tells whether every export is at an entry point already, and at its own entry point when it
 * has the name of one. */
static bool exports_at_entries(const struct pvm_program *p)
{
    for (uint32_t i = 0; i < p->export_count; i++) {
        const struct pvm_export *e = &p->exports[i];
        uint32_t entry = i;
        for (uint32_t k = 0; k < PVM_JAM_ENTRIES; k++)
            if (bytes_equal(e->name, bytes_of(pvm_jam_entry_names[k]))) entry = k;
        if (e->pc != PADDED_JUMP * entry) return false;
    }
    return p->export_count <= JAM_EXPORTS;
}

static bool entries_to_jam(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    if (c->from->dialect == PVM_JAM) return true;
    convert_lost(c, p->import_count, "import names");
    convert_lost(c, p->export_count, "export names");
    if (exports_at_entries(p)) return true;
    if (p->export_count > JAM_EXPORTS)
        return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->exports_offset,
                        "%zu exports; jam programs start at pc 0, 5 or 10", p->export_count);
    return order_entries(c) && add_dispatch(c);
}

static bool exports_from_jam(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    if (c->from->dialect != PVM_JAM || p->dialect == PVM_JAM || !c->from->spi) return true;
    p->exports = arena_alloc(&c->arena, 2, sizeof *p->exports, &c->err);
    for (uint32_t i = 0; p->exports && i < 2; i++)
        p->export_count += pvm_jam_entry(c->from, i, &p->exports[p->export_count]);
    return p->exports != NULL;
}

/* Makes the entries of the jump table at most four bytes wide, as polkavm has them. A larger pc
 * is outside of the code, so it traps before and after. */
static bool narrow_table(struct conversion *c)
{
    struct pvm_code *code = &c->to.code;
    if (!code->table_count) code->table_entry = 0;
    if (code->table_entry <= 4) return true;
    uint8_t *table = arena_alloc(&c->arena, code->table_count, 4, &c->err);
    for (uint32_t i = 0; table && i < code->table_count; i++) {
        uint64_t pc =
            bytes_uint(code->table.data + (size_t)i * code->table_entry, code->table_entry, false);
        bytes_put32(table + 4 * (size_t)i, pc > UINT32_MAX ? UINT32_MAX : (uint32_t)pc);
    }
    code->table = (penta_bytes){table, (size_t)code->table_count * 4};
    code->table_entry = 4;
    return table != NULL;
}

static bool choose_isa(struct conversion *c)
{
    enum pvm_isa from = c->from->code.isa;
    c->to.code.isa = from;
    if (c->to.dialect == PVM_DOC) c->to.code.isa = from == PVM_LATEST32 ? from : PVM_LATEST64;
    if (c->to.dialect == PVM_JAM && from == PVM_LATEST32)
        return error_at(&c->err, PVM_INEXPRESSIBLE, 0,
                        "jam programs have 64-bit registers, this is %s", pvm_isas[from].name);
    if (c->to.dialect == PVM_JAM && from == PVM_REVIVE_V1) c->to.code.isa = PVM_LATEST64;
    return true;
}

static bool check_names(struct conversion *c)
{
    for (size_t i = 0; i < c->to.import_count; i++)
        if (!pvm_doc_name_ok(c->to.imports[i].name))
            return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->imports_offset,
                            "the name of import %zu is not readable text", i);
    for (size_t i = 0; i < c->to.export_count; i++)
        if (!pvm_doc_name_ok(c->to.exports[i].name))
            return error_at(&c->err, PVM_INEXPRESSIBLE, c->m->exports_offset,
                            "the name of export %zu is not readable text", i);
    return true;
}

/* Keeps the unknown sections as they are. The known ones are written from the fields of the
 * program. */
static bool convert_keep_extra(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    size_t extra = 0;
    p->sections = arena_alloc(&c->arena, c->from->section_count, sizeof *p->sections, &c->err);
    if (!p->sections) return false;
    for (size_t i = 0; i < c->from->section_count; i++)
        if (c->from->sections[i].extra && c->from->sections[i].id >= PVM_SECTION_OPTIONAL)
            p->sections[extra++] = c->from->sections[i];
    p->section_count = p->dialect == PVM_POLKAVM ? extra : 0;
    if (p->dialect != PVM_POLKAVM) convert_lost(c, extra, "unknown sections");
    return true;
}

/* Drops what only the old file has: long numbers, a wrong length, trailing bytes. */
static void drop_oddities(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    p->varint_count = 0;
    p->length_wrong = false;
    p->trailing = (penta_bytes){NULL, 0};
    if (p->code.table_count && !p->code.table_entry) p->code.table_count = 0;
    if (p->dialect == PVM_JAM) drop_debug(c, "jam has no place for them");
}

static bool copy_names(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    p->imports = arena_alloc(&c->arena, p->import_count, sizeof *p->imports, &c->err);
    p->exports = arena_alloc(&c->arena, p->export_count, sizeof *p->exports, &c->err);
    if (!p->imports || !p->exports) return false;
    if (p->import_count) memcpy(p->imports, c->from->imports, p->import_count * sizeof *p->imports);
    if (p->export_count) memcpy(p->exports, c->from->exports, p->export_count * sizeof *p->exports);
    return true;
}

static bool convert_blob(struct conversion *c)
{
    struct pvm_program *p = &c->to;
    bool from_doc = c->from->dialect == PVM_DOC, to_doc = p->dialect == PVM_DOC;
    drop_oddities(c);
    if (!convert_keep_extra(c) || !copy_names(c) || !choose_isa(c)) return false;
    data_from_jam(c);
    p->code.doc = to_doc;
    if (!exports_from_jam(c)) return false;
    if (to_doc && !check_names(c)) return false;
    if ((from_doc || to_doc) && !convert_rewrite(c)) return false;
    p->doc_end = pvm_doc_shortest_end(p);
    if (to_doc)
        return convert_pad(c, &p->ro_data, p->ro_size) && convert_pad(c, &p->rw_data, p->rw_size);
    if (from_doc) convert_trim(&p->ro_data);
    if (from_doc) convert_trim(&p->rw_data);
    if (p->dialect == PVM_JAM) return entries_to_jam(c) && data_to_jam(c);
    return narrow_table(c);
}

static void convert_keep_first(void *user, const penta_error *finding)
{
    if (breaks_container(rule_find(pvm_rules, finding->code), finding))
        error_keep_first(user, finding);
}

/* Refuses a container that no machine would open. */
static bool convert_sound(struct conversion *c)
{
    struct findings f = {.rules = pvm_rules, .report = convert_keep_first, .user = &c->err};
    f.lenient = module_lenient(&c->m->base);
    pvm_verify(&c->m->base, &f);
    return !c->err.code;
}

bool pvm_convert(const penta_module *module, const penta_option *options, size_t count,
                 struct writer *out, struct findings *f)
{
    const char *name = option_text(options, count, "to");
    struct conversion c = {.m = pvm_module(module), .f = f};
    c.from = &c.m->program;
    c.to = *c.from;
    if (option_text(options, count, "strip"))
        c.to.debug_strings = c.to.debug_lines = c.to.debug_ranges = (penta_bytes){NULL, 0};
    if (!name) {
        findings_add(f, BASE_OPTION_VALUE, 0, "option 'to' is polkavm, doc or jam",
                     "no dialect to convert to is given");
        return false;
    }
    bool ok = pvm_dialect_of(name, &c.to.dialect, &c.err) && convert_sound(&c) &&
              convert_blob(&c) && pvm_write(&c.to, out, &c.err);
    if (!ok) findings_pass(f, &c.err);
    pvm_assembly_free(&c.a);
    writer_free(&c.lines);
    writer_free(&c.ranges);
    arena_free(&c.arena);
    return ok;
}
