/* The inside of watches: what one looks at, and how its value is compared. */
#pragma once
#include "penta/debugger/debugger_struct.h"

enum watch_place {
    WATCH_ANYWHERE, /* nothing is known about it: it is looked at after every step */
    WATCH_NAME,     /* a register, or a variable that is not in memory */
    WATCH_MEMORY,
};

struct watch {
    penta_point_kind kind;
    char *what;         /* as it was given */
    bool expression;    /* what is one */
    char *path;         /* in a copy, ended before the '='; NULL: memory */
    const char *wanted; /* the value after '=', or NULL: any change */
    uint64_t address, length;
    struct writer before, now; /* the value as text, or the bytes */

    enum watch_place place;
    char *name;        /* WATCH_NAME */
    uint64_t at, size; /* WATCH_MEMORY */
    bool local;        /* only in the frame of this depth */
    uint64_t depth;
    uint64_t *pcs; /* ascending: instructions that may access it, which are marked */
    size_t pc_count, pc_capacity;
    bool reads, writes, asks; /* what the instruction under way does; asks: it is a host call */
};

/* ---- watch_place.c ---- */
/* Finds place and pcs of a watch whose text has been read. False: it must have a place, and has none. */
bool watch_find_place(const penta_vm *vm, struct watch *w, penta_error *err);
bool watch_wants(const struct watch *w, uint64_t pc);
/* The instruction at pc is the next one: what it will do. */
void watch_note(const penta_vm *vm, struct watch *w, uint64_t pc);
/* The frame that it belongs to is the innermost one. */
bool watch_in_frame(const penta_vm *vm, const struct watch *w);
