/* Makes the symbols of the object: functions, data, and names that are defined elsewhere. The
 * address of a function is that of its entry for C. A label inside a function has no address in
 * native code. Instead, a section with the bytes of the COIL code stands for it, and computed
 * jumps compare addresses in that section. */
#include "base/array.h"
#include "coil/native/native.h"
#include <stdio.h>
#include <stdlib.h>

uint32_t coil_native_function(const struct coil_native *n, uint32_t symbol)
{
    const struct coil_program *p = &n->vm->program;
    const struct coil_symbol *s = &n->m->symbols[symbol];
    uint32_t cell;
    if (!s->section_idx || s->section_idx > n->m->section_count ||
        !coil_is_code(&n->m->sections[s->section_idx - 1]) ||
        !coil_program_cell(p, p->symbols[symbol], &cell) || !p->starts[cell])
        return UINT32_MAX;
    return p->starts[cell] - 1;
}

static bool in_code(const struct coil_native *n, uint32_t symbol)
{
    uint32_t section = n->m->symbols[symbol].section_idx;
    return section && section <= n->m->section_count && coil_is_code(&n->m->sections[section - 1]);
}

static void symbols_take(struct coil_native *n, uint32_t symbol)
{
    uint32_t cell, function;
    if (symbol >= n->m->symbol_count || !in_code(n, symbol)) return;
    function = coil_native_function(n, symbol);
    if (function != UINT32_MAX) {
        n->entered[function] = 1;
        return;
    }
    if (!coil_program_cell(&n->vm->program, n->vm->program.symbols[symbol], &cell)) return;
    if (ARRAY_RESERVE(n->labels, n->label_capacity, n->label_count + 1))
        n->labels[n->label_count++] = cell;
    else
        n->elf.failed = true;
}

static void take_place(struct coil_native *n, const struct coil_place *p)
{
    if (p->symbol) symbols_take(n, p->symbol - 1);
    if (p->base.symbol) symbols_take(n, p->base.symbol - 1);
    if (p->index.symbol) symbols_take(n, p->index.symbol - 1);
}

static void find_taken_symbols(struct coil_native *n)
{
    const struct coil_program *p = &n->vm->program;
    for (size_t c = 0; c < p->count; c++) {
        const struct coil_step *s = p->steps[c];
        bool flow =
            s && (s->opcode == COIL_OP_BR || s->opcode == COIL_OP_JMP || s->opcode == COIL_OP_CALL);
        for (unsigned i = 0; s && i < s->count; i++)
            if (!flow || s->places[i].form != COIL_ADDR) take_place(n, &s->places[i]);
    }
    for (size_t i = 0; i < n->m->reloc_count; i++) symbols_take(n, n->m->relocs[i].symbol_idx);
}

static int by_cell(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

bool coil_native_labels(const struct coil_native *n, uint32_t function, uint32_t **cells,
                        uint32_t *count)
{
    const struct coil_program *p = &n->vm->program;
    size_t from, to;
    ARRAY_SEARCH(from, 0, n->label_count, p->owners[n->labels[from]] >= function);
    for (to = from; to < n->label_count && p->owners[n->labels[to]] == function;) to++;
    if (to == from) return true;
    *cells = malloc((to - from) * sizeof **cells);
    if (!*cells) return false;
    memcpy(*cells, n->labels + from, (to - from) * sizeof **cells);
    *count = (uint32_t)(to - from);
    return true;
}

static uint8_t bind_of(const struct coil_symbol *s)
{
    return s->bind == COIL_LOCAL  ? COIL_ELF_LOCAL
           : s->bind == COIL_WEAK ? COIL_ELF_WEAK
                                  : COIL_ELF_GLOBAL;
}

static uint8_t visibility_of(const struct coil_symbol *s)
{
    static const uint8_t of[] = {
        [COIL_DEFAULT] = 0, [COIL_HIDDEN] = 2, [COIL_PROTECTED] = 3, [COIL_INTERNAL] = 1};
    return s->visibility < sizeof of ? of[s->visibility] : 0;
}

/* Names a function. The C library calls main first, so the entry of the program must have that
 * name; the name _start belongs to the C library. */
static void name_function(struct coil_native *n, uint32_t symbol, uint32_t function, bool *main)
{
    const struct coil_symbol *s = &n->m->symbols[symbol];
    penta_bytes name = coil_symbol_name(n->m, symbol);
    struct coil_elf_symbol made = {.section = n->text,
                                   .type = COIL_ELF_FUNC,
                                   .bind = bind_of(s),
                                   .visibility = visibility_of(s)};
    bool entry = function == n->vm->program.entry;
    if (bytes_equal(name, bytes_of("_start"))) made.bind = COIL_ELF_LOCAL;
    if (bytes_equal(name, bytes_of("main")) && n->vm->program.entry != UINT32_MAX) {
        if (!entry || *main) made.bind = COIL_ELF_LOCAL;
        if (entry && made.bind != COIL_ELF_LOCAL) *main = true;
    }
    if (made.bind != COIL_ELF_LOCAL) n->entered[function] = 1;
    uint32_t number = coil_elf_symbol(&n->elf, name, made);
    n->symbols[symbol] = number + 1;
    if (!n->function_symbols[function] || made.bind != COIL_ELF_LOCAL)
        n->function_symbols[function] = number;
}

static void name_functions(struct coil_native *n)
{
    const struct coil_program *p = &n->vm->program;
    bool main = false;
    for (uint32_t i = 0; i < n->m->symbol_count; i++) {
        uint32_t function =
            n->m->symbols[i].type == COIL_FUNC ? coil_native_function(n, i) : UINT32_MAX;
        if (function != UINT32_MAX) name_function(n, i, function, &main);
    }
    for (uint32_t i = 0; i < p->function_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "coil.%u", (unsigned)i);
        if (!n->function_symbols[i])
            n->function_symbols[i] = coil_elf_symbol(
                &n->elf, bytes_of(name),
                (struct coil_elf_symbol){.section = n->text, .type = COIL_ELF_FUNC});
    }
    if (p->entry == UINT32_MAX) return;
    n->entered[p->entry] = 1;
    if (!main)
        n->main = coil_elf_symbol(&n->elf, bytes_of("main"),
                                  (struct coil_elf_symbol){.section = n->text,
                                                           .type = COIL_ELF_FUNC,
                                                           .bind = COIL_ELF_GLOBAL});
}

