/* This file declares what compiled code does with vectors and matrices. They are in memory, and
 * the code works on pieces of 32, 16, 8 and 4 bytes. */
#pragma once
#include "coil/jit/jit.h"
#include "coil/vm/step/step.h"

struct coil_lane_op {
    uint8_t opcode, type; /* type: the type of the lanes */
    bool saturate;
    unsigned count; /* shift count of an operation that shifts */
};
/* lower_lanes.c defines the functions below. */
/* Makes the operation on one piece. Returns 0 if the processor has no such instruction. b and c
 * may be 0 if the operation does not use them. */
uint32_t coil_lane_compute(struct coil_lower *l, const struct coil_lane_op *o, enum ssa_type piece,
                           uint32_t a, uint32_t b, uint32_t c);
uint32_t coil_lane1(struct coil_lower *l, enum x64_vector op, enum ssa_type piece, uint32_t a,
                    uint8_t imm);
uint32_t coil_lane2(struct coil_lower *l, enum x64_vector op, enum ssa_type piece, uint32_t a,
                    uint32_t b, uint8_t imm);
/* These functions make a vector: coil_lane_fill repeats a float or the low 4 or 8 bytes of a
 * register in every lane, coil_lane_bits repeats 8 constant bytes, and coil_lane_zero has only
 * zeros. */
uint32_t coil_lane_fill(struct coil_lower *l, enum ssa_type piece, uint32_t value, unsigned bytes);
uint32_t coil_lane_bits(struct coil_lower *l, enum ssa_type piece, uint64_t bits);
uint32_t coil_lane_zero(struct coil_lower *l, enum ssa_type piece);
