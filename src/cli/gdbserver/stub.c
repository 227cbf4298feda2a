/* Answers the packets of gdb. An unknown packet gets an empty answer, which the protocol asks
 * for. */
#include "cli/gdbserver/stub.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/gdbserver/packet.h"
#include "cli/server/server.h"

static void put_text(struct writer *out, const char *text) { writer_text(out, text); }
static void put_error(struct writer *out) { writer_text(out, "E01"); }
static void put_success(struct writer *out, bool ok) { writer_text(out, ok ? "OK" : "E01"); }

static void put_word(struct writer *out, uint64_t value)
{
    uint8_t bytes[8];
    bytes_put64(bytes, value);
    writer_hex(out, (penta_bytes){bytes, sizeof bytes});
}

static void all_registers(struct stub *s, penta_bytes rest, struct writer *out)
{
    (void)rest;
    registers_read(s);
    for (size_t i = 0; i < registers_all(s); i++) put_word(out, register_value(s, i));
}

static void set_all_registers(struct stub *s, penta_bytes rest, struct writer *out)
{
    uint8_t values[8 * (STUB_REGISTERS + 40)];
    size_t size = 0;
    bool ok = packet_bytes(rest, values, sizeof values, &size) && size == 8 * registers_all(s);
    registers_read(s);
    for (size_t i = 0; ok && i < size / 8; i++)
        if (bytes_get64(values + 8 * i) != register_value(s, i))
            ok = register_write(s, i, bytes_get64(values + 8 * i));
    put_success(out, ok);
}

static void one_register(struct stub *s, penta_bytes rest, struct writer *out)
{
    uint64_t number;
    if (!packet_number(&rest, &number) || number >= registers_all(s)) {
        put_error(out);
        return;
    }
    registers_read(s);
    put_word(out, register_value(s, (size_t)number));
}

static void set_register(struct stub *s, penta_bytes rest, struct writer *out)
{
    uint64_t number;
    uint8_t value[8];
    size_t size = 0;
    bool ok = packet_number(&rest, &number) && number < registers_all(s) &&
              packet_word(&rest, "=") && packet_bytes(rest, value, sizeof value, &size) &&
              size == 8;
    put_success(out, ok && register_write(s, (size_t)number, bytes_get64(value)));
}

enum { MEMORY_MAX = PACKET_MAX / 2 - 16 };

static bool read_range(penta_bytes *rest, uint64_t *address, uint64_t *size)
{
    return packet_number(rest, address) && packet_word(rest, ",") && packet_number(rest, size);
}

/* Reads as many bytes as the memory has, since gdb asks for more than it needs. */
static void read_memory(struct stub *s, penta_bytes rest, struct writer *out)
{
    uint64_t address, size, got = 0;
    uint8_t byte;
    if (!read_range(&rest, &address, &size) || rest.size) {
        put_error(out);
        return;
    }
    if (size > MEMORY_MAX) size = MEMORY_MAX;
    while (got < size && penta_vm_peek(shell_vm(&s->shell), address + got, &byte, 1)) {
        writer_hex(out, (penta_bytes){&byte, 1});
        got++;
    }
    if (size && !got) put_error(out);
}

/* Writes memory through the debugger, byte by byte, so that going back repeats the change. */
static bool gdb_poke(struct stub *s, uint64_t address, penta_bytes bytes)
{
    char what[40];
    penta_error err;
    for (size_t i = 0; i < bytes.size; i++) {
        penta_value value = {.kind = PENTA_UINT, .as.u = bytes.data[i]};
        snprintf(what, sizeof what, "u8[%" PRIu64 "]", address + i);
        if (!penta_debugger_set(s->shell.debugger, what, &value, &err)) return false;
    }
    return true;
}

static void write_memory(struct stub *s, penta_bytes rest, bool hex, struct writer *out)
{
    uint8_t bytes[MEMORY_MAX];
    uint64_t address, size;
    size_t given = 0;
    if (!read_range(&rest, &address, &size) || !packet_word(&rest, ":")) {
        put_error(out);
        return;
    }
    bool ok = hex ? packet_bytes(rest, bytes, sizeof bytes, &given) : rest.size <= sizeof bytes;
    if (ok && !hex) {
        bytes_copy(bytes, rest);
        given = rest.size;
    }
    put_success(out, ok && given == size && gdb_poke(s, address, (penta_bytes){bytes, given}));
}

static void write_hex(struct stub *s, penta_bytes rest, struct writer *out)
{
    write_memory(s, rest, true, out);
}

static void write_binary(struct stub *s, penta_bytes rest, struct writer *out)
{
    write_memory(s, rest, false, out);
}

