/* Debug sections: strings, line programs, and the ranges of code that these cover. */
#pragma once
#include "pvm/pvm.h"

enum { PVM_DEBUG_RANGE_BYTES = 12, PVM_DEBUG_FRAMES = 16 };

enum pvm_debug_kind { PVM_FRAME_NONE, PVM_FRAME_ENTER, PVM_FRAME_CALL, PVM_FRAME_LINE };

struct pvm_debug_frame {
    enum pvm_debug_kind kind;
    uint32_t space, function, path; /* offsets of strings; 0: none */
    uint32_t line, column;          /* 0: unknown */
};

/* A line program at work. Each step yields a region of code and the frames around it, the outermost
 * first; frames deeper than PVM_DEBUG_FRAMES are parsed and dropped, as upstream does. */
struct pvm_debug_lines {
    penta_bytes bytes; /* the section */
    size_t at;
    uint32_t pc;
    uint32_t depth, next_depth, mutation;
    struct pvm_debug_frame frames[PVM_DEBUG_FRAMES];
    uint32_t from, to; /* of the region just yielded */
    bool broken;
};

/* One operation: its bytes, 0 when there is none here. */
unsigned pvm_debug_op(penta_bytes in, uint32_t *operand);
const char *pvm_debug_op_name(uint8_t op);

/* The range that holds pc: its line program is started. */
bool pvm_debug_find(const struct pvm_program *program, uint32_t pc, struct pvm_debug_lines *out);
/* The program of the range with this index. */
void pvm_debug_start(const struct pvm_program *program, size_t range, struct pvm_debug_lines *out);
/* The next region; false at the end, or when the program is broken. */
bool pvm_debug_next(struct pvm_debug_lines *lines);
/* The string at an offset; empty when there is none. */
penta_bytes pvm_debug_string(const struct pvm_program *program, uint32_t offset);

/* Warnings about damaged sections. */
void pvm_debug_verify(const struct pvm_module *m, struct findings *findings);
