/* Declares packets of gdb's Remote Serial Protocol: $ contents # two digits of a checksum. */
#pragma once
#include "base/writer.h"

enum { PACKET_MAX = 16384 }; /* the largest contents that are accepted, as gdb is told */

enum packet_event {
    PACKET_NONE,      /* no packet is complete yet */
    PACKET_READY,     /* `body` has the contents of a packet */
    PACKET_BROKEN,    /* the checksum is wrong, or the packet is too long */
    PACKET_AGAIN,     /* the other side did not understand the last packet */
    PACKET_INTERRUPT, /* gdb's user has pressed Ctrl-C */
};

struct packet_reader {
    int state;
    bool escaped, too_long;
    uint8_t sum, told;
    struct writer body; /* the contents, with escapes resolved */
};

enum packet_event packet_take(struct packet_reader *r, uint8_t byte);
/* Frames the contents, and escapes bytes where needed. */
void packet_write(struct writer *out, penta_bytes body);

/* Reads a number at the start of *text, which then starts after it. Returns false when no digit
 * is there, or more than 16. */
bool packet_number(penta_bytes *text, uint64_t *value);
/* Tells whether the text starts with this word. If so, the text then starts after the word. */
bool packet_word(penta_bytes *text, const char *word);
/* Reads bytes from pairs of digits, to the end of the text, at most `max`. Returns false for any
 * other text. */
bool packet_bytes(penta_bytes text, uint8_t *into, size_t max, size_t *size);
