/* The state of an assembly. assemble.c reads lines and directives, operands.c the operands of
 * instructions, and blocks.c labels, `if` and `loop`. */
#pragma once
#include "kblob/kblob.h"
#include "kblob/text/names.h"

struct block {       /* an `if`, `else` or `loop` that is open */
    uint8_t opcode;  /* opcode of its branch: LOOP, JMP after an `else`, or the branch of an `if` */
    uint32_t at;     /* index of that branch, whose target is not known yet */
    uint64_t offset; /* offset of the block in the source */
};

struct assembly {
    struct source *s;
    /* Addresses and numbers given by .extern, .name, .set and the option define. */
    struct labels names;
    struct labels labels; /* labels of instructions, by name */
    struct block *blocks;
    size_t block_count, block_capacity;
    struct kblob_header header;
    struct writer gap, code, tail, metadata;
    uint32_t count;
    bool trailer, has_header, fuelled, symbols;
    struct kblob_symbol_list list; /* collects lines during assembly and names at the end */
    uint32_t line;                 /* the line given by .line, or the line of the text */
    bool has_line;                 /* true if .line gives the lines */
    size_t line_from;              /* the place in the text up to which `line` was counted */
};

/* Appends an instruction that belongs to the current line to the code. */
bool assembly_emit(struct assembly *a, const struct kblob_inst *in);
bool assembly_number(struct assembly *a, unsigned bits, uint64_t *value);

/* operands.c parses the operands of an opcode and emits the instruction. */
bool assembly_instruction(struct assembly *a, unsigned opcode);
bool assembly_register(struct assembly *a, unsigned *number);
/* Parses a register or a constant. For a constant *number is KBLOB_CONSTANT. */
bool assembly_register_or_constant(struct assembly *a, unsigned *number, uint64_t *constant);

/* blocks.c defines the functions below. */
/* Defines a label for the next instruction. */
bool assembly_label(struct assembly *a, struct token name);
/* Parses the target of the instruction that will be emitted next: a label or a number. */
bool assembly_target(struct assembly *a, uint32_t *target);
bool assembly_if(struct assembly *a, uint64_t offset);
bool assembly_else(struct assembly *a, uint64_t offset);
bool assembly_endif(struct assembly *a, uint64_t offset);
bool assembly_loop(struct assembly *a, const struct kblob_inst *in, uint64_t offset);
bool assembly_endloop(struct assembly *a, uint64_t offset);
/* Called at the end of the text: writes the targets of branches to labels, and reports open
 * blocks and undefined labels. */
void assembly_resolve(struct assembly *a, struct findings *findings);