static void gdb_point(struct stub *s, bool on, penta_bytes rest, struct writer *out)
{
    uint64_t address, size;
    char type = rest.size ? (char)rest.data[0] : 0;
    if (!type || !strchr("01234", type)) return;
    rest = bytes_slice(rest, 1, SIZE_MAX);
    bool ok = packet_word(&rest, ",") && read_range(&rest, &address, &size) && !rest.size;
    put_success(out, ok && stub_point(s, on, type, address, size));
}

static void add_point(struct stub *s, penta_bytes rest, struct writer *out)
{
    gdb_point(s, true, rest, out);
}

static void remove_point(struct stub *s, penta_bytes rest, struct writer *out)
{
    gdb_point(s, false, rest, out);
}

static void gdb_supported(struct stub *s, penta_bytes rest, struct writer *out)
{
    (void)rest;
    writer_print(out,
                 "PacketSize=%x;QStartNoAckMode+;qXfer:features:read+;ReverseStep+;"
                 "ReverseContinue+;vContSupported+;swbreak+;hwbreak+",
                 PACKET_MAX);
    if (s->map.out.size) writer_text(out, ";qXfer:memory-map:read+");
}

/* Sends a part of a document, with "l" before the last part and "m" before others. */
static void gdb_transfer(const struct writer *document, penta_bytes rest, struct writer *out)
{
    uint64_t offset, size;
    penta_bytes all = writer_view(document);
    if (!read_range(&rest, &offset, &size) || offset > all.size) {
        put_error(out);
        return;
    }
    if (size > MEMORY_MAX) size = MEMORY_MAX;
    penta_bytes part = bytes_slice(all, (size_t)offset, (size_t)size);
    writer_char(out, offset + part.size == all.size ? 'l' : 'm');
    writer_bytes(out, part.data, part.size);
}

static void gdb_features(struct stub *s, penta_bytes rest, struct writer *out)
{
    gdb_transfer(&s->description, rest, out);
}

static void memory_map(struct stub *s, penta_bytes rest, struct writer *out)
{
    gdb_transfer(&s->map, rest, out);
}

static void no_acks(struct stub *s, penta_bytes rest, struct writer *out)
{
    (void)rest;
    s->no_acks = true;
    put_text(out, "OK");
}

static void gdb_detach(struct stub *s, penta_bytes rest, struct writer *out)
{
    (void)rest;
    s->ended = true;
    put_text(out, "OK");
}

static void kill_it(struct stub *s, penta_bytes rest, struct writer *out)
{
    (void)rest, (void)out;
    s->ended = true;
}

static bool gives_token(struct stub *s, const char *line)
{
    struct server known = {0};
    if (!s->token || strncmp(line, "token ", 6)) return false;
    snprintf(known.token, sizeof known.token, "%s", s->token);
    s->trusted = server_knows(&known, bytes_of(line + 6));
    return true;
}

static void gdb_monitor(struct stub *s, penta_bytes rest, struct writer *out)
{
    enum { LONGEST = 1000 };
    char line[LONGEST + 1];
    size_t size = 0;
    struct cli *c = s->shell.cli;
    if (!packet_bytes(rest, (uint8_t *)line, LONGEST, &size) || memchr(line, 0, size)) {
        put_error(out);
        return;
    }
    line[size] = 0;
    c->out.out.size = 0;
    uint64_t before = penta_session_steps(s->shell.machine.session);
    if (gives_token(s, line))
        writer_text(&c->out, s->trusted
                                 ? "welcome; maintenance flush register-cache shows the machine\n"
                                 : "this is not the token\n");
    else if (!s->trusted)
        writer_text(&c->out, "first give the token: monitor token TOKEN\n");
    else if (size)
        shell_line(&s->shell, line);
    if (penta_session_steps(s->shell.machine.session) != before)
        writer_text(&c->out,
                    "the machine moved: maintenance flush register-cache shows where to\n");
    writer_hex(out, writer_view(&c->out));
    if (!out->out.size) put_text(out, "OK");
    c->out.out.size = 0;
}

/* The kinds of packets. A word comes before the words that begin it. Packets with `open` are
 * answered before the client gives the token. */
