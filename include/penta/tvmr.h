/* Offers embedders what they need for ternary tensor machines beyond penta.h, whose rules about
 * errors and NULL hold. A failed call leaves the machine as it was, unless memory ran out (rule
 * LIMIT): then a register that was to be set may be empty. A register is named by its byte: bank
 * in the upper two bits (0 hot, 1 cold, 2 param, 3 shape), index in the lower six;
 * PENTA_TVMR_C(3) is C3. Every function takes a machine of the format "tvmr".
 *
 * For a run a caller uses penta_tvmr_begin with an input, penta_vm_run until the machine stops,
 * and penta_tvmr_output. At PENTA_STOP_HOST the program asks for a domain operation: stop.detail
 * is its id, and penta_tvmr_domain names it and its arguments. The caller then reads and writes
 * registers, calls penta_vm_answer without results, or penta_tvmr_stop or penta_tvmr_fail, and
 * runs again. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PENTA_TVMR_H(i) ((uint8_t)(i))
#define PENTA_TVMR_C(i) ((uint8_t)(0x40 | (i)))
#define PENTA_TVMR_P(i) ((uint8_t)(0x80 | (i)))
#define PENTA_TVMR_S(i) ((uint8_t)(0xc0 | (i)))

/* A signal has the value polarity (-1, 0 or 1) times magnitude. */
typedef struct penta_tvmr_signal {
    int8_t polarity;
    uint8_t magnitude;
} penta_tvmr_signal;

/* A penta_tvmr_tensor is the content of a register. A hot or param register has numbers, a cold
 * one signals, and each has dims. */
typedef struct penta_tvmr_tensor {
    const int32_t *numbers;
    const penta_tvmr_signal *signals;
    /* `temperatures` are the temperatures of a cold register, 0 hot .. 3 cold; NULL means that
     * all are hot. */
    const uint8_t *temperatures;
    size_t count; /* how many elements the register has */
    const uint32_t *dims;
    size_t rank;
} penta_tvmr_tensor;

/* Gives the content of a register, borrowed until the machine runs or is changed. Returns false
 * when the register is not allocated. */
PENTA_API bool penta_tvmr_register_get(const penta_vm *vm, uint8_t reg, penta_tvmr_tensor *out);
/* Replaces the whole register. The elements are copied; when dims is NULL, there is one
 * dimension. A cold register keeps its key. */
PENTA_API bool penta_tvmr_register_set(penta_vm *vm, uint8_t reg, const penta_tvmr_tensor *value,
                                       penta_error *err);

PENTA_API bool penta_tvmr_begin(penta_vm *vm, const int32_t *input, size_t count, penta_error *err);
PENTA_API bool penta_tvmr_target(penta_vm *vm, const int32_t *values, size_t count,
                                 penta_error *err);
/* Returns the output, which is borrowed. */
PENTA_API const int32_t *penta_tvmr_output(const penta_vm *vm, size_t *count);
/* penta_tvmr_chemicals sets the levels of dopamine, serotonin, norepinephrine and gaba;
 * penta_tvmr_babble sets the scale of exploration noise, 0 .. 255. */
PENTA_API void penta_tvmr_chemicals(penta_vm *vm, const uint8_t levels[4]);
PENTA_API void penta_tvmr_babble(penta_vm *vm, int scale);
/* Returns why the run failed, or "" when it did not. */
PENTA_API const char *penta_tvmr_failure(const penta_vm *vm);

/* The functions below are about domain operations. */

/* Returns the name of a domain operation, such as "ChemRead", and its fields in the order of
 * stop.args, such as "target=rA chem_id=B". Returns NULL when there is no such id. */
PENTA_API const char *penta_tvmr_domain(uint32_t id, const char **fields);
PENTA_API void penta_tvmr_stop(penta_vm *vm);                   /* Ends the run normally. */
PENTA_API void penta_tvmr_fail(penta_vm *vm, const char *text); /* Ends the run with E_HOST. */

/* A penta_tvmr_bank is a bank of vectors of the host's own. While it is attached, the bank
 * instructions for which it has functions run without a stop: query, write, load, count, touch
 * and delete (TVMR 8.11). Ids are 64 bits, scores are scaled by 256; at most `top` results are
 * found, which is at most 255. A function returns false when the bank has no such slot or entry.
 * Then, and where the function is NULL, the machine stops with the domain operation. A call is
 * part of its instruction: the host decides how long it takes. */
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
/* Attaches a bank, which must outlive the machine or be replaced. NULL detaches it. */
PENTA_API void penta_tvmr_bank_attach(penta_vm *vm, const penta_tvmr_bank *bank);

