/* Packets of gdb's Remote Serial Protocol: $ contents # two digits of a checksum. */
#pragma once
#include "base/writer.h"

enum { PACKET_MAX = 16384 }; /* the largest contents that are accepted, as gdb is told */

enum packet_event {
    PACKET_NONE,      /* no packet is complete yet */
    PACKET_READY,     /* the contents of a packet are in body */
    PACKET_BROKEN,    /* the checksum is wrong, or it is too long */
    PACKET_AGAIN,     /* the other side did not understand the last one */
    PACKET_INTERRUPT, /* gdb's user has pressed Ctrl-C */
};

struct packet_reader {
    int state;
    bool escaped, too_long;
    uint8_t sum, told;
    struct writer body; /* the contents, with escapes resolved */
};

enum packet_event packet_take(struct packet_reader *r, uint8_t byte);
/* Frames the contents; what needs it is escaped. */
void packet_write(struct writer *out, penta_bytes body);

/* ---- numbers in packets: hexadecimal without a prefix ---- */

/* At the start of *text, which moves on. False: no digit is there, or more than 16. */
bool packet_number(penta_bytes *text, uint64_t *value);
/* Whether the text starts with this word; if so, the text moves behind it. */
bool packet_word(penta_bytes *text, const char *word);
/* Bytes of pairs of digits, to the end of the text, at most max; false: it is not such a text. */
bool packet_bytes(penta_bytes text, uint8_t *into, size_t max, size_t *size);
