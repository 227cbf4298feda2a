/* Runs JAM services and authorizers on machines of penta/pvm.h: is-authorized, refine,
 * accumulate, and the accumulation of a whole block.
 *
 * A host is a version of the Gray Paper, a chain's parameters, an engine, and the programs it
 * has prepared. A state is a map from keys of 31 bytes to values, as the Gray Paper serializes
 * them: accounts, storage, preimages and their requests, privileges, queues. A node hands its
 * state over with penta_jam_state_set, or answers for single keys when they are needed
 * (penta_jam_source), and reads back what changed. The host decides nothing else: the caller
 * says which reports are available, what the entropy is, and what a block's extrinsics hold.
 *
 * A host and the states that it works on belong to one thread at a time; there may be many of
 * them. The rules of penta.h about errors, buffers, NULL and options hold. Calls that fail leave
 * the state as it was, and results that start from zeros may be freed then too. Integers in
 * values are little-endian. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PENTA_JAM_KEY = 31, PENTA_JAM_HASH = 32, PENTA_JAM_SEGMENT = 4104, PENTA_JAM_MEMO = 128 };

typedef struct penta_jam_host penta_jam_host;
typedef struct penta_jam_state penta_jam_state;

/* The functions below are about hosts. */

/* Makes a host. The options are version (0.6.7, 0.7.0, 0.7.1, 0.7.2 or 0.8-draft; without it
 * 0.7.2), chain (full, tiny, or a JSON object whose members replace those of its `base`; without
 * it full), and engine (interp, jit or both; without it the fastest). `state` is a state as JSON
 * and may be empty: it gives a version or a chain that the options do not give. */
PENTA_API penta_jam_host *penta_jam_host_new(penta_bytes state, const penta_option *options,
                                             size_t count, penta_error *err);
PENTA_API void penta_jam_host_free(penta_jam_host *host); /* `host` may be NULL. */
/* Gives a protocol parameter by a name such as "cores" (docs/formats/pvm/jam.md 7.3). */
PENTA_API bool penta_jam_parameter(const penta_jam_host *host, const char *name, uint64_t *value);
/* penta_jam_version_name returns version i, or NULL after the last one. penta_jam_call_name
 * returns the name of a host call by its number in a version, or NULL when there is none; a
 * version of NULL is the default. */
PENTA_API const char *penta_jam_version_name(size_t i);
PENTA_API const char *penta_jam_call_name(const char *version, uint32_t number);
/* Sets a function that gets each host call, after it is settled, as one line without a newline.
 * NULL: none does. */
typedef void penta_jam_called(void *user, uint32_t service, const char *line);
PENTA_API void penta_jam_on_call(penta_jam_host *host, penta_jam_called *called, void *user);
/* Sets a function that gets what programs log. Levels are from 0 (fatal) to 4 (pedantic). */
typedef void penta_jam_logged(void *user, uint32_t service, uint64_t level, penta_bytes target,
                              penta_bytes message);
PENTA_API void penta_jam_on_log(penta_jam_host *host, penta_jam_logged *logged, void *user);

/* The declarations below are about states. */

typedef struct penta_jam_source {
    void *user;
    /* Gives the value under a key, borrowed until the next call. Returns false when there is
     * none. */
    bool (*get)(void *user, const uint8_t *key, penta_bytes *value);
} penta_jam_source;

/* Makes a state, which is empty or starts from a source. `source` is copied and may be NULL. The
 * host must outlive the state. */
PENTA_API penta_jam_state *penta_jam_state_new(const penta_jam_host *host,
                                               const penta_jam_source *source, penta_error *err);
PENTA_API void penta_jam_state_free(penta_jam_state *state); /* `state` may be NULL. */
/* Gives the value under a key, borrowed until the next change. Returns false when there is no
 * such value. */
PENTA_API bool penta_jam_state_get(penta_jam_state *state, const uint8_t *key, penta_bytes *value);
/* Sets a value, or removes it when value.data is NULL. Values that were set count as changes
 * until penta_jam_state_commit. */
PENTA_API bool penta_jam_state_set(penta_jam_state *state, const uint8_t *key, penta_bytes value,
                                   penta_error *err);
/* Sets a value of a service's storage and remembers its storage key, of which the state key has
 * only a hash. So the key can be shown in files that people read. */
PENTA_API bool penta_jam_state_store(penta_jam_state *state, uint32_t service, penta_bytes key,
                                     penta_bytes value, penta_error *err);

