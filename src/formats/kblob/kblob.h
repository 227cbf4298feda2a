/* Kernel blobs: programs of a mock GPU (KBLOB 1).
 *
 *     header (16) | gap | instCount x instruction (16) | trailer
 *
 *     instruction:  opcode u8 | flags u8 | reserved u16 | arg0 u64 | arg1 u32
 *
 * All little-endian. arg0 lies at offset 4 of its instruction, unaligned: read byte-wise. The gap
 * (bytes 16 .. entryOffset) and the trailer are ignored by machines and kept by tools. */
#pragma once
#include "base/arena.h"
#include "core/driver.h"
#include "core/engine.h"
#include "core/layout/layout.h"

#define LAYOUT(x) kblob_##x
#define LAYOUT_FILE "kblob/layout.def"
#include "core/layout/structs.h"

#define KBLOB_MAGIC UINT32_C(0xB105B105)
#define KBLOB_TRAILER UINT32_C(0x4352434B)
enum {
    KBLOB_FORMAT = 1,
    KBLOB_VERSION = 1,
    KBLOB_INSTRUCTIONS_MAX = 1 << 20,
    KBLOB_BYTES_MAX = 64 << 20,
};

enum kblob_rule {
#define RULE(number, name, ...) KBLOB_##name = KBLOB_FORMAT << 16 | number,
#include "kblob/rules.def"
};
extern const penta_rule kblob_rules[];
extern const penta_trap kblob_traps[];

enum kblob_shape {
    KBLOB_SHAPE_NONE,
    KBLOB_SHAPE_ADDRESS,
    KBLOB_SHAPE_ADDRESS_VALUE,
    KBLOB_SHAPE_ADDRESS_LENGTH,
    KBLOB_SHAPE_TIME,
};
enum kblob_op {
    KBLOB_OP_BAD, /* 0: an entry that was not filled in traps */
#define OP(code, name, ...) KBLOB_OP_##name = code,
#include "kblob/isa.def"
    KBLOB_OP_DEFINED,
    /* pseudo-instructions of the interpreter: after the last one, at a breakpoint, out of fuel */
    KBLOB_OP_END = KBLOB_OP_DEFINED,
    KBLOB_OP_BREAK,
    KBLOB_OP_FUEL,
    KBLOB_OPS
};
extern const struct kblob_op_info {
    const char *mnemonic; /* NULL: not defined */
    enum kblob_shape shape;
    const char *meaning;
} kblob_ops[KBLOB_OP_DEFINED];

struct kblob_module {
    penta_module base;
    struct arena arena;
    struct kblob_header header;
    size_t header_size; /* 16, less when the file is shorter */
    penta_bytes gap;    /* between header and code */
    uint64_t code_offset;
    struct kblob_inst *insts;
    size_t count;         /* instructions present; fewer than instCount when damaged */
    penta_bytes tail;     /* after the code */
    bool tail_is_trailer; /* it starts with the KCRC magic and 16 bytes are there */
    bool check_trailer;   /* asked for */
    uint64_t instructions_max;
};

static inline const struct kblob_module *kblob_module(const penta_module *m)
{
    return (const struct kblob_module *)m;
}

/* container.c */
int kblob_probe(penta_bytes file, struct writer *evidence);
penta_module *kblob_parse(penta_bytes file, const penta_option *options, size_t count,
                          penta_error *err);
void kblob_describe(const penta_module *module, const penta_visitor *visitor);
void kblob_info(const penta_module *module, const penta_visitor *visitor);
bool kblob_encode(const penta_module *module, struct writer *out, penta_error *err);
/* Header, gap, instructions and tail, as they stand. */
void kblob_write(struct writer *out, const struct kblob_header *header, penta_bytes gap,
                 const struct kblob_inst *insts, size_t count);
void kblob_write_trailer(struct writer *out, penta_bytes metadata); /* over what is in out */
void kblob_close(penta_module *module);

/* verify.c */
void kblob_verify(const penta_module *module, struct findings *findings);
/* The first failure in the order of rules.def: its number (0: none) and, where the rule is about
 * one, the instruction, else UINT32_MAX. */
unsigned kblob_verdict(const penta_module *module, uint32_t *instruction);

/* text/assemble.c, text/print.c, format/isa.c */
bool kblob_print(const penta_module *module, const penta_option *options, size_t count,
                 struct writer *out, penta_error *err);
bool kblob_print_at(const penta_module *module, uint64_t pc, struct writer *out);
bool kblob_assemble_source(struct source *source, const penta_option *options, size_t count,
                           struct writer *out, struct findings *findings);
void kblob_isa(const penta_visitor *visitor);

/* driver.c */
extern const struct driver kblob_driver;
