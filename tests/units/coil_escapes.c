/* Runs COIL programs that try to leave their memory, which has canaries around every region: in
 * the rest of its pages and beside the reservation. The programs load and store with every
 * width, through symbols, pointers, indices and loops. What must happen is computed here from
 * the rules, not by another engine. */
#include "support.h"
#include "coil/jit/jit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = CANARY_PAGE, DATA_BYTES = 72 };

struct guarded {
    struct coil_jit *j;
    uint8_t *below, *above; /* pages next to the reservation, or NULL */
    uint8_t *before[8];     /* the bytes of each region at the start */
};

static uint8_t *page_end(const struct coil_region *r)
{
    return r->bytes + ((r->base + r->size + PAGE - 1) / PAGE * PAGE - r->base);
}

static bool guarded_open(struct guarded *g, const penta_module *m)
{
    penta_error err = {0};
    penta_vm *vm = penta_vm_new(m, "jit", NULL, 0, NULL, &err);
    if (!vm || strcmp(penta_vm_engine(vm), "jit")) checks_skip("no compiled code on this host");
    *g = (struct guarded){.j = coil_jit(vm)};
    g->below = canary_new(g->j->linear - PAGE);
    g->above = canary_new(g->j->linear + COIL_LINEAR_BYTES);
    for (size_t i = 0; i < g->j->vm.region_count && i < 8; i++) {
        const struct coil_region *r = &g->j->vm.regions[i];
        if (!r->size) continue;
        memset(r->bytes + r->size, CANARY, (size_t)(page_end(r) - (r->bytes + r->size)));
        if (r->size > PAGE) continue;
        g->before[i] = malloc((size_t)r->size);
        if (g->before[i]) memcpy(g->before[i], r->bytes, (size_t)r->size);
    }
    return true;
}

static void guarded_close(struct guarded *g)
{
    if (g->below) munmap(g->below, PAGE);
    if (g->above) munmap(g->above, PAGE);
    for (int i = 0; i < 8; i++) free(g->before[i]);
    penta_vm_free(&g->j->vm.base);
}

/* Checks that the canaries hold, and that of all small regions only the bytes from..to have
 * changed. */
static bool coil_escapes_intact(const struct guarded *g, uint64_t from, uint64_t to)
{
    bool ok = (!g->below || canary_holds(g->below, g->below + PAGE)) &&
              (!g->above || canary_holds(g->above, g->above + PAGE));
    for (size_t i = 0; ok && i < g->j->vm.region_count && i < 8; i++) {
        const struct coil_region *r = &g->j->vm.regions[i];
        if (!r->size) continue;
        ok = canary_holds(r->bytes + r->size, page_end(r));
        for (uint64_t k = 0; ok && g->before[i] && k < r->size; k++)
            ok = r->bytes[k] == g->before[i][k] || (r->base + k >= from && r->base + k < to);
    }
    return ok;
}

/* Returns 0, or the trap of an access. */
static uint32_t coil_escapes_verdict(const struct coil_vm *vm, uint64_t address, uint64_t size,
                                     bool write)
{
    if (address < PAGE) return COIL_TRAP_NULL_POINTER;
    for (size_t i = 0; i < vm->region_count; i++) {
        const struct coil_region *r = &vm->regions[i];
        if (address < r->base || address - r->base >= r->size) continue;
        if (size > r->size - (address - r->base)) return COIL_TRAP_BOUNDS_VIOLATION;
        return write && !r->writable ? COIL_TRAP_PROTECTION_VIOLATION : 0;
    }
    return COIL_TRAP_BOUNDS_VIOLATION;
}

static const struct form { /* A form of an address. i is in V0, the pointer in V1. */
    const char *text;
    bool symbol, index;
    unsigned scale;
    int64_t disp;
    bool narrow; /* The index is the low 32 bits, extended by their sign. */
} forms[] = {{"[@d + %2]", true, true, 1, 0, false},
             {"[@d + %2*8 + 16]", true, true, 8, 16, false},
             {"[@d + %2*4 - 8]", true, true, 4, -8, false},
             {"[%1 + %2]", false, true, 1, 0, false},
             {"[%1 + %2*8]", false, true, 8, 0, false},
             {"[%1 + %2*2 + 2147483647]", false, true, 2, 2147483647, false},
             {"[%1 + i32 %3*4]", false, true, 4, 0, true},
             {"[%1 + i32 %3*3 - 5]", false, true, 3, -5, true},
             {"[%2]", false, false, 1, 0, false}};

static uint64_t address_of(const struct form *f, uint64_t d, uint64_t pointer, uint64_t i)
{
    if (f->narrow) i = (uint64_t)(int64_t)(int32_t)(uint32_t)i;
    if (!f->index) return i;
    return (f->symbol ? d : pointer) + i * f->scale + (uint64_t)f->disp;
}

static const struct width {
    const char *type;
    unsigned bytes;
} widths[] = {{"i8", 1},  {"u8", 1},  {"i16", 2}, {"u16", 2}, {"i32", 4},
              {"u32", 4}, {"i64", 8}, {"u64", 8}, {"f32", 4}, {"f64", 8}};

static penta_module *coil_escapes_program(const char *body)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        ".global main\n.func main\n VAR %%1, u64\n VAR %%2, i64\n VAR %%3, i32\n VAR %%4, i64\n"
        " MOV %%1, v1\n MOV %%2, v0\n MOV %%3, %%2\n MOV %%4, v2\n%s MOV v0, 1\n RET\n.endfunc\n"
        ".rodata\nro: .zero 40\n.data\nd: .zero %d\n",
        body, DATA_BYTES);
    penta_module *m = penta_assemble(bytes_of(text), "coil", NULL, 0, NULL, NULL);
    if (!m) {
        printf("does not assemble: %s\n", body);
        exit(1);
    }
    return m;
}

