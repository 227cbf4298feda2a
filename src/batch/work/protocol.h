/* Declares what the coordinator and a worker process send to each other. Requests with some sources
 * each, and a reply for every source, go over a socket. One page of shared memory shows the
 * coordinator where a worker was when it crashed or hung. The two processes are the same
 * program on the same host, so numbers have its byte order.
 *
 *     request   request_head, then for each item: item_head, name, grid, bytes
 *     reply     reply_head, then the line of the result without its beginning {"n":N, */
#pragma once
#include <stdatomic.h>
#include <stdint.h>

enum { BATCH_CHANNEL = 3, BATCH_PAGE = 4 }; /* the file descriptors of a worker */
enum { BATCH_ITEMS_MAX = 256, BATCH_DIGEST = 32 };

struct request_head {
    uint32_t count, number; /* number of items; number of the request, counted by the coordinator */
    uint64_t size;          /* size in bytes of all that follows */
    uint32_t eager, unused; /* When `eager` is not 0, each reply is sent at once. */
};

struct item_head {
    uint32_t kind; /* a number of enum source_kind; the bytes of a SOURCE_BROKEN are its
                    * penta_error */
    uint32_t name_size, grid_size; /* sizes that include the 0 at the end; grid_size may be 0 */
    uint32_t expects; /* When it is not 0, a reply REPLY_SAME is enough if the digest is
                       * `expected`. */
    uint64_t bytes_size;
    uint8_t expected[BATCH_DIGEST];
};

enum reply_kind { REPLY_LINE, REPLY_SAME };
struct reply_head {
    uint32_t index, kind; /* `index` is that of the item in the request. */
    uint64_t size, micros;
    uint32_t exit, unused; /* `exit` is the exit code of a REPLY_LINE. */
};

struct batch_page {
    _Atomic uint32_t current;  /* the item on which the worker works, as page_item gives it, or 0 */
    _Atomic uint32_t digested; /* the same number, once the digest of the item is known */
    uint8_t digest[BATCH_DIGEST];
};
static inline uint32_t page_item(uint32_t request, uint32_t index)
{
    return (request & 0x7fff) << 16 | (index + 1);
}
