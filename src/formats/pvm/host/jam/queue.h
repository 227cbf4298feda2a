/* The ready queue holds the reports that wait for others. Lists of hashes say what was
 * accumulated. */
#pragma once
#include "pvm/host/jam/host.h"

struct jam_hashes { /* a sorted list of package hashes */
    uint8_t (*list)[JAM_HASH];
    size_t count, capacity;
    bool failed;
};
/* Adds a hash to the list. Call jam_hashes_sort after the last one. */
void jam_hashes_add(struct jam_hashes *h, const uint8_t *hash);
void jam_hashes_sort(struct jam_hashes *h);
void jam_hashes_free(struct jam_hashes *h);

struct jam_waiting { /* a report, and the hashes of what it waits for */
    struct jam_report report;
    uint8_t (*needs)[JAM_HASH];
    size_t need_count;
    uint32_t place; /* the slot of the epoch; UINT32_MAX: a new report */
    bool gone, taken;
};

struct jam_queue {
    struct jam_waiting *list;
    size_t count, capacity;
    penta_error *err;
};

/* Reads the stored queue, which has an entry for each slot of an epoch. When it is not stored,
 * the queue is empty. */
bool jam_queue_read(struct jam_queue *q, penta_bytes bytes, size_t slots);
/* Adds a new report with its dependencies; takes ownership of the report. */
bool jam_queue_add(struct jam_queue *q, struct jam_report *report);
/* Removes the reports that were accumulated from the entries from `first` on, and their hashes
 * from the needs of the others. */
void jam_queue_edit(struct jam_queue *q, size_t first, const struct jam_hashes *done);
/* Writes the queue in its stored form: the entries of each slot of an epoch. */
void jam_queue_write(const struct jam_queue *q, size_t slots, struct writer *out);
void jam_queue_free(struct jam_queue *q);
