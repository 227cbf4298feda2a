/* Signatures of functions as C has them (COIL 8.9). They are in the section .coil.proto, which
 * consists of words in the byte order of the file:
 *
 *     prototype    symbol | result type, FF for none | variadic | count | type * count
 *     variadic     1: more arguments may follow; else 0 */
#pragma once
#include "coil/coil.h"

#define COIL_PROTO_NAME ".coil.proto"
enum { COIL_PROTO_HEAD = 16, COIL_PROTO_ARGS = 32 };

struct coil_proto {
    uint32_t symbol, count;
    uint8_t result; /* type of the result: a scalar type, or VOID */
    bool variadic;
    uint8_t types[COIL_PROTO_ARGS];
};

bool coil_is_proto(const struct coil_module *m, size_t section);
/* Reads the signature at *at and moves *at to the next one. Returns false at the end of the
 * section, and, with *err set, if the signature is wrong. */
bool coil_proto_next(const struct coil_module *m, size_t section, size_t *at,
                     struct coil_proto *out, penta_error *err);
void coil_proto_write(struct writer *out, const struct coil_proto *p);
/* Prints a signature such as i32(u64, ...) */
void coil_proto_print(struct writer *out, const struct coil_proto *p);
void coil_proto_describe(const struct coil_module *m, size_t section, const penta_visitor *v);
void coil_proto_verify(const struct coil_module *m, struct findings *f);
static inline bool coil_proto_type(uint8_t op) { return coil_is_scalar(op) && op != COIL_T_BIT; }