static const struct packet_kind {
    const char *word;
    bool open;
    void (*answer)(struct stub *s, penta_bytes rest, struct writer *out);
    const char *text; /* the answer, if it is always the same */
} kinds[] = {{"qSupported", true, gdb_supported, NULL},
             {"qXfer:features:read:target.xml:", true, gdb_features, NULL},
             {"qXfer:memory-map:read::", false, memory_map, NULL},
             {"qRcmd,", true, gdb_monitor, NULL},
             {"qfThreadInfo", true, NULL, "m1"},
             {"qsThreadInfo", true, NULL, "l"},
             {"qAttached", true, NULL, "1"},
             {"qSymbol", true, NULL, "OK"},
             {"qC", true, NULL, "QC1"},
             {"QStartNoAckMode", true, no_acks, NULL},
             {"vCont?", true, NULL, "vCont;c;C;s;S"},
             {"vKill", true, gdb_detach, NULL},
             {"H", true, NULL, "OK"},
             {"T", true, NULL, "OK"},
             {"D", true, gdb_detach, NULL},
             {"k", true, kill_it, NULL},
             {"g", false, all_registers, NULL},
             {"G", false, set_all_registers, NULL},
             {"p", false, one_register, NULL},
             {"P", false, set_register, NULL},
             {"m", false, read_memory, NULL},
             {"M", false, write_hex, NULL},
             {"X", false, write_binary, NULL},
             {"Z", false, add_point, NULL},
             {"z", false, remove_point, NULL}};

/* Returns how the machine must run, or 0 when the packet is about something else. vCont names
 * what each thread does, and the machine has one thread. */
static char motion_of(penta_bytes packet)
{
    if (packet_word(&packet, "vCont;")) return packet.size ? (char)(packet.data[0] | 0x20) : 0;
    if (packet_word(&packet, "bs")) return 'b';
    if (packet_word(&packet, "bc")) return 'r';
    if (packet.size && strchr("csCS", packet.data[0]) && packet.data[0])
        return (char)(packet.data[0] | 0x20);
    return 0;
}

/* Answers a client that has not given the token. It sees a machine with registers of 0 that does
 * not move. */
static void answer_stranger(const struct stub *s, penta_bytes packet, const struct stub_line *line)
{
    struct writer out = {0};
    if (packet_word(&packet, "?"))
        put_text(&out, "T05thread:1;");
    else if (packet_word(&packet, "g"))
        writer_fill(&out, '0', 16 * registers_all(s));
    else if (packet.size && strchr("mMXZzGpPcCsSb", packet.data[0]) && packet.data[0])
        put_error(&out);
    else if (packet_word(&packet, "vCont;"))
        put_error(&out);
    if (!out.failed) line->send(line->user, writer_view(&out));
    writer_free(&out);
}

void stub_answer(struct stub *s, penta_bytes packet, const struct stub_line *line)
{
    struct writer out = {0};
    char motion = motion_of(packet);
    bool known = false;
    for (size_t i = 0; !motion && !known && i < sizeof kinds / sizeof *kinds; i++) {
        penta_bytes rest = packet;
        if (!(s->trusted || kinds[i].open) || !packet_word(&rest, kinds[i].word)) continue;
        known = true;
        if (kinds[i].text)
            put_text(&out, kinds[i].text);
        else
            kinds[i].answer(s, rest, &out);
        if (kinds[i].answer == kill_it) return;
    }
    if (!known && !s->trusted) {
        answer_stranger(s, packet, line);
    } else if (motion == 'c' || motion == 's' || motion == 'b' || motion == 'r') {
        stub_resume(s, motion, line);
    } else if (!known && packet_word(&packet, "?")) {
        stub_stopped(s, false, line);
    } else if (!out.failed) {
        line->send(line->user, writer_view(&out));
    }
    writer_free(&out);
}

static void keep_output(void *user, const penta_call *call)
{
    struct stub *s = user;
    writer_bytes(&s->shell.cli->out, call->output.data, call->output.size);
    writer_bytes(&s->shell.cli->out, call->errors.data, call->errors.size);
}

static void map_region(void *user, const penta_region *r)
{
    writer_print(user, "<memory type=\"%s\" start=\"0x%" PRIx64 "\" length=\"0x%" PRIx64 "\"/>\n",
                 r->writable ? "ram" : "rom", r->address, r->size);
}

static void open_map(struct stub *s)
{
    writer_text(&s->map,
                "<?xml version=\"1.0\"?>\n<!DOCTYPE memory-map PUBLIC \"+//IDN gnu.org//DTD "
                "GDB Memory Map V1.0//EN\" "
                "\"http://sourceware.org/gdb/gdb-memory-map.dtd\">\n<memory-map>\n");
    size_t empty = s->map.out.size;
    penta_vm_regions(shell_vm(&s->shell), map_region, &s->map);
    if (s->map.out.size == empty)
        writer_free(&s->map);
    else
        writer_text(&s->map, "</memory-map>\n");
}

void stub_open(struct stub *s)
{
    open_map(s);
    s->trusted = !s->token;
    penta_session_on_call(s->shell.machine.session, keep_output, s);
    registers_open(s);
}

void stub_close(struct stub *s)
{
    writer_free(&s->description);
    writer_free(&s->map);
}
