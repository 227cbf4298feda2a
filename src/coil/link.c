/* Objects to one object. Sections merge by name in the order of the inputs, symbols by name,
 * operands in code are renumbered, relocations applied. The same inputs give the same bytes. */
#include "coil/link.h"
#include "coil/load.h"
#include "coil/object.h"
#include "text/labels.h"
#include <stdio.h>
#include <stdlib.h>

enum strength { UNDEFINED, COMMON, WEAK, STRONG };

struct global { /* a name that files share */
    size_t out; /* its symbol in the output */
    enum strength strength;
    size_t owner, referrer; /* inputs: the one that defines it, the first that mentions it */
    bool unique, weak_only; /* all mentions so far are weak */
};

struct state {
    struct coil_link *link;
    struct findings *findings;
    struct coil_object object;
    struct labels names; /* value: index into globals */
    struct global *globals;
    size_t global_count, global_capacity;
    size_t **symbols; /* per input, per symbol: output index */
    struct placement {
        size_t section;
        uint64_t offset;
    } * *sections; /* per input, per section: where it went */
    struct coil_insn *insn;
    penta_error err;
    uint64_t extensions;
};

#define MODULE(s, i) ((s)->link->inputs[i].module)
#define NAME(s, i) ((s)->link->inputs[i].name)
#define SHORT(b) (int)((b).size > 50 ? 50 : (b).size), (const char *)(b).data

/* ---- inputs that belong together ---- */

struct gate {
    struct state *s;
    size_t input;
};

static void refuse(void *user, const penta_error *finding)
{
    struct gate *g = user;
    if (finding->severity != PENTA_ERROR || coil_driver.scope(finding->code) != SCOPE_CONTAINER)
        return;
    penta_error copy = *finding;
    snprintf(copy.note, sizeof copy.note, "in %.100s", NAME(g->s, g->input));
    findings_pass(g->s->findings, &copy);
}

static bool agree(uint32_t *have, uint32_t other)
{
    if (!*have) *have = other;
    return !other || *have == other;
}

static bool check_inputs(struct state *s)
{
    struct coil_header *h = &s->object.header;
    const struct coil_module *first = NULL;
    size_t before = s->findings->errors;
    for (size_t i = 0; i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        struct gate gate = {s, i};
        struct findings inner = {.rules = coil_rules, .report = refuse, .user = &gate};
        if (!s->link->inputs[i].used) continue;
        coil_verify(&m->base, &inner);
        if (m->base.damage.code) continue;
        if (m->raw || !(m->header.flags & COIL_FILE_RELOC)) {
            findings_add(s->findings, COIL_LINK_INPUT, 8, NULL, "%.60s is not a relocatable object",
                         NAME(s, i));
            continue;
        }
        if (!first) {
            first = m;
            s->object.big_endian = m->big_endian;
            h->target_pu = m->header.target_pu;
            h->target_arch = m->header.target_arch;
            h->target_mode = m->header.target_mode;
            h->version = m->header.version;
            continue;
        }
        if (m->big_endian != s->object.big_endian)
            findings_add(s->findings, COIL_LINK_ENDIAN, 0,
                         "penta convert --endian changes the byte order of an object",
                         "%.60s is %s-endian, the inputs before it are not", NAME(s, i),
                         m->big_endian ? "big" : "little");
        if (m->header.target_pu != h->target_pu || !agree(&h->target_arch, m->header.target_arch) ||
            !agree(&h->target_mode, m->header.target_mode))
            findings_add(s->findings, COIL_LINK_TARGET, 12, NULL,
                         "%.60s is for target %u, %u, 0x%x", NAME(s, i),
                         (unsigned)m->header.target_pu, (unsigned)m->header.target_arch,
                         (unsigned)m->header.target_mode);
    }
    return s->findings->errors == before;
}

/* ---- archives: members join when they define what is missing ---- */

static bool shared(const struct coil_symbol *sym)
{
    bool defined = sym->section_idx || sym->type == COIL_COMMON;
    if (sym->type == COIL_FILE || sym->type == COIL_SECTION) return false;
    return sym->bind != COIL_LOCAL &&
           !(defined && (sym->visibility == COIL_HIDDEN || sym->visibility == COIL_INTERNAL));
}

