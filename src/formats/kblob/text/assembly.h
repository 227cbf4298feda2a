/* The state of an assembly. assemble.c reads lines and directives, operands.c the operands of
 * instructions, blocks.c labels, `if` and `loop`. */
#pragma once
#include "kblob/kblob.h"
#include "kblob/text/names.h"

struct block {       /* an open `if`, `else` or `loop` */
    uint8_t opcode;  /* of its branch: LOOP, JMP after an `else`, else the branch of an `if` */
    uint32_t at;     /* index of that instruction, whose target is not known yet */
    uint64_t offset; /* in the source */
};

struct assembly {
    struct source *s;
    struct labels names;  /* addresses and numbers: .extern, .name, .set and the option define */
    struct labels labels; /* of instructions */
    struct block *blocks;
    size_t block_count, block_capacity;
    struct kblob_header header;
    struct writer gap, code, tail, metadata;
    uint32_t count;
    bool trailer, has_header, fuelled, symbols;
    struct kblob_symbol_list list; /* its lines while assembling; names are added at the end */
    uint32_t line;                 /* of .line, or of the text */
    bool has_line;                 /* .line says the lines */
    size_t line_from;              /* where in the text `line` was counted */
};

/* One instruction into the code, as of the current line. */
bool assembly_emit(struct assembly *a, const struct kblob_inst *in);
bool assembly_number(struct assembly *a, unsigned bits, uint64_t *value);

/* operands.c: the operands of an opcode, and what they make. */
bool assembly_instruction(struct assembly *a, unsigned opcode);
bool assembly_register(struct assembly *a, unsigned *number);
/* A register, or a constant, which is KBLOB_CONSTANT with its value. */
bool assembly_register_or_constant(struct assembly *a, unsigned *number, uint64_t *constant);

/* blocks.c */
bool assembly_label(struct assembly *a, struct token name); /* defines it here */
/* A target operand of the instruction that is emitted next: a label, or a number. */
bool assembly_target(struct assembly *a, uint32_t *target);
bool assembly_if(struct assembly *a, uint64_t offset);
bool assembly_else(struct assembly *a, uint64_t offset);
bool assembly_endif(struct assembly *a, uint64_t offset);
bool assembly_loop(struct assembly *a, const struct kblob_inst *in, uint64_t offset);
bool assembly_endloop(struct assembly *a, uint64_t offset);
/* At the end of the text: labels into their uses; what is open or undefined is reported. */
void assembly_resolve(struct assembly *a, struct findings *findings);
