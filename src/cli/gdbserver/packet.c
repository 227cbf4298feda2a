/* Reads packets of gdb from bytes as they come, and frames answers. */
#include "cli/gdbserver/packet.h"
#include <string.h>
#include "base/bytes.h"

enum state { OUTSIDE, INSIDE, FIRST_DIGIT, SECOND_DIGIT };

static void packet_begin(struct packet_reader *r)
{
    r->state = INSIDE;
    r->sum = 0;
    r->escaped = r->too_long = false;
    r->body.out.size = 0;
}

static void take_contents(struct packet_reader *r, uint8_t byte)
{
    r->sum = (uint8_t)(r->sum + byte);
    if (byte == '}' && !r->escaped) {
        r->escaped = true;
        return;
    }
    if (r->body.out.size < PACKET_MAX)
        writer_char(&r->body, (char)(r->escaped ? byte ^ 0x20 : byte));
    else
        r->too_long = true;
    r->escaped = false;
}

enum packet_event packet_take(struct packet_reader *r, uint8_t byte)
{
    if (byte == '$' && !r->escaped) {
        packet_begin(r);
        return PACKET_NONE;
    }
    switch (r->state) {
    case INSIDE:
        if (byte == '#' && !r->escaped)
            r->state = FIRST_DIGIT;
        else
            take_contents(r, byte);
        return PACKET_NONE;
    case FIRST_DIGIT:
    case SECOND_DIGIT:
        if (hex_digit(byte) < 0) {
            r->state = OUTSIDE;
            return PACKET_BROKEN;
        }
        r->told = (uint8_t)(r->told << 4 | hex_digit(byte));
        if (r->state++ == FIRST_DIGIT) return PACKET_NONE;
        r->state = OUTSIDE;
        return r->told == r->sum && !r->too_long && !r->body.failed ? PACKET_READY : PACKET_BROKEN;
    default: return byte == 3 ? PACKET_INTERRUPT : byte == '-' ? PACKET_AGAIN : PACKET_NONE;
    }
}

void packet_write(struct writer *out, penta_bytes body)
{
    uint8_t sum = 0;
    writer_char(out, '$');
    for (size_t i = 0; i < body.size; i++) {
        uint8_t byte = body.data[i];
        if (strchr("#$}*", byte) && byte) {
            writer_char(out, '}');
            sum = (uint8_t)(sum + '}');
            byte ^= 0x20;
        }
        writer_char(out, (char)byte);
        sum = (uint8_t)(sum + byte);
    }
    writer_print(out, "#%02x", sum);
}

bool packet_number(penta_bytes *text, uint64_t *value)
{
    size_t digits = 0;
    *value = 0;
    while (digits < text->size && hex_digit(text->data[digits]) >= 0) {
        if (digits == 16) return false;
        *value = *value << 4 | (uint64_t)hex_digit(text->data[digits++]);
    }
    *text = bytes_slice(*text, digits, SIZE_MAX);
    return digits;
}

bool packet_word(penta_bytes *text, const char *word)
{
    penta_bytes w = bytes_of(word);
    if (!bytes_equal(bytes_slice(*text, 0, w.size), w)) return false;
    *text = bytes_slice(*text, w.size, SIZE_MAX);
    return true;
}

bool packet_bytes(penta_bytes text, uint8_t *into, size_t max, size_t *size)
{
    if (text.size % 2 || text.size / 2 > max) return false;
    for (size_t i = 0; i < text.size; i += 2) {
        int high = hex_digit(text.data[i]), low = hex_digit(text.data[i + 1]);
        if (high < 0 || low < 0) return false;
        into[i / 2] = (uint8_t)(high << 4 | low);
    }
    *size = text.size / 2;
    return true;
}
