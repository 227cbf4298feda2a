/* Runs the whole linker in order: reads the options and the objects, calls each part, makes the
 * program, and reports the findings. */
#include "pvm/link/link.h"
#include "base/archive.h"
#include "base/number.h"
#include "base/options.h"
#include "pvm/format/functions.h"
#include "pvm/link/optimise/optimise.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { STACK_DEFAULT = 8192 };

/* The functions below report findings. */

static void link_report_list(struct link *l, uint32_t code, const char *object, uint64_t offset,
                             const char *note, const char *format, va_list args)
{
    char message[sizeof((penta_error *)NULL)->message];
    vsnprintf(message, sizeof message, format, args);
    *l->where = object;
    findings_add(l->findings, code, offset, note, "%s", message);
    *l->where = NULL;
}

void link_report(struct link *l, uint32_t code, uint32_t section, uint64_t offset, const char *note,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct link_section *s = section == LINK_NONE ? NULL : &l->sections[section];
    link_report_list(l, code, s ? l->objects[s->object].name : NULL,
                     s ? s->file_offset + offset : 0, note, format, args);
    va_end(args);
}

void link_report_object(struct link *l, uint32_t code, uint32_t object, uint64_t file_offset,
                        const char *note, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    link_report_list(l, code, l->objects[object].name, file_offset, note, format, args);
    va_end(args);
}

const char *link_where(struct link *l, uint32_t section, uint64_t offset, char *text, size_t size)
{
    const struct link_section *s = &l->sections[section];
    struct source_place places[LINK_FRAMES];
    if (s->use != LINK_CODE) {
        snprintf(text, size, "in section %.40s at 0x%llx", s->name, (unsigned long long)offset);
        return text;
    }
    const struct link_symbol *f = link_function_at(l, section, offset);
    bool linked = !l->objects[s->object].relocatable;
    int n = snprintf(text, size, "in %.40s at 0x%llx", f ? f->name : s->name,
                     (unsigned long long)(linked ? s->address + offset : offset));
    unsigned depth = link_source_at(l, s->object, s->address + offset, places);
    if (depth && places[depth - 1].line && n > 0 && (size_t)n < size) {
        const struct source_place *at = &places[depth - 1];
        const char *slash = strrchr(at->file, '/');
        snprintf(text + n, size - (size_t)n, ", %.30s:%u", slash ? slash + 1 : at->file,
                 (unsigned)at->line);
    }
    return text;
}

/* The functions below read the options. */

static bool option_bad(struct link *l, const char *key, const char *value, const char *note)
{
    link_report(l, BASE_OPTION_VALUE, LINK_NONE, 0, note, "%s: '%.60s'", key, value);
    return false;
}

static bool read_metadata(struct link *l, const char *text)
{
    size_t size = 0;
    if (!text) return true;
    if (!l->to_jam) return option_bad(l, "metadata", text, "only standard programs of jam have it");
    uint8_t *bytes = hex_parse((penta_bytes){(const uint8_t *)text, strlen(text)}, &size, &l->err);
    if (!bytes) return option_bad(l, "metadata", text, "bytes in hex");
    l->metadata = (penta_bytes){arena_copy(&l->arena, (penta_bytes){bytes, size}, &l->err), size};
    free(bytes);
    return l->metadata.data != NULL;
}

static bool read_options(struct link *l, const penta_option *options, size_t count)
{
    penta_error err = {0};
    const char *isa = option_text(options, count, "isa"), *to = option_text(options, count, "to");
    const char *level = option_text(options, count, "optimize");
    bool ok = options_check(options, count, pvm_driver.options, OPTION_LINK, &err) &&
              option_uint(options, count, "stack", &l->stack_min, &err) &&
              (!isa || pvm_isa_of(isa, &l->isa, &err));
    if (!ok) {
        findings_pass(l->findings, &err);
        return false;
    }
    l->isa_given = isa != NULL;
    l->strip = option_text(options, count, "strip") != NULL;
    l->dispatch = option_text(options, count, "dispatch");
    if (to && strcmp(to, "polkavm") && strcmp(to, "jam"))
        return option_bad(l, "to", to, "polkavm or jam");
    l->to_jam = to && !strcmp(to, "jam");
    if (level && (level[0] < '0' || level[0] > '2' || level[1]))
        return option_bad(l, "optimize", level, "0, 1 or 2");
    l->level = level ? (unsigned)(level[0] - '0') : 2;
    return read_metadata(l, option_text(options, count, "metadata"));
}

