/* Reading and writing operands in any place, for the general steps. Functions that can trap return 0 or
 * the trap. */
#pragma once
#include "coil/vm/vm.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        uint32_t trap_ = (call);                                                                   \
        if (trap_) return trap_;                                                                   \
    } while (0)

/* A register or a scalar type: its value is passed in 64 bits. Everything else is bytes. */
static inline bool coil_place_scalar(const struct coil_place *p)
{
    return p->at == COIL_AT_REGISTER || coil_is_scalar(p->op);
}
/* One scalar fits there. */
static inline bool coil_place_writable(const struct coil_place *p)
{
    bool place = p->at == COIL_AT_REGISTER || p->at == COIL_AT_SLOT || p->at == COIL_AT_FRAME ||
                 p->at == COIL_AT_MEMORY;
    return place && coil_place_scalar(p) && !(p->ext & COIL_CONST);
}
uint32_t coil_address_of(struct coil_vm *vm, const struct coil_place *p, uint64_t *address);
/* The bytes of a value in memory, or of a constant that is no scalar. */
uint32_t coil_place_bytes(struct coil_vm *vm, const struct coil_place *p, bool write,
                          uint8_t **bytes);
uint64_t coil_get(const struct coil_vm *vm, const uint8_t *bytes, uint8_t op);
void coil_put(const struct coil_vm *vm, uint8_t *bytes, uint8_t op, uint64_t value);
/* The type of operand i in the operation; its value in that type, or in another. */
uint8_t coil_type_at(const struct coil_step *s, unsigned i);
uint32_t coil_read_own(struct coil_vm *vm, const struct coil_step *s, unsigned i, uint64_t *value);
uint32_t coil_read_as(struct coil_vm *vm, const struct coil_step *s, int i, uint8_t type,
                      uint64_t *value);
uint32_t coil_read_count(struct coil_vm *vm, const struct coil_step *s, unsigned i,
                         uint64_t *value);
uint8_t coil_lane_of(const struct coil_place *p); /* VOID: it has no lanes, or untyped ones */
