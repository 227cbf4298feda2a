/* Declares a server for one client over TCP, for commands that serve another program. It listens
 * on loopback unless an address is given, takes one client, and ends with it. A connection is
 * not a client until it has given the token, which the protocol of the command asks for. */
#pragma once
#include "base/error.h"

struct server {
    int listener, client; /* sockets, or -1 when closed */
    char address[64];     /* the address on which it listens, such as 127.0.0.1:4711 */
    char token[33];
};

/* Opens a server. `where` is PORT or ADDRESS:PORT, in numbers. Port 0 chooses a free port. */
bool server_open(struct server *s, const char *where, penta_error *err);

/* Connections that have not given the token yet. A few can be open at a time, each with a
 * conversation of its own, so that none ends the server or takes the client's place. */
enum guest_state { GUEST_STAYS, GUEST_IS_CLIENT, GUEST_LEAVES };
struct server_guests {
    void *user;
    void *(*open)(void *user, int fd); /* Makes a conversation. Returns NULL when memory ran out. */
    /* Answers the bytes that have just come from a connection. Bytes after the token are not
     * answered yet. */
    enum guest_state (*hear)(void *guest, penta_bytes bytes);
    void (*close)(void *guest);
};
/* Waits for the connection that knows the token, which becomes the client. The others are
 * closed. Returns what `open` returned for the client, or NULL when the server cannot continue. */
void *server_choose(struct server *s, const struct server_guests *guests, penta_error *err);
/* Tells whether the token is right. It takes as long for every token of a size, whatever is in
 * it. */
bool server_knows(const struct server *s, penta_bytes token);
void server_close(struct server *s);

/* Uses standard input and output instead of a port. Returns false when output is a terminal,
 * which is no client. */
bool server_standard(int *in, int *out, penta_error *err);

/* Reads bytes from a descriptor, and waits for at least one. Returns 0 when the input has ended
 * or failed. */
size_t server_read(int fd, void *into, size_t size);
/* Writes all bytes. Returns false when nobody reads any more. */
bool server_write(int fd, penta_bytes bytes);
/* Tells whether something can be read now, or the other side has closed. */
bool server_pending(int fd);
