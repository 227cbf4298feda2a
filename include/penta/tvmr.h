/* Ternary tensor machines: what embedders need beyond penta.h, whose rules about errors and NULL
 * hold. A failed call leaves the machine as it was, unless memory ran out (rule LIMIT): then a
 * register that was to be set may be empty. A register is named by its byte:
 * bank in the upper two bits (0 hot, 1 cold, 2 param, 3 shape), index in the lower six;
 * PENTA_TVMR_C(3) is C3. Every function takes a machine of the format "tvmr".
 *
 * A run is: penta_tvmr_begin with an input, penta_vm_run until it stops, penta_tvmr_output. At
 * PENTA_STOP_HOST the program asks for a domain operation: stop.detail is its id, penta_tvmr_domain
 * names it and its arguments; read and write registers, then penta_vm_answer without results, or
 * penta_tvmr_stop or penta_tvmr_fail, and run again. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PENTA_TVMR_H(i) ((uint8_t)(i))
#define PENTA_TVMR_C(i) ((uint8_t)(0x40 | (i)))
#define PENTA_TVMR_P(i) ((uint8_t)(0x80 | (i)))
#define PENTA_TVMR_S(i) ((uint8_t)(0xc0 | (i)))

/* Polarity -1, 0 or 1 times magnitude. */
typedef struct penta_tvmr_signal {
    int8_t polarity;
    uint8_t magnitude;
} penta_tvmr_signal;

/* The content of a register: numbers of a hot or param one, signals of a cold one, dims of any. */
typedef struct penta_tvmr_tensor {
    const int32_t *numbers;
    const penta_tvmr_signal *signals;
    const uint8_t *temperatures; /* of a cold one, 0 hot .. 3 cold; NULL: all hot */
    size_t count;                /* elements */
    const uint32_t *dims;
    size_t rank;
} penta_tvmr_tensor;

/* Borrowed until the machine runs or is changed. False: the register is not allocated. */
PENTA_API bool penta_tvmr_register_get(const penta_vm *vm, uint8_t reg, penta_tvmr_tensor *out);
/* Replaces the whole register; the elements are copied, dims NULL means one dimension. A cold
 * register keeps its key. */
PENTA_API bool penta_tvmr_register_set(penta_vm *vm, uint8_t reg, const penta_tvmr_tensor *value,
                                       penta_error *err);

PENTA_API bool penta_tvmr_begin(penta_vm *vm, const int32_t *input, size_t count, penta_error *err);
PENTA_API bool penta_tvmr_target(penta_vm *vm, const int32_t *values, size_t count,
                                 penta_error *err);
PENTA_API const int32_t *penta_tvmr_output(const penta_vm *vm, size_t *count); /* borrowed */
/* Dopamine, serotonin, norepinephrine, gaba; and the scale of exploration noise, 0..255. */
PENTA_API void penta_tvmr_chemicals(penta_vm *vm, const uint8_t levels[4]);
PENTA_API void penta_tvmr_babble(penta_vm *vm, int scale);
/* Why the run failed, "" when it did not. */
PENTA_API const char *penta_tvmr_failure(const penta_vm *vm);

/* ---- domain operations ---- */

/* "ChemRead", and "target=rA chem_id=B": the fields in the order of stop.args. NULL: no such id. */
PENTA_API const char *penta_tvmr_domain(uint32_t id, const char **fields);
PENTA_API void penta_tvmr_stop(penta_vm *vm);                   /* ends the run normally */
PENTA_API void penta_tvmr_fail(penta_vm *vm, const char *text); /* ends it with E_HOST */

/* A bank of vectors of the host's own. While it is attached, the bank instructions that it has functions for run
 * without a stop: query, write, load, count, touch and delete (TVMR 8.11). Ids are 64 bits, scores are scaled by
 * 256; at most `top` results are found, which is at most 255. A function returns false when the bank has no
 * such slot or entry: then, and where the function is NULL, the machine stops with the domain operation. A call
 * is part of its instruction: how long it takes is the host's affair. */
typedef struct penta_tvmr_bank {
    void *user;
    bool (*query)(void *user, uint8_t slot, const int32_t *vector, size_t size, size_t top,
                  int32_t *scores, uint64_t *ids, size_t *found);
    bool (*write)(void *user, uint8_t slot, const int32_t *vector, size_t size, uint64_t *id);
    bool (*load)(void *user, uint8_t slot, uint64_t id, const int32_t **vector, size_t *size);
    bool (*count)(void *user, uint8_t slot, uint64_t *count);
    bool (*touch)(void *user, uint8_t slot, uint64_t id);
    bool (*remove)(void *user, uint8_t slot, uint64_t id);
} penta_tvmr_bank;
/* The bank must outlive the machine, or be replaced by NULL: none. */
PENTA_API void penta_tvmr_bank_attach(penta_vm *vm, const penta_tvmr_bank *bank);

