/* Names of compiled functions for `perf report`: /tmp/perf-PID.map, a line "start size name" each,
 * which perf reads by itself. Functions are the ranges of the debug sections where there are some,
 * else what lies between two exports. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/bytes.h"
#include "pvm/debug.h"
#include "pvm/jit.h"

struct function {
    uint32_t pc;
    penta_bytes space, name;
};

static int by_pc(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static size_t collect(const struct pvm_program *p, struct function *out)
{
    size_t count = 0, ranges = p->debug_ranges.size / PVM_DEBUG_RANGE_BYTES;
    for (size_t i = 0; i < ranges; i++) {
        struct pvm_debug_lines lines;
        pvm_debug_start(p, i, &lines);
        uint32_t pc = lines.pc;
        if (lines.broken || !pvm_debug_next(&lines) || !lines.depth) continue;
        out[count++] = (struct function){pc, pvm_debug_string(p, lines.frames[0].space),
                                         pvm_debug_string(p, lines.frames[0].function)};
    }
    for (size_t i = 0; i < p->export_count; i++)
        out[count++] = (struct function){p->exports[i].pc, {0}, p->exports[i].name};
    qsort(out, count, sizeof *out, by_pc);
    return count;
}

/* The native offset of the first block at or behind pc. */
static uint32_t start_of(const struct pvm_native *n, uint64_t pc)
{
    for (; pc <= n->size; pc++)
        if (n->offsets[pc])
            return n->offsets[pc] - (pvm_bit(n->block_starts, (uint32_t)pc) ? n->charge_size : 0);
    return n->cold_start;
}

static void line(FILE *f, const struct pvm_native *n, uint32_t from, uint32_t to, penta_bytes space,
                 penta_bytes name)
{
    if (from >= to) return;
    fprintf(f, "%" PRIxPTR " %x guest ", (uintptr_t)(n->code + from), (unsigned)(to - from));
    for (size_t i = 0; i < space.size; i++) fputc(space.data[i] < ' ' ? '?' : space.data[i], f);
    if (space.size) fputs("::", f);
    for (size_t i = 0; i < name.size; i++) fputc(name.data[i] < ' ' ? '?' : name.data[i], f);
    fputc('\n', f);
}

void pvm_perf_map(const struct pvm_native *n, const struct pvm_program *p)
{
    char path[64];
    size_t room = p->debug_ranges.size / PVM_DEBUG_RANGE_BYTES + p->export_count + 1;
    struct function *functions = calloc(room, sizeof *functions);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *f = functions ? fopen(path, "a") : NULL;
    if (f) {
        size_t count = collect(p, functions);
        uint32_t first = count ? start_of(n, functions[0].pc) : n->cold_start;
        line(f, n, 1, n->body, (penta_bytes){0}, bytes_of("entry and exits"));
        line(f, n, n->body, first, (penta_bytes){0}, bytes_of("code"));
        for (size_t i = 0; i < count; i++) {
            uint32_t end = i + 1 < count ? start_of(n, functions[i + 1].pc) : n->cold_start;
            line(f, n, start_of(n, functions[i].pc), end, functions[i].space, functions[i].name);
        }
        line(f, n, n->cold_start, n->used, (penta_bytes){0}, bytes_of("cold places"));
        fclose(f);
    }
    free(functions);
}
