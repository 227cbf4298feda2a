/* What world.c and world_bank.c share. */
#pragma once
#include "tvmr/world.h"
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
    struct message *first;
};
struct named { /* bytes under a name */
    char name[300];
    penta_buffer bytes;
    unsigned transaction; /* that holds it back, plus 1; 0: none */
    struct named *next;
};
struct edge {
    uint64_t from, to;
    uint8_t from_slot, to_slot, type;
};
struct entry { /* of a bank */
    uint64_t id;
    struct numbers vector;
    uint64_t touched; /* a clock; the smallest is evicted first */
};
struct bank {
    struct entry *entries;
    size_t count;
    bool loaded; /* the folder has been asked */
};

struct tvmr_world {
    char *folder; /* or NULL */
    struct named *named;
    unsigned transaction; /* under way, plus 1; 0: none */
    uint8_t chem[8];
    struct numbers *fields[256]; /* 256 slices each, or NULL */
    struct numbers seen, neurons, cells[256];
    uint32_t together[256];
    int8_t axes[4];
    int64_t timestep, tick;
    int32_t phase, level, coherence[7];
    struct queue regions[256], mailboxes[256];
    bool enabled[256];

    struct bank banks[256];
    uint64_t next_id, clock;
    struct edge *edges;
    size_t edge_count;
    struct numbers pool; /* potentials, then spikes of the last tick */
    int64_t pool_spikes, pool_ticks;
};

struct act { /* one domain operation */
    struct tvmr_world *w;
    struct tvmr_vm *vm;
    const uint64_t *args;
    struct writer *log;
    penta_error err;
};

bool numbers_copy(struct numbers *to, const int32_t *data, size_t count);
struct numbers source_of(struct tvmr_vm *vm, uint64_t reg); /* empty when there is none */
bool answer_list(struct tvmr_vm *vm, uint64_t reg, const int32_t *data, size_t count);
bool answer_number(struct tvmr_vm *vm, uint64_t reg, int64_t value);
struct named *named_find(struct tvmr_world *w, const char *name);
bool named_put(struct tvmr_world *w, const char *name, struct writer *bytes,
               penta_error *err); /* takes them */
bool named_get(struct tvmr_world *w, const char *name, penta_bytes *out);

/* world_store.c */
bool world_end_transaction(struct tvmr_world *w, unsigned id, bool commit, penta_error *err);
/* The name that weights of this register are stored under. */
void world_weights_name(const struct tvmr_cold *c, uint64_t reg, char *name, size_t size);
bool world_weights_put(struct tvmr_world *w, struct tvmr_vm *vm, uint64_t reg, const char *name,
                       penta_error *err);
/* True when the register has the weights now; what does not fit is left alone. */
bool world_weights_get(struct tvmr_world *w, struct tvmr_vm *vm, uint64_t reg, const char *name);

/* world_bank.c */
typedef bool world_act(struct act *a);
world_act world_BankQuery, world_BankWrite, world_BankLoad, world_BankLink, world_BankTraverse,
    world_BankTouch, world_BankDelete, world_BankPromote, world_BankDemote, world_BankCount,
    world_BankEvict, world_BankCompact, world_PoolTick, world_PoolSave, world_PoolLoad,
    world_PoolInject, world_PoolReadOutput, world_PoolReadStats, world_PoolModulate,
    world_PoolPruneDead, world_PoolSynaptogenesis;
void world_bank_free(struct tvmr_world *w);
