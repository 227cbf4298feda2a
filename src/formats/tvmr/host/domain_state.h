/* Declares the state and the functions that the files of the default host share. */
#pragma once
#include "tvmr/host/domain.h"
#include <stdio.h>

struct numbers {
    int32_t *data;
    size_t count;
};
struct message {
    struct numbers body;
    struct message *next;
};
struct queue {
    struct message *first, *last;
};
struct named { /* Bytes that are stored under a name. */
    char name[128];
    penta_buffer bytes;   /* no bytes mean that the name was removed */
    unsigned transaction; /* the number, plus 1, of the transaction that has not committed these
                           * bytes yet; 0 for none */
    struct named *next;
};
struct edge {
    uint64_t from, to;
    uint8_t from_slot, to_slot, type;
    int32_t weight;
};
struct entry { /* an entry of a bank */
    uint64_t id;
    struct numbers vector;
    uint64_t touched; /* the clock at the entry's last use; the smallest is evicted first */
};
struct bank {
    struct entry *entries;
    size_t count, capacity;
    bool loaded; /* The bank has been loaded from the folder, if the folder has it. */
};
struct synapse { /* a synapse of the pool */
    uint16_t from, to;
    int32_t weight;
};
struct model { /* a program of the folder */
    penta_buffer file;
    penta_module *module;
    penta_vm *vm;
    bool asked, running;
    bool paused; /* The run of the model was interrupted and continues later. */
};

enum dynamic {
#define DYNAMIC(id, ...) DYNAMIC_##id,
#include "tvmr/host/dynamics.def"
    TVMR_DYNAMICS
};

struct tvmr_domain {
    int32_t dynamics[TVMR_DYNAMICS];
    char *folder; /* the path of the folder, or NULL when everything is in memory */
    int lock;     /* the file lock that keeps other processes out of the folder, or -1 */
    struct named *named;
    unsigned transaction; /* the number of the current transaction, plus 1; 0 for none */
    uint64_t held;        /* how many numbers are kept for the program; at most HELD_MAX */

    uint8_t chem[8];
    struct numbers *fields[256]; /* 256 slices for each field, or NULL */
    struct numbers seen, neurons, cells[256];
    uint32_t together[256];
    int8_t axes[4];
    int64_t timestep, tick;
    int32_t phase, level, rest, coherence[7];
    struct queue regions[256], mailboxes[256];
    bool enabled[256], subscribed[256];
    uint64_t params,
        shapes; /* a bit for each param and shape register that was given to the program */
    struct model models[256];

    struct bank banks[256];
    uint64_t next_id, clock;
    struct edge *edges;
    size_t edge_count, edge_capacity;
    bool edges_loaded;

    struct numbers pool; /* the potentials of the neurons, then the spikes of the last tick */
    struct synapse *synapses;
    size_t synapse_count;
    int64_t pool_spikes, pool_ticks;
};

struct act { /* A domain operation that is being carried out. */
    struct tvmr_domain *w;
    struct tvmr_vm *vm;
    const uint64_t *args;
    struct writer *log;
    bool interrupted; /* The operation did nothing, or continues when the machine asks again. */
    penta_error err;
};

enum { HELD_MAX = 1 << 26 };

/* Checks that `more` numbers may be kept. When they may not, the operation fails with that
 * error. domain.c defines the functions of this block. */
bool numbers_fit(struct act *a, uint64_t more);
/* Replaces numbers by a copy of others. At most HELD_MAX numbers are kept in all. */
bool numbers_keep(struct act *a, struct numbers *to, const int32_t *data, size_t count);
void numbers_drop(struct tvmr_domain *w, struct numbers *n);
struct numbers source_of(struct tvmr_vm *vm, uint64_t reg); /* Returns no numbers when the
                                                             * register is empty. */
int64_t scalar_of(struct tvmr_vm *vm, uint64_t reg);        /* Returns the first element, or 0. */
bool answer_list(struct tvmr_vm *vm, uint64_t reg, const int32_t *data, size_t count);
bool answer_number(struct tvmr_vm *vm, uint64_t reg, int64_t value);

/* domain_storage.c defines the functions below, which store bytes under names, in memory or in
 * the folder. */
bool domain_store_open(struct tvmr_domain *w, penta_error *err);
void domain_store_free(struct tvmr_domain *w);
bool named_put(struct tvmr_domain *w, const char *name, struct writer *bytes,
               penta_error *err); /* Takes over the bytes. No bytes remove the name. */
bool named_get(struct tvmr_domain *w, const char *name, penta_bytes *out);
bool domain_begin_transaction(struct tvmr_domain *w, unsigned id, penta_error *err);
bool domain_end_transaction(struct tvmr_domain *w, unsigned id, bool commit, penta_error *err);
/* Writes the name under which the weights of this register are stored. */
void domain_weights_name(const struct tvmr_cold *c, uint64_t reg, char *name, size_t size);
bool domain_weights_put(struct tvmr_domain *w, struct tvmr_vm *vm, uint64_t reg, const char *name,
                        penta_error *err);
/* The result of a search for stored weights. The register changes only when it is FOUND. */
enum found { FOUND, FOUND_NOTHING, FOUND_OTHER_SIZE, FOUND_DAMAGED };
enum found domain_weights_get(struct tvmr_domain *w, struct tvmr_vm *vm, uint64_t reg,
                              const char *name);

void tvmr_dynamics_start(struct tvmr_domain *w); /* Sets the defaults. dynamics.c defines it. */

void domain_region_free(struct tvmr_domain *w);
void domain_model_free(struct tvmr_domain *w);
void domain_bank_free(struct tvmr_domain *w);

typedef bool domain_act(struct act *a);
#define ACT(name) domain_act domain_##name;
#include "tvmr/host/domain.def"
