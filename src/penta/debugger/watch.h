/* Defines the struct of a watch: what it looks at, and how its value is compared. */
#pragma once
#include "penta/debugger/debugger_struct.h"

enum watch_place {
    WATCH_ANYWHERE, /* The place is unknown, so the value is checked after every step. */
    WATCH_NAME,     /* a register, or a variable that is not in memory */
    WATCH_MEMORY,
};

struct watch {
    penta_point_kind kind;
    char *what;         /* the text of the watch as it was given */
    bool expression;    /* `what` is an expression */
    char *path;         /* a copy of the path, which ends before '='; NULL for memory */
    const char *wanted; /* the value after '='; NULL for any change */
    uint64_t address, length;
    struct writer before, now; /* the value as text, or the bytes of the memory */

    enum watch_place place;
    char *name;        /* the name, for WATCH_NAME */
    uint64_t at, size; /* the memory, for WATCH_MEMORY */
    bool local;        /* The value is a local variable, which counts only in the frame of this
                        * depth. */
    uint64_t depth;
    uint64_t *pcs; /* the instructions that may access the value, in ascending order; they are
                    * marked */
    size_t pc_count, pc_capacity;
    bool reads, writes, asks; /* What the current instruction does to the value. `asks` is set
                               * for a host call. */
};

/* Finds the place and the pcs of a watch whose text has been read. Returns false when it must
 * have a place and has none. */
bool watch_find_place(const penta_vm *vm, struct watch *w, penta_error *err);
bool watch_wants(const struct watch *w, uint64_t pc);
/* Notes what the next instruction, at pc, will do to the watch. */
void watch_note(const penta_vm *vm, struct watch *w, uint64_t pc);
/* Tells whether the frame that the watch belongs to is the innermost one. */
bool watch_in_frame(const penta_vm *vm, const struct watch *w);
