/* The struct of a watch: what it looks at, and how its value is compared. */
#pragma once
#include "penta/debugger/debugger_struct.h"

enum watch_place {
    WATCH_ANYWHERE, /* its place is unknown, so it is looked at after every step */
    WATCH_NAME,     /* a register, or a variable that is not in memory */
    WATCH_MEMORY,
};

struct watch {
    penta_point_kind kind;
    char *what;         /* as it was given */
    bool expression;    /* `what` is an expression */
    char *path;         /* a copy of the path, which ends before '='; NULL for memory */
    const char *wanted; /* the value after '='; NULL for any change */
    uint64_t address, length;
    struct writer before, now; /* the value as text, or the bytes */

    enum watch_place place;
    char *name;        /* WATCH_NAME */
    uint64_t at, size; /* WATCH_MEMORY */
    bool local;        /* a local variable, which counts only in the frame of this depth */
    uint64_t depth;
    uint64_t *pcs; /* the instructions that may access it, which are marked; ascending */
    size_t pc_count, pc_capacity;
    bool reads, writes, asks; /* what the current instruction does; asks: it is a host call */
};

/* ---- watch_place.c ---- */
/* Finds the place and the pcs of a watch whose text has been read. False when it must have a place and has none. */
bool watch_find_place(const penta_vm *vm, struct watch *w, penta_error *err);
bool watch_wants(const struct watch *w, uint64_t pc);
/* Notes what the next instruction, at pc, will do to the watch. */
void watch_note(const penta_vm *vm, struct watch *w, uint64_t pc);
/* Tells whether the frame that the watch belongs to is the innermost one. */
bool watch_in_frame(const penta_vm *vm, const struct watch *w);
