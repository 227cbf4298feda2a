/* Loads a program: turns its code into cells. It goes over the instructions twice, with the
 * checker that the verifier uses. The first pass finds variables whose address is taken, and the
 * second resolves every operand to a place. Then each instruction for which a specialised cell
 * exists gets that cell. */
#include "coil/vm/load/load.h"
#include "base/array.h"
#include "coil/format/section_layout.h"
#include <stdio.h>
#include <stdlib.h>

/* The functions below make up the first pass. */

static bool take_address(struct coil_loading *l, const struct coil_operand *o)
{
    const struct coil_variable *v =
        o->form == COIL_VAR ? coil_check_variable(&l->check, o->value) : NULL;
    if (!v) return true;
    if (!ARRAY_GROW(l->taken, l->taken_capacity, l->taken_count, l->err)) return false;
    l->taken[l->taken_count++] = (uint64_t)l->function << 32 | v->serial;
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool variable_is_taken(const struct coil_loading *l, uint32_t serial)
{
    uint64_t key = (uint64_t)l->function << 32 | serial;
    return l->taken_count && bsearch(&key, l->taken, l->taken_count, sizeof key, by_value);
}

typedef bool visit(struct coil_loading *l, uint64_t pc, bool valid);

static uint32_t function_at(const struct coil_program *p, uint64_t address)
{
    size_t low;
    ARRAY_SEARCH(low, 0, p->function_count, p->functions[low].address > address);
    return low ? (uint32_t)low - 1 : 0;
}

static void start_function(struct coil_loading *l, uint32_t function)
{
    l->function = function;
    l->slots = 1;
    l->declared = 0;
    l->frame = 0;
    l->open_count = 0;
    coil_check_function(&l->check);
}

static void end_function(struct coil_loading *l)
{
    if (l->p->function_count <= l->function) return;
    l->p->functions[l->function].slots = l->slots;
    l->p->functions[l->function].bytes = (l->frame + 15) / 16 * 16;
}

/* Adds a cell that stops a program which runs past the end of a function or section. The
 * instruction after it would use slots that are not in this frame. */
static bool load_guard(struct coil_loading *l, visit *each, uint64_t pc)
{
    l->insn->opcode = COIL_OP_NOP;
    l->insn->count = 0;
    l->check.removed = false;
    if (!each(l, pc, false)) return false;
    /* Cells exist only in the second pass. */
    if (l->p->cells) l->p->cells[l->p->count - 1].op = COIL_CELL_END;
    return true;
}

static bool walk_section(struct coil_loading *l, size_t i, visit *each)
{
    const struct coil_module *m = l->m;
    penta_error err = {0};
    struct reader r = coil_code_reader(m, i, &err);
    uint64_t base = l->p->sections[i];
    l->check.origin = r.origin;
    start_function(l, function_at(l->p, base));
    while (reader_left(&r)) {
        uint64_t pc = base + r.pos;
        uint32_t function = function_at(l->p, pc);
        if (function != l->function) {
            if (!load_guard(l, each, pc)) return false;
            end_function(l);
            start_function(l, function);
        }
        if (!coil_insn_read(&r, l->insn)) {
            if (err.code == BASE_MEMORY) *l->err = err;
            if (err.code == BASE_MEMORY || !load_guard(l, each, pc)) return false;
            break;
        }
        bool valid = coil_check_insn(&l->check, l->insn);
        if (l->check.no_memory) return error_at(l->err, BASE_MEMORY, 0, "no memory for a program");
        if (!l->check.removed && !each(l, pc, valid)) return false;
    }
    end_function(l);
    return load_guard(l, each, base + m->sections[i].size);
}

/* Goes over the code in the order of addresses, so that cells are in this order too. */
static bool load_walk(struct coil_loading *l, visit *each)
{
    const struct coil_module *m = l->m;
    coil_check_fini(&l->check);
    coil_check_init(&l->check, m, NULL);
    uint64_t from = 0;
    for (size_t k = 0; k < m->section_count; k++) {
        size_t i = l->p->order[k];
        uint64_t at = l->p->sections[i];
        if (!coil_is_code(&m->sections[i]) || !m->sections[i].size || at < from) continue;
        if (!walk_section(l, i, each)) return false;
        from = at + m->sections[i].size;
        if (from < at) return true; /* The section ends at the end of the address space. */
    }
    return true;
}

static bool load_scan(struct coil_loading *l, uint64_t pc, bool valid)
{
    (void)pc;
    l->capacity++;
    if (!valid) return true;
    const struct coil_operand *o = l->insn->operands;
    switch (coil_ops[l->insn->opcode].group) {
    case COIL_G_MEMORY: return l->insn->opcode != COIL_OP_LEA || take_address(l, &o[1]);
    case COIL_G_MEMBER: return take_address(l, &o[l->insn->opcode == COIL_OP_MEMPUT ? 0 : 1]);
    default: return true;
    }
}

static bool load_declare(struct coil_loading *l, const struct coil_variable *v)
{
    if (!ARRAY_GROW(l->variables, l->variable_capacity, v->serial, l->err)) return false;
    struct variable_place *place = &l->variables[v->serial];
    if (coil_is_scalar(v->type->op) && !variable_is_taken(l, v->serial)) {
        *place = (struct variable_place){COIL_AT_SLOT, l->slots++};
        return true;
    }
    uint64_t align = v->type->align > 16 ? 16 : v->type->align;
    l->frame = (l->frame + align - 1) / align * align;
    *place = (struct variable_place){COIL_AT_FRAME,
                                     (uint32_t)(l->frame < UINT32_MAX ? l->frame : UINT32_MAX)};
    l->frame += v->type->size;
    return true;
}

/* Makes a copy of a type that exists as long as the program, because steps refer to it. */
static const struct coil_type *keep_type(struct coil_loading *l, const struct coil_type *t)
{
    return t ? coil_type_close(&l->check.ids, t, &l->p->arena, l->err) : NULL;
}

/* The functions below record the variables that a debugger shows. */

static bool room_to_show(struct coil_loading *l)
{
    struct coil_program *p = l->p;
    if (!ARRAY_RESERVE(p->variables, p->variable_capacity, p->variable_count + 1)) return false;
    if (!ARRAY_RESERVE(l->open, l->open_capacity, l->open_count + 1)) return false;
    return true;
}

static penta_bytes find_names(const struct coil_module *m)
{
    for (size_t i = 0; i < m->section_count; i++)
        if (bytes_equal(coil_string(m, m->sections[i].name_idx), bytes_of(".coil.var")))
            return coil_contents(m, i);
    return (penta_bytes){0};
}

/* Returns the source name of the variable that is declared at this pc, or an empty name. The
 * rows of .coil.var are in ascending order. */
static penta_bytes source_name(const struct coil_loading *l, uint64_t pc)
{
    const struct coil_program *p = l->p;
    const struct coil_module *m = l->m;
    size_t k, i, rows = l->names.size / 16;
    if (!rows) return (penta_bytes){0};
    ARRAY_SEARCH(k, 0, m->section_count, p->sections[p->order[k]] > pc);
    if (!k) return (penta_bytes){0};
    uint64_t section = p->order[k - 1] + 1, offset = pc - p->sections[p->order[k - 1]];
#define FIELD(row, n) bytes_uint(l->names.data + (row)*16 + 4 * (n), 4, m->big_endian)
    ARRAY_SEARCH(i, 0, rows,
                 FIELD(i, 0) > section || (FIELD(i, 0) == section && FIELD(i, 1) >= offset));
    bool found = i < rows && FIELD(i, 0) == section && FIELD(i, 1) == offset;
    return found ? coil_string(m, FIELD(i, 2)) : (penta_bytes){0};
#undef FIELD
}

static bool load_show(struct coil_loading *l, const struct coil_variable *v, uint64_t pc)
{
    char name[64];
    penta_bytes source = source_name(l, pc);
    int n = source.size ? snprintf(name, sizeof name, "%%%.*s", BYTES_ARG(source, 40))
                        : snprintf(name, sizeof name, "%%%llu", (unsigned long long)v->id);
    const char *kept = arena_alloc(&l->p->arena, 1, (size_t)n + 1, l->err);
    const struct coil_type *type = keep_type(l, v->type);
    if (!kept || !type || !room_to_show(l))
        return error_at(l->err, BASE_MEMORY, 0, "no memory for variables");
    memcpy((char *)kept, name, (size_t)n + 1);
    const struct variable_place *place = &l->variables[v->serial];
    l->open[l->open_count++] = l->p->variable_count;
    l->p->variables[l->p->variable_count++] =
        (struct coil_visible){kept, type, pc, UINT64_MAX, l->function, place->slot, place->at};
    return true;
}

/* Ends the visibility of the variables whose scope the current instruction has closed. */
static void load_hide(struct coil_loading *l, uint64_t pc)
{
    while (l->open_count > l->check.variable_count)
        l->p->variables[l->open[--l->open_count]].to = pc;
}

static struct coil_term term_of(struct coil_loading *l, const struct coil_operand *o)
{
    struct coil_term t = {.op = o->op, .at = COIL_AT_CONST};
    if (o->form == COIL_ADDR || o->form == COIL_SYM) t.symbol = (uint32_t)o->value + 1;
    switch ((enum coil_form)o->form) {
    case COIL_IMM: t.value = coil_canon(o->op, o->value); break;
    case COIL_ADDR: t.value = o->value < l->m->symbol_count ? l->p->symbols[o->value] : 0; break;
    case COIL_SYM:
        t.at = COIL_AT_MEMORY;
        t.value = o->value < l->m->symbol_count ? l->p->symbols[o->value] : 0;
        break;
    case COIL_REGISTER:
        t.at = COIL_AT_REGISTER;
        t.slot = (uint32_t)o->value % COIL_REGISTERS;
        break;
    default: {
        const struct coil_variable *v = coil_check_variable(&l->check, o->value);
        const struct variable_place *place = &l->variables[v->serial];
        t.at = place->at;
        t.slot = place->slot;
    }
    }
    return t;
}

static bool place_of(struct coil_loading *l, const struct coil_operand *o, struct coil_place *p)
{
    uint8_t qualifiers;
    const struct coil_type *type = coil_check_type(&l->check, o, &qualifiers);
    *p = (struct coil_place){
        .form = o->form, .ext = qualifiers, .scale = 1, .op = type ? type->op : COIL_T_VOID};
    p->type = keep_type(l, type);
    if (type && !p->type) return false;
    switch ((enum coil_form)o->form) {
    case COIL_IMM:
        p->at = COIL_AT_CONST;
        p->value = coil_is_scalar(o->op) ? coil_canon(o->op, o->value) : 0;
        p->image = o->image.data;
        break;
    case COIL_DEF:
        p->at = COIL_AT_CONST;
        coil_check_definition(&l->check, o, &p->value);
        break;
    case COIL_ADDR:
        p->at = COIL_AT_CONST;
        p->symbol = (uint32_t)o->value + 1;
        p->value = o->value < l->m->symbol_count ? l->p->symbols[o->value] : 0;
        break;
    case COIL_MEASURE: {
        const struct coil_type *measured = keep_type(l, o->type);
        p->at = COIL_AT_CONST;
        p->value = measured ? o->op == COIL_T_SIZEOF ? measured->size : measured->align : 0;
        break;
    }
    case COIL_VAR: {
        const struct coil_variable *v = coil_check_variable(&l->check, o->value);
        const struct variable_place *place = &l->variables[v->serial];
        p->at = place->at;
        p->slot = place->slot;
        if (place->at == COIL_AT_SLOT) p->type = keep_type(l, v->type);
        break;
    }
    case COIL_SYM:
        p->at = COIL_AT_MEMORY;
        p->base = (struct coil_term){
            .at = COIL_AT_CONST,
            .symbol = (uint32_t)o->value + 1,
            .value = o->value < l->m->symbol_count ? l->p->symbols[o->value] : 0};
        break;
    case COIL_MEM:
        p->at = COIL_AT_MEMORY;
        p->base = term_of(l, &o->parts[0]);
        if (o->parts_count > 2) {
            p->index = term_of(l, &o->parts[1]);
            p->scale = o->parts[2].value;
        }
        if (o->parts_count == 2 || o->parts_count == 4) {
            const struct coil_operand *disp = &o->parts[o->parts_count - 1];
            p->value = coil_canon(disp->op, disp->value);
        }
        break;
    case COIL_REGISTER:
        p->at = COIL_AT_REGISTER;
        p->slot = (uint32_t)o->value % COIL_REGISTERS;
        break;
    case COIL_PARAM: p->value = o->value; break;
    default: break;
    }
    return true;
}

static struct coil_step *make_step(struct coil_loading *l)
{
    const struct coil_insn *insn = l->insn;
    /* STRDEF and similar instructions may have more operands, but do nothing at run time. */
    unsigned count = insn->count > 5 ? 5 : insn->count;
    size_t bytes =
        offsetof(struct coil_step, places) + (count ? count : 1) * sizeof(struct coil_place);
    struct coil_step *s = arena_alloc(&l->p->arena, 1, bytes, l->err);
    if (!s) return NULL;
    s->opcode = insn->opcode;
    s->extended = insn->extended;
    s->written = insn->count;
    s->count = (uint8_t)count;
    s->form = coil_check_form(insn);
    for (unsigned i = 0; i < count; i++)
        if (!place_of(l, &insn->operands[i], &s->places[i])) return NULL;
    if (insn->opcode == COIL_OP_VAR) { /* From here on the id of the variable means this place. */
        const struct coil_variable *v = coil_check_variable(&l->check, insn->operands[0].value);
        const struct variable_place *place = &l->variables[v->serial];
        s->places[1].at = place->at;
        s->places[1].slot = place->slot;
        s->places[1].ext = v->ext & COIL_QUALIFIERS;
    }
    return s;
}

/* The functions below make up the second pass. */

static void flow_cell(struct coil_loading *l, struct coil_cell *c, struct coil_step *s, size_t i)
{
    bool conditional = s->count && s->places[0].form == COIL_PARAM;
    c->x = conditional ? (uint8_t)s->places[0].value : 0xff;
    const struct coil_place *target = s->count ? &s->places[s->count - 1] : NULL;
    bool direct = target && target->form == COIL_ADDR;
    switch (s->opcode) {
    case COIL_OP_BR:
    case COIL_OP_JMP:
        c->op = direct ? (conditional ? COIL_CELL_BR : COIL_CELL_JMP) : COIL_CELL_INDIRECT;
        break;
    case COIL_OP_CALL:
        c->op = direct ? (conditional ? COIL_CELL_CALL_IF : COIL_CELL_CALL) : COIL_CELL_INDIRECT;
        break;
    case COIL_OP_RET: c->op = conditional ? COIL_CELL_RET_IF : COIL_CELL_RET; break;
    case COIL_OP_SWITCH: c->op = COIL_CELL_INDIRECT; break;
    case COIL_OP_TRAP: c->op = COIL_CELL_INDIRECT; break;
    case COIL_OP_HALT: c->op = COIL_CELL_HALT; break;
    default: c->op = COIL_CELL_NOP;
    }
    if (direct) l->targets[i] = target->value;
}

static bool load_emit(struct coil_loading *l, uint64_t pc, bool valid)
{
    struct coil_program *p = l->p;
    size_t i = p->count++;
    struct coil_cell *c = &p->cells[i];
    const struct coil_insn *insn = l->insn;
    uint8_t group = coil_ops[insn->opcode].group;
    p->pcs[i] = pc;
    p->owners[i] = l->function;
    load_hide(l, pc);
    /* A VAR with an error declares its variable too, because the uses of the variable are
     * checked on their own. */
    if (l->check.serials > l->declared) {
        l->declared = l->check.serials;
        const struct coil_variable *v = &l->check.variables[l->check.variable_count - 1];
        if (!load_declare(l, v) || !load_show(l, v, pc)) return false;
    }
    *c = (struct coil_cell){.op = COIL_CELL_TRAP, .a = COIL_TRAP_INVALID_INSTRUCTION};
    if (!valid) return true;
    bool vendor = insn->opcode == COIL_OP_VENDOR;
    if ((vendor && !insn->extended && !insn->count) ||
        (insn->opcode == COIL_OP_NOP && !insn->count)) {
        c->op = COIL_CELL_NOP;
        return true;
    }
    bool never = !coil_ops[insn->opcode].name || group == COIL_G_DEVICE || group == COIL_G_NEVER ||
                 group == COIL_G_PREPROC;
    if (vendor ? !l->how.host_vendor : never) {
        c->a = COIL_TRAP_UNSUPPORTED;
        return true;
    }
    struct coil_step *s = make_step(l);
    if (!s) return error_at(l->err, BASE_MEMORY, 0, "no memory for instructions");
    l->cell_steps[i] = s;
    c->op = group == COIL_G_PORT || vendor ? COIL_CELL_PORT : COIL_CELL_STEP;
    c->imm = i;
    if (group == COIL_G_FLOW) flow_cell(l, c, s, i);
    return true;
}

/* Finds the cell of the instruction at a pc. A guard has the pc of the instruction after it, so
 * if several cells have the same pc, the last one is the instruction. */
bool coil_program_cell(const struct coil_program *p, uint64_t pc, uint32_t *cell)
{
    size_t low;
    ARRAY_SEARCH(low, 0, p->count, p->pcs[low] > pc);
    if (!low || p->pcs[low - 1] != pc) return false;
    *cell = (uint32_t)low - 1;
    return true;
}

static void settle_branch(struct coil_loading *l, size_t i)
{
    struct coil_program *p = l->p;
    struct coil_cell *c = &p->cells[i];
    uint32_t cell;
    bool call = c->op == COIL_CELL_CALL || c->op == COIL_CELL_CALL_IF;
    if (!call && c->op != COIL_CELL_BR && c->op != COIL_CELL_JMP) return;
    if (!coil_program_cell(p, l->targets[i], &cell)) {
        /* An INDIRECT cell without a known target traps with BAD_TARGET when it is reached. */
        c->op = COIL_CELL_INDIRECT;
        return;
    }
    bool first = p->starts[cell] != 0;
    if (call) {
        if (first)
            c->a = p->starts[cell] - 1;
        else
            c->op = COIL_CELL_INDIRECT;
        return;
    }
    if (p->owners[cell] == p->owners[i])
        c->a = cell;
    else
        c->op = COIL_CELL_INDIRECT;
}

/* The functions below load a whole program. */

static bool load_reserve(struct coil_loading *l)
{
    struct coil_program *p = l->p;
    size_t n = l->capacity + 1;
    p->cells = calloc(n, sizeof *p->cells);
    p->pcs = calloc(n, sizeof *p->pcs);
    p->owners = calloc(n, sizeof *p->owners);
    p->starts = calloc(n, sizeof *p->starts);
    l->cell_steps = calloc(n, sizeof *l->cell_steps);
    l->targets = calloc(n, sizeof *l->targets);
    return (p->cells && p->pcs && p->owners && p->starts && l->cell_steps && l->targets) ||
           error_at(l->err, BASE_MEMORY, 0, "no memory for %zu instructions", n);
}

static void number_functions(struct coil_program *p)
{
    size_t cell = 0;
    for (size_t i = 0; i < p->function_count; i++) {
        /* This finds the first instruction that the function has after preprocessing. Functions
         * and cells are in the same order. */
        while (cell + 1 < p->count &&
               (p->owners[cell] < i || p->pcs[cell] < p->functions[i].address))
            cell++;
        p->functions[i].first = (uint32_t)cell;
        if (p->owners[cell] == i) p->starts[cell] = (uint32_t)i + 1;
    }
}

static bool load_module(struct coil_loading *l)
{
    struct coil_program *p = l->p;
    if (!coil_load_symbols(l) || !coil_load_functions(l) || !coil_load_entry(l) ||
        !load_walk(l, load_scan) || !coil_check_runs(&l->check, l->err))
        return false;
    if (l->taken_count) qsort(l->taken, l->taken_count, sizeof *l->taken, by_value);
    if (!load_reserve(l) || !load_walk(l, load_emit)) return false;
    number_functions(p);
    for (size_t i = 0; i < p->count; i++) settle_branch(l, i);
    for (size_t i = 0; i < p->count && !l->how.plain; i++) coil_load_cell(l, i);
    p->steps = l->cell_steps;
    l->cell_steps = NULL;
    return !l->err->code;
}

bool coil_program_load(struct coil_program *p, const struct coil_module *m, struct coil_load how,
                       penta_error *err)
{
    struct coil_loading l = {.p = p,
                             .m = m,
                             .how = how,
                             .err = err,
                             .names = find_names(m),
                             .insn = calloc(1, sizeof *l.insn)};
    bool ok = l.insn ? load_module(&l) : error_at(err, BASE_MEMORY, 0, "no memory for a program");
    p->types = l.check.ids.arena; /* Steps refer to these types. */
    l.check.ids.arena = (struct arena){0};
    coil_check_fini(&l.check);
    if (l.insn) coil_insn_free(l.insn);
    free(l.insn);
    free(l.cell_steps);
    free(l.targets);
    free(l.taken);
    free(l.variables);
    free(l.open);
    if (!ok) coil_program_free(p);
    return ok;
}

void coil_program_free(struct coil_program *p)
{
    free(p->cells);
    free(p->pcs);
    free(p->owners);
    free(p->starts);
    free(p->functions);
    free(p->variables);
    free(p->steps);
    free(p->symbols);
    free(p->sections);
    free(p->order);
    arena_free(&p->arena);
    arena_free(&p->types);
    *p = (struct coil_program){0};
}
