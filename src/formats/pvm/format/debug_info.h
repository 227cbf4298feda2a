/* Reads the debug sections (PVM 10): strings, line programs, and the range of code that each
 * line program covers. */
#pragma once
#include "pvm/pvm.h"

enum { PVM_DEBUG_RANGE_BYTES = 12, PVM_DEBUG_FRAMES = 16 };

enum pvm_debug_kind { PVM_FRAME_NONE, PVM_FRAME_ENTER, PVM_FRAME_CALL, PVM_FRAME_LINE };

struct pvm_debug_frame {
    enum pvm_debug_kind kind;
    uint32_t space, function, path; /* offsets of strings; 0 stands for no string */
    uint32_t line, column;          /* The line or the column is unknown when it is 0. */
};

/* A struct pvm_debug_lines is the state of a line program. Each step gives a region of code and
 * its call frames, the outermost first (inlined functions have frames, too). Frames from
 * PVM_DEBUG_FRAMES on are read and dropped, as PolkaVM does. */
struct pvm_debug_lines {
    penta_bytes bytes; /* the bytes of the section with the line programs */
    size_t at;
    uint32_t pc;
    uint32_t depth, next_depth; /* how many frames this region has, and how many the next one */
    uint32_t mutation;          /* the frame that the operations change */
    struct pvm_debug_frame frames[PVM_DEBUG_FRAMES];
    uint32_t from, to; /* the region of the last step, from pc to pc */
    bool broken;
};

/* Reads one operation. Returns its size in bytes, or 0 when there is no operation. */
unsigned pvm_debug_op(penta_bytes in, uint32_t *operand);
const char *pvm_debug_op_name(uint8_t op);
/* Tells whether the operation ends a region. An even operation ends a region of one byte of
 * code, an odd one a region of `operand` bytes. */
static inline bool pvm_debug_finishes(uint8_t op) { return op >= 14; }

/* Starts the line program of the range that holds pc. */
bool pvm_debug_find(const struct pvm_program *program, uint32_t pc, struct pvm_debug_lines *out);
/* Starts the line program of the range with this index. */
void pvm_debug_start(const struct pvm_program *program, size_t range, struct pvm_debug_lines *out);
/* Gives the next region. Returns false at the end, or when the line program is broken. */
bool pvm_debug_next(struct pvm_debug_lines *lines);
/* Returns the string at an offset, which is empty when there is none. */
penta_bytes pvm_debug_string(const struct pvm_program *program, uint32_t offset);

/* Reports warnings about damaged debug sections. */
void pvm_debug_verify(const struct pvm_module *m, struct findings *findings);
