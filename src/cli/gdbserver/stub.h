/* Declares a machine as gdb sees it. Every machine is shown as a RISC-V of 64 bits, because gdb
 * accepts no description that is only penta's own. A register that both have by name is that
 * register, the others of RISC-V read as 0, and those that only the machine has are in a feature
 * of its own. */
#pragma once
#include "cli/debug/shell.h"

enum { STUB_REGISTERS = 200, STUB_WATCHES = 64 };

struct stub_register {
    char name[32];   /* the name that the machine uses */
    penta_kind kind; /* the kind, which gives its type in gdb */
    bool state;      /* It is a field of the machine's state, not one of its registers. */
    uint64_t value;  /* its value when it was last read */
};

struct stub_watch {
    uint64_t address, size;
    unsigned number; /* the number of the debugger's point */
    char type;       /* the type in gdb's packet: 2 write, 3 read, 4 access */
};

struct stub {
    /* its output and the program's are kept in the tool's `out` until gdb gets them */
    struct shell shell;
    const char *token; /* the token that the client must give first; NULL when it need not */
    bool trusted;      /* The client has given the token. */
    bool no_acks;
    bool at_end;                                    /* gdb knows that the program has ended. */
    bool ended;                                     /* The conversation is over. */
    struct stub_register registers[STUB_REGISTERS]; /* the registers of the machine */
    size_t register_count;
    struct writer description, map; /* the documents target.xml and memory map */
    struct stub_watch watches[STUB_WATCHES];
    size_t watch_count;
    bool one_step;                     /* The last motion was a single step. */
    const struct stub_watch *stopping; /* a watch before whose instruction the machine stopped,
                                        * or NULL */
};

void stub_open(struct stub *s); /* The shell must be open already. */
void stub_close(struct stub *s);

/* Starts or stops waiting for gdb's input, which interrupts the machine. */
typedef void stub_watch_input(void *user, bool running);
/* Sends the contents of a packet. An answer consists of no packet, one, or several. */
typedef void stub_send(void *user, penta_bytes body);
struct stub_line { /* How the stub sends and receives. */
    stub_send *send;
    stub_watch_input *watch; /* may be NULL */
    void *user;
};
void stub_answer(struct stub *s, penta_bytes packet, const struct stub_line *line);

void registers_open(struct stub *s);
void registers_read(struct stub *s); /* Reads the values of all registers from the machine. */
size_t registers_all(const struct stub *s);
uint64_t register_value(const struct stub *s, size_t number);
bool register_write(struct stub *s, size_t number, uint64_t value);

bool stub_point(struct stub *s, bool on, char type, uint64_t address, uint64_t size);
/* These functions handle c, s, vCont, bc and bs, and then send the stop, for which `?` also
 * asks. */
void stub_resume(struct stub *s, char how, const struct stub_line *line);
void stub_stopped(struct stub *s, bool start, const struct stub_line *line);