static bool defines_missing(struct labels *wanted, const struct coil_module *m)
{
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *sym = &m->symbols[i];
        if (!shared(sym) || !(sym->section_idx || sym->type == COIL_COMMON)) continue;
        const struct label *l = labels_find(wanted, coil_symbol_name(m, i));
        if (l && !l->defined) return true;
    }
    return false;
}

/* value 1: defined somewhere among the inputs in use. */
static bool note_names(struct labels *wanted, const struct coil_module *m, penta_error *err)
{
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *sym = &m->symbols[i];
        if (!shared(sym)) continue;
        int64_t k = labels_intern(wanted, coil_symbol_name(m, i), err);
        if (k < 0) return false;
        if (sym->section_idx || sym->type == COIL_COMMON) wanted->items[k].defined = true;
    }
    return true;
}

/* Inputs in use whose .entry names a function: how many, and the last of them. */
static size_t count_entries(const struct state *s, size_t *input)
{
    size_t count = 0, section;
    uint64_t offset;
    for (size_t i = 0; i < s->link->count; i++) {
        if (!s->link->inputs[i].used || MODULE(s, i)->base.damage.code ||
            !coil_reloc_entry(MODULE(s, i), &section, &offset))
            continue;
        *input = i;
        count++;
    }
    return count;
}

static bool choose_members(struct state *s)
{
    struct labels wanted = {0};
    bool ok = true, again = true;
    size_t input;
    for (size_t i = 0; i < s->link->count; i++) {
        struct coil_link_input *in = &s->link->inputs[i];
        in->used = !in->archive;
        if (in->used && !in->module->base.damage.code)
            ok &= note_names(&wanted, in->module, &s->err);
    }
    bool named = !s->link->entry && count_entries(s, &input) == 1;
    if (!s->link->relocatable && !named) { /* a library may bring the entry */
        const char *entry = s->link->entry ? s->link->entry : "main";
        ok &= labels_intern(&wanted, bytes_of(entry), &s->err) >= 0;
    }
    while (ok && again) {
        again = false;
        for (size_t i = 0; i < s->link->count; i++) {
            struct coil_link_input *in = &s->link->inputs[i];
            if (in->used || in->module->base.damage.code || !defines_missing(&wanted, in->module))
                continue;
            in->used = again = true;
            ok &= note_names(&wanted, in->module, &s->err);
        }
    }
    labels_free(&wanted);
    return ok;
}

/* ---- sections ---- */

static bool is_named(penta_bytes name, const char *text)
{
    return name.size == strlen(text) && !memcmp(name.data, text, name.size);
}

static int64_t out_section(struct state *s, struct labels *index, size_t input, size_t k)
{
    const struct coil_module *m = MODULE(s, input);
    const struct coil_section *from = &m->sections[k];
    penta_bytes name = coil_string(m, from->name_idx);
    int64_t known = labels_intern(index, name, &s->err);
    if (known < 0) return -1;
    struct label *l = &index->items[known];
    if (!l->defined) {
        struct coil_section head = {.type = from->type,
                                    .flags = from->flags,
                                    .align = from->align,
                                    .link = from->link,
                                    .info = from->info};
        int64_t i = coil_object_section(&s->object, name, head, &s->err);
        l->defined = i >= 0;
        l->value = (uint64_t)i;
        return i;
    }
    struct coil_out_section *to = &s->object.sections[l->value];
    if (to->head.type != from->type)
        findings_add(s->findings, COIL_LINK_SECTION_TYPE, from->offset, NULL,
                     "%.*s is %s in %.50s, and %s before", SHORT(name),
                     from->type < COIL_SECTION_TYPES ? coil_section_names[from->type] : "?",
                     NAME(s, input),
                     to->head.type < COIL_SECTION_TYPES ? coil_section_names[to->head.type] : "?");
    else if ((to->head.flags ^ from->flags) & (COIL_WRITE | COIL_EXEC))
        findings_add(s->findings, COIL_LINK_SECTION_FLAGS, from->offset, NULL,
                     "%.*s has flags 0x%x in %.50s, and 0x%x before", SHORT(name),
                     (unsigned)from->flags, NAME(s, input), (unsigned)to->head.flags);
    to->head.flags |= from->flags;
    if (from->align > to->head.align) to->head.align = from->align;
    return (int64_t)l->value;
}

