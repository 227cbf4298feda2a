/* JAM services and authorizers on machines of penta/pvm.h: is-authorized, refine, accumulate, and
 * the accumulation of a whole block.
 *
 * A host is a version of the Gray Paper, a chain's parameters, an engine, and the programs it has
 * prepared. A state is a map from keys of 31 bytes to values, as the Gray Paper serializes them:
 * accounts, storage, preimages and their requests, privileges, queues. A node hands its state over
 * with penta_jam_state_set, or answers for single keys when they are needed (penta_jam_source), and
 * reads back what changed. The host decides nothing else: which reports are available, what the
 * entropy is, and what a block's extrinsics hold is said by the caller.
 *
 * A host and the states that it works on belong to one thread at a time; there may be many of them.
 * The rules of penta.h about errors, buffers, NULL and options hold. Calls that fail leave the state
 * as it was, and results that start from zeros may be freed then too. Integers in values are
 * little-endian. */
#pragma once
#include "penta/penta.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PENTA_JAM_KEY = 31, PENTA_JAM_HASH = 32, PENTA_JAM_SEGMENT = 4104, PENTA_JAM_MEMO = 128 };

typedef struct penta_jam_host penta_jam_host;
typedef struct penta_jam_state penta_jam_state;

/* ---- hosts ---- */

/* Options: version (0.6.7, 0.7.0, 0.7.1, 0.7.2, 0.8-draft; 0.7.2), chain (full, tiny, or a JSON
 * object whose members replace those of `base`; full), engine (interp, jit, both; the fastest). A version or
 * chain that they do not give is taken from a state as JSON; no data: there is none. */
PENTA_API penta_jam_host *penta_jam_host_new(penta_bytes state, const penta_option *options,
                                             size_t count, penta_error *err);
PENTA_API void penta_jam_host_free(penta_jam_host *host); /* NULL is fine */
/* A protocol parameter by name, as in docs/formats/pvm/jam.md 7.3: "cores". */
PENTA_API bool penta_jam_parameter(const penta_jam_host *host, const char *name, uint64_t *value);
/* The versions, NULL after the last; and the name of a host call by its number in one, NULL: there is
 * none. version NULL: the default. */
PENTA_API const char *penta_jam_version_name(size_t i);
PENTA_API const char *penta_jam_call_name(const char *version, uint32_t number);
/* Each host call, after it is settled, as one line without a newline; NULL: none. */
typedef void penta_jam_called(void *user, uint32_t service, const char *line);
PENTA_API void penta_jam_on_call(penta_jam_host *host, penta_jam_called *called, void *user);
/* What programs log: level 0 (fatal) to 4 (pedantic). */
typedef void penta_jam_logged(void *user, uint32_t service, uint64_t level, penta_bytes target,
                              penta_bytes message);
PENTA_API void penta_jam_on_log(penta_jam_host *host, penta_jam_logged *logged, void *user);

/* ---- states ---- */

typedef struct penta_jam_source {
    void *user;
    /* The value under a key, borrowed until the next call; false: there is none. */
    bool (*get)(void *user, const uint8_t *key, penta_bytes *value);
} penta_jam_source;

/* Empty, or over a source (copied; NULL is fine). The host must outlive it. */
PENTA_API penta_jam_state *penta_jam_state_new(const penta_jam_host *host,
                                               const penta_jam_source *source, penta_error *err);
PENTA_API void penta_jam_state_free(penta_jam_state *state); /* NULL is fine */
/* False: there is no such value. The bytes are borrowed until the next change. */
PENTA_API bool penta_jam_state_get(penta_jam_state *state, const uint8_t *key, penta_bytes *value);
/* value.data NULL removes it. What is set counts as a change until penta_jam_state_commit. */
PENTA_API bool penta_jam_state_set(penta_jam_state *state, const uint8_t *key, penta_bytes value,
                                   penta_error *err);
/* Sets storage and remembers its key, of which the state key has only a hash, for files that people
 * read. */
PENTA_API bool penta_jam_state_store(penta_jam_state *state, uint32_t service, penta_bytes key,
                                     penta_bytes value, penta_error *err);