/* The functions below read the input files. */

static bool link_read_member(void *user, const char *archive, penta_bytes name, penta_bytes bytes)
{
    struct link *l = user;
    char *text = arena_alloc(&l->arena, strlen(archive) + name.size + 3, 1, &l->err);
    if (!text) return false;
    archive_member_name(text, archive, name);
    return link_read_elf(l, text, bytes, true);
}

static bool read_objects(struct link *l, const penta_object *objects, size_t count)
{
    bool ok = true;
    for (size_t i = 0; i < count && !l->err.code; i++) {
        penta_error err = {0};
        if (!archive_probe(objects[i].bytes)) {
            ok &= link_read_elf(l, objects[i].name, objects[i].bytes, objects[i].member);
        } else if (!archive_each(objects[i].bytes, objects[i].name, link_read_member, l, &err)) {
            ok = false;
            *l->where = objects[i].name;
            if (err.code) findings_pass(l->findings, &err);
            *l->where = NULL;
        }
    }
    if (ok && !l->err.code && !l->object_count) {
        link_report(l, PVM_LINK_BAD_ELF, LINK_NONE, 0, NULL, "there is nothing to link");
        return false;
    }
    return ok && !l->err.code;
}

/* Finds the instruction set. All objects must have one word size, and the word size must fit the
 * ISA. */
static bool choose_isa(struct link *l)
{
    for (size_t i = 0; i < l->object_count; i++) {
        unsigned bits = l->objects[i].is64 ? 64 : 32;
        if (!l->bits) l->bits = bits;
        if (l->bits == bits || l->objects[i].lazy) continue;
        link_report_object(
            l, PVM_LINK_MACHINE, (uint32_t)i, 4, "compile all of them for one word size",
            "this object has %u-bit words, %.50s has %u", bits, l->objects[0].name, l->bits);
        return false;
    }
    if (!l->isa_given) l->isa = l->bits == 32 ? PVM_LATEST32 : PVM_LATEST64;
    if (pvm_isas[l->isa].bits != l->bits) {
        link_report(l, PVM_LINK_MACHINE, LINK_NONE, 0, NULL,
                    "the objects have %u-bit words, %s has %u", l->bits, pvm_isas[l->isa].name,
                    pvm_isas[l->isa].bits);
        return false;
    }
    if (l->to_jam && l->bits == 32) {
        link_report(l, PVM_INEXPRESSIBLE, LINK_NONE, 0, NULL,
                    "jam programs have 64-bit registers, the objects 32-bit words");
        return false;
    }
    return true;
}

/* The functions below make the program. */

static bool sequence_blocks(struct link *l)
{
    l->sequence = arena_alloc(&l->arena, l->block_count, sizeof *l->sequence, &l->err);
    if (l->sequence && l->level >= 2) return opt_layout(l);
    for (uint32_t i = 0; l->sequence && i < l->block_count; i++)
        if (l->blocks[i].reached) l->sequence[l->sequence_count++] = i;
    return l->sequence != NULL;
}

