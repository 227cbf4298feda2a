/* Has the table of the registers that instructions read and write (ops.h), made from isa.def. */
#include "pvm/vm/ops.h"
#include "pvm/format/decode.h"

const struct pvm_uses pvm_uses[PVM_OPS] = {
#define USES(name, kind, ...) [PVM_OP_##name] = {PVM_DO_##kind, PVM_USES_##kind},
#define OP(name, ...) PVM_ROW(USES, name, 0)
    OP(invalid, 0)
#include "pvm/isa.def"
};
