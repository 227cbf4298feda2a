/* Links objects to one object (COIL 9). Sections and symbols with the same name are merged in
 * the order of the inputs, operands in code are renumbered, and relocations are applied. The
 * same inputs always give the same bytes. */
#include "base/sanitize.h"
#include "coil/link/state.h"
#include <stdio.h>
#include <stdlib.h>

/* The functions below check that the inputs can be linked together. */

struct gate {
    struct state *s;
    size_t input;
};

static void link_refuse(void *user, const penta_error *finding)
{
    struct gate *g = user;
    struct findings *findings = found_in(g->s, g->input);
    if (breaks_container(rule_find(coil_rules, finding->code), finding))
        findings_pass(findings, finding);
}

static bool link_agree(uint32_t *have, uint32_t other)
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
        struct findings inner = {.rules = coil_rules, .report = link_refuse, .user = &gate};
        if (!s->link->inputs[i].used) continue;
        coil_verify(&m->base, &inner);
        if (m->base.damage.code) continue;
        if (m->raw || !(m->header.flags & COIL_FILE_RELOC)) {
            findings_add(found_in(s, i), COIL_LINK_INPUT, 8, NULL,
                         "%.60s is not a relocatable object", NAME(s, i));
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
            findings_add(found_in(s, i), COIL_LINK_ENDIAN, 0,
                         "convert one of them to the other byte order",
                         "%.60s is %s-endian, the inputs before it are not", NAME(s, i),
                         m->big_endian ? "big" : "little");
        if (m->header.target_pu != h->target_pu ||
            !link_agree(&h->target_arch, m->header.target_arch) ||
            !link_agree(&h->target_mode, m->header.target_mode))
            findings_add(found_in(s, i), COIL_LINK_TARGET, 12, NULL,
                         "%.60s is for target %u, %u, 0x%x", NAME(s, i),
                         (unsigned)m->header.target_pu, (unsigned)m->header.target_arch,
                         (unsigned)m->header.target_mode);
    }
    return s->findings->errors == before;
}

/* The functions below take objects from archives. An object is used if it defines a symbol that
 * is missing. */

static bool defines_missing(struct labels *wanted, const struct coil_module *m)
{
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *sym = &m->symbols[i];
        if (!is_shared(sym) || !(sym->section_idx || sym->type == COIL_COMMON)) continue;
        const struct label *l = labels_find(wanted, coil_symbol_name(m, i));
        if (l && !l->defined) return true;
    }
    return false;
}

/* Records the names that an input mentions. A name is `defined` if one of the inputs in use
 * defines it. */
static bool note_names(struct labels *wanted, const struct coil_module *m, penta_error *err)
{
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *sym = &m->symbols[i];
        if (!is_shared(sym)) continue;
        int64_t k = labels_intern(wanted, coil_symbol_name(m, i), err);
        if (k < 0) return false;
        if (sym->section_idx || sym->type == COIL_COMMON) wanted->items[k].defined = true;
    }
    return true;
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
    bool named = !s->link->entry && coil_link_count_entries(s, &input) == 1;
    /* The entry function counts as missing too, because an archive may contain it. */
    if (!s->link->relocatable && !named) {
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

static void map_line(struct writer *w, penta_bytes name)
{
    writer_safe(w, name);
    writer_char(w, '\n');
}

static void write_map(const struct state *s)
{
    struct writer *w = s->link->map;
    writer_text(w, "address            size       section\n");
    for (size_t i = 0; i < s->object.section_count; i++) {
        const struct coil_out_section *to = &s->object.sections[i];
        writer_print(w, "0x%016llx %-10llu ", (unsigned long long)to->head.addr,
                     (unsigned long long)coil_out_size(to));
        map_line(w, to->name);
        for (size_t k = 0; k < s->link->count; k++)
            for (size_t j = 0; s->link->inputs[k].used && j < MODULE(s, k)->section_count; j++) {
                uint64_t size = MODULE(s, k)->sections[j].size;
                if (s->sections[k][j].section != i || !size) continue;
                writer_print(w, "  0x%016llx %-8llu ",
                             (unsigned long long)(to->head.addr + s->sections[k][j].offset),
                             (unsigned long long)size);
                map_line(w, bytes_of(NAME(s, k)));
            }
    }
    writer_text(w, "\naddress            bind   symbol\n");
    for (size_t i = 0; i < s->object.symbol_count; i++) {
        const struct coil_out_symbol *sym = &s->object.symbols[i];
        writer_print(w, "0x%016llx %-6s ", (unsigned long long)sym->head.value,
                     sym->head.bind < COIL_BINDINGS ? coil_bind_names[sym->head.bind] : "?");
        map_line(w, sym->name);
    }
}

static bool link_all(struct state *s)
{
    struct coil_header *h = &s->object.header;
    bool exec = !s->link->relocatable;
    if (!choose_members(s) || !check_inputs(s) || !coil_link_merge_sections(s)) return false;
    if (!coil_link_merge_symbols(s)) return false;
    for (size_t i = 0; i < s->link->count; i++)
        if (s->link->inputs[i].used) h->flags |= MODULE(s, i)->header.flags & COIL_FILE_DEBUG;
    h->flags = (h->flags & COIL_FILE_DEBUG) | (exec ? COIL_FILE_EXEC : COIL_FILE_RELOC);
    if (exec) {
        coil_link_report_undefined(s);
        if (!coil_link_place_commons(s)) return false;
    }
    if (s->findings->errors || !coil_link_renumber(s)) return false;
    if (exec) coil_link_place_addresses(s);
    coil_link_choose_entry(s);
    if (!coil_link_relocate(s)) return false;
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