static int exports_by_pc(const void *a, const void *b)
{
    const struct pvm_export *x = a, *y = b;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static bool exports_and_imports_name(struct link *l, struct pvm_program *p)
{
    uint32_t imports = 0;
    for (size_t i = 0; i < l->import_count; i++)
        if (l->imports[i].used && l->imports[i].index >= imports) imports = l->imports[i].index + 1;
    p->imports = arena_alloc(&l->arena, imports, sizeof *p->imports, &l->err);
    p->exports = arena_alloc(&l->arena, l->export_count, sizeof *p->exports, &l->err);
    if (!p->imports || !p->exports) return false;
    p->import_count = imports;
    for (size_t i = 0; i < l->import_count; i++)
        if (l->imports[i].used) p->imports[l->imports[i].index].name = l->imports[i].name;
    p->export_count = l->export_count;
    for (size_t i = 0; i < l->export_count; i++)
        p->exports[i] = (struct pvm_export){l->exports[i].name, l->blocks[l->exports[i].block].pc};
    qsort(p->exports, p->export_count, sizeof *p->exports, exports_by_pc);
    return true;
}

static uint32_t link_pages(uint64_t bytes) { return (uint32_t)((bytes + PVM_PAGE - 1) / PVM_PAGE); }

/* Makes a standard program. Its fields are shorter, and its read-only memory has no zeros after
 * the data. */
static bool program_make_jam(struct link *l, struct pvm_program *p)
{
    p->dialect = PVM_JAM;
    p->spi = true;
    p->has_metadata = l->metadata.data != NULL;
    p->metadata = l->metadata;
    p->heap_pages = link_pages(l->rw_size) - link_pages(p->rw_data.size);
    if (p->heap_pages >> 16 || p->ro_size >> 24 || p->rw_data.size >> 24 || p->stack_size >> 24) {
        link_report(
            l, PVM_INEXPRESSIBLE, LINK_NONE, 0, NULL,
            "a standard program has at most 16 MiB of data and stack, and 65535 heap pages");
        return false;
    }
    writer_fill(&l->ro_data, 0, p->ro_size - l->ro_data.out.size);
    p->ro_data = writer_view(&l->ro_data);
    return writer_ok(&l->ro_data, &l->err);
}

static bool write_program(struct link *l, struct writer *out)
{
    struct pvm_program p = {.dialect = PVM_POLKAVM,
                            .ro_size = l->ro_size,
                            .rw_size = l->rw_size,
                            .stack_size = l->stack_size,
                            .ro_data = writer_view(&l->ro_data),
                            .rw_data = writer_view(&l->rw_data),
                            .has_code = true,
                            .debug_strings = writer_view(&l->debug_strings),
                            .debug_lines = writer_view(&l->debug_lines),
                            .debug_ranges = writer_view(&l->debug_ranges)};
    p.code = (struct pvm_code){.isa = l->isa,
                               .bytes = writer_view(&l->code),
                               .mask = writer_view(&l->mask),
                               .starts = l->mask.out.data,
                               .table = writer_view(&l->table),
                               .table_count = l->table_count,
                               .table_entry = l->table_entry};
    return exports_and_imports_name(l, &p) && (!l->to_jam || program_make_jam(l, &p)) &&
           pvm_write(&p, out, &l->err);
}

static void write_map(const struct link *l, struct writer *map)
{
    static const char *const uses[] = {"", "code", "ro", "rw", "zero", "", ""};
    writer_text(map, "sections:\n");
    for (size_t i = 0; i < l->order_count; i++) {
        const struct link_section *s = &l->sections[l->order[i]];
        if (!s->reached || !s->size) continue;
        writer_print(map, "  0x%08x %8llu %-5s %s  %s\n", (unsigned)s->placed,
                     (unsigned long long)s->size, uses[s->use], s->name,
                     l->objects[s->object].name);
    }
    writer_text(map, "functions:\n");
    for (size_t i = 0; i < l->object_count; i++)
        for (size_t k = 0; k < l->objects[i].symbol_count && !l->objects[i].lazy; k++) {
            const struct link_symbol *s = &l->objects[i].symbols[k];
            if (s->place != LINK_DEFINED || s->section_symbol || !*s->name || *s->name == '.' ||
                l->sections[s->section].use != LINK_CODE)
                continue;
            uint32_t block = link_block_at(l, (struct link_place){s->section, (int64_t)s->value});
            if (block == LINK_NONE || !l->blocks[block].reached) continue;
            writer_print(map, "  %8u %s  %s\n", (unsigned)l->blocks[block].pc, s->name,
                         l->objects[i].name);
        }
    writer_text(map, "data:\n");
    for (size_t i = 0; i < l->object_count; i++)
        for (size_t k = 0; k < l->objects[i].symbol_count && !l->objects[i].lazy; k++) {
            const struct link_symbol *s = &l->objects[i].symbols[k];
            if (s->place != LINK_DEFINED || s->section_symbol || !*s->name || *s->name == '.' ||
                !l->sections[s->section].reached)
                continue;
            writer_print(map, "  0x%08x %8llu %s  %s\n",
                         (unsigned)(l->sections[s->section].placed + (uint32_t)s->value),
                         (unsigned long long)s->size, s->name, l->objects[i].name);
        }
}

/* Chooses the jumps at the start of the code. JAM programs are entered at fixed offsets, so
 * every export gets a jump there: an export that is called at an entry point has the jump at
 * that entry point. */
static bool choose_dispatch(struct link *l)
{
    struct writer names = {0};
    if (!l->to_jam || l->dispatch) return true;
    penta_bytes *given = arena_alloc(&l->arena, l->export_count, sizeof *given, &l->err);
    size_t *order = arena_alloc(&l->arena, l->export_count, sizeof *order, &l->err);
    if (!given || !order) return false;
    for (size_t i = 0; i < l->export_count; i++) given[i] = l->exports[i].name;
    if (!pvm_jam_order(given, l->export_count, order)) {
        link_report(l, PVM_LINK_NO_EXPORTS, LINK_NONE, 0, "option 'dispatch' says what is where",
                    "accumulate is to be at pc 5, and nothing is exported for pc 0");
        return false;
    }
    for (size_t i = 0; i < l->export_count; i++) {
        if (i) writer_char(&names, ',');
        writer_bytes(&names, given[order[i]].data, given[order[i]].size);
    }
    bool ok = writer_ok(&names, &l->err);
    if (ok) l->dispatch = arena_copy(&l->arena, writer_view(&names), &l->err);
    writer_free(&names);
    return ok && l->dispatch;
}

static bool link_all(struct link *l, const penta_object *objects, size_t count, struct writer *out)
{
    size_t errors = l->findings->errors;
    if (!read_objects(l, objects, count) || !choose_isa(l) || !link_resolve(l) ||
        !link_classify(l) || !link_order(l))
        return false;
    link_provide(l);
    if (l->findings->errors > errors) return false;
    bool ok = link_read_exports(l);
    /* All three functions run even when one fails, so that all errors are reported. */
    ok = link_read_stack(l) && ok;
    ok = link_lower(l) && ok;
    if (!ok || !link_make_blocks(l) || !link_reach(l) || !link_number_imports(l) || !link_place(l))
        return false;
    return choose_dispatch(l) && (l->level < 2 || link_optimise(l)) && sequence_blocks(l) &&
           link_emit_code(l) && link_write_data(l) &&
           (l->strip || l->to_jam || link_write_lines(l)) && l->findings->errors == errors &&
           write_program(l, out);
}

static void link_free(struct link *l)
{
    for (size_t i = 0; i < l->object_count; i++) {
        link_source_free(&l->objects[i]);
        link_close_elf(&l->objects[i]);
    }
    struct writer *writers[] = {&l->ro_data, &l->rw_data,       &l->code,        &l->mask,
                                &l->table,   &l->debug_strings, &l->debug_lines, &l->debug_ranges};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) writer_free(writers[i]);
    free(l->objects);
    free(l->sections);
    free(l->globals);
    free(l->groups);
    free(l->names);
    free(l->spans);
    free(l->insns);
    free(l->blocks);
    free(l->items);
    free(l->imports);
    free(l->exports);
    arena_free(&l->arena);
}

