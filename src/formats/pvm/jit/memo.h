/* Known code: native code that was written before and is kept for the next time.
 *
 * The code of most instructions depends only on the opcode, the registers and the kind of the
 * immediate. It is written once, by emit.h, with a sample immediate, and then kept as some bytes,
 * the immediate or a part of it, and some more bytes. All threads and programs share it, and it is
 * kept until the process ends. */
#pragma once
#include <stdatomic.h>
#include "pvm/jit/decode.h"

/* front: up to 7 bytes before the immediate; from bit 56 on how many. after: up to 7 bytes after
 * it; from bit 56 on their offset, from bit 60 on how many, bit 63 is set. Both are written before
 * the number of the code is in pvm_jit_memo. */
struct jit_code {
    _Atomic uint64_t front, after;
};

/* Codes are close together, so that they stay in the cache. pvm_jit_memo holds the number of a code
 * by width (64-bit, 32-bit) and entry; 0: not known. */
enum { JIT_ENTRIES = 1 << 18, JIT_CODES = 1 << 16 };
extern struct jit_code pvm_jit_codes[JIT_CODES];
extern _Atomic uint16_t pvm_jit_memo[2][JIT_ENTRIES + 1]; /* the last is not used */

/* ---- rules ---- */

/* How an opcode finds its code, in one word:
 *   bits 0..11    its first entry / 256; its entries go by kind of immediate, then registers
 *   bits 12..23   which bits after the opcode name registers
 *   bit 24        it has an immediate after one byte of registers
 *   bits 25..28   bytes of the charge after it */
typedef uint32_t jit_rule;
X64_INLINE uint32_t jit_from(jit_rule rule) { return (rule & 0xfff) << 8; }
X64_INLINE uint32_t jit_register_bits(jit_rule rule) { return rule >> 12 & 0xfff; }
X64_INLINE uint32_t jit_charge(jit_rule rule) { return rule >> 25 & 15; }

enum jit_flag {
    JIT_ENDS = 1,      /* it ends a block */
    JIT_LOOK = 2,      /* it may need the general way: always, or in a group with the next one */
    JIT_OTHER = 4,     /* it always needs the general way */
    JIT_JUMPS = 8,     /* it has a target */
    JIT_BRANCHES = 16, /* it has a target and can fall through */
    JIT_COPIES = 32,   /* backward it may become a copy of a dispatch (compile.c) */
    JIT_VALID = 64,    /* the opcode is defined */
    JIT_LATE = 128,    /* the last bytes of its code are written later */
};

/* What an instruction may form a group with (fuse.h). ANY: whatever follows, if its immediate is
 * not in 1 to 31. */
enum { JIT_TO_LOAD = 1, JIT_TO_ADD = 2, JIT_TO_SHIFT = 4, JIT_TO_BRANCH = 8, JIT_TO_ANY = 16 };

struct jit_op_traits {
    uint8_t flags; /* as in jit_rules */
    uint8_t bytes; /* of registers before the offset */
    uint8_t sizes; /* 7: there are two immediates; else 0 */
    uint8_t shift; /* where in the byte after the opcode the size of the first one is */
    uint8_t leads; /* it may form a group with a next one that has one of these bits in `joins` */
    uint8_t joins;
    uint8_t late; /* how many bytes are written later: of the second immediate, or of imm64 */
    bool whole;   /* it has a 64-bit immediate */
};

/* Rows of immediates, by the length of an instruction with one byte of registers: bits of a 32-bit
 * word that do not belong to the immediate, and from bit 8 on its kind. */
enum { JIT_IMMEDIATE = 32 }; /* the rows from here on; those before are without an immediate */

struct jit_rules { /* by opcode, for one ISA and kind of charges */
    jit_rule rule[256];
    struct jit_op_traits traits[256];
    uint8_t flags[256]; /* enum jit_flag */
    uint16_t immediates[2 * JIT_IMMEDIATE];
    uint8_t sizes[8];      /* bytes of an immediate, by its size field */
    uint8_t jump_indirect; /* its opcode */
    bool wide;             /* the processor has what wide.c needs */
};

/* memo.c */
const struct jit_rules *pvm_jit_rules(enum pvm_isa isa, uint32_t charge_size);
/* Learns the code of the instruction at pc; length is that of struct jit_window. Returns its
 * number; 0: it cannot be known. */
uint16_t pvm_jit_learn(const struct jit *j, uint32_t pc, unsigned length);

/* ---- looking up ---- */

/* Where in `immediates` the row of an instruction is. */
X64_INLINE uint32_t jit_row(jit_rule rule, uint32_t length)
{
    return (rule >> 24 & 1) * JIT_IMMEDIATE + length;
}

X64_INLINE int32_t jit_immediate(const uint8_t *at, unsigned row)
{
    uint32_t word; /* of this host, which is little-endian */
    unsigned unused = row & 63;
    memcpy(&word, at, 4);
    return (int32_t)((int64_t)(int32_t)(uint32_t)((uint64_t)word << unused) >> unused);
}

/* The entry of an instruction. Kinds: no immediate, one byte, more; not negative, negative. */
X64_INLINE size_t jit_entry(jit_rule rule, unsigned registers, unsigned row, int32_t value)
{
    uint32_t kind = (row & 0xff00) + ((uint32_t)value >> 23 & 0x100);
    return (size_t)jit_from(rule) + kind + (registers & jit_register_bits(rule));
}

X64_INLINE unsigned jit_registers(const uint8_t *at)
{
    uint16_t registers;
    memcpy(&registers, at + 1, 2);
    return registers;
}