static bool merge_sections(struct state *s)
{
    struct labels index = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        if (!s->link->inputs[i].used) continue;
        s->sections[i] = calloc(m->section_count + 1, sizeof **s->sections);
        ok = s->sections[i] || error_at(&s->err, BASE_MEMORY, 0, "no memory for sections");
        for (size_t k = 0; ok && k < m->section_count; k++) {
            int64_t out = out_section(s, &index, i, k);
            ok = out >= 0;
            if (!ok) break;
            struct coil_out_section *to = &s->object.sections[out];
            uint64_t align = m->sections[k].align ? m->sections[k].align : 1;
            if (align > 1 << 20) align = 1 << 20;
            if (coil_out_size(to)) coil_pad(to, align);
            s->sections[i][k] = (struct placement){(size_t)out, coil_out_size(to)};
            penta_bytes bytes = coil_contents(m, k);
            if (to->head.type == COIL_S_BSS)
                to->zeros += m->sections[k].size;
            else if (!is_named(to->name, ".coil.ext"))
                writer_bytes(&to->data, bytes.data, bytes.size);
            for (size_t at = 4; is_named(to->name, ".coil.ext") && at + 4 <= bytes.size; at += 4) {
                uint64_t id = bytes_uint(bytes.data + at, 4, m->big_endian);
                if (id < 64) s->extensions |= UINT64_C(1) << id;
            }
        }
    }
    labels_free(&index);
    return ok && !s->findings->errors;
}

static void write_extensions(struct state *s)
{
    for (size_t i = 0; i < s->object.section_count; i++) {
        struct coil_out_section *to = &s->object.sections[i];
        if (!is_named(to->name, ".coil.ext")) continue;
        writer_uint(&to->data, (uint64_t)__builtin_popcountll(s->extensions), 4);
        for (unsigned id = 0; id < 64; id++)
            if (s->extensions >> id & 1) writer_uint(&to->data, id, 4);
    }
}

/* ---- symbols ---- */

static struct coil_symbol moved(const struct state *s, size_t input, const struct coil_symbol *from)
{
    struct coil_symbol to = *from;
    if (from->section_idx && from->section_idx != COIL_ABSOLUTE) {
        const struct placement *p = &s->sections[input][from->section_idx - 1];
        to.section_idx = (uint32_t)p->section + 1;
        to.value = from->value + p->offset;
    }
    return to;
}

static enum strength strength_of(const struct coil_symbol *sym)
{
    if (sym->type == COIL_COMMON && !sym->section_idx) return COMMON;
    if (!sym->section_idx) return UNDEFINED;
    return sym->bind == COIL_WEAK ? WEAK : STRONG;
}

static struct global *find_global(struct state *s, size_t input, penta_bytes name)
{
    int64_t k = labels_intern(&s->names, name, &s->err);
    if (k < 0) return NULL;
    struct label *l = &s->names.items[k];
    if (l->defined) return &s->globals[l->value];
    if (s->global_count == s->global_capacity) {
        size_t more = s->global_capacity ? s->global_capacity * 2 : 64;
        void *grown = realloc(s->globals, more * sizeof *s->globals);
        if (!grown) {
            error_at(&s->err, BASE_MEMORY, 0, "no memory for %zu symbols", more);
            return NULL;
        }
        s->globals = grown;
        s->global_capacity = more;
    }
    int64_t out =
        coil_object_symbol(&s->object, l->name, (struct coil_symbol){.bind = COIL_WEAK}, &s->err);
    if (out < 0) return NULL;
    l->defined = true;
    l->value = s->global_count;
    s->globals[s->global_count] =
        (struct global){.out = (size_t)out, .owner = input, .referrer = input, .weak_only = true};
    return &s->globals[s->global_count++];
}

