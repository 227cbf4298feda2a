/* What penta diff --code compares: the instructions of two modules as numbers, equal ones of which have equal texts
 * without addresses, and which of them belong together. The files of this folder share it. */
#pragma once
#include "base/writer.h"
#include "core/structure/code_map.h"

enum code_state {             /* what became of an instruction */
                  CODE_ALONE, /* only one of the files has it */
                  CODE_SAME,
                  CODE_RENAMED, /* The partner has other registers. */
                  CODE_MOVED,   /* The partner stands elsewhere. */
};

#define CODE_NONE SIZE_MAX

struct code_insn_text {
    size_t at, size; /* the text, in the writer of its side */
    uint32_t key;    /* equal for equal texts without addresses */
    uint32_t shape;  /* equal for texts that are equal but for registers, too */
    bool placeless;  /* The key has a mark in the place of the target. */
    uint8_t state;   /* an enum code_state */
    size_t partner;  /* the number of the instruction of the other side, or CODE_NONE */
};

struct code_part {       /* a function */
    size_t first, count; /* its instructions */
    size_t partner;      /* the function of the other side, or CODE_NONE */
};

struct code_side {
    const penta_module *module;
    struct code_map *map;
    struct writer texts;
    struct code_insn_text *insns; /* one for each of map->insns */
    struct code_part *parts;      /* one for each of map->functions */
};

struct code_rename {
    size_t part;          /* the function of side a */
    penta_bytes from, to; /* registers, in the texts of the sides */
    uint64_t pairs;       /* how many instructions have it */
};

struct code_diff {
    struct code_side a, b;
    struct code_rename *renames; /* in the order of the functions of side a */
    size_t rename_count, rename_capacity;
    penta_error *err;
};

/* Whether the instruction stands in the sequence of its function in both files. */
static inline bool code_paired(const struct code_insn_text *t)
{
    return t->state == CODE_SAME || t->state == CODE_RENAMED;
}

static inline penta_bytes code_text(const struct code_side *s, size_t i)
{
    return (penta_bytes){s->texts.out.data + s->insns[i].at, s->insns[i].size};
}

/* The size of the word at `at`: letters, digits and `_ . $`; 0 where none begins. */
size_t code_word(penta_bytes text, size_t at);

bool code_read(struct code_diff *d, const penta_module *a, const penta_module *b);
bool code_match(struct code_diff *d);   /* pairs the functions */
bool code_compare(struct code_diff *d); /* pairs the instructions */
void code_slides(struct code_diff *d);  /* begins and ends runs without partners with blocks */
bool code_moves(struct code_diff *d);   /* finds runs that stand elsewhere */
bool code_renames(struct code_diff *d); /* finds instructions with other registers */
bool code_targets(struct code_diff *d); /* gives up pairs whose jumps lead to different places */
void code_diff_free(struct code_diff *d);

/* A row of the comparison of a function: instructions of one side, or of both. */
struct code_row {
    size_t a, b; /* CODE_NONE on the side that has none */
    enum code_state state;
};

struct code_rows {         /* a function, or one in each file */
    size_t part_a, part_b; /* CODE_NONE on the side that has none */
    struct code_row *rows;
    size_t count, capacity;
    size_t changed; /* the rows in which the sides differ */
    bool renamed;   /* The program gives the function two names. */
};

/* Shows a function of which rows or names differ. */
typedef void code_each(void *user, const struct code_diff *d, const struct code_rows *rows);
/* *differences is the number of rows and names that differ. */
bool code_visit(const struct code_diff *d, code_each *each, void *user, size_t *differences);

struct palette;
struct code_view {
    struct writer *out;
    const struct palette *palette;
    size_t width; /* of both columns side by side */
    const char *title_a, *title_b;
};
code_each code_show_text, code_show_side, code_show_html; /* The user is a struct code_view. */
code_each code_show_json;                                 /* The user is a struct json. */
void code_html_head(const struct code_view *v);

/* Writes the name of a function, or both when they differ. */
void code_names(struct writer *w, const struct code_diff *d, const struct code_rows *rows);
const char *code_part_name(const struct code_side *s, size_t part);
/* Writes how many instructions from row i on are moved to or from one place, and which it is. Writes nothing when this is
 * not the first row of such a run. */
void code_moved(struct writer *w, const struct code_diff *d, const struct code_rows *rows,
                size_t i);
/* Finds the next rows from *from on that are shown: those with differences, and some around them. Returns false after the
 * last. */
bool code_hunk(const struct code_rows *rows, size_t *from, size_t *to);
