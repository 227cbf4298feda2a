/* A chunk is some consecutive sources that go to a worker together, and the lines that come back
 * for them. */
#pragma once
#include "batch/work/process.h"
#include "batch/lines/results.h"
#include "batch/list/source.h"

struct chunk_item {
    uint64_t n;
    size_t at;                   /* offset of its item_head in the request */
    struct earlier_line earlier; /* the line of an earlier run; rest.data is NULL when there is
                                  * none */
    unsigned deaths;             /* how many workers ended while they worked on the item */
    bool condemned;              /* The item is not tried again. Its line tells what happened. */
    int signal;                  /* the signal that ended the worker; 0 for the time limit */
    bool digested;
    uint8_t digest[BATCH_DIGEST];
};

struct chunk {
    struct chunk *next;       /* the next chunk in the order of the sources */
    struct chunk_item *items; /* freed when all items are done */
    size_t count, capacity, done;
    struct writer request; /* the encoded requests of all items */
    struct writer lines, times;
    size_t lines_size; /* size of the lines, in memory or in the file */
    bool spilled;      /* The lines are in the file of waiting lines, at ahead_at. */
    uint64_t ahead_at;
    size_t first, sent;    /* the items of the request that a worker has now */
    uint32_t number;       /* number of the request that a worker has now */
    uint64_t micros;       /* the time that the items took */
    uint64_t ended_at;     /* when the last item was done */
    struct chunk *waiting; /* the next chunk that no worker has */
};

struct chunk *chunk_new(penta_error *err);
void chunk_free(struct chunk *c);
bool chunk_add(struct chunk *c, uint64_t n, const struct source *s, const char *grid,
               const struct earlier_line *earlier, penta_error *err);
static inline bool chunk_whole(const struct chunk *c) { return c->done == c->count; }
/* Appends the request for the items to be done next, up to the first condemned item. */
bool chunk_send(struct chunk *c, uint32_t number, struct writer *out, penta_error *err);
/* Takes a reply of the chunk's worker. Returns false when the reply is not the one that must
 * come next. *exit becomes the exit code of the line. */
bool chunk_reply(struct chunk *c, const struct reply_head *reply, penta_bytes rest, int *exit);
/* Writes the lines of condemned items that are next. Calls `ended` with the exit code of each. */
void chunk_condemned(struct chunk *c, void (*ended)(void *user, int exit), void *user);
/* Frees the memory that only an unfinished chunk needs. */
void chunk_finish(struct chunk *c);
