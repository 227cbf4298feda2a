/* The contract host is a chain in memory for PolkaVM contracts as pallet-revive runs them.
 * docs/formats/pvm/contracts.md (CONTRACT) says what it does. Its files share this header:
 *
 *     chain.c      accounts, storage, events, and the journal that undoes them
 *     codes.c      the code of contracts, and machines that run it
 *     frames.c     one call: value, execution, outcome
 *     request.c    arguments of a host call, guest memory, results
 *     calls.def    every host call, once; dispatch.c finds it
 *     calls_*.c    the host calls
 *     precompiles.c, addresses.c, options.c, state_*.c
 *     host.c       transactions: the calls that the options ask for */
#pragma once
#include "base/long_work.h"
#include "core/host.h"
#include "pvm/host/host.h"
#include "pvm/host/revive/chain.h"
#include "pvm/vm/vm.h"

enum {
    DEPTH_MAX = 25,        /* how deep calls may be inside the first call */
    BYTES_MAX = 1 << 24,   /* the most bytes of one argument in guest memory */
    KEY_BYTES_MAX = 128,   /* the most bytes of a key of the storage */
    VALUE_BYTES_MAX = 416, /* the most bytes of a value in the storage */
    EVENT_BYTES_MAX = 1 << 16,
    IMMUTABLE_BYTES_MAX = 4096,
    RETURN_BYTES_MAX = 1 << 20,
};
#define NOTHING UINT32_C(0xffffffff) /* NOTHING stands for no pointer, no value or no length. */

enum result_code {
    RESULT_SUCCESS = 0,
    RESULT_TRAPPED = 1,
    RESULT_REVERTED = 2,
    RESULT_KEY_NOT_FOUND = 3,
    RESULT_TRANSFER_FAILED = 4,
    RESULT_OUT_OF_RESOURCES = 5,
    RESULT_DUPLICATE_ADDRESS = 11,
};

struct request;
/* Answers a host call. Returns false when the contract traps. */
typedef bool host_call_fn(const struct request *q);

/* The declarations below are about code, in codes.c. */

struct host_call {        /* A struct host_call says how an import is answered. */
    host_call_fn *answer; /* the function; NULL: this host does not have the call */
};

struct code {
    struct table_entry entry; /* The key of the entry is the Keccak-256 of the code. */
    penta_buffer bytes;
    penta_module *module;
    struct host_call *calls; /* for each import, by its number: how it is answered */
    size_t call_count;
    bool has_call, has_deploy;
    uint32_t call_pc, deploy_pc;
    struct pvm_config config;
    /* `cells` are the cells that the machines of the code share; NULL means that there are none
     * yet. */
    struct pvm_cells *cells;
    struct pvm_vm **idle;
    size_t idle_count, idle_capacity;
};

/* The declarations below are about frames, in frames.c. */

enum outcome { FRAME_RUNS, FRAME_SUCCESS, FRAME_REVERT, FRAME_TRAP, FRAME_NO_GAS };

struct frame { /* A frame is a call that has begun and not ended. */
    struct frame *parent;
    unsigned depth;
    struct account *account; /* the executing account */
    /* `code_of` is the account whose code runs, which is another one in a delegate call. */
    struct account *code_of;
    const struct code *code_now; /* the code that runs; NULL: the account has none */
    uint8_t caller[ADDRESS];
    struct u256 value;
    struct blob input;
    bool input_given; /* The input was passed on to a callee and can no longer be read. */
    bool deploy, delegate, read_only;
    bool reentry;         /* The account may be called again while this frame runs. */
    struct blob returned; /* the return data of the last call that this frame made */
    penta_vm *vm;
    size_t mark;        /* the position in the journal at which the frame began */
    uint64_t gas_start; /* the gas at the start, set only in the first call */
    enum outcome outcome;
    struct blob output;
    penta_stop trap; /* the last stop of the machine */
    bool refused;    /* A host call made the machine trap. */
};

/* The declarations below are about transactions. */

enum entry { ENTRY_CALL, ENTRY_DEPLOY, ENTRY_OTHER }; /* ENTRY_OTHER is another export, or a pc. */

struct transaction {
    enum entry entry;
    uint8_t caller[ADDRESS], address[ADDRESS];
    struct u256 value, time;
    struct blob input;
    bool has_gas;
    uint64_t gas;
};

struct block {
    struct u256 number, time, chain_id, base_fee;
    uint8_t author[ADDRESS];
    uint64_t gas_price, gas_limit;
};

struct pvm_revive {
    struct chain chain;
    struct table codes;
    struct block block;
    struct transaction *transactions;
    size_t transaction_count, next;
    const struct transaction *now; /* the transaction that runs now, or NULL */
    struct frame top;              /* the first call of the transaction that runs now */
    const penta_module *module;    /* the program that the host serves */
    struct code *program;          /* the program that the host serves, as the code of a contract */
    struct pvm_vm *outer;          /* the machine of the program that the host serves */
    const penta_option *options;   /* the options, which are valid only while the host is opened */
    size_t option_count;
    pvm_adopt_fn *adopt; /* makes the engine of inner machines */
    bool interrupted;
    penta_error failure; /* why the run cannot go on, or code 0 */
};

