/* Simulates the devices at I2C and SPI of the board (CVBC 14.6). A device at I2C has 256
 * registers: the first byte sent to it is the number of the next register, further bytes are
 * stored in registers, and bytes that are read come from them; each byte goes to the next
 * register. A device at SPI has a pin that selects it, and gives one byte for each byte that it
 * gets. The state of both is in the machine's pins, so that snapshots contain it. */
#include <string.h>
#include "base/bytes.h"
#include "cvbc/host/board_state.h"

enum { I2C_SENT, I2C_TOO_LONG, I2C_NOBODY }; /* results of the call I2C_END */

static bool byte_fits(int32_t v) { return v >= 0 && v <= UINT8_MAX; }

static struct cvbc_i2c_device *i2c_device(struct cvbc_pins *p, uint8_t bus, uint8_t address)
{
    for (uint32_t i = 0; i < p->device_count; i++)
        if (p->devices[i].bus == bus && p->devices[i].address == address) return &p->devices[i];
    return NULL;
}

/* Applies the lines of the script up to now to the registers of the devices. */
static void i2c_catch_up(struct cvbc_board_state *b)
{
    struct cvbc_pins *p = b->pins;
    for (; p->i2c_lines < b->i2c_count && b->i2c[p->i2c_lines].ms <= b->now / 1000;
         p->i2c_lines++) {
        const struct cvbc_i2c_line *line = &b->i2c[p->i2c_lines];
        struct cvbc_i2c_device *d = i2c_device(p, line->bus, line->address);
        if (!d && p->device_count < CVBC_I2C_DEVICES) {
            d = &p->devices[p->device_count++];
            *d = (struct cvbc_i2c_device){.bus = line->bus, .address = line->address};
        }
        if (d && line->count) memcpy(d->values + line->at, b->i2c_bytes + line->from, line->count);
    }
}

static void i2c_tell(const struct cvbc_board_state *b, const char *what, int32_t bus,
                     uint8_t address, const uint8_t *bytes, size_t count, struct writer *out)
{
    if (!b->trace) return;
    writer_print(out, "%s: bus %d address 0x%02x =", what, (int)bus, address);
    for (size_t i = 0; i < count; i++) writer_print(out, " %u", bytes[i]);
    writer_char(out, '\n');
}

static uint64_t i2c_end(struct cvbc_board_state *b, int32_t number, struct writer *out)
{
    struct cvbc_i2c *bus = &b->pins->i2c[number];
    size_t count = bus->sending;
    bus->sending = 0;
    if (count > CVBC_I2C_BUFFER) return I2C_TOO_LONG;
    struct cvbc_i2c_device *d = i2c_device(b->pins, (uint8_t)number, bus->address);
    if (!d) return I2C_NOBODY;
    if (count) d->at = bus->sent[0];
    for (size_t i = 1; i < count; i++) d->values[d->at++] = bus->sent[i];
    i2c_tell(b, "I2C write", number, bus->address, bus->sent, count, out);
    return I2C_SENT;
}

static uint64_t i2c_request(struct cvbc_board_state *b, int32_t number, int32_t address,
                            int32_t count, struct writer *out)
{
    struct cvbc_i2c *bus = &b->pins->i2c[number];
    struct cvbc_i2c_device *d = i2c_device(b->pins, (uint8_t)number, (uint8_t)address);
    bus->count = bus->taken = 0;
    if (!d) return 0;
    if (count > CVBC_I2C_BUFFER) count = CVBC_I2C_BUFFER;
    while (bus->count < count) bus->received[bus->count++] = d->values[d->at++];
    i2c_tell(b, "I2C read", number, (uint8_t)address, bus->received, bus->count, out);
    return bus->count;
}

static unsigned i2c_call(struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                         uint64_t *value, struct writer *out)
{
    enum { ADDRESS_MAX = 127 };
    struct cvbc_i2c *bus = &b->pins->i2c[args[0]];
    bool addressed = call == CVBC_OP_I2C_BEGIN || call == CVBC_OP_I2C_REQUEST;
    if (addressed && (args[1] < 0 || args[1] > ADDRESS_MAX)) return CVBC_TRAP_INVALID_OPCODE;
    i2c_catch_up(b);
    switch (call) {
    case CVBC_OP_I2C_BEGIN:
        bus->address = (uint8_t)args[1];
        bus->sending = 0;
        break;
    case CVBC_OP_I2C_WRITE:
        if (!byte_fits(args[1])) return CVBC_TRAP_INVALID_OPCODE;
        if (bus->sending < CVBC_I2C_BUFFER) bus->sent[bus->sending] = (uint8_t)args[1];
        if (bus->sending <= CVBC_I2C_BUFFER) bus->sending++;
        break;
    case CVBC_OP_I2C_END: *value = i2c_end(b, args[0], out); break;
    case CVBC_OP_I2C_REQUEST:
        if (!byte_fits(args[2])) return CVBC_TRAP_INVALID_OPCODE;
        *value = i2c_request(b, args[0], args[1], args[2], out);
        break;
    case CVBC_OP_I2C_AVAILABLE: *value = bus->count - bus->taken; break;
    default:
        *value = bus->taken < bus->count ? bus->received[bus->taken] : UINT32_MAX;
        if (call == CVBC_OP_I2C_READ && bus->taken < bus->count) bus->taken++;
    }
    return CVBC_TRAP_NONE;
}

/* Exchanges a byte with the device whose pin is an output and low. If there are several, all of
 * them go on by a byte, and the one with the lowest pin is heard. If no device has a byte to give,
 * the line stays high, and the byte is 255. */
static uint8_t spi_exchange(struct cvbc_board_state *b, int32_t bus)
{
    enum { OUTPUT = 1 };
    struct cvbc_pins *p = b->pins;
    uint8_t answer = UINT8_MAX;
    bool answered = false;
    for (unsigned pin = 0; pin < CVBC_PINS; pin++) {
        if (b->select_bus[pin] != bus + 1 || p->modes[pin] != OUTPUT || p->levels[pin]) continue;
        const struct cvbc_stream *s = &b->selects[pin];
        if (p->spi_given[pin] >= cvbc_stream_come(s, b->now)) continue;
        uint8_t byte = s->at[p->spi_given[pin]++].value;
        if (!answered) answer = byte;
        answered = true;
    }
    return answer;
}

unsigned cvbc_bus_call(struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                       uint64_t *value, struct writer *out)
{
    if (!byte_fits(args[0])) return CVBC_TRAP_INVALID_OPCODE;
    if (args[0] >= CVBC_BUSSES_EACH) return CVBC_TRAP_HARDWARE_FAULT;
    if (call != CVBC_OP_SPI_TRANSFER) return i2c_call(b, call, args, value, out);
    if (!byte_fits(args[1])) return CVBC_TRAP_INVALID_OPCODE;
    *value = spi_exchange(b, args[0]);
    if (b->trace)
        writer_print(out, "SPI: bus %d, %d -> %u\n", (int)args[0], (int)args[1], (unsigned)*value);
    return CVBC_TRAP_NONE;
}
