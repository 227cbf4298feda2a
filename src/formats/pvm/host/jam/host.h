/* The JAM host runs services and authorizers. This header has what its files share:
 *
 *   layer      keys and values, in layers        account     accounts on top of them
 *   codec      encodings                         chain       parameters and versions
 *   program    prepared programs                 run         an invocation, its gas and its end
 *   accumulate, refine                           the start and the end of each
 *   report     work reports of packages
 *   rounds     one round of a block              queue, block  which reports; the state afterwards
 *   ../jam_calls/dispatch  finds the handler of a number; only here arguments are checked
 *   ../jam_calls/          the handlers, and machines inside a machine
 *   ../jam_json/           states, packages and other documents as JSON files */
#pragma once
#include "pvm/host/jam/account.h"
#include "pvm/host/jam/codec.h"
#include "pvm/vm/vm.h"

/* The declarations below are about chains and versions, in chain.c. */

struct jam_chain {
#define PARAM(bytes, name, ...) uint64_t name;
#include "pvm/host/jam/params.def"
};
enum { JAM_PARAMETERS = 134 };
/* Finds a known chain by its name, which is full or tiny. */
bool jam_chain_named(const char *name, struct jam_chain *out, penta_error *err);
bool jam_chain_replace(struct jam_chain *chain, const char *name, uint64_t value, penta_error *err);
bool jam_chain_usable(const struct jam_chain *chain, penta_error *err);
/* Reads a chain from its name, or from a JSON object with the differences from a known chain
 * (../jam_json/chain.c). */
bool jam_chain_read(const char *text, struct jam_chain *out, penta_error *err);
/* Makes a host from options alone. penta_jam_host_new reads a state, too (../jam_json/chain.c). */
penta_jam_host *jam_host_new(const penta_option *options, size_t count, penta_error *err);
/* Writes the parameters of a chain, which have JAM_PARAMETERS bytes. */
void jam_chain_encode(const struct jam_chain *chain, uint8_t *out);
bool jam_chain_parameter(const struct jam_chain *chain, const char *name, uint64_t *value);

extern const struct jam_version {
    const char *name;
    unsigned numbers;     /* the column of jam_calls/calls.def with the numbers of calls */
    bool on_transfer;     /* Transfers have an entry point of their own; items have no tag. */
    bool core_first;      /* The first argument of refine is the core. */
    bool registrar;       /* A service, the registrar, may choose small ids. */
    bool plain_records;   /* Account records have no version byte. */
    bool code_in_config;  /* Kind 8 of fetch also gives the code hash. */
    uint32_t first_id;    /* the lowest id that the chain gives by itself */
    uint32_t bundle_size; /* the parameter W_B where it differs from that of the chain; else 0 */
    const char *profile;
    enum pvm_isa isa;
} jam_versions[]; /* The last row has a NULL name. */
const struct jam_version *jam_version_find(const char *name);
#define JAM_VERSION_DEFAULT "0.7.2"

/* Returns the balance that an account must keep for what it holds (accumulate.c). */
uint64_t jam_threshold(const struct jam_chain *chain, const struct jam_account *account);

/* The declarations below are about programs, in program.c. */

struct jam_program {
    uint8_t hash[JAM_HASH];
    uint8_t *bytes; /* the code without its metadata */
    struct pvm_module module;
    /* The pool is NULL when the code is not a valid standard program, or the engine is "both". */
    struct pvm_pool *pool;
    bool valid;
    uint64_t used; /* the value of host->clock when the program was last used */
};

enum { JAM_PROGRAMS = 64 };

struct penta_jam_host {
    const struct jam_version *version;
    struct jam_chain chain;
    uint8_t parameters[JAM_PARAMETERS];
    const char *engine; /* the name of the engine; NULL: the fastest */
    int16_t calls[128]; /* for each number of a call: a row of jam_calls/calls.def, or -1 */
    struct jam_program programs[JAM_PROGRAMS];
    size_t program_count;
    uint64_t clock;
    penta_jam_called *called;
    penta_jam_logged *logged;
    void *called_user, *logged_user;
    /* Is called before each instruction of an inner machine. When it is NULL, inner machines run
     * at full speed. */
    void (*inner_step)(void *user, size_t machine, const struct pvm_vm *vm);
    void *inner_user;
};

/* Finds the code after the metadata of a preimage. Returns false when the bytes are malformed. */
bool jam_code(penta_bytes preimage, penta_bytes *code);
/* Returns the program with this code and hash, which is prepared only once. Returns NULL with an
 * error when that fails. */