/* Changes since the last commit, in the order of the keys. before or now is NULL: there was, or is,
 * no value. name is the storage key, or the hash and u32 length of a request, where it is known. */
typedef void penta_jam_change(void *user, const uint8_t *key, penta_bytes name,
                              const penta_bytes *before, const penta_bytes *now);
/* False: memory ran out, and nothing was told. */
PENTA_API bool penta_jam_state_changes(penta_jam_state *state, penta_jam_change *change,
                                       void *user);
PENTA_API bool penta_jam_state_commit(penta_jam_state *state, penta_error *err);
PENTA_API void penta_jam_state_rollback(penta_jam_state *state);

/* State keys: of a chapter (2 authorizer queues, 7 staging set, 12 privileges ...), of an account's
 * record, and of its storage, preimages and requests. */
PENTA_API void penta_jam_key(uint8_t chapter, uint8_t *key);
PENTA_API void penta_jam_account_key(uint32_t service, uint8_t *key);
PENTA_API void penta_jam_storage_key(uint32_t service, penta_bytes name, uint8_t *key);
PENTA_API void penta_jam_preimage_key(uint32_t service, const uint8_t *hash, uint8_t *key);
PENTA_API void penta_jam_request_key(uint32_t service, const uint8_t *hash, uint32_t length,
                                     uint8_t *key);
/* Blake2b-256, the hash of all of these. */
PENTA_API void penta_jam_hash(penta_bytes bytes, uint8_t *hash);

/* JSON as docs/formats/pvm/jam.md describes it. Reading adds to the state; "@FILE" stands for the
 * contents of a file in folder (NULL: not allowed). */
PENTA_API bool penta_jam_state_read(penta_jam_state *state, penta_bytes json, const char *folder,
                                    penta_error *err);
PENTA_API bool penta_jam_state_write(penta_jam_state *state, penta_buffer *out, penta_error *err);
/* The changes since the last commit, as lines of text or as a JSON list. */
PENTA_API bool penta_jam_state_diff(penta_jam_state *state, bool json, penta_buffer *out,
                                    penta_error *err);

/* ---- single invocations ---- */

/* Numbered as in work results. */
typedef enum penta_jam_exit {
    PENTA_JAM_HALT,
    PENTA_JAM_OUT_OF_GAS,
    PENTA_JAM_PANIC,
    PENTA_JAM_BAD_EXPORTS,
    PENTA_JAM_OVERSIZE,
    PENTA_JAM_NO_CODE,
    PENTA_JAM_BIG_CODE,
} penta_jam_exit;
PENTA_API const char *penta_jam_exit_name(penta_jam_exit exit); /* "out of gas" */

typedef struct penta_jam_result { /* starts from zeros */
    penta_jam_exit exit;
    uint64_t gas_used;
    penta_buffer output;    /* what it returned; accumulate: its yield, 32 bytes or none */
    penta_buffer exports;   /* refine: segments */
    penta_buffer transfers; /* accumulate: u32 from, u32 to, u64 amount, memo, u64 gas each */
} penta_jam_result;
PENTA_API void penta_jam_result_free(penta_jam_result *result);

typedef struct penta_jam_accumulation {
    uint32_t slot, service;
    uint8_t entropy[PENTA_JAM_HASH];
    uint64_t gas;
    const penta_bytes *items; /* encoded operands and transfers, as fetch gives them */
    size_t item_count;
} penta_jam_accumulation;
/* One service, as if it were alone in a round; what it changed is a change of the state. */
PENTA_API bool penta_jam_accumulate(penta_jam_host *host, penta_jam_state *state,
                                    const penta_jam_accumulation *input, penta_jam_result *out,
                                    penta_error *err);
/* The same at the entry that versions up to 0.7.0 have for transfers. */
PENTA_API bool penta_jam_on_transfer(penta_jam_host *host, penta_jam_state *state,
                                     const penta_jam_accumulation *input, penta_jam_result *out,
                                     penta_error *err);