static bool resolve(struct state *s, size_t input, size_t index)
{
    const struct coil_module *m = MODULE(s, input);
    const struct coil_symbol *sym = &m->symbols[index];
    penta_bytes name = coil_symbol_name(m, index);
    struct global *g = find_global(s, input, name);
    if (!g) return false;
    s->symbols[input][index] = g->out;
    struct coil_symbol *to = &s->object.symbols[g->out].head;
    enum strength strength = strength_of(sym);
    g->weak_only &= sym->bind == COIL_WEAK;
    if (strength == UNDEFINED) {
        if (g->strength == UNDEFINED && sym->bind != COIL_WEAK) {
            to->bind = sym->bind;
            g->referrer = input;
        }
        return true;
    }
    if (strength == STRONG && g->strength == STRONG) {
        if (g->unique && sym->bind == COIL_UNIQUE) return true;
        findings_add(s->findings, COIL_SYM_DUP, m->header.symbol_offset + index * coil_symbol_bytes,
                     "make one of them .weak or .local", "'%.*s' is defined in %.30s and in %.30s",
                     SHORT(name), NAME(s, g->owner), NAME(s, input));
        return true;
    }
    if (strength == COMMON && g->strength == COMMON) {
        if (sym->size > to->size) to->size = sym->size;
        if (sym->value > to->value) to->value = sym->value;
        return true;
    }
    if (strength <= g->strength) return true;
    *to = moved(s, input, sym);
    g->strength = strength;
    g->owner = input;
    g->unique = sym->bind == COIL_UNIQUE;
    return true;
}

static bool merge_symbols(struct state *s)
{
    for (size_t i = 0; i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        if (!s->link->inputs[i].used) continue;
        s->symbols[i] = calloc(m->symbol_count + 1, sizeof **s->symbols);
        if (!s->symbols[i]) return error_at(&s->err, BASE_MEMORY, 0, "no memory for symbols");
        for (size_t k = 0; k < m->symbol_count; k++) {
            const struct coil_symbol *sym = &m->symbols[k];
            if (shared(sym)) {
                if (!resolve(s, i, k)) return false;
                continue;
            }
            int64_t out =
                coil_object_symbol(&s->object, coil_symbol_name(m, k), moved(s, i, sym), &s->err);
            if (out < 0) return false;
            s->symbols[i][k] = (size_t)out;
        }
    }
    return true;
}

/* Common symbols at the end of .bss, in order of first appearance. */
static bool place_commons(struct state *s)
{
    size_t bss = SIZE_MAX;
    for (size_t i = 0; i < s->object.section_count; i++)
        if (is_named(s->object.sections[i].name, ".bss") &&
            s->object.sections[i].head.type == COIL_S_BSS)
            bss = i;
    for (size_t i = 0; i < s->object.symbol_count; i++) {
        struct coil_symbol *sym = &s->object.symbols[i].head;
        if (sym->type != COIL_COMMON || sym->section_idx) continue;
        if (bss == SIZE_MAX) {
            struct coil_section head = {
                .type = COIL_S_BSS, .flags = COIL_ALLOC | COIL_WRITE, .align = 8};
            int64_t made = coil_object_section(&s->object, bytes_of(".bss"), head, &s->err);
            if (made < 0) return false;
            bss = (size_t)made;
        }
        struct coil_out_section *to = &s->object.sections[bss];
        uint64_t align = sym->value && sym->value <= 1 << 20 && !(sym->value & (sym->value - 1))
                             ? sym->value
                             : 1;
        if (align > to->head.align) to->head.align = align;
        coil_pad(to, align);
        sym->section_idx = (uint32_t)bss + 1;
        sym->value = to->zeros;
        sym->type = COIL_OBJECT;
        to->zeros += sym->size;
    }
    return true;
}