/* ---- weights and programs ---- */

/* Writes the cold registers that have a key; the file is never left incomplete. */
PENTA_API bool penta_tvmr_weights_save(const penta_vm *vm, const char *path, penta_error *err);
/* Into registers with the same key and size; how many were loaded. False, too, if none was; what the file or
 * the program has alone is a finding (penta_vm_findings). */
PENTA_API bool penta_tvmr_weights_load(penta_vm *vm, const char *path, size_t *loaded,
                                       penta_error *err);
/* Another program into a running machine. Weights whose key and shape match stay; *kept tells
 * whether there were any. The module must outlive the machine. False too while instructions are
 * counted for a profile. */
PENTA_API bool penta_tvmr_reload(penta_vm *vm, const penta_module *module, bool *kept,
                                 penta_error *err);

/* ---- learning outside of programs ----
 * For hosts that train weights themselves, on arrays of their own: take them out of a register,
 * learn, set the register. The rule differs from the learning instructions. */

typedef struct penta_tvmr_rule {
    int32_t step, threshold; /* of a weight; what pressure it takes */
    int32_t divisor, scale;  /* activations above max / divisor take part, with this force */
    int32_t keep, of;        /* a step in the pressure's direction leaves pressure * keep / of */
} penta_tvmr_rule;
#define PENTA_TVMR_RULE_DEFAULT                                                                    \
    {                                                                                              \
        3, 10, 4, 15, 2, 3                                                                         \
    }
#define PENTA_TVMR_RULE_FAST                                                                       \
    {                                                                                              \
        5, 5, 3, 20, 1, 2                                                                          \
    }
#define PENTA_TVMR_RULE_STABLE                                                                     \
    {                                                                                              \
        2, 15, 4, 10, 3, 4                                                                         \
    }

/* One step: pressure from the activations towards direction (-1, 0 or 1), then on the weights. The
 * divisor and of are above 0. */
PENTA_API void penta_tvmr_learn(const penta_tvmr_rule *rule, penta_tvmr_signal *weights,
                                int32_t *pressures, const int32_t *activations, size_t count,
                                int direction);
/* Which activations take part, and how many. */
PENTA_API size_t penta_tvmr_participants(const int32_t *activations, size_t count, int32_t divisor,
                                         bool *took_part);
/* Weights to begin with: of both signs, 20 to 39; or positive, 10 to 24. */
PENTA_API void penta_tvmr_init(penta_tvmr_signal *weights, size_t count, bool positive,
                               uint64_t seed);
/* Usage counters, one per weight: count adds 1 where one was used, up to 2^32-1; decay multiplies
 * all by factor / 255. */
PENTA_API void penta_tvmr_usage_count(uint32_t *counters, const bool *used, size_t count);
PENTA_API void penta_tvmr_usage_decay(uint32_t *counters, size_t count, uint8_t factor);

/* ---- extensions of one's own ---- */

typedef enum penta_tvmr_result {
    PENTA_TVMR_NEXT, /* on with the next instruction */
    PENTA_TVMR_HALT,
    PENTA_TVMR_FAIL, /* after penta_tvmr_fail */
} penta_tvmr_result;

typedef struct penta_tvmr_instruction {
    const char *name;  /* "BLUR"; its opcode is its place in the array */
    const char *bytes; /* operands A to D: d s m registers written, read, both; i number;
                        * - unused: "ds--" */
    const char *meaning;
    penta_tvmr_result (*run)(penta_vm *vm, const uint8_t operands[4], void *user);
} penta_tvmr_instruction;

typedef struct penta_tvmr_extension {
    uint16_t id, major, minor, patch; /* id 0x0100 to 0xfffe */
    const char *name;                 /* as in .requires and in front of mnemonics */
    const penta_tvmr_instruction *instructions;
    size_t count;
    void *user;
} penta_tvmr_extension;

/* Register before opening machines. It cannot be undone, so what it points to must stay valid. */
PENTA_API bool penta_tvmr_extension_register(const penta_tvmr_extension *extension,
                                             penta_error *err);

#ifdef __cplusplus
}
#endif