typedef struct penta_jam_package {
    penta_bytes encoded; /* the work package */
    uint16_t core;
    penta_bytes trace;             /* what is-authorized returned, for refine */
    const penta_bytes *extrinsics; /* of all items, one after the other */
    size_t extrinsic_count;
    const penta_bytes *imports; /* segments of all items */
    size_t import_count;
} penta_jam_package;
PENTA_API bool penta_jam_is_authorized(penta_jam_host *host, penta_jam_state *state,
                                       const penta_jam_package *package, penta_jam_result *out,
                                       penta_error *err);
PENTA_API bool penta_jam_refine(penta_jam_host *host, penta_jam_state *state,
                                const penta_jam_package *package, size_t item,
                                penta_jam_result *out, penta_error *err);
/* ---- work reports ---- */

/* What a node knows about a package that is not in it: the size of its bundle, the root of its
 * erasure coding, and the segment roots of packages from which it imports by their hash. */
typedef struct penta_jam_availability {
    uint32_t bundle_size;
    uint8_t erasure_root[PENTA_JAM_HASH];
    const uint8_t *lookups; /* package hash and segments root, 64 bytes each */
    size_t lookup_count;
} penta_jam_availability;

typedef struct penta_jam_report { /* starts from zeros */
    penta_jam_result authorized;  /* its output is the trace. Not HALT: there is no report */
    penta_jam_result *items;      /* by item: exit as in the report, output where that is HALT */
    size_t item_count;
    penta_buffer exports; /* segments of all items; zeros where an item failed */
    uint8_t package[PENTA_JAM_HASH], authorizer[PENTA_JAM_HASH], exports_root[PENTA_JAM_HASH];
    penta_buffer encoded; /* the report, as penta_jam_block takes it; empty without one */
} penta_jam_report;
PENTA_API void penta_jam_report_free(penta_jam_report *report);

/* Is-authorized, refine of each item, and the report of them. A result that does not fit the report
 * becomes OVERSIZE, another number of exports than promised BAD_EXPORTS; the package's trace is
 * ignored. where NULL: zeros, and nothing was looked up. */
PENTA_API bool penta_jam_report_make(penta_jam_host *host, penta_jam_state *state,
                                     const penta_jam_package *package,
                                     const penta_jam_availability *where, penta_jam_report *out,
                                     penta_error *err);
/* The root of exported segments. */
PENTA_API void penta_jam_segments_root(penta_bytes segments, uint8_t *root);

/* ---- blocks ---- */

typedef struct penta_jam_preimage {
    uint32_t service;
    penta_bytes blob;
} penta_jam_preimage;

typedef struct penta_jam_block {
    uint32_t slot;
    uint8_t entropy[PENTA_JAM_HASH]; /* eta'_0 of this block */
    const penta_bytes *reports;      /* newly available, encoded, in the order of their cores */
    size_t report_count;
    const penta_jam_preimage *preimages;
    size_t preimage_count;
} penta_jam_block;

typedef struct penta_jam_service_gas {
    uint32_t service;
    uint64_t items, gas; /* work items in accumulated reports, gas used */
} penta_jam_service_gas;

typedef struct penta_jam_outcome {   /* starts from zeros */
    penta_jam_service_gas *services; /* by service */
    size_t service_count;
    uint8_t root[PENTA_JAM_HASH];   /* of the outputs */
    uint32_t rounds, runs, reports; /* how many of each */
    penta_buffer outputs;           /* u32 service, hash each */
} penta_jam_outcome;
PENTA_API void penta_jam_outcome_free(penta_jam_outcome *outcome);

/* Accumulates a block's reports in rounds, then takes in its preimages. The state changes at the
 * keys of accounts and at 2, 7, 11, 12, 14, 15 and 16. */
PENTA_API bool penta_jam_block_run(penta_jam_host *host, penta_jam_state *state,
                                   const penta_jam_block *block, penta_jam_outcome *out,
                                   penta_error *err);
/* The same with the block as JSON. */
PENTA_API bool penta_jam_block_json(penta_jam_host *host, penta_jam_state *state, penta_bytes json,
                                    const char *folder, penta_jam_outcome *out, penta_error *err);

#ifdef __cplusplus
}
#endif