static void report_undefined(struct state *s)
{
    for (size_t i = 0; i < s->global_count; i++) {
        struct global *g = &s->globals[i];
        struct coil_out_symbol *sym = &s->object.symbols[g->out];
        if (g->strength != UNDEFINED) continue;
        if (g->weak_only) {
            sym->head.section_idx = COIL_ABSOLUTE;
            sym->head.value = 0;
            continue;
        }
        findings_add(s->findings, COIL_UNDEFINED, 0,
                     "give the linker the object or archive that defines it",
                     "'%.*s' is defined nowhere; %.40s refers to it", SHORT(sym->name),
                     NAME(s, g->referrer));
    }
}

/* ---- code ---- */

static void patch(struct writer *w, uint64_t at, uint64_t value)
{
    writer_patch(w, (size_t)at, value, 8);
}

static bool renumber_operand(struct state *s, size_t input, const struct placement *p,
                             const struct coil_operand *o)
{
    const struct coil_module *m = MODULE(s, input);
    struct writer *w = &s->object.sections[p->section].data;
    if (o->form == COIL_SYM || o->form == COIL_ADDR) {
        if (o->value >= m->symbol_count)
            return error_at(&s->err, COIL_SYM_INDEX, m->base.file.size,
                            "symbol %llu in code of %.60s", (unsigned long long)o->value,
                            NAME(s, input));
        patch(w, p->offset + o->at + o->size - 8, s->symbols[input][o->value]);
    } else if (o->form == COIL_STRING) {
        struct coil_literal literal = {p->section, p->offset + o->at + 2, 8,
                                       coil_string(m, o->value)};
        return coil_object_literal(&s->object, literal, &s->err);
    }
    for (unsigned i = 0; i < o->parts_count; i++)
        if (!renumber_operand(s, input, p, &o->parts[i])) return false;
    return true;
}

static bool renumber_code(struct state *s, size_t input, size_t section)
{
    const struct placement *p = &s->sections[input][section];
    penta_error err = {0};
    struct reader r = coil_code_reader(MODULE(s, input), section, &err);
    while (reader_left(&r)) {
        if (!coil_insn_read(&r, s->insn)) {
            error_note(&err, "in %.100s", NAME(s, input));
            findings_pass(s->findings, &err);
            return true;
        }
        for (unsigned i = 0; i < s->insn->count; i++)
            if (!renumber_operand(s, input, p, &s->insn->operands[i])) return false;
    }
    return true;
}

/* Rows of .coil.line name a section, an offset in it and a string. */
static bool renumber_lines(struct state *s, size_t input, size_t section)
{
    const struct coil_module *m = MODULE(s, input);
    const struct placement *p = &s->sections[input][section];
    penta_bytes rows = coil_contents(m, section);
    struct writer *w = &s->object.sections[p->section].data;
    for (size_t at = 0; at + 16 <= rows.size; at += 16) {
        uint64_t number = bytes_uint(rows.data + at, 4, m->big_endian),
                 offset = bytes_uint(rows.data + at + 4, 4, m->big_endian);
        if (!number || number > m->section_count) continue;
        const struct placement *code = &s->sections[input][number - 1];
        writer_patch(w, (size_t)p->offset + at, code->section + 1, 4);
        writer_patch(w, (size_t)p->offset + at + 4, offset + code->offset, 4);
        struct coil_literal literal = {
            p->section, p->offset + at + 8, 4,
            coil_string(m, bytes_uint(rows.data + at + 8, 4, m->big_endian))};
        if (!coil_object_literal(&s->object, literal, &s->err)) return false;
    }
    return true;
}

static bool renumber(struct state *s)
{
    for (size_t i = 0; i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        for (size_t k = 0; s->link->inputs[i].used && k < m->section_count; k++) {
            bool ok = true;
            if (coil_is_code(&m->sections[k]))
                ok = renumber_code(s, i, k);
            else if (is_named(coil_string(m, m->sections[k].name_idx), ".coil.line") &&
                     m->sections[k].type == COIL_S_DEBUG)
                ok = renumber_lines(s, i, k);
            if (!ok) return false;
        }
    }
    return true;
}

/* ---- addresses and relocations ---- */

