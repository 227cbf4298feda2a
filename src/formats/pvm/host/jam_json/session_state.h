/* A struct pvm_jam is the data that a session of the JAM host holds between its start and its
 * end. */
#pragma once
#include "pvm/host/jam_json/json.h"
#include "pvm/host/jam_json/session.h"

struct pvm_jam {
    const penta_option *options;
    size_t option_count;
    penta_error *err;
    struct penta_jam_host *host;
    struct penta_jam_state *state;
    enum jam_context context;
    uint32_t pc;
    uint64_t gas;
    uint8_t code_hash[JAM_HASH];
    penta_jam_accumulation input;
    struct jam_slices items;
    struct writer package_bytes, trace;
    struct jam_slices extrinsics, imports;
    bool packaged; /* The user gave the package. */
    struct jam_work_package package;
    penta_jam_package given;
    struct jam_layer layer;
    struct jam_run run;
    struct answer *answer; /* the answer to the host call that is made now */
    uint64_t earlier;      /* how many bytes the outputs of earlier items have */
    bool ended;            /* The program's changes are in the state. */
};

static inline bool pvm_jam_on_chain(const struct pvm_jam *s)
{
    return s->context == JAM_ACCUMULATE || s->context == JAM_ON_TRANSFER;
}
