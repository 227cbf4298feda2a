/* Computes the costs of basic blocks in the gas models of PVM 9. A cost depends on the bytes of
 * the block and, in the pipeline model, on the opcodes at the two destinations of its branch. */
#pragma once
#include "pvm/format/decode.h"

enum pvm_gas_model {
    PVM_GAS_NAIVE,   /* An instruction costs 1; a block is paid when it is entered. */
    PVM_GAS_STEP,    /* An instruction costs 1, which is paid when it is executed. */
    PVM_GAS_FULL_L1, /* A block costs what the pipeline takes; loads take 4, 25 or 37 cycles. */
    PVM_GAS_FULL_L2,
    PVM_GAS_FULL_L3,
    PVM_GAS_MODELS
};

/* Returns the i-th name of a gas model, or NULL after the last one. In the model named "full",
 * loads take 25 cycles. */
const char *pvm_gas_model_name(size_t i);
bool pvm_gas_model_parse(const char *name, enum pvm_gas_model *model);
/* Tells whether this is a pipeline model. In all other models a cost is a number of
 * instructions. */
static inline bool pvm_gas_pipeline(enum pvm_gas_model model) { return model >= PVM_GAS_FULL_L1; }

/* Computes the cost of the block that starts at pc, including the instruction that ends it. In a
 * hole, and right after the code, this is the cost of an implied trap; farther away the function
 * returns false. cmov_reads_old says that a conditional move waits for the old value of its
 * destination (gp-0.7, gp-0.8). */
bool pvm_block_cost(const struct pvm_code *code, uint32_t pc, enum pvm_gas_model model,
                    bool cmov_reads_old, uint32_t *cost);