/* A struct request is a host call that waits for its answer. */
struct request {
    struct pvm_revive *r;
    struct frame *frame;
    const uint64_t *a;
    struct answer *out;
};

/* The functions below are in codes.c. */
struct code *revive_code_find(const struct pvm_revive *r, const uint8_t hash[HASH]);
/* Adds a code and becomes the owner of its bytes, also when it fails. The same bytes give the
 * same record each time. */
struct code *revive_code_upload(struct pvm_revive *r, penta_buffer *bytes, penta_error *err);
struct code *revive_code_read(struct pvm_revive *r, const char *path, penta_error *err);
static inline const uint8_t *revive_code_hash(const struct code *c) { return c->entry.key; }
/* Returns a machine for the code. Returns NULL when that fails; r->failure says why. */
struct pvm_vm *revive_code_machine(struct pvm_revive *r, struct code *c);
void revive_code_release(struct code *c, struct pvm_vm *vm);
void revive_codes_free(struct pvm_revive *r);

/* The functions below are in frames.c. They return false when the run cannot go on; then
 * r->failure or r->interrupted is set. */
/* Begins a frame: marks the journal, makes the new contract if there is one, and moves the
 * value. *code is RESULT_SUCCESS, or RESULT_TRANSFER_FAILED; then everything was undone. */
bool revive_frame_begin(struct pvm_revive *r, struct frame *f, enum result_code *code);
/* Ends a frame: keeps or undoes its effects, as the outcome says. */
bool revive_frame_end(struct pvm_revive *r, struct frame *f, enum result_code *code);
/* Begins the frame, runs its code or precompile, and ends it. Without code only the value moves. */
bool revive_frame_execute(struct pvm_revive *r, struct frame *f, uint64_t gas, uint64_t *used,
                          enum result_code *code);
void revive_frame_free(struct frame *f);
/* Answers one host call of the frame's machine. Returns false when the run cannot go on. */
bool revive_frame_answer(struct pvm_revive *r, struct frame *f, const penta_stop *stop,
                         struct answer *out);

/* The functions below are in request.c: revive_fetch reads memory of the guest, revive_give
 * writes it. They return false when the contract traps. */
bool revive_fetch(const struct request *q, uint64_t address, uint64_t size, struct blob *out);
bool revive_fetch_into(const struct request *q, uint64_t address, void *into, size_t size);
bool revive_fetch_address(const struct request *q, uint64_t address, uint8_t into[ADDRESS]);
bool revive_fetch_number(const struct request *q, uint64_t address, struct u256 *into);
bool revive_give(const struct request *q, uint64_t address, const void *bytes, size_t size);
bool revive_give_number(const struct request *q, uint64_t address, const struct u256 *number);
/* Writes bytes to a buffer of the guest. The u32 at length_at is the size of the buffer when the
 * call begins, and the number of bytes afterwards. */
bool revive_give_sized(const struct request *q, uint64_t out, uint64_t length_at, const void *data,
                       size_t size);
bool revive_give_sized_optional(const struct request *q, uint64_t out, uint64_t length_at,
                                const void *data, size_t size);
bool revive_result(const struct request *q, uint64_t value);
/* Ends the frame and becomes the owner of the output. */
bool revive_end_frame(const struct request *q, enum outcome outcome, struct blob output);
uint64_t revive_gas_left(const struct request *q);

/* The function below is in dispatch.c. */
bool revive_call_find(penta_bytes name, struct host_call *out);

/* The functions below are in addresses.c. */
void revive_address_create(const uint8_t creator[ADDRESS], uint64_t nonce, uint8_t out[ADDRESS]);
bool revive_address_create2(const uint8_t creator[ADDRESS], const uint8_t salt[HASH],
                            penta_bytes code, penta_bytes data, uint8_t out[ADDRESS]);
/* Computes the hash of a block. The hash is not that on a real chain, but the same in every run. */
void revive_block_hash(const struct u256 *number, uint8_t out[HASH]);

/* The declarations below are about precompiles, in precompiles.c. */
enum precompiled {
    PRECOMPILE_DONE,
    PRECOMPILE_FAILED,
    PRECOMPILE_UNSUPPORTED,
    PRECOMPILE_ENDED /* `work` ended the precompile before there was a result. */
};
bool revive_precompile_is(const uint8_t address[ADDRESS]);
/* Runs a precompile. *name is its name, for messages. */
enum precompiled revive_precompile_run(const uint8_t address[ADDRESS], penta_bytes in,
                                       struct blob *out, struct long_work *work, const char **name);
/* Returns work of the host that an interrupt of the machine ends; r->interrupted is set then
 * (frames.c). */
struct long_work revive_work(struct pvm_revive *r);

/* The function below is in options.c. */
bool revive_options_read(struct pvm_revive *r, const penta_option *options, size_t count,
                         penta_error *err);
bool revive_address_parse(penta_bytes text, uint8_t out[ADDRESS]);

/* The functions below are in state_write.c and state_read.c. */
bool revive_state_write(const struct pvm_revive *r, struct writer *out, penta_error *err);
bool revive_state_read(struct pvm_revive *r, const char *path, penta_error *err);