/* Finds the bases of the regions, the data section last. */
static size_t find_bases(const struct coil_vm *vm, uint64_t *bases)
{
    size_t n = 0;
    for (size_t i = 0; i < vm->region_count; i++)
        if (vm->regions[i].size) bases[n++] = vm->regions[i].base;
    for (size_t i = 0; i < vm->region_count; i++)
        if (vm->regions[i].size == DATA_BYTES) bases[n++] = vm->regions[i].base;
    return n;
}

static void coil_escapes_run(struct guarded *g, uint64_t i, uint64_t pointer, uint64_t end,
                             penta_stop *stop)
{
    g->j->vm.v[0] = i;
    g->j->vm.v[1] = pointer;
    g->j->vm.v[2] = end;
    penta_vm_run(&g->j->vm.base, UINT64_MAX, stop);
}

static void coil_escapes_judge(const struct guarded *g, const penta_stop *stop, uint32_t wanted,
                               uint64_t from, uint64_t to)
{
    CHECK(wanted ? stop->kind == PENTA_STOP_TRAP && stop->detail == wanted
                 : stop->kind == PENTA_STOP_HALT);
    CHECK(coil_escapes_intact(g, from, to));
}

static const int64_t offsets[] = {0,  1,  8,  63, 64,   65,   68,   71,   72,
                                  73, -1, -8, -9, 4023, 4024, 4087, 4096, INT32_MAX};
static const uint64_t far_away[] = {UINT64_C(0x7fffffff),
                                    UINT64_C(0x80000000),
                                    UINT64_C(0xfffffff8),
                                    UINT64_C(0xffffffff),
                                    UINT64_C(0x100000000),
                                    COIL_LINEAR_BYTES - 8,
                                    COIL_LINEAR_BYTES - 1,
                                    COIL_LINEAR_BYTES,
                                    UINT64_C(0x2000000000000000),
                                    UINT64_C(0x4000000000000001),
                                    UINT64_C(0x7ffffffffffffff0),
                                    UINT64_C(0x8000000000000000),
                                    UINT64_MAX - 7,
                                    UINT64_MAX};
enum { OFFSETS = sizeof offsets / sizeof *offsets, FAR = sizeof far_away / sizeof *far_away };

static void coil_escapes_single(const struct form *f, const struct width *w, bool write)
{
    char body[256];
    if (write)
        snprintf(body, sizeof body, " MOV %s %s, %s 1\n", w->type, f->text, w->type);
    else
        snprintf(body, sizeof body, " VAR %%5, %s\n MOV %%5, %s %s\n MOV v3, %%5\n", w->type,
                 w->type, f->text);
    penta_module *m = coil_escapes_program(body);
    struct guarded first;
    uint64_t bases[16], d;
    guarded_open(&first, m);
    size_t count = find_bases(&first.j->vm, bases);
    d = bases[count - 1];
    guarded_close(&first);
    for (size_t b = 0; b < count; b++)
        for (size_t k = 0; k < OFFSETS + FAR; k++) {
            uint64_t i = k < OFFSETS ? (uint64_t)offsets[k] : far_away[k - OFFSETS];
            if (!f->index && k < OFFSETS) i += bases[b];
            struct guarded g;
            penta_stop stop = {0};
            guarded_open(&g, m);
            uint64_t at = address_of(f, d, bases[b], i);
            uint32_t wanted = coil_escapes_verdict(&g.j->vm, at, w->bytes, write);
            coil_escapes_run(&g, i, bases[b], 0, &stop);
            coil_escapes_judge(&g, &stop, wanted, write && !wanted ? at : 0,
                               write && !wanted ? at + w->bytes : 0);
            guarded_close(&g);
        }
    penta_close(m);
}

/* Runs a loop from which checks may be removed: from i to end, one byte each. */
static void coil_escapes_loop(const struct form *f)
{
    char body[256];
    snprintf(body, sizeof body,
             ".next:\n MOV u8 %s, u8 7\n INC %%2\n CMP %%2, %%4\n BR LT, @.next\n", f->text);
    penta_module *m = coil_escapes_program(body);
    struct guarded first;
    uint64_t bases[16], d;
    guarded_open(&first, m);
    size_t count = find_bases(&first.j->vm, bases);
    d = bases[count - 1];
    guarded_close(&first);
    for (size_t k = 0; k < OFFSETS + FAR; k++)
        for (int length = 1; length < 100; length += 33) {
            uint64_t i = k < OFFSETS ? (uint64_t)offsets[k] : far_away[k - OFFSETS];
            uint64_t end = i + (uint64_t)length, low = UINT64_MAX, high = 0;
            uint32_t wanted = 0;
            struct guarded g;
            penta_stop stop = {0};
            guarded_open(&g, m);
            uint64_t at = i;
            do {
                uint64_t address = address_of(f, d, d, at);
                wanted = coil_escapes_verdict(&g.j->vm, address, 1, true);
                if (wanted) break;
                low = address < low ? address : low;
                high = address + 1 > high ? address + 1 : high;
            } while ((int64_t)++at < (int64_t)end);
            coil_escapes_run(&g, i, d, end, &stop);
            coil_escapes_judge(&g, &stop, wanted, low < high ? low : 0, low < high ? high : 0);
            guarded_close(&g);
        }
    penta_close(m);
}

int main(void)
{
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (int write = 0; write < 2; write++)
                coil_escapes_single(&forms[f], &widths[w], write);
    for (size_t f = 0; f < 5; f++) coil_escapes_loop(&forms[f]);
    return checks_end();
}
