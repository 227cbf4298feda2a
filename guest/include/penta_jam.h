/* Declares the host calls for JAM services and authorizers in C, and readers for the arguments of
 * entries (docs/formats/pvm/jam.md). Such a program has no main(); each entry is an exported
 * function:
 *
 *     struct jam_bytes refine(const uint8_t *arguments, uint64_t size);
 *     PENTA_EXPORT(refine, 2);
 *
 *     penta-cc -O2 service.c --to jam --dispatch refine,accumulate --metadata '' -o service.jam
 *
 * Numbers and arguments are those of the Gray Paper 0.7.2. If JAM_DRAFT is defined before the include, they are
 * those of the 0.8 draft, for programs of --isa jam_v1. A call with a pointer to memory that the program may not
 * access ends it. */
#pragma once
#include <stdint.h>
#include "penta_guest.h"

#define JAM_OK 0
#define JAM_NONE UINT64_MAX       /* The value does not exist. */
#define JAM_WHAT (UINT64_MAX - 1) /* The entry that runs does not have this call. */
#define JAM_OOB (UINT64_MAX - 2)  /* The inner machine may not access this memory. */
#define JAM_WHO (UINT64_MAX - 3)  /* The service or machine does not exist. */
#define JAM_FULL (UINT64_MAX - 4) /* The balance does not cover what would be stored. */
#define JAM_CORE (UINT64_MAX - 5) /* The core does not exist. */
#define JAM_CASH (UINT64_MAX - 6) /* The balance is too small. */
#define JAM_LOW (UINT64_MAX - 7)  /* The gas is too little for the receiver. */
#define JAM_HUH (UINT64_MAX - 8)  /* The call is not allowed, or not now. */

#define JAM_SELF UINT64_MAX /* as an argument `service`: the service that runs */

/* the first result of jam_invoke */
enum { JAM_HALT, JAM_PANIC, JAM_FAULT, JAM_HOST, JAM_OUT_OF_GAS };
/* the mode of jam_pages */
enum { JAM_HIDE, JAM_READABLE, JAM_WRITABLE, JAM_KEEP_READABLE, JAM_KEEP_WRITABLE };
/* sizes in bytes */
enum { JAM_SEGMENT = 4104, JAM_MEMO = 128, JAM_FRAME = 112, JAM_HASH = 32 };

/* The kinds of data that jam_fetch gives. Calls that give data write at most `length` bytes to `to`, starting with
 * byte `from` of the data, and return the size of all of the data, or JAM_NONE. */
enum {
    JAM_PARAMETERS,
    JAM_ENTROPY,
    JAM_AUTHORIZATION, /* the output of the authorizer */
    JAM_EXTRINSIC_OF,  /* `index` is the item, `second` the number of its extrinsic */
    JAM_EXTRINSIC,     /* an extrinsic of the item that runs; `index` is its number */
    JAM_IMPORT_OF,     /* a segment; `index` is the item, `second` the number of the segment */
    JAM_IMPORT,
    JAM_PACKAGE,
    JAM_CONFIGURATION, /* the configuration of the authorizer */
    JAM_TOKEN,         /* the token for the authorizer */
    JAM_CONTEXT,
    JAM_SUMMARIES,
    JAM_SUMMARY,
    JAM_PAYLOAD,
    JAM_ITEMS, /* all items of accumulate */
    JAM_ITEM,
};

struct jam_pair { /* The two results of a call, in a0 and a1. */
    uint64_t first, second;
};

