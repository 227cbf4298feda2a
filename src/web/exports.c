/* Defines the functions that a WebAssembly module gives its host. They give room for a request
 * and its bytes, make a call, and tell where the answer is. Addresses stay valid until the next
 * call. Views of memory are valid only until the memory grows. */
#include <stdlib.h>
#include "web/web.h"

enum { TEXT, BYTES, BUFFERS };

static struct web web;
static penta_buffer rooms[BUFFERS];

void *web_room(unsigned which, size_t size);
void web_serve(size_t request, size_t data);
const void *web_result(unsigned which);
size_t web_result_size(unsigned which);

/* Returns room for `size` bytes of the next request, or NULL when memory ran out. `which` is 0
 * for its text and 1 for the bytes that go with it. */
void *web_room(unsigned which, size_t size)
{
    if (which >= BUFFERS) return NULL;
    penta_buffer *b = &rooms[which];
    if (b->capacity >= size && b->data) return b->data;
    free(b->data);
    *b = (penta_buffer){.data = malloc(size + 1), .capacity = size};
    if (!b->data) b->capacity = 0;
    return b->data;
}

void web_serve(size_t request, size_t data)
{
    enum { KEPT = 1 << 16 };
    penta_bytes text = {rooms[TEXT].data, rooms[TEXT].data ? request : 0};
    web_call(&web, text, (penta_bytes){rooms[BYTES].data, rooms[BYTES].data ? data : 0});
    if (rooms[BYTES].capacity <= KEPT) return;
    free(rooms[BYTES].data); /* The bytes were a file, and the module has a copy of it. */
    rooms[BYTES] = (penta_buffer){0};
}

const void *web_result(unsigned which)
{
    return which == TEXT ? web.result.data : web.bytes.out.data;
}

size_t web_result_size(unsigned which)
{
    return which == TEXT ? web.result.size : web.bytes.out.size;
}