static bool read_protos(struct coil_native *n)
{
    for (size_t i = 0; i < n->m->section_count; i++) {
        penta_error ignored = {0};
        struct coil_proto p;
        size_t at = 0;
        while (coil_is_proto(n->m, i) && coil_proto_next(n->m, i, &at, &p, &ignored)) {
            if (n->proto_of[p.symbol]) continue;
            if (!ARRAY_RESERVE(n->protos, n->proto_capacity, n->proto_count + 1)) return false;
            n->protos[n->proto_count++] = p;
            n->proto_of[p.symbol] = (uint32_t)n->proto_count;
        }
    }
    return true;
}

/* Checks that the arguments which C passes to the functions of this object fit V0 to V7. */
static bool check_protos(struct coil_native *n)
{
    enum { MOST = 8 };
    for (size_t i = 0; i < n->proto_count; i++) {
        const struct coil_proto *p = &n->protos[i];
        if (coil_native_function(n, p->symbol) == UINT32_MAX) continue;
        penta_bytes name = coil_symbol_name(n->m, p->symbol);
        if (p->variadic || p->count > MOST)
            return error_at(n->err, COIL_PROTO, 0,
                            "'%.*s' is defined here: it takes at most %d arguments",
                            BYTES_ARG(name, 50), MOST);
    }
    return true;
}

bool coil_native_symbols(struct coil_native *n)
{
    const struct coil_program *p = &n->vm->program;
    size_t symbols = n->m->symbol_count + 1, functions = p->function_count + 1;
    n->symbols = calloc(symbols, sizeof *n->symbols);
    n->proto_of = calloc(symbols, sizeof *n->proto_of);
    n->shadows = calloc(n->m->section_count + 1, sizeof *n->shadows);
    n->sections = calloc(n->m->section_count + 1, sizeof *n->sections);
    n->function_symbols = calloc(functions, sizeof *n->function_symbols);
    n->entered = calloc(functions, 1);
    if (!n->symbols || !n->proto_of || !n->shadows || !n->sections || !n->function_symbols ||
        !n->entered || !read_protos(n))
        return false;
    if (!check_protos(n)) return false;
    find_taken_symbols(n);
    if (n->label_count) qsort(n->labels, n->label_count, sizeof *n->labels, by_cell);
    size_t kept = 0;
    for (size_t i = 0; i < n->label_count; i++)
        if (!kept || n->labels[kept - 1] != n->labels[i]) n->labels[kept++] = n->labels[i];
    n->label_count = kept;
    name_functions(n);
    return !n->elf.failed;
}

void coil_native_place(struct coil_native *n, const struct coil_native_range *ranges)
{
    uint32_t entry = n->vm->program.entry;
    for (uint32_t i = 0; i < n->m->symbol_count; i++) {
        uint32_t function =
            n->m->symbols[i].type == COIL_FUNC ? coil_native_function(n, i) : UINT32_MAX;
        if (function == UINT32_MAX || !n->symbols[i]) continue;
        struct coil_elf_symbol *s = &n->elf.symbols[n->symbols[i] - 1];
        s->value = ranges[function].from;
        s->size = ranges[function].to - ranges[function].from;
    }
    for (uint32_t i = 0; i < n->vm->program.function_count; i++) {
        struct coil_elf_symbol *s = &n->elf.symbols[n->function_symbols[i]];
        s->value = ranges[i].from;
        s->size = ranges[i].to - ranges[i].from;
    }
    if (!n->main) return;
    n->elf.symbols[n->main].value = ranges[entry].from;
    n->elf.symbols[n->main].size = ranges[entry].to - ranges[entry].from;
}