struct jam_program *jam_program_get(struct penta_jam_host *host, const uint8_t *hash,
                                    penta_bytes code, penta_error *err);
void jam_program_free(struct jam_program *program);
/* jam_program_take takes a machine for the program, and jam_program_return gives it back. */
struct pvm_vm *jam_program_take(struct penta_jam_host *host, struct jam_program *program,
                                penta_error *err);
void jam_program_return(struct pvm_vm *vm);
/* Makes a machine without memory for the generic program of an inner machine. */
struct pvm_vm *jam_inner_machine(struct penta_jam_host *host, struct pvm_module *module,
                                 penta_error *err);
/* Reads a generic program of the host's instruction set. Returns false when the bytes are no
 * such program. */
bool jam_generic(const struct penta_jam_host *host, penta_bytes bytes, struct pvm_module *module);

/* The declarations below are about runs, in run.c, accumulate.c and refine.c. */

enum jam_context { JAM_AUTHORIZE = 1, JAM_REFINE = 2, JAM_ACCUMULATE = 4, JAM_ON_TRANSFER = 8 };

enum { /* These are results of host calls; the negative ones count down from 2^64. */
       JAM_OK = 0,
       JAM_NONE = -1,
       JAM_WHAT = -2,
       JAM_OOB = -3,
       JAM_WHO = -4,
       JAM_FULL = -5,
       JAM_CORE = -6,
       JAM_CASH = -7,
       JAM_LOW = -8,
       JAM_HUH = -9,
};

/* An enum jam_end says what happens to the program after a host call. */
enum jam_end {
    JAM_GO_ON,
    JAM_END_PANIC,
    JAM_END_GAS,
    JAM_END_ERROR, /* The host failed; run->err says why. */
    /* The machine is interrupted: the call gets no answer, and the program makes it again. */
    JAM_END_INTERRUPT,
};

struct jam_provision {
    uint32_t service, size;
    uint8_t hash[JAM_HASH];
    uint8_t *blob;
};

/* The members of a struct jam_moment go back to the last checkpoint of accumulate together with
 * the layer. */
struct jam_moment {
    uint32_t next_id;
    size_t transfers, provisions; /* how many transfers and how many provisions there are */
    bool has_yield;
    uint8_t yield[JAM_HASH];
};

struct jam_inner {
    struct pvm_vm *vm; /* the inner machine; NULL: no machine has this number */
    struct pvm_module module;
    uint8_t *bytes;
    uint64_t pc; /* the pc, which may be any number that the program gave until the machine runs */
    /* `begun` says that an invoke of this machine was interrupted, and goes on when it is asked
     * for again. `gas` is the gas of this invoke. */
    bool begun;
    uint64_t gas;
};

struct jam_run {
    struct penta_jam_host *host;
    enum jam_context context;
    struct pvm_vm *vm;
    struct jam_layer *layer;
    penta_error *err;
    uint32_t service, slot;
    const uint8_t *entropy;
    /* `scratch` has copies of arguments whose bytes are not contiguous in the host's memory. */
    struct writer scratch[2];
    struct {
        uint64_t at, size;
    } reads[2];          /* the guest memory that the current host call reads */
    struct writer value; /* the result of fetch when it has to be encoded */
    /* The members below are for accumulate. */
    const penta_bytes *items;
    size_t item_count;
    struct writer all_items_bytes; /* the encoded items, once fetch has asked for them */
    struct jam_moment now, marked;
    struct jam_transfer *transfers;
    size_t transfer_capacity;
    struct jam_provision *provisions;
    size_t provision_capacity;
    /* The members below are for refine and is-authorized. */
    const struct jam_work_package *package;
    const penta_jam_package *given;
    size_t item;
    struct writer exports;
    uint64_t export_offset;
    struct jam_inner *inner;
    size_t inner_count;
};

void jam_run_init(struct jam_run *run, struct penta_jam_host *host, enum jam_context context,
                  struct jam_layer *layer, penta_error *err);
void jam_run_fini(struct jam_run *run);
/* Runs the program from pc to its end. Returns false on an error of the host. */
bool jam_run_program(struct jam_run *run, struct jam_program *program, uint32_t pc,
                     penta_bytes arguments, uint64_t gas, penta_jam_result *out);
