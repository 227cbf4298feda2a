/* Declares the encodings that services meet (JAM 7.1, JAM 10): natural numbers, work packages,
 * work reports, and the items of accumulate. Structs hold slices of the bytes from which they
 * were read. */
#pragma once
#include "base/reader.h"
#include "base/writer.h"

enum { JAM_SUMMARY = 62, JAM_TRANSFER = 152 };

/* Writes a natural number, in 1 to 9 bytes. */
void jam_put_nat(struct writer *w, uint64_t x);
void jam_put_var(struct writer *w, penta_bytes bytes); /* Writes the length, then the bytes. */
uint64_t jam_take_nat(struct reader *r);
penta_bytes jam_take_var(struct reader *r);
/* Takes a list, which is its length and then items of `item` bytes each. */
penta_bytes jam_take_list(struct reader *r, size_t item, size_t *count);

struct jam_digest { /* A struct jam_digest is the result of one work item. */
    uint32_t service;
    const uint8_t *payload_hash;
    uint64_t gas;       /* the gas with which the result is accumulated */
    penta_bytes result; /* the encoded result */
};

struct jam_report {
    penta_bytes encoded;
    const uint8_t *package, *exports_root, *authorizer;
    penta_bytes trace;
    /* `prerequisites` has hashes, `lookups` a package hash and a root for each lookup. */
    const uint8_t *prerequisites, *lookups;
    size_t prerequisite_count, lookup_count;
    struct jam_digest *digests;
    size_t digest_count;
};

/* Reads one report. The caller must call jam_report_free even when this fails. */
bool jam_take_report(struct reader *r, struct jam_report *out);
void jam_report_free(struct jam_report *report);
/* Returns the gas with which all results of the report are accumulated. */
uint64_t jam_report_gas(const struct jam_report *report);

struct jam_work_item {
    uint32_t service;
    const uint8_t *code_hash;
    uint64_t refine_gas, accumulate_gas;
    uint16_t exports;
    penta_bytes payload;
    size_t import_count, extrinsic_count;
    const uint8_t *extrinsics; /* for each extrinsic: its hash and a u32 length */
};

struct jam_work_package {
    penta_bytes encoded, context, token, config;
    uint32_t auth_service, anchor_slot;
    const uint8_t *auth_code;
    struct jam_work_item *items;
    size_t item_count;
};

bool jam_package_read(penta_bytes bytes, struct jam_work_package *out, penta_error *err);
void jam_package_free(struct jam_work_package *package);
void jam_put_summary(struct writer *w, const struct jam_work_item *item);

/* These functions write the items of accumulate, which are work results and transfers. `tagged`
 * says that a byte before each item tells which of the two it is. */
void jam_put_operand(struct writer *w, const struct jam_report *report,
                     const struct jam_digest *digest, bool tagged);

struct jam_transfer {
    uint32_t from, to;
    uint64_t amount, gas;
    uint8_t memo[128];
};
/* Writes a transfer, which has JAM_TRANSFER bytes. */
void jam_put_transfer(struct writer *w, const struct jam_transfer *t);