uint32_t coil_native_named(struct coil_native *n, const char *name)
{
    for (size_t i = 0; i < n->named_count; i++)
        if (!strcmp(n->elf.symbols[n->named[i]].name, name)) return n->named[i];
    if (!ARRAY_RESERVE(n->named, n->named_capacity, n->named_count + 1)) {
        n->elf.failed = true;
        return 0;
    }
    uint32_t made = 0; /* The program may have a symbol with this name already. */
    for (size_t i = 1; i < n->elf.symbol_count && !made; i++)
        if (n->elf.symbols[i].bind != COIL_ELF_LOCAL && !strcmp(n->elf.symbols[i].name, name))
            made = (uint32_t)i;
    if (!made)
        made = coil_elf_symbol(&n->elf, bytes_of(name),
                               (struct coil_elf_symbol){.bind = COIL_ELF_GLOBAL});
    return n->named[n->named_count++] = made;
}

static uint32_t make_symbol(struct coil_native *n, uint32_t symbol)
{
    const struct coil_symbol *s = &n->m->symbols[symbol];
    penta_bytes name = coil_symbol_name(n->m, symbol);
    char own[32];
    snprintf(own, sizeof own, "coil.symbol.%u", (unsigned)symbol);
    struct coil_elf_symbol made = {.value = s->value, .size = s->size, .bind = bind_of(s)};
    made.visibility = visibility_of(s);
    if (s->type == COIL_OBJECT) made.type = COIL_ELF_OBJECT;
    if (s->section_idx && s->section_idx != COIL_ABSOLUTE) {
        made.section = n->sections[s->section_idx - 1];
    } else if (s->section_idx) {
        made.section = COIL_ELF_ABSOLUTE;
    } else if (s->type == COIL_COMMON) {
        bool fits = s->value && s->value <= 1 << 20 && !(s->value & (s->value - 1));
        made.section = COIL_ELF_IN_COMMON;
        made.type = COIL_ELF_OBJECT;
        made.bind = COIL_ELF_GLOBAL;
        if (!fits) made.value = 16;
    } else {
        for (size_t i = 0; i < n->named_count; i++)
            if (bytes_equal(name, bytes_of(n->elf.symbols[n->named[i]].name))) return n->named[i];
        made = (struct coil_elf_symbol){.bind =
                                            s->bind == COIL_WEAK ? COIL_ELF_WEAK : COIL_ELF_GLOBAL};
    }
    return coil_elf_symbol(&n->elf, name.size ? name : bytes_of(own), made);
}

/* Returns the address of a byte in the section that has the bytes of the COIL code. */
static struct coil_native_ref in_shadow(struct coil_native *n, uint32_t section, uint64_t offset)
{
    if (!n->shadows[section]) {
        char name[32];
        penta_bytes bytes = coil_contents(n->m, section);
        snprintf(name, sizeof name, ".rodata.coil.%u", (unsigned)section);
        uint32_t made = coil_elf_section(&n->elf, name, COIL_ELF_PROGBITS, COIL_ELF_ALLOC, 1);
        if (made) writer_bytes(&n->elf.sections[made].data, bytes.data, bytes.size);
        snprintf(name, sizeof name, "coil.code.%u", (unsigned)section);
        n->shadows[section] = coil_elf_symbol(
            &n->elf, bytes_of(name),
            (struct coil_elf_symbol){.section = made, .type = COIL_ELF_OBJECT, .size = bytes.size});
    }
    return (struct coil_native_ref){n->shadows[section], false, (int64_t)offset};
}

struct coil_native_ref coil_native_label(struct coil_native *n, uint32_t cell)
{
    const struct coil_program *p = &n->vm->program;
    uint64_t pc = p->pcs[cell];
    for (uint32_t i = 0; i < n->m->section_count; i++)
        if (coil_is_code(&n->m->sections[i]) && pc - p->sections[i] < n->m->sections[i].size)
            return in_shadow(n, i, pc - p->sections[i]);
    return (struct coil_native_ref){0};
}

/* In a shared library, a symbol that is visible outside may be defined by another library
 * instead, so its address is read from the table. */
static struct coil_native_ref symbols_reference(const struct coil_native *n, uint32_t number)
{
    return (struct coil_native_ref){number, n->elf.symbols[number].bind != COIL_ELF_LOCAL, 0};
}

struct coil_native_ref coil_native_ref(struct coil_native *n, uint32_t symbol)
{
    if (symbol >= n->m->symbol_count) return (struct coil_native_ref){0};
    const struct coil_symbol *s = &n->m->symbols[symbol];
    uint32_t function = coil_native_function(n, symbol);
    if (s->section_idx == COIL_ABSOLUTE || s->type == COIL_FILE)
        return (struct coil_native_ref){.addend = (int64_t)s->value};
    if (function != UINT32_MAX) return symbols_reference(n, n->function_symbols[function]);
    if (in_code(n, symbol)) return in_shadow(n, s->section_idx - 1, s->value);
    /* A symbol of a section that is not in memory is only a number. */
    if (s->section_idx && !n->sections[s->section_idx - 1])
        return (struct coil_native_ref){.addend = (int64_t)n->vm->program.symbols[symbol]};
    if (!n->symbols[symbol]) n->symbols[symbol] = make_symbol(n, symbol) + 1;
    return symbols_reference(n, n->symbols[symbol] - 1);
}
