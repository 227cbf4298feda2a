/* The fast way through a program, about a thousand bytes (a window) at a time. Nine instructions in
 * ten have known code (memo.h), which is copied. No branch of the compiler depends on a single
 * instruction, so that few are mispredicted. The other instructions go the general way
 * (instructions.c). */
#pragma once
#include "pvm/jit/memo.h"

/* A program with at least this many bytes of code goes this way: for smaller ones, learning the
 * code takes more time than it saves. */
extern uint32_t pvm_jit_ahead_from;

enum { JIT_AHEAD = 1024 }; /* bytes of code in a window */

#define JIT_NO_TARGET UINT32_C(0x80000000)

struct jit_window {
    uint32_t at, count; /* the next instruction, and how many there are */
    uint32_t number;    /* of the first instruction, in the program */

    /* Lists of instructions. Each ends with UINT16_MAX, `others` with `count`. */
    uint32_t other, odd, end, late;   /* the next item of each list */
    uint16_t others[JIT_AHEAD + 16];  /* for the general way */
    uint16_t odds[JIT_AHEAD + 16];    /* for the general way, because of their target */
    uint16_t ends[JIT_AHEAD + 16];    /* with known code, and end a block */
    uint16_t lates[JIT_AHEAD + 16];   /* with known code, and JIT_LATE */
    uint32_t targets[JIT_AHEAD + 16]; /* of `ends`; with JIT_NO_TARGET: only the next block */

    /* By instruction. */
    uint32_t pc[JIT_AHEAD + 64];
    int32_t value[JIT_AHEAD + 16];  /* the immediate, or the first of two */
    uint16_t code[JIT_AHEAD + 16];  /* index in pvm_jit_codes; 0: not known */
    uint8_t charge[JIT_AHEAD + 16]; /* bytes of the charge after it */
    uint8_t length[JIT_AHEAD + 16]; /* of two immediates only the first is counted */

    /* Lists of all instructions with JIT_ENDS, JIT_LOOK, JIT_LATE. */
    uint32_t all_end_count, look_count, all_late_count;
    uint16_t all_ends[JIT_AHEAD + 64], looks[JIT_AHEAD + 64], all_lates[JIT_AHEAD + 64];
    /* For wide.c, by index in all_ends. before: the start of the block that the instruction
     * ends. */
    uint32_t end_pc[JIT_AHEAD + 16], end_target[JIT_AHEAD + 16], end_flags[JIT_AHEAD + 16];
    uint32_t before[JIT_AHEAD + 32];
    uint8_t end_length[JIT_AHEAD + 16];
};

/* The passes that fill a window: in ahead.c, and in wide.c for processors with j->rules->wide.
 *
 * Finds pcs, lengths and the lists of all_ends, looks and all_lates, for the instructions from pc
 * to `end` and up to 64 bytes more; stops before an instruction that is too long. */
typedef void jit_instructions_fn(struct jit_window *w, const struct jit *j, uint32_t pc,
                                 uint32_t end);
jit_instructions_fn pvm_jit_find_instructions, pvm_jit_find_instructions_wide;

/* Fills `ends`, `targets`, `odds` and `length` from all_ends, and marks where blocks start. first:
 * the pc of the block that the window starts in. */
typedef void jit_ends_fn(struct jit_window *w, struct jit *j, uint32_t first);
jit_ends_fn pvm_jit_find_ends, pvm_jit_find_ends_wide;

/* Fills `value`, `code` and `charge`, once `length` is final. */
typedef void jit_codes_fn(struct jit_window *w, const struct jit *j);
jit_codes_fn pvm_jit_find_codes, pvm_jit_find_codes_wide;

struct jit_block {     /* the block that is being written */
    uint32_t first;    /* pc */
    uint32_t count;    /* instructions so far */
    uint32_t start;    /* native offset, of its charge */
    uint32_t compared; /* pc of a branch that can use the processor's flags as they are */
};

/* Writes the instructions with known code from pc on, over any number of blocks; returns the pc of
 * the first one for the general way. */
uint32_t pvm_jit_ahead(struct jit *j, struct jit_block *block, uint32_t pc);