/* Returns the bytes that a halted program returned. */
penta_bytes jam_run_output(struct pvm_vm *vm, struct writer *scratch);

/* Runs accumulate in its own layer: it credits the transfers, runs the code, and keeps the
 * result or the last checkpoint. */
bool jam_accumulate(struct jam_run *run, const penta_jam_accumulation *input, uint32_t pc,
                    penta_jam_result *out);
/* jam_accumulate_begin begins the context of accumulate, and jam_accumulate_end ends it. */
void jam_accumulate_begin(struct jam_run *run, const penta_jam_accumulation *input);
void jam_accumulate_end(struct jam_run *run, penta_jam_result *out);
/* These functions encode the arguments with which the program starts. */
void jam_accumulate_arguments(const struct jam_run *run, struct writer *out);
void jam_refine_arguments(const struct jam_run *run, struct writer *out);
void jam_refine_begin(struct jam_run *run, const struct jam_work_package *package,
                      const penta_jam_package *given, size_t item);

/* The declarations below are about reports, in report.c. */

/* Returns the result that a report has for an item. `size` is the bytes of its output, of the
 * trace and of the outputs of earlier items; `promised` is how many exports the item announced. */
penta_jam_exit jam_item_exit(const struct jam_chain *chain, penta_jam_exit exit, uint64_t size,
                             size_t exports, size_t promised);
void jam_put_digest(struct writer *w, const struct jam_work_item *item, penta_jam_exit exit,
                    penta_bytes output, uint64_t gas_used);

/* The declarations below are about host calls. The folder ../jam_calls has most of their code. */

/* Answers the host call for which the machine waits. The caller lets the machine go on. */
enum jam_end jam_call(struct jam_run *run);

/* Fills host->calls, which says for each number the call to which it belongs. */
void jam_calls_number(struct penta_jam_host *host);
/* Returns the name of a call, and the kinds and names of its arguments. Returns NULL when this
 * version has no such call. */
const char *jam_call_name(const struct penta_jam_host *host, uint32_t number, const char **kinds,
                          const char **names);

typedef enum jam_end jam_handler(struct jam_run *run, uint64_t *r, penta_bytes a, penta_bytes b);
#define CALL(id, ...) jam_handler jam_call_##id;
#include "pvm/host/jam_calls/calls.def"

/* Copies bytes into the memory of a machine if it may write there, piece by piece. An interrupt
 * ends the call, which later starts again. So the call must not read the memory that is written. */
enum jam_end jam_copy_to(struct jam_run *run, struct pvm_memory *to, uint64_t at, penta_bytes from);
/* Copies at most l bytes of the value v, from offset f on, to the address o. The result of the
 * call is the size of v; it is NONE when `has` is false. */
enum jam_end jam_copy_out(struct jam_run *run, bool has, penta_bytes v, uint64_t o, uint64_t f,
                          uint64_t l);
static inline enum jam_end jam_result(uint64_t *r, int64_t result)
{
    r[7] = (uint64_t)result;
    return JAM_GO_ON;
}
enum jam_end jam_no_memory(struct jam_run *run);
void jam_log_call(const struct jam_run *run, uint32_t number, const uint64_t *before,
                  enum jam_end end);
/* Returns the first id from `from` on that no service has, as "check" of the Gray Paper does
 * (../jam_calls/service.c). */
uint32_t jam_free_id(struct jam_run *run, uint64_t from);

/* The declarations below are about blocks, in rounds.c and block.c. */

/* A struct jam_round is the data with which a round starts. The round leaves the start of the
 * next one in it. */
struct jam_round {
    struct penta_jam_host *host;
    struct jam_layer *layer;
    uint32_t slot;
    const uint8_t *entropy;
    uint64_t gas; /* the gas that is left for the other services of the block */
    struct jam_transfer *transfers;
    size_t transfer_count;
    penta_jam_outcome *out;
};

/* Runs one service with these items, which the caller keeps, and merges its changes. */
bool jam_round_alone(struct jam_round *round, const penta_jam_accumulation *input, uint32_t pc,
                     penta_jam_result *out, penta_error *err);
/* Merges the changes of a run that was the only one of its round. */
bool jam_round_merge(struct jam_round *round, const struct jam_run *run, penta_error *err);
bool jam_rounds(struct jam_round *round, const struct jam_report *reports, size_t count,
                size_t *done, penta_error *err);

struct penta_jam_state {
    const struct penta_jam_host *host;
    struct jam_layer base, changes;
};