/* The functions below are about weights and programs. */

/* Writes the cold registers that have a key to a file, which is never left incomplete. */
PENTA_API bool penta_tvmr_weights_save(const penta_vm *vm, const char *path, penta_error *err);
/* Loads weights into the registers with the same key and size. *loaded is how many were loaded;
 * if none was, the function returns false, too. Keys that only the file or only the program has
 * are findings (penta_vm_findings). */
PENTA_API bool penta_tvmr_weights_load(penta_vm *vm, const char *path, size_t *loaded,
                                       penta_error *err);
/* Puts another program into a running machine. Weights whose key and shape match stay; *kept
 * tells whether there were any. The module must outlive the machine. Returns false, too, while
 * instructions are counted for a profile. */
PENTA_API bool penta_tvmr_reload(penta_vm *vm, const penta_module *module, bool *kept,
                                 penta_error *err);

/* The functions below learn outside of programs. They are for hosts that train weights
 * themselves, on arrays of their own: they take them out of a register, learn, and set the
 * register. The rule differs from the learning instructions. */

typedef struct penta_tvmr_rule {
    /* `step` is by how much a weight changes, `threshold` the pressure that this takes. */
    int32_t step, threshold;
    /* Activations above max / divisor take part, with the force `scale`. */
    int32_t divisor, scale;
    /* A step in the direction of the pressure leaves pressure * keep / of. */
    int32_t keep, of;
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

/* Learns by one step: changes the pressures by the activations towards `direction` (-1, 0 or 1),
 * and then the weights by the pressures. The divisor and `of` of the rule are above 0. */
PENTA_API void penta_tvmr_learn(const penta_tvmr_rule *rule, penta_tvmr_signal *weights,
                                int32_t *pressures, const int32_t *activations, size_t count,
                                int direction);
/* Finds which activations take part, and returns how many. */
PENTA_API size_t penta_tvmr_participants(const int32_t *activations, size_t count, int32_t divisor,
                                         bool *took_part);
/* Makes weights to begin with: of both signs with magnitudes 20 to 39, or positive ones with 10
 * to 24. */
PENTA_API void penta_tvmr_init(penta_tvmr_signal *weights, size_t count, bool positive,
                               uint64_t seed);
/* These functions are about usage counters, one for each weight. Counting adds 1 where a weight
 * was used, up to 2^32-1; decay multiplies all counters by factor / 255. */
PENTA_API void penta_tvmr_usage_count(uint32_t *counters, const bool *used, size_t count);
PENTA_API void penta_tvmr_usage_decay(uint32_t *counters, size_t count, uint8_t factor);

/* The declarations below are for extensions of one's own. */

typedef enum penta_tvmr_result {
    PENTA_TVMR_NEXT, /* The machine goes on with the next instruction. */
    PENTA_TVMR_HALT,
    PENTA_TVMR_FAIL, /* The run fails; penta_tvmr_fail was called before. */
} penta_tvmr_result;

typedef struct penta_tvmr_instruction {
    const char *name; /* the name, such as "BLUR"; the opcode is the place in the array */
    /* `bytes` has a letter for each of the operands A to D, as in "ds--": d, s or m is a
     * register that is written, read, or both; i is a number; - is unused. */
    const char *bytes;
    const char *meaning;
    penta_tvmr_result (*run)(penta_vm *vm, const uint8_t operands[4], void *user);
} penta_tvmr_instruction;

typedef struct penta_tvmr_extension {
    uint16_t id, major, minor, patch; /* `id` is from 0x0100 to 0xfffe. */
    const char *name;                 /* the name as in .requires and before mnemonics */
    const penta_tvmr_instruction *instructions;
    size_t count;
    void *user;
} penta_tvmr_extension;

/* Registers an extension. This is done before machines are opened and cannot be undone, so what
 * `extension` points to must stay valid. */
PENTA_API bool penta_tvmr_extension_register(const penta_tvmr_extension *extension,
                                             penta_error *err);

#ifdef __cplusplus
}
#endif