bool pvm_link(const penta_object *objects, size_t count, const penta_option *options,
              size_t option_count, struct writer *out, struct writer *map, const char **where,
              struct findings *findings)
{
    struct link l = {.findings = findings, .where = where, .stack_min = STACK_DEFAULT};
    bool ok = read_options(&l, options, option_count) && link_all(&l, objects, count, out);
    if (ok && map) write_map(&l, map);
    if (map) writer_ok(map, &l.err);
    if (l.err.code) findings_pass(findings, &l.err);
    link_free(&l);
    return ok && !findings->errors;
}

struct link_user {
    penta_link_report *report;
    void *user;
    const char *where;
};

static void finding_pass_on(void *user, const penta_error *finding)
{
    struct link_user *u = user;
    if (u->report) u->report(u->user, u->where, finding);
}

bool penta_pvm_link(const penta_object *objects, size_t count, const penta_option *options,
                    size_t option_count, penta_buffer *out, penta_buffer *map,
                    penta_link_report *report_fn, void *user)
{
    struct writer program = {0}, list = {0};
    penta_error err = {0};
    size_t before = out->size;
    struct link_user u = {report_fn, user, NULL};
    struct findings f = {.rules = pvm_rules, .report = finding_pass_on, .user = &u};
    bool ok =
        pvm_link(objects, count, options, option_count, &program, map ? &list : NULL, &u.where, &f);
    ok = writer_give(&program, ok, out, &err);
    if (map) ok = writer_give(&list, ok, map, &err);
    if (err.code) findings_pass(&f, &err);
    if (!ok) out->size = before;
    return ok;
}

/* Tells whether the file is an object or an archive that can be linked. LLVM bitcode counts,
 * too, so that the linker can refuse it with a reason. */
bool penta_pvm_links(penta_bytes file)
{
    penta_bytes first = archive_first(file);
    if (first.size < 4) return archive_probe(file);
    return !memcmp(first.data, "\177ELF", 4) || !memcmp(first.data, "BC\xc0\xde", 4);
}
