/* Finds the structure of a module's code, which is branches, blocks, functions and calls, and
 * the sizes of its parts.
 *
 * A block is a run of instructions that is entered at its first and left after its last. A
 * function starts where an export, a symbol or a call leads, and reaches to the next one; code
 * before the first is a function, too. A function for which a program has no name is called @PC.
 *
 * The rules of penta.h hold: buffers are appended to, a failed call leaves them as they were,
 * `err` is cleared first. A structure may be shared between threads. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The declarations below are about single instructions. */

typedef struct penta_branch { /* A penta_branch says where control goes after an instruction. */
    /* Control can go to the next instruction; for a call this means after its return. */
    bool next;
    bool jump;      /* Control can go elsewhere. */
    bool call, ret; /* The instruction calls a function, or returns from one. */
    /* A value that is known only at run time decides where control goes. */
    bool indirect;
    bool has_target;
    uint64_t target; /* the one place to which control can jump, if the code itself says it */
} penta_branch;

/* Gives the branch of the instruction at pc. Returns false when no instruction is at pc; *branch
 * is zeros then. */
PENTA_API bool penta_branch_at(const penta_module *module, uint64_t pc, penta_branch *branch);

/* The declarations below are about all the code. */

typedef struct penta_structure penta_structure;

/* Finds the structure of a module. Returns NULL with an error when the module is damaged or has
 * no code. */
PENTA_API penta_structure *penta_structure_new(const penta_module *module, penta_error *err);
PENTA_API void penta_structure_free(penta_structure *structure); /* `structure` may be NULL. */

typedef struct penta_function {
    const char *name; /* a name that is safe to print and valid as long as the structure */
    bool named;       /* The program itself has this name; otherwise it is @PC. */
    uint64_t from, to;
    size_t first_block, blocks, instructions;
} penta_function;

typedef struct penta_block {
    /* `from` and `to` are the pcs at which the block starts and ends; `to` is after its last
     * instruction. */
    uint64_t from, to;
    size_t function, instructions;
    uint64_t last; /* the pc of the last instruction */
} penta_block;

/* These functions return function i or block i, in the order of their pcs, or NULL beyond the
 * last. */
PENTA_API const penta_function *penta_structure_function_at(const penta_structure *structure,
                                                            size_t i);
PENTA_API const penta_block *penta_structure_block_at(const penta_structure *structure, size_t i);
/* Finds the function and the block to which an instruction belongs. Returns false when no
 * instruction is at pc. */
PENTA_API bool penta_structure_find(const penta_structure *structure, uint64_t pc, size_t *function,
                                    size_t *block);
/* Finds the function that a name, or a place as for penta_find_code, means. */
PENTA_API bool penta_structure_named(const penta_structure *structure, const char *text,
                                     size_t *function, penta_error *err);

typedef enum penta_edge_kind {
    PENTA_EDGE_NEXT,   /* Control goes on into the next block, also after a call. */
    PENTA_EDGE_BRANCH, /* The edge is a jump that is taken sometimes. */
    PENTA_EDGE_JUMP,   /* The edge is a jump that is always taken. */
} penta_edge_kind;

/* A penta_edge leads from one block to another; both are given by their indices. */
typedef struct penta_edge {
    size_t from, to;
    penta_edge_kind kind;
} penta_edge;
typedef void penta_edge_report(void *user, const penta_edge *edge);
/* Reports the edges out of a block that the code itself shows; indirect jumps have none. */
PENTA_API void penta_structure_edges(const penta_structure *structure, size_t block,
                                     penta_edge_report *report, void *user);

typedef struct penta_call_site {
    uint64_t pc;
    size_t caller;
    /* The callee is known; otherwise a value decides at run time which function is called. */
    bool known;
    size_t callee; /* the index of the called function */
    bool tail;     /* The call is a jump to another function. */
} penta_call_site;
typedef void penta_call_site_report(void *user, const penta_call_site *site);
PENTA_API void penta_structure_calls(const penta_structure *structure,
                                     penta_call_site_report *report, void *user);

/* The declarations below are about arrows, which show jumps beside a listing. */

enum {
    PENTA_ARROW_LANES = 32, /* the most lanes that there can be */
    /* An arrow has this lane when only its ends are marked, because no lane was free or only one
     * end is shown. */
    PENTA_ARROW_STUB = 255,
};
/* A penta_arrow is a jump or branch whose target the code itself shows. */
typedef struct penta_arrow {
    uint64_t from, to;    /* the pcs of the jump and of its target */
    penta_edge_kind kind; /* PENTA_EDGE_BRANCH or PENTA_EDGE_JUMP */
    /* `lane` is the column of the arrow: 0 is next to the text, larger ones are farther away. */
    unsigned lane;
} penta_arrow;
typedef void penta_arrow_report(void *user, const penta_arrow *arrow);
/* Reports the jumps with an end at a pc in first .. last, both included, in the order of their
 * own pcs. At most `lanes` lanes are used. Two arrows in one lane have no row in common, unless
 * they have the same target, and inner ones are closer to the text. Returns false when memory
 * ran out, and then none was reported. */
PENTA_API bool penta_structure_arrows(const penta_structure *structure, uint64_t first,
                                      uint64_t last, unsigned lanes, penta_arrow_report *report,
                                      void *user, penta_error *err);
/* Appends the arrows as a JSON list of objects with from, to, kind ("branch", "jump") and lane.
 * An arrow without a lane has no member lane. */
PENTA_API bool penta_structure_arrows_json(const penta_structure *structure, uint64_t first,
                                           uint64_t last, unsigned lanes, penta_buffer *out,
                                           penta_error *err);

/* Appends functions with blocks, edges and calls as one JSON object. */
PENTA_API bool penta_structure_json(const penta_structure *structure, penta_buffer *out,
                                    penta_error *err);

/* The declarations below are about sizes. */

typedef enum penta_size_kind {
    PENTA_SIZE_FILE, /* the whole file */
    /* The size is that of a part of the file at the top of its tree; together these parts are
     * the file. */
    PENTA_SIZE_SECTION,
    PENTA_SIZE_FUNCTION, /* the instructions of a function */
    PENTA_SIZE_DATA, /* an object in the data that has a name, in formats that keep such names */
} penta_size_kind;
typedef struct penta_size {
    penta_size_kind kind;
    const char *name; /* a name that is safe to print and borrowed during the callback */
    uint64_t bytes;
} penta_size;
typedef void penta_size_report(void *user, const penta_size *size);
/* Returns a name such as "section", or NULL when there is no such kind. */
PENTA_API const char *penta_size_name(penta_size_kind kind);
/* Reports the file, its sections, its functions and its data; of damaged files only the sections
 * up to the damage. */
PENTA_API bool penta_sizes(const penta_module *module, penta_size_report *report, void *user,
                           penta_error *err);

#ifdef __cplusplus
}
#endif
