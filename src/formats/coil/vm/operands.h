/* Reads and writes operands of any form, for instructions that are executed as steps. Functions
 * that can trap return 0 or the number of the trap. */
#pragma once
#include "coil/vm/vm.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        uint32_t trap_ = (call);                                                                   \
        if (trap_) return trap_;                                                                   \
    } while (0)

/* Tells whether an operand is a register or has a scalar type. The value of such an operand is
 * passed in 64 bits, and that of others as bytes. */
static inline bool coil_place_scalar(const struct coil_place *p)
{
    return p->at == COIL_AT_REGISTER || coil_is_scalar(p->op);
}
/* Tells whether a scalar can be written to a place. */
static inline bool coil_place_writable(const struct coil_place *p)
{
    bool place = p->at == COIL_AT_REGISTER || p->at == COIL_AT_SLOT || p->at == COIL_AT_FRAME ||
                 p->at == COIL_AT_MEMORY;
    return place && coil_place_scalar(p) && !(p->ext & COIL_CONST);
}
uint32_t coil_address_of(struct coil_vm *vm, const struct coil_place *p, uint64_t *address);
/* Finds the bytes of a value in memory, or of a constant that is not a scalar. */
uint32_t coil_place_bytes(struct coil_vm *vm, const struct coil_place *p, bool write,
                          uint8_t **bytes);
uint64_t coil_get(const struct coil_vm *vm, const uint8_t *bytes, uint8_t op);
void coil_put(const struct coil_vm *vm, uint8_t *bytes, uint8_t op, uint64_t value);
/* coil_type_at returns the type that operand i has in the operation. coil_read_own reads the
 * operand in that type, and coil_read_as in another one. */
uint8_t coil_type_at(const struct coil_step *s, unsigned i);
uint32_t coil_read_own(struct coil_vm *vm, const struct coil_step *s, unsigned i, uint64_t *value);
uint32_t coil_read_as(struct coil_vm *vm, const struct coil_step *s, int i, uint8_t type,
                      uint64_t *value);
uint32_t coil_read_count(struct coil_vm *vm, const struct coil_step *s, unsigned i,
                         uint64_t *value);
/* Returns the type of the lanes of a place, or VOID if it has no lanes or their type is not
 * known. */
uint8_t coil_lane_of(const struct coil_place *p);