/* A function of this type gets one change. `before` or `now` is NULL when there was, or is, no
 * value. `name` is the storage key, or the hash and u32 length of a request, where it is known. */
typedef void penta_jam_change(void *user, const uint8_t *key, penta_bytes name,
                              const penta_bytes *before, const penta_bytes *now);
/* Calls a function with each change since the last commit, in the order of the keys. Returns
 * false when memory ran out, and then the function was not called. */
PENTA_API bool penta_jam_state_changes(penta_jam_state *state, penta_jam_change *change,
                                       void *user);
PENTA_API bool penta_jam_state_commit(penta_jam_state *state, penta_error *err);
PENTA_API void penta_jam_state_rollback(penta_jam_state *state);

/* These functions make state keys: of a chapter (2 authorizer queues, 7 staging set, 12
 * privileges ...), of an account's record, and of an account's storage, preimages and requests. */
PENTA_API void penta_jam_key(uint8_t chapter, uint8_t *key);
PENTA_API void penta_jam_account_key(uint32_t service, uint8_t *key);
PENTA_API void penta_jam_storage_key(uint32_t service, penta_bytes name, uint8_t *key);
PENTA_API void penta_jam_preimage_key(uint32_t service, const uint8_t *hash, uint8_t *key);
PENTA_API void penta_jam_request_key(uint32_t service, const uint8_t *hash, uint32_t length,
                                     uint8_t *key);
/* Computes Blake2b-256, the hash that all of these functions use. */
PENTA_API void penta_jam_hash(penta_bytes bytes, uint8_t *hash);

/* These functions read and write a state as JSON (docs/formats/pvm/jam.md). Reading adds to the
 * state. "@FILE" stands for the contents of a file in `folder`; when `folder` is NULL, files are
 * not allowed. */
PENTA_API bool penta_jam_state_read(penta_jam_state *state, penta_bytes json, const char *folder,
                                    penta_error *err);
PENTA_API bool penta_jam_state_write(penta_jam_state *state, penta_buffer *out, penta_error *err);
/* Appends the changes since the last commit, as lines of text or as a JSON list. */
PENTA_API bool penta_jam_state_diff(penta_jam_state *state, bool json, penta_buffer *out,
                                    penta_error *err);

/* The declarations below are about single invocations. */

/* The exits have the numbers that they have in work results. */
typedef enum penta_jam_exit {
    PENTA_JAM_HALT,
    PENTA_JAM_OUT_OF_GAS,
    PENTA_JAM_PANIC,
    PENTA_JAM_BAD_EXPORTS,
    PENTA_JAM_OVERSIZE,
    PENTA_JAM_NO_CODE,
    PENTA_JAM_BIG_CODE,
} penta_jam_exit;
/* Returns a name such as "out of gas". */
PENTA_API const char *penta_jam_exit_name(penta_jam_exit exit);

typedef struct penta_jam_result { /* A result must be all zeros before its first use. */
    penta_jam_exit exit;
    uint64_t gas_used;
    /* `output` is what the program returned; for accumulate it is the yield, 32 bytes or none. */
    penta_buffer output;
    penta_buffer exports; /* the exported segments, for refine */
    /* For accumulate, `transfers` has transfers; each is u32 from, u32 to, u64 amount, memo, u64
     * gas. */
    penta_buffer transfers;
} penta_jam_result;
PENTA_API void penta_jam_result_free(penta_jam_result *result);

typedef struct penta_jam_accumulation {
    uint32_t slot, service;
    uint8_t entropy[PENTA_JAM_HASH];
    uint64_t gas;
    const penta_bytes *items; /* operands and transfers, encoded as fetch gives them */
    size_t item_count;
} penta_jam_accumulation;
/* Accumulates for one service, as if it were alone in a round. Its changes become changes of the
 * state. */
PENTA_API bool penta_jam_accumulate(penta_jam_host *host, penta_jam_state *state,
                                    const penta_jam_accumulation *input, penta_jam_result *out,
                                    penta_error *err);
/* Runs one service, as penta_jam_accumulate does, at the entry point that versions up to 0.7.0
 * have for transfers. */
PENTA_API bool penta_jam_on_transfer(penta_jam_host *host, penta_jam_state *state,
                                     const penta_jam_accumulation *input, penta_jam_result *out,
                                     penta_error *err);

