/* The ready queue holds the reports that wait for other reports. Lists of hashes say which
 * reports were accumulated. */
#pragma once
#include "pvm/host/jam/host.h"

struct jam_hashes { /* A struct jam_hashes is a sorted list of package hashes. */
    uint8_t (*list)[JAM_HASH];
    size_t count, capacity;
    bool failed;
};
/* Adds a hash to the list. jam_hashes_sort must be called after the last one. */
void jam_hashes_add(struct jam_hashes *h, const uint8_t *hash);
void jam_hashes_sort(struct jam_hashes *h);
void jam_hashes_free(struct jam_hashes *h);

/* A struct jam_waiting is a report, and the hashes of the packages for which it waits. */
struct jam_waiting {
    struct jam_report report;
    uint8_t (*needs)[JAM_HASH];
    size_t need_count;
    uint32_t place; /* the slot of the epoch in which the report came; UINT32_MAX: it is new */
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
/* Adds a new report with its dependencies. The queue becomes the owner of the report. */
bool jam_queue_add(struct jam_queue *q, struct jam_report *report);
/* Removes the reports that were accumulated from the entries after the first `first` ones, and
 * their hashes from the needs of the other reports. */
void jam_queue_edit(struct jam_queue *q, size_t first, const struct jam_hashes *done);
/* Writes the queue in its stored form: the entries of each slot of an epoch. */
void jam_queue_write(const struct jam_queue *q, size_t slots, struct writer *out);
void jam_queue_free(struct jam_queue *q);