static void place_addresses(struct state *s)
{
    uint64_t at = COIL_PAGE;
    for (unsigned rank = 0; rank < 7; rank++)
        for (size_t i = 0; i < s->object.section_count; i++) {
            struct coil_out_section *to = &s->object.sections[i];
            if (coil_section_rank(to->head.type) != rank || !(to->head.flags & COIL_ALLOC))
                continue;
            uint64_t align = to->head.align > COIL_PAGE ? to->head.align : COIL_PAGE;
            at = (at + align - 1) / align * align;
            to->head.addr = at;
            at += coil_out_size(to);
        }
    for (size_t i = 0; i < s->object.symbol_count; i++) {
        struct coil_symbol *sym = &s->object.symbols[i].head;
        if (sym->section_idx && sym->section_idx != COIL_ABSOLUTE)
            sym->value += s->object.sections[sym->section_idx - 1].head.addr;
    }
}

static bool relocate(struct state *s, size_t input, const struct coil_reloc *r)
{
    const struct coil_module *m = MODULE(s, input);
    size_t section = (size_t)(r->offset >> 32) - 1;
    const struct placement *p = &s->sections[input][section];
    uint64_t offset = p->offset + (r->offset & UINT32_MAX);
    size_t symbol = s->symbols[input][r->symbol_idx];
    unsigned width = coil_reloc_width(r->type);
    struct coil_out_section *to = &s->object.sections[p->section];
    if (s->link->relocatable) {
        struct coil_reloc kept = {(uint64_t)(p->section + 1) << 32 | offset, (uint32_t)symbol,
                                  r->type, r->addend};
        return coil_object_reloc(&s->object, kept, &s->err);
    }
    if (!width) {
        findings_add(s->findings, COIL_RELOC_TYPE, m->header.reloc_offset, NULL,
                     "%.50s has a relocation of type 0x%x, for dynamic linking", NAME(s, input),
                     (unsigned)r->type);
        return true;
    }
    if ((r->type & 255) == COIL_RELOC_NONE) return true;
    uint64_t value = s->object.symbols[symbol].head.value + r->addend;
    if ((r->type & 255) == COIL_RELOC_REL) value -= to->head.addr + offset;
    penta_bytes name = s->object.symbols[symbol].name;
    if (!coil_reloc_fits(r->type, value))
        findings_add(s->findings, COIL_RELOC_OVERFLOW, m->header.reloc_offset, NULL,
                     "'%.*s' is 0x%llx, which does not fit %u bytes in %.40s", SHORT(name),
                     (unsigned long long)value, width, NAME(s, input));
    writer_patch(&to->data, (size_t)offset, value, width);
    return true;
}

static bool relocate_all(struct state *s)
{
    for (size_t i = 0; i < s->link->count; i++) {
        const struct coil_module *m = MODULE(s, i);
        for (size_t k = 0; s->link->inputs[i].used && k < m->reloc_count; k++)
            if (!relocate(s, i, &m->relocs[k])) return false;
    }
    return true;
}

/* The place that one input names, if no other does. */
static bool take_entry(struct state *s)
{
    size_t input, section;
    uint64_t offset;
    if (s->link->entry || count_entries(s, &input) != 1) return false;
    coil_reloc_entry(MODULE(s, input), &section, &offset);
    const struct placement *p = &s->sections[input][section];
    uint64_t base = s->link->relocatable ? (uint64_t)(p->section + 1) << 32
                                         : s->object.sections[p->section].head.addr;
    s->object.header.entry_point = base + p->offset + offset;
    return true;
}

static void choose_entry(struct state *s)
{
    size_t input;
    if (take_entry(s) || s->link->relocatable) return;
    const char *names[] = {s->link->entry ? s->link->entry : "_start", "main"};
    for (int i = 0; i < (s->link->entry ? 1 : 2); i++) {
        const struct label *l = labels_find(&s->names, bytes_of(names[i]));
        if (!l || !l->defined || s->globals[l->value].strength < WEAK) continue;
        const struct coil_symbol *sym = &s->object.symbols[s->globals[l->value].out].head;
        if (sym->section_idx == COIL_ABSOLUTE ||
            !coil_is_code(&s->object.sections[sym->section_idx - 1].head))
            continue;
        s->object.header.entry_point = sym->value;
        return;
    }
    if (!s->link->entry && count_entries(s, &input) > 1) {
        findings_add(s->findings, COIL_ENTRY, 24, "choose with --entry NAME",
                     "several inputs name an entry; the last is %.60s", NAME(s, input));
        return;
    }
    findings_add(s->findings, COIL_ENTRY, 0, "name one with --entry, or make it .global",
                 "there is no entry function '%.60s'", s->link->entry ? s->link->entry : "main");
}