typedef struct penta_jam_package {
    penta_bytes encoded; /* the encoded work package */
    uint16_t core;
    penta_bytes trace;             /* the output of is-authorized, which refine gets */
    const penta_bytes *extrinsics; /* the extrinsics of all items, one after the other */
    size_t extrinsic_count;
    const penta_bytes *imports; /* the imported segments of all items, one after the other */
    size_t import_count;
} penta_jam_package;
PENTA_API bool penta_jam_is_authorized(penta_jam_host *host, penta_jam_state *state,
                                       const penta_jam_package *package, penta_jam_result *out,
                                       penta_error *err);
PENTA_API bool penta_jam_refine(penta_jam_host *host, penta_jam_state *state,
                                const penta_jam_package *package, size_t item,
                                penta_jam_result *out, penta_error *err);
/* The declarations below are about work reports. */

/* A penta_jam_availability is what a node knows about a package that is not in the package: the
 * size of its bundle, the root of its erasure coding, and the segment roots of packages from
 * which it imports by their hash. */
typedef struct penta_jam_availability {
    uint32_t bundle_size;
    uint8_t erasure_root[PENTA_JAM_HASH];
    const uint8_t *lookups; /* pairs of a package hash and a segments root, 64 bytes each */
    size_t lookup_count;
} penta_jam_availability;

typedef struct penta_jam_report { /* A report must be all zeros before its first use. */
    /* `authorized` is the result of is-authorized, whose output is the trace; there is a report
     * only when its exit is HALT. */
    penta_jam_result authorized;
    /* For each item there is the exit that the report has, and the output if the exit is HALT. */
    penta_jam_result *items;
    size_t item_count;
    penta_buffer exports; /* the exported segments of all items, zeros for an item that failed */
    uint8_t package[PENTA_JAM_HASH], authorizer[PENTA_JAM_HASH], exports_root[PENTA_JAM_HASH];
    /* `encoded` is the encoded report, as penta_jam_block takes it, or empty when there is none. */
    penta_buffer encoded;
} penta_jam_report;
PENTA_API void penta_jam_report_free(penta_jam_report *report);

/* Makes the report of a package: runs is-authorized, then refine for each item. A result that
 * does not fit the report becomes OVERSIZE, and one with another number of exports than promised
 * BAD_EXPORTS. The package's trace is ignored. When `where` is NULL, its values are zeros, and
 * nothing was looked up. */
PENTA_API bool penta_jam_report_make(penta_jam_host *host, penta_jam_state *state,
                                     const penta_jam_package *package,
                                     const penta_jam_availability *where, penta_jam_report *out,
                                     penta_error *err);
/* Computes the root of exported segments. */
PENTA_API void penta_jam_segments_root(penta_bytes segments, uint8_t *root);

/* The declarations below are about blocks. */

typedef struct penta_jam_preimage {
    uint32_t service;
    penta_bytes blob;
} penta_jam_preimage;

typedef struct penta_jam_block {
    uint32_t slot;
    uint8_t entropy[PENTA_JAM_HASH]; /* the entropy eta'_0 of this block */
    /* `reports` are the newly available reports, encoded, in the order of their cores. */
    const penta_bytes *reports;
    size_t report_count;
    const penta_jam_preimage *preimages;
    size_t preimage_count;
} penta_jam_block;

typedef struct penta_jam_service_gas {
    uint32_t service;
    /* `items` says how many work items accumulated reports have for the service, and `gas` how
     * much gas it used. */
    uint64_t items, gas;
} penta_jam_service_gas;

typedef struct penta_jam_outcome {   /* An outcome must be all zeros before its first use. */
    penta_jam_service_gas *services; /* The services are sorted by their numbers. */
    size_t service_count;
    uint8_t root[PENTA_JAM_HASH];   /* the root of the outputs */
    uint32_t rounds, runs, reports; /* how many rounds, runs and accumulated reports there were */
    penta_buffer outputs;           /* for each output: u32 service, hash */
} penta_jam_outcome;
PENTA_API void penta_jam_outcome_free(penta_jam_outcome *outcome);

/* Accumulates a block's reports in rounds, and then takes in its preimages. The state changes at
 * the keys of accounts and of chapters 2, 7, 11, 12, 14, 15 and 16. */
PENTA_API bool penta_jam_block_run(penta_jam_host *host, penta_jam_state *state,
                                   const penta_jam_block *block, penta_jam_outcome *out,
                                   penta_error *err);
/* Runs a block that is given as JSON. `folder` is as for penta_jam_state_read. */
PENTA_API bool penta_jam_block_json(penta_jam_host *host, penta_jam_state *state, penta_bytes json,
                                    const char *folder, penta_jam_outcome *out, penta_error *err);

#ifdef __cplusplus
}
#endif
