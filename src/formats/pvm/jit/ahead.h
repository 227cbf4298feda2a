/* The fast way through a program, some hundred bytes at a time. Nine instructions in ten are copied
 * from what is known, by the same few machine instructions whatever they are: no branch of the
 * compiler depends on a single instruction, so that the processor does not guess wrong. */
#pragma once
#include "pvm/jit/memo.h"

/* Bytes of code from which on a program goes this way: in smaller ones filling the memo costs more
 * than it saves. */
extern uint32_t pvm_jit_ahead_from;

enum { JIT_AHEAD = 1024 }; /* bytes of code that are looked at at a time */

#define JIT_NO_TARGET UINT32_C(0x80000000)

struct jit_window {
    uint32_t at, count;               /* which is next, and how many there are */
    uint32_t number;                  /* of the first */
    uint32_t other, odd, end, late;   /* which of these is next */
    uint16_t others[JIT_AHEAD + 16];  /* for the general way, by themselves; the last is `count` */
    uint16_t odds[JIT_AHEAD + 16];    /* and because of their target; the last is UINT16_MAX */
    uint16_t ends[JIT_AHEAD + 16];    /* known ones that end a block; last: UINT16_MAX */
    uint16_t lates[JIT_AHEAD + 16];   /* known ones with JIT_LATE; last: UINT16_MAX */
    uint32_t targets[JIT_AHEAD + 16]; /* of `ends`; with JIT_NO_TARGET: the next block */
    uint32_t pc[JIT_AHEAD + 64];
    int32_t value[JIT_AHEAD + 16];  /* the immediate, the first one if there are two; */
    uint16_t code[JIT_AHEAD + 16];  /* the known code, 0: none; */
    uint8_t charge[JIT_AHEAD + 16]; /* bytes of the charge after it */
    uint8_t length[JIT_AHEAD + 16]; /* with two immediates, as if it ended with the first */

    /* The first look: those with JIT_ENDS, JIT_LOOK, JIT_LATE. */
    uint32_t all_end_count, look_count, all_late_count;
    uint16_t all_ends[JIT_AHEAD + 64], looks[JIT_AHEAD + 64], all_lates[JIT_AHEAD + 64];
    /* For wide.c, of all_ends; the first of `before` is the window's first block. */
    uint32_t end_pc[JIT_AHEAD + 16], end_target[JIT_AHEAD + 16], end_flags[JIT_AHEAD + 16];
    uint32_t before[JIT_AHEAD + 32];
    uint8_t end_length[JIT_AHEAD + 16];
};

/* The parts of a look ahead: ahead.c, and wide.c where j->rules->wide says so.
 *
 * pcs, lengths and first lists, for the instructions from pc to `end` and up to 64 bytes more, and
 * not after one that is too long. */
typedef void jit_instructions_fn(struct jit_window *w, const struct jit *j, uint32_t pc,
                                 uint32_t end);
jit_instructions_fn pvm_jit_find_instructions, pvm_jit_find_instructions_wide;

/* What becomes of those with JIT_ENDS: `ends`, `targets`, `odds`, `length`, and starts of blocks.
 * first: of the block that the window starts in. */
typedef void jit_ends_fn(struct jit_window *w, struct jit *j, uint32_t first);
jit_ends_fn pvm_jit_find_ends, pvm_jit_find_ends_wide;

/* Then, when `length` is final: values, codes and charges. */
typedef void jit_codes_fn(struct jit_window *w, const struct jit *j);
jit_codes_fn pvm_jit_find_codes, pvm_jit_find_codes_wide;

struct jit_block {     /* the one that is being written */
    uint32_t first;    /* pc */
    uint32_t count;    /* instructions so far */
    uint32_t start;    /* in the native code, with its charge */
    uint32_t compared; /* pc of an instruction to which flags are left */
};

/* Writes what is known, from pc on, over as many blocks as it is. The pc after them. */
uint32_t pvm_jit_ahead(struct jit *j, struct jit_block *block, uint32_t pc);
