/* Some consecutive sources that go to a worker together, and their lines as they come back. */
#pragma once
#include "batch/work/process.h"
#include "batch/lines/results.h"
#include "batch/list/source.h"

struct chunk_item {
    uint64_t n;
    size_t at;                   /* of its item_head in the request */
    struct earlier_line earlier; /* rest.data NULL: none */
    unsigned deaths;             /* workers that ended while they had it */
    bool condemned;              /* it is not tried again: its line says what happened */
    int signal;                  /* 0: by the time limit */
    bool digested;
    uint8_t digest[BATCH_DIGEST];
};

struct chunk {
    struct chunk *next;       /* in the order of the sources */
    struct chunk_item *items; /* freed when all is done */
    size_t count, capacity, done;
    struct writer request; /* all items as they are sent */
    struct writer lines, times;
    size_t lines_size; /* of lines, wherever they are */
    bool spilled;      /* lines are in the file of waiting lines, at ahead_at */
    uint64_t ahead_at;
    size_t first, sent;    /* items of the request that a worker has now */
    uint32_t number;       /* of that request */
    uint64_t micros;       /* that the items took */
    uint64_t ended_at;     /* when the last one was done */
    struct chunk *waiting; /* the next one that no worker has */
};

struct chunk *chunk_new(penta_error *err);
void chunk_free(struct chunk *c);
bool chunk_add(struct chunk *c, uint64_t n, const struct source *s, const char *grid,
               const struct earlier_line *earlier, penta_error *err);
static inline bool chunk_whole(const struct chunk *c) { return c->done == c->count; }
/* Appends the request for what is to be done next, up to the first condemned item. */
bool chunk_send(struct chunk *c, uint32_t number, struct writer *out, penta_error *err);
/* A reply of its worker. False: it is not the one that must come next. *exit: of the line. */
bool chunk_reply(struct chunk *c, const struct reply_head *reply, penta_bytes rest, int *exit);
/* Writes the lines of condemned items that are next. `ended`: is told the exit code of each. */
void chunk_condemned(struct chunk *c, void (*ended)(void *user, int exit), void *user);
/* Frees what only an unfinished chunk needs. */
void chunk_finish(struct chunk *c);