#ifdef JAM_DRAFT
#define JAM_LATER_(number) number + 1
PENTA_IMPORT_NUMBER(uint64_t, jam_grow_heap, grow_heap, 1, uint64_t);
#else
#define JAM_LATER_(number) number
#endif
#define JAM_CALL_(type, name, number, ...)                                                         \
    PENTA_IMPORT_NUMBER(type, jam_##name, name, JAM_LATER_(number), __VA_ARGS__)

PENTA_IMPORT_NUMBER(uint64_t, jam_gas, gas, 0);
/* The arguments are to, from, length, kind, index, second. */
JAM_CALL_(uint64_t, fetch, 1, void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
/* The arguments are service, hash, to, from, length. */
JAM_CALL_(uint64_t, lookup, 2, uint64_t, const void *, void *, uint64_t, uint64_t);
/* The arguments are service, key, size of the key, to, from, length. */
JAM_CALL_(uint64_t, read, 3, uint64_t, const void *, uint64_t, void *, uint64_t, uint64_t);
/* The arguments are key, size of the key, value, size of the value (0 removes the key). Returns
 * the size of the old value. */
JAM_CALL_(uint64_t, write, 4, const void *, uint64_t, const void *, uint64_t);
/* The arguments are service, to, from, length. */
JAM_CALL_(uint64_t, info, 5, uint64_t, void *, uint64_t, uint64_t);
/* The arguments are service, hash, to, from, length. */
JAM_CALL_(uint64_t, historical_lookup, 6, uint64_t, const void *, void *, uint64_t, uint64_t);
/* The arguments are bytes, size. Returns the index of the segment. */
JAM_CALL_(uint64_t, export, 7, const void *, uint64_t);
/* The arguments are program, size, pc. Returns the number of the machine. */
JAM_CALL_(uint64_t, machine, 8, const void *, uint64_t, uint64_t);
/* The arguments are machine, to, address in the machine, length. */
JAM_CALL_(uint64_t, peek, 9, uint64_t, void *, uint64_t, uint64_t);
/* The arguments are machine, from, address in the machine, length. */
JAM_CALL_(uint64_t, poke, 10, uint64_t, const void *, uint64_t, uint64_t);
/* The arguments are machine, first page, count, mode. */
JAM_CALL_(uint64_t, pages, 11, uint64_t, uint64_t, uint64_t, uint64_t);
/* The arguments are machine and 14 words: gas and registers, which are updated. The results are
 * how the run ended, and the number of the host call or the page. */
JAM_CALL_(struct jam_pair, invoke, 12, uint64_t, uint64_t *);
/* The argument is the machine. Returns its pc. */
JAM_CALL_(uint64_t, expunge, 13, uint64_t);
/* The arguments are manager, assigners, delegator, registrar, services with gas, count of the
 * services. */
JAM_CALL_(uint64_t, bless, 14, uint64_t, const void *, uint64_t, uint64_t, const void *, uint64_t);
/* The arguments are core, queue, assigner. */
JAM_CALL_(uint64_t, assign, 15, uint64_t, const void *, uint64_t);
/* The argument is the keys. */
JAM_CALL_(uint64_t, designate, 16, const void *);
JAM_CALL_(uint64_t, checkpoint, 17);
/* The arguments are code hash, code size, least gas for items, least gas for memos, gratis
 * storage, wanted id. Returns the id. */
JAM_CALL_(uint64_t, new, 18, const void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
/* The arguments are code hash, least gas for items, least gas for memos. */
JAM_CALL_(uint64_t, upgrade, 19, const void *, uint64_t, uint64_t);
/* The arguments are to, amount, gas, memo. */
JAM_CALL_(uint64_t, transfer, 20, uint64_t, uint64_t, uint64_t, const void *);
/* The arguments are service, hash. */
JAM_CALL_(uint64_t, eject, 21, uint64_t, const void *);
/* The arguments are hash, size. Returns the request: the first result has the number of its
 * slots and the first slot, the second the other slots. */
JAM_CALL_(struct jam_pair, query, 22, const void *, uint64_t);
/* The arguments are hash, size. */
JAM_CALL_(uint64_t, solicit, 23, const void *, uint64_t);
/* The arguments are hash, size. */
JAM_CALL_(uint64_t, forget, 24, const void *, uint64_t);
/* The argument is the hash. */
JAM_CALL_(uint64_t, yield, 25, const void *);
/* The arguments are service, blob, size. */
JAM_CALL_(uint64_t, provide, 26, uint64_t, const void *, uint64_t);
/* The arguments are level (0 fatal to 4 pedantic), target, size of the target, message, size of
 * the message. */
PENTA_IMPORT_NUMBER(uint64_t, jam_log, log, 100, uint64_t, const void *, uint64_t, const void *,
                    uint64_t);

struct jam_bytes {
    const uint8_t *data;
    uint64_t size;
};

/* Takes bytes from the front. Ends the program with a trap if there are fewer. */
static inline struct jam_bytes jam_take(struct jam_bytes *in, uint64_t size)
{
    struct jam_bytes taken = {in->data, size};
    if (size > in->size) penta_trap();
    in->data += size;
    in->size -= size;
    return taken;
}

/* Takes a number of 1 to 8 bytes, the lowest first. */
static inline uint64_t jam_take_number(struct jam_bytes *in, unsigned bytes)
{
    const uint8_t *data = jam_take(in, bytes).data;
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)data[i] << 8 * i;
    return value;
}

/* Takes a natural number as the Gray Paper encodes it: the first byte has as many leading ones
 * as bytes follow it. */
static inline uint64_t jam_take_natural(struct jam_bytes *in)
{
    unsigned first = (unsigned)jam_take_number(in, 1), follow = 0;
    while (follow < 8 && first & 0x80 >> follow) follow++;
    uint64_t low = jam_take_number(in, follow);
    return follow == 8 ? low : (uint64_t)(first & 0x7f >> follow) << 8 * follow | low;
}

/* Takes bytes that follow their count. */
static inline struct jam_bytes jam_take_sized(struct jam_bytes *in)
{
    return jam_take(in, jam_take_natural(in));
}

struct jam_refine {
    uint64_t core, item, service;
    struct jam_bytes payload;
    const uint8_t *package; /* the hash of the work package */
};

static inline struct jam_refine jam_refine_arguments(const uint8_t *arguments, uint64_t size)
{
    struct jam_bytes in = {arguments, size};
    struct jam_refine a;
    a.core = jam_take_natural(&in);
    a.item = jam_take_natural(&in);
    a.service = jam_take_natural(&in);
    a.payload = jam_take_sized(&in);
    a.package = jam_take(&in, JAM_HASH).data;
    return a;
}

struct jam_accumulate {
    uint64_t slot, service, items;
};

static inline struct jam_accumulate jam_accumulate_arguments(const uint8_t *arguments,
                                                             uint64_t size)
{
    struct jam_bytes in = {arguments, size};
    struct jam_accumulate a;
    a.slot = jam_take_natural(&in);
    a.service = jam_take_natural(&in);
    a.items = jam_take_natural(&in);
    return a;
}

enum {
    JAM_REFINED,
    JAM_REFINE_OUT_OF_GAS,
    JAM_REFINE_PANIC,
    JAM_BAD_EXPORTS,
    JAM_OVERSIZE,
    JAM_BAD_CODE,
    JAM_BIG_CODE
};

struct jam_item {
    enum { JAM_OPERAND, JAM_TRANSFER } kind;
    uint64_t gas;
    /* JAM_OPERAND has the output of refine, or the reason why there is none. */
    const uint8_t *package, *exports_root, *authorizer, *payload; /* these four are hashes */
    uint64_t status;
    struct jam_bytes output, authorization;
    /* JAM_TRANSFER has these members. */
    uint64_t from, to, amount;
    const uint8_t *memo;
};

static inline struct jam_item jam_take_item(struct jam_bytes *in)
{
    struct jam_item item = {0};
    item.kind = jam_take_natural(in) ? JAM_TRANSFER : JAM_OPERAND;
    if (item.kind == JAM_TRANSFER) {
        item.from = jam_take_number(in, 4);
        item.to = jam_take_number(in, 4);
        item.amount = jam_take_number(in, 8);
        item.memo = jam_take(in, JAM_MEMO).data;
        item.gas = jam_take_number(in, 8);
        return item;
    }
    item.package = jam_take(in, JAM_HASH).data;
    item.exports_root = jam_take(in, JAM_HASH).data;
    item.authorizer = jam_take(in, JAM_HASH).data;
    item.payload = jam_take(in, JAM_HASH).data;
    item.gas = jam_take_natural(in);
    item.status = jam_take_natural(in);
    if (item.status == JAM_REFINED) item.output = jam_take_sized(in);
    item.authorization = jam_take_sized(in);
    return item;
}