/* ---- map ---- */

static void write_map(const struct state *s)
{
    struct writer *w = s->link->map;
    writer_text(w, "address            size       section\n");
    for (size_t i = 0; i < s->object.section_count; i++) {
        const struct coil_out_section *to = &s->object.sections[i];
        writer_print(w, "0x%016llx %-10llu %.*s\n", (unsigned long long)to->head.addr,
                     (unsigned long long)coil_out_size(to), (int)to->name.size,
                     (const char *)to->name.data);
        for (size_t k = 0; k < s->link->count; k++)
            for (size_t j = 0; s->link->inputs[k].used && j < MODULE(s, k)->section_count; j++)
                if (s->sections[k][j].section == i && MODULE(s, k)->sections[j].size)
                    writer_print(w, "  0x%016llx %-8llu %s\n",
                                 (unsigned long long)(to->head.addr + s->sections[k][j].offset),
                                 (unsigned long long)MODULE(s, k)->sections[j].size, NAME(s, k));
    }
    writer_text(w, "\naddress            bind   symbol\n");
    for (size_t i = 0; i < s->object.symbol_count; i++) {
        const struct coil_out_symbol *sym = &s->object.symbols[i];
        writer_print(w, "0x%016llx %-6s %.*s\n", (unsigned long long)sym->head.value,
                     sym->head.bind < 4 ? coil_bind_names[sym->head.bind] : "?",
                     (int)sym->name.size, (const char *)sym->name.data);
    }
}

/* ---- all of it ---- */

static bool link_all(struct state *s)
{
    struct coil_header *h = &s->object.header;
    bool exec = !s->link->relocatable;
    if (!choose_members(s) || !check_inputs(s) || !merge_sections(s)) return false;
    write_extensions(s);
    if (!merge_symbols(s)) return false;
    for (size_t i = 0; i < s->link->count; i++)
        if (s->link->inputs[i].used) h->flags |= MODULE(s, i)->header.flags & COIL_FILE_DEBUG;
    h->flags = (h->flags & COIL_FILE_DEBUG) | (exec ? COIL_FILE_EXEC : COIL_FILE_RELOC);
    if (exec) {
        report_undefined(s);
        if (!place_commons(s)) return false;
    }
    if (s->findings->errors || !renumber(s)) return false;
    if (exec) place_addresses(s);
    choose_entry(s);
    if (!relocate_all(s)) return false;
    s->object.linked = exec;
    return !s->findings->errors;
}

bool coil_link(struct coil_link *link, struct writer *out, struct findings *findings)
{
    struct state s = {.link = link, .findings = findings};
    coil_object_init(&s.object);
    s.symbols = calloc(link->count + 1, sizeof *s.symbols);
    s.sections = calloc(link->count + 1, sizeof *s.sections);
    s.insn = calloc(1, sizeof *s.insn);
    bool ok = s.symbols && s.sections && s.insn && link_all(&s);
    if (ok) ok = coil_object_write(&s.object, out, &s.err);
    if (ok && link->map) write_map(&s);
    if (!ok && !findings->errors && !s.err.code)
        error_at(&s.err, BASE_MEMORY, 0, "no memory to link");
    if (s.err.code) findings_pass(findings, &s.err);
    for (size_t i = 0; i < link->count; i++) {
        if (s.symbols) free(s.symbols[i]);
        if (s.sections) free(s.sections[i]);
    }
    if (s.insn) coil_insn_free(s.insn);
    free(s.insn);
    free(s.symbols);
    free(s.sections);
    free(s.globals);
    labels_free(&s.names);
    coil_object_free(&s.object);
    return ok && !findings->errors;
}
