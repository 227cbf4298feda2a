/* One client over TCP, for commands that serve another program. It listens on loopback unless an address
 * is given, takes one client, and ends with it. Whoever can open the port is not yet a client: it must
 * know the token, which the protocol of the command asks for. */
#pragma once
#include "base/error.h"

struct server {
    int listener, client; /* sockets; -1: closed */
    char address[64];     /* the address that it listens on: 127.0.0.1:4711 */
    char token[33];
};

/* where: PORT or ADDRESS:PORT, in numbers; port 0 is one that is free. */
bool server_open(struct server *s, const char *where, penta_error *err);

/* Connections that have not given the token yet. There may be a few at a time, each with a conversation of its
 * own, so that none ends the server or keeps the client from its place. */
enum guest_state { GUEST_STAYS, GUEST_IS_CLIENT, GUEST_LEAVES };
struct server_guests {
    void *user;
    void *(*open)(void *user, int fd); /* makes a conversation; NULL: memory ran out */
    /* Answers what the guest sends: `bytes` have just come from it. Of what comes after the token nothing is
     * answered yet. */
    enum guest_state (*hear)(void *guest, penta_bytes bytes);
    void (*close)(void *guest);
};
/* Waits for the one that knows the token, which becomes the client; the others are sent away. Gives what
 * `open` gave for it, or NULL: the server cannot go on. */
void *server_choose(struct server *s, const struct server_guests *guests, penta_error *err);
/* Takes as long for every token of a size, whatever is in it. */
bool server_knows(const struct server *s, penta_bytes token);
void server_close(struct server *s);

/* Without a port: standard input and output. False: output is a terminal, which is no client. */
bool server_standard(int *in, int *out, penta_error *err);

/* Bytes from a descriptor, waiting for at least one; 0: it has ended or failed. */
size_t server_read(int fd, void *into, size_t size);
/* All of them, or false: nobody reads any more. */
bool server_write(int fd, penta_bytes bytes);
/* Something can be read now, or the other side has closed. */
bool server_pending(int fd);
