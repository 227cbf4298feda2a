/* The structure of a module's code: branches, blocks, functions, calls; and its sizes.
 *
 * A block is a run of instructions that is entered at its first and left after its last. A function
 * is what an export, a symbol or a call leads to, up to the next one; code before the first is one,
 * too. Where a program has no name for a function it is called @PC.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were, `err`
 * is cleared first. A structure may be shared between threads. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- single instructions ---- */

typedef struct penta_branch { /* where control goes after an instruction */
    bool next;                /* to the next one, at least sometimes; after a call: on its return */
    bool jump;                /* or elsewhere */
    bool call, ret;           /* what it does to the calls */
    bool indirect;            /* a value decides where to */
    bool has_target;
    uint64_t target; /* the one place, where the code itself says it */
} penta_branch;

/* False: no instruction is at pc, and *branch is zeros. */
PENTA_API bool penta_branch_at(const penta_module *module, uint64_t pc, penta_branch *branch);

/* ---- all the code ---- */

typedef struct penta_structure penta_structure;

/* NULL with an error: the module is damaged or has no code. */
PENTA_API penta_structure *penta_structure_new(const penta_module *module, penta_error *err);
PENTA_API void penta_structure_free(penta_structure *structure); /* NULL is fine */

typedef struct penta_function {
    const char *name; /* safe to print; valid as long as the structure */
    bool named;       /* by the program, not by its pc */
    uint64_t from, to;
    size_t first_block, blocks, instructions;
} penta_function;

typedef struct penta_block {
    uint64_t from, to; /* pcs; `to` is after the last instruction */
    size_t function, instructions;
    uint64_t last; /* pc of the last instruction */
} penta_block;

/* In the order of their pcs; NULL beyond the last. */
PENTA_API const penta_function *penta_structure_function_at(const penta_structure *structure,
                                                            size_t i);
PENTA_API const penta_block *penta_structure_block_at(const penta_structure *structure, size_t i);
/* The function or block that an instruction belongs to; false: no instruction is at pc. */
PENTA_API bool penta_structure_find(const penta_structure *structure, uint64_t pc, size_t *function,
                                    size_t *block);
/* The function that a name or a place of penta_find_code means. */
PENTA_API bool penta_structure_named(const penta_structure *structure, const char *text,
                                     size_t *function, penta_error *err);

typedef enum penta_edge_kind {
    PENTA_EDGE_NEXT,   /* falls into the next block, also after a call */
    PENTA_EDGE_BRANCH, /* a jump that is taken sometimes */
    PENTA_EDGE_JUMP,   /* always taken */
} penta_edge_kind;

typedef struct penta_edge { /* from one block to another */
    size_t from, to;
    penta_edge_kind kind;
} penta_edge;
typedef void penta_edge_report(void *user, const penta_edge *edge);
/* The edges out of a block that the code itself shows; indirect jumps have none. */
PENTA_API void penta_structure_edges(const penta_structure *structure, size_t block,
                                     penta_edge_report *report, void *user);

typedef struct penta_call_site {
    uint64_t pc;
    size_t caller;
    bool known;    /* the callee is; else a value decides */
    size_t callee; /* function */
    bool tail;     /* a jump to another function */
} penta_call_site;
typedef void penta_call_site_report(void *user, const penta_call_site *site);
PENTA_API void penta_structure_calls(const penta_structure *structure,
                                     penta_call_site_report *report, void *user);

/* ---- arrows: jumps drawn beside a listing ---- */

enum {
    PENTA_ARROW_LANES = 32, /* the most there can be */
    PENTA_ARROW_STUB = 255, /* no lane was free, or only one end is shown: mark the ends only */
};
typedef struct penta_arrow { /* a jump or branch whose target the code itself shows */
    uint64_t from, to;       /* pcs of the jump and of its target */
    penta_edge_kind kind;    /* BRANCH or JUMP */
    unsigned lane;           /* its column: 0 is next to the text, larger ones are farther away */
} penta_arrow;
typedef void penta_arrow_report(void *user, const penta_arrow *arrow);
/* The jumps with an end at a pc in first .. last, both included, in the order of their own pcs. At most
 * `lanes` lanes are used. Two arrows in one lane have no row in common, unless they have the same
 * target, and inner ones are closer to the text. False: memory ran out, and none was reported. */
PENTA_API bool penta_structure_arrows(const penta_structure *structure, uint64_t first,
                                      uint64_t last, unsigned lanes, penta_arrow_report *report,
                                      void *user, penta_error *err);
/* The same as a list of objects with from, to, kind ("branch", "jump") and lane; a stub has none. */
PENTA_API bool penta_structure_arrows_json(const penta_structure *structure, uint64_t first,
                                           uint64_t last, unsigned lanes, penta_buffer *out,
                                           penta_error *err);

/* Functions with blocks, edges and calls as one object. */
PENTA_API bool penta_structure_json(const penta_structure *structure, penta_buffer *out,
                                    penta_error *err);

/* ---- sizes ---- */

typedef enum penta_size_kind {
    PENTA_SIZE_FILE,     /* all of it */
    PENTA_SIZE_SECTION,  /* a part of the file at the top of its tree; together they are the file */
    PENTA_SIZE_FUNCTION, /* the instructions of a function */
    PENTA_SIZE_DATA, /* an object in the data that has a name, in formats that keep such names */
} penta_size_kind;
typedef struct penta_size {
    penta_size_kind kind;
    const char *name; /* safe to print; borrowed during the callback */
    uint64_t bytes;
} penta_size;
typedef void penta_size_report(void *user, const penta_size *size);
PENTA_API const char *penta_size_name(penta_size_kind kind); /* "section"; NULL: no such kind */
/* The file, its sections, its functions and data; of damaged files only sections up to the damage. */
PENTA_API bool penta_sizes(const penta_module *module, penta_size_report *report, void *user,
                           penta_error *err);

#ifdef __cplusplus
}
#endif
