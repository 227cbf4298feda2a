/* The costs of basic blocks in the gas models of PVM 9. A cost depends on the bytes of the block
 * and, in the pipeline model, on the opcodes at the two destinations of its branch. */
#pragma once
#include "pvm/format/decode.h"

enum pvm_gas_model {
    PVM_GAS_NAIVE,   /* one for each instruction; a block is paid when it is entered */
    PVM_GAS_STEP,    /* one for each instruction, when it is executed */
    PVM_GAS_FULL_L1, /* the pipeline, where loads take 4, 25 or 37 cycles */
    PVM_GAS_FULL_L2,
    PVM_GAS_FULL_L3,
    PVM_GAS_MODELS
};

/* In "full" loads take 25 cycles; NULL comes after the last. */
const char *pvm_gas_model_name(size_t i);
bool pvm_gas_model_parse(const char *name, enum pvm_gas_model *model);
/* Tells whether this is the pipeline model. Only in that model a cost is not a number of
 * instructions. */
static inline bool pvm_gas_pipeline(enum pvm_gas_model model) { return model >= PVM_GAS_FULL_L1; }

/* Computes the cost of the block that starts at pc, with the instruction that ends it. In a
 * hole, and right after the code, this is the cost of an implied trap; farther away the result
 * is false. cmov_reads_old: a conditional move waits for the old value of its destination
 * (gp-0.7, gp-0.8). */
bool pvm_block_cost(const struct pvm_code *code, uint32_t pc, enum pvm_gas_model model,
                    bool cmov_reads_old, uint32_t *cost);
