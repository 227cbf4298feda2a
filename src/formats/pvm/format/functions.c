/* Lists functions that have names, from the debug sections and the exports, and reports the
 * parts of a program by name. */
#include "pvm/format/functions.h"
#include <stdlib.h>
#include "base/bytes.h"
#include "penta/jam.h"
#include "pvm/format/debug_info.h"
#include "pvm/format/decode.h"

/* Sorts functions by pc. Exports come first: of two functions at the same pc the last one is
 * used, and the debug sections have the better name. */
static int functions_by_pc(const void *a, const void *b)
{
    const struct pvm_named_code *x = a, *y = b;
    if (x->pc != y->pc) return x->pc < y->pc ? -1 : 1;
    return (x->range != SIZE_MAX) - (y->range != SIZE_MAX);
}

static size_t range_count(const struct pvm_program *p)
{
    return p->debug_ranges.size / PVM_DEBUG_RANGE_BYTES;
}

/* Gives function number i. Functions of the debug sections come before the exports. Returns
 * false when no function has this number. */
static bool function_at(const struct pvm_program *p, size_t i, struct pvm_named_code *out)
{
    size_t ranges = range_count(p);
    struct pvm_debug_lines lines;
    if (i >= ranges) {
        *out = (struct pvm_named_code){.pc = p->exports[i - ranges].pc,
                                       .name = p->exports[i - ranges].name,
                                       .range = SIZE_MAX};
        return true;
    }
    pvm_debug_start(p, i, &lines);
    *out = (struct pvm_named_code){.pc = lines.pc, .range = i};
    if (lines.broken || !pvm_debug_next(&lines) || !lines.depth) return false;
    out->space = pvm_debug_string(p, lines.frames[0].space);
    out->name = pvm_debug_string(p, lines.frames[0].function);
    return true;
}

struct pvm_named_code *pvm_functions(const struct pvm_program *p, size_t *count)
{
    size_t n = 0, all = range_count(p) + p->export_count;
    struct pvm_named_code *out = calloc(all + 1, sizeof *out);
    for (size_t i = 0; out && i < all; i++) n += function_at(p, i, &out[n]);
    if (n) qsort(out, n, sizeof *out, functions_by_pc);
    *count = n;
    return out;
}

const char *const pvm_jam_entry_names[] = {"refine", "accumulate"};

/* Returns the index of the first export with this name, or count when there is none. */
static size_t export_named(const penta_bytes *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && !bytes_equal(names[i], bytes_of(name))) i++;
    return i;
}

bool pvm_jam_order(const penta_bytes *names, size_t count, size_t *order)
{
    size_t named[PVM_JAM_ENTRIES], next = 0;
    for (size_t i = 0; i < PVM_JAM_ENTRIES; i++)
        named[i] = export_named(names, count, pvm_jam_entry_names[i]);
    for (size_t place = 0; place < count; place++) {
        if (place < PVM_JAM_ENTRIES && named[place] < count) {
            order[place] = named[place];
            continue;
        }
        while (next == named[0] || next == named[1]) next++;
        if (next >= count) return false;
        order[place] = next++;
    }
    return true;
}

bool pvm_jam_entry(const struct pvm_program *p, size_t i, struct pvm_export *out)
{
    enum { ENTRY_BYTES = 5 };
    if (!p->spi || i >= PVM_JAM_ENTRIES) return false;
    *out = (struct pvm_export){bytes_of(pvm_jam_entry_names[i]), ENTRY_BYTES * (uint32_t)i};
    return pvm_is_target(&p->code, out->pc);
}

/* Reports the host calls that the code of a standard program makes, with the names of the
 * default version. */
static void jam_imports(const struct pvm_program *p, penta_part_report *fn, void *user)
{
    bool told[256] = {false};
    for (uint32_t pc = 0; pc < p->code.bytes.size; pc++) {
        struct pvm_insn in;
        if (!pvm_starts(&p->code, pc)) continue;
        pvm_decode(&p->code, pc, &in);
        if (in.op != PVM_OP_ecalli || in.imm1 >= sizeof told || told[in.imm1]) continue;
        const char *name = penta_jam_call_name(NULL, (uint32_t)in.imm1);
        told[in.imm1] = true;
        if (name)
            fn(user, &(penta_part){.kind = PENTA_PART_IMPORT,
                                   .name = bytes_of(name),
                                   .from = in.imm1,
                                   .to = in.imm1});
    }
}

static void jam_parts(const struct pvm_program *p, penta_part_report *fn, void *user)
{
    struct pvm_export entry;
    for (size_t i = 0; i < 2; i++)
        if (pvm_jam_entry(p, i, &entry))
            fn(user, &(penta_part){.kind = PENTA_PART_EXPORT,
                                   .name = entry.name,
                                   .from = entry.pc,
                                   .to = entry.pc});
    jam_imports(p, fn, user);
}

void pvm_parts(const penta_module *module, penta_part_report *fn, void *user)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    struct pvm_named_code f;
    fn(user, &(penta_part){.to = p->code.bytes.size});
    for (size_t i = 0; i < range_count(p) + p->export_count; i++)
        if (function_at(p, i, &f))
            fn(user, &(penta_part){
                         .kind = PENTA_PART_FUNCTION, .name = f.name, .from = f.pc, .to = f.pc});
    for (size_t i = 0; i < p->export_count; i++)
        fn(user, &(penta_part){.kind = PENTA_PART_EXPORT,
                               .name = p->exports[i].name,
                               .from = p->exports[i].pc,
                               .to = p->exports[i].pc});
    for (size_t i = 0; i < p->import_count; i++)
        if (!p->imports[i].broken)
            fn(user,
               &(penta_part){
                   .kind = PENTA_PART_IMPORT, .name = p->imports[i].name, .from = i, .to = i});
    if (p->spi) jam_parts(p, fn, user);
}
