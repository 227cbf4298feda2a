/* The files of the linker share this state and these functions. */
#pragma once
#include "coil/link/link.h"
#include "coil/format/section_layout.h"
#include "coil/format/object.h"
#include "text/labels.h"

enum strength { UNDEFINED, COMMON, WEAK, STRONG };

struct global { /* a name that several files may share */
    size_t out; /* index in the output of the symbol with this name */
    enum strength strength;
    /* These are numbers of inputs: the one that defines the name, and the first one that needs
     * it. */
    size_t owner, referrer;
    size_t symbol;          /* number of the symbol in the input `referrer` */
    bool unique, weak_only; /* weak_only: all uses of the name so far are weak */
};

struct state {
    struct coil_link *link;
    struct findings *findings;
    struct coil_object object;
    struct labels names; /* the value of a name is its index in `globals` */
    struct global *globals;
    size_t global_count, global_capacity;
    size_t **symbols; /* per input, per symbol: its index in the output */
    struct placement {
        size_t section;
        uint64_t offset;
    } * *sections; /* per input, per section: its place in the output */
    struct coil_insn *insn;
    penta_error err;
    uint64_t extensions;
};

#define MODULE(s, i) ((s)->link->inputs[i].module)
#define NAME(s, i) ((s)->link->inputs[i].name)
#define SHORT(b) (int)((b).size > 50 ? 50 : (b).size), (const char *)(b).data

static inline bool is_named(penta_bytes name, const char *text)
{
    return name.size == strlen(text) && !memcmp(name.data, text, name.size);
}
/* Tells whether other files may refer to a symbol by name. */
static inline bool is_shared(const struct coil_symbol *sym)
{
    bool defined = sym->section_idx || sym->type == COIL_COMMON;
    if (sym->type == COIL_FILE || sym->type == COIL_SECTION) return false;
    return sym->bind != COIL_LOCAL &&
           !(defined && (sym->visibility == COIL_HIDDEN || sym->visibility == COIL_INTERNAL));
}
/* Returns the findings, and records that the offsets of the next findings are in this input. */
static inline struct findings *found_in(struct state *s, size_t input)
{
    s->link->where = NAME(s, input);
    return s->findings;
}

/* sections.c defines the functions below. */
bool coil_link_merge_sections(struct state *s);
void coil_link_place_addresses(struct state *s);
/* symbols.c defines the functions below. */
bool coil_link_merge_symbols(struct state *s);
bool coil_link_place_commons(struct state *s);
void coil_link_report_undefined(struct state *s);
size_t coil_link_count_entries(const struct state *s, size_t *input);
void coil_link_choose_entry(struct state *s);
/* code.c defines the functions below. */
bool coil_link_renumber(struct state *s);
bool coil_link_relocate(struct state *s);
/* Finds the first place in code or data that uses a symbol of an input. */
bool coil_link_find_use(struct state *s, size_t input, size_t symbol, size_t *section,
                        uint64_t *offset);
