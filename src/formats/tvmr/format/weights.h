/* Weight files (TVMR 15.1): "TVMW" | version u16 | entries u16 | entries | XXH64 u64
 * entry: key_len u8 | key | ndims u8 | dims u16 ... | has_temperatures u8 | 2 bytes per signal
 *        | 1 per temperature */
#pragma once
#include "base/reader.h"
#include "tvmr/tvmr.h"

enum { TVMW_VERSION = 1, TVMW_HEAD = 8, TVMW_SUM = 8, TVMW_ENTRY_MIN = 3 };

struct tvmr_signal { /* A weight is a sign and an amount. */
    int8_t polarity;
    uint8_t magnitude;
};
static inline int32_t tvmr_value(struct tvmr_signal s) { return s.polarity * s.magnitude; }
struct tvmr_signal tvmr_signal_of(int32_t value);

enum tvmr_temperature { TVMR_HOT, TVMR_WARM, TVMR_COOL, TVMR_COLD };
extern const uint8_t tvmr_conductance[4], tvmr_threshold[4];

/* Reads the next entry, which points into the file. Returns false with an error. */
bool tvmr_entry_read(struct reader *r, struct tvmr_entry *e);
bool tvmr_weights_sum_good(penta_bytes file); /* The file must have at least a head and a
                                               * checksum. */

/* Appends a key to a list of keys. The list ends in ".." when it has no room for all. */
void tvmr_key_list_add(char *list, size_t size, penta_bytes key);

/* These functions write a weight file: begin with the number of entries, write that many, then
 * end. */
void tvmr_weights_begin(struct writer *out, size_t count);
void tvmr_entry_write(struct writer *out, const struct tvmr_entry *e);
void tvmr_weights_end(struct writer *out);

/* Makes a weight file from numbers in another form, for the option 'read-as'. weight_forms.c
 * defines it. */
bool tvmr_weights_from(penta_bytes file, const char *form, const char *key, struct writer *out,
                       penta_error *err);
/* Writes weights in another form: `to` is json, npy or csv. */
bool tvmr_weights_to(const struct tvmr_module *m, const char *to, const char *key,
                     struct writer *out, struct findings *findings, penta_error *err);
/* Writes the entries of a module, and those of another file whose keys it lacks. */
bool tvmr_weights_merge(const struct tvmr_module *m, const char *path, struct writer *out,
                        penta_error *err);

/* Writes the entries of a module, and those entries of another file whose keys the module lacks. */
bool tvmr_weights_from_json(penta_bytes text, struct writer *out, penta_error *err);
