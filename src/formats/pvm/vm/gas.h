/* What basic blocks cost, in the gas models of PVM 9. A cost depends on the
 * block's bytes and, in the pipeline model, on the opcodes at the two destinations of its
 * branch. */
#pragma once
#include "pvm/format/decode.h"

enum pvm_gas_model {
    PVM_GAS_NAIVE,   /* one per instruction, for the whole block when it is entered */
    PVM_GAS_STEP,    /* one per instruction, as it is executed */
    PVM_GAS_FULL_L1, /* pipeline; loads take 4, 25 or 37 cycles */
    PVM_GAS_FULL_L2,
    PVM_GAS_FULL_L3,
    PVM_GAS_MODELS
};

const char *pvm_gas_model_name(size_t i); /* "full": loads take 25; NULL after the last */
bool pvm_gas_model_parse(const char *name, enum pvm_gas_model *model);
/* Whether it is the pipeline model, where a cost is not a number of instructions. */
static inline bool pvm_gas_pipeline(enum pvm_gas_model model) { return model >= PVM_GAS_FULL_L1; }

/* The cost of the block that starts at pc, including the instruction that ends it. In a hole, and
 * right after the code, it is the cost of an implied trap; farther away the result is false.
 * cmov_reads_old: a conditional move waits for the old value of its destination (gp-0.7,
 * gp-0.8). */
bool pvm_block_cost(const struct pvm_code *code, uint32_t pc, enum pvm_gas_model model,
                    bool cmov_reads_old, uint32_t *cost);
