/* Reading and writing operands wherever they are: what the general steps share. Functions that can
 * trap return 0 or the trap. */
#pragma once
#include "coil/vm.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        uint32_t trap_ = (call);                                                                   \
        if (trap_) return trap_;                                                                   \
    } while (0)

uint32_t coil_place_bytes(struct coil_vm *vm, const struct coil_place *p, bool write,
                          uint8_t **bytes);
uint64_t coil_get(const struct coil_vm *vm, const uint8_t *bytes, uint8_t op);
void coil_put(const struct coil_vm *vm, uint8_t *bytes, uint8_t op, uint64_t value);
void coil_flags_set(struct coil_vm *vm, uint8_t flags, uint8_t written);
uint32_t coil_read_own(struct coil_vm *vm, const struct coil_step *s, unsigned i, uint64_t *value);
uint32_t coil_read_as(struct coil_vm *vm, const struct coil_step *s, int i, uint8_t type,
                      uint64_t *value);
uint8_t coil_type_at(const struct coil_step *s, unsigned i);
uint8_t coil_lane_of(const struct coil_place *p);
uint64_t coil_combine(uint8_t opcode, uint8_t type, uint64_t a, uint64_t b, uint8_t *flags);
void coil_set_element(const struct coil_vm *vm, const struct coil_type *t, uint8_t *bytes,
                      unsigned row, unsigned column, uint64_t value);
uint32_t coil_deliver(struct coil_vm *vm, const struct coil_place *to, uint8_t *copy);
uint64_t coil_element(const struct coil_vm *vm, const struct coil_type *t, const uint8_t *bytes,
                      unsigned row, unsigned column);
uint32_t coil_run_vector(struct coil_vm *vm, const struct coil_step *s);
