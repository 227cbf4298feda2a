/* Sends any bytes as packets of gdb. Every packet must be answered, the machine must go back to
 * its start, and nothing outside may be read or written. The first byte chooses the program. */
#include "fuzz.h"
#include "cli/gdbserver/packet.h"
#include "cli/gdbserver/stub.h"

/* These programs end, whatever is changed in their machines. */
static const struct {
    const char *format, *text;
    penta_option option;
} programs[] = {
    {"kblob",
     "WRITE64 0x10000, 0x11223344\nREAD64 0x10000\nSLEEP 25\nWRITE8 0x10000, 1\nHALT\n",
     {"map", "0x10000:64"}},
    {"pvm",
     "%isa = latest64\n%stack_size = 4096\n%import \"ask\"\n%export \"main\" = @main\n@main:\n"
     "a0 = 7\nu64 [sp - 8] = a0\necalli 0\na1 = u64 [sp - 8]\nret\n",
     {"call", "main"}},
};

struct reply {
    size_t count;
};

static void take_reply(void *user, penta_bytes body)
{
    struct reply *r = user;
    struct writer framed = {0};
    packet_write(&framed, body);
    struct packet_reader reader = {0};
    enum packet_event event = PACKET_NONE;
    for (size_t i = 0; i < framed.out.size; i++) event = packet_take(&reader, framed.out.data[i]);
    CHECK(event == PACKET_READY || body.size > PACKET_MAX);
    CHECK(body.size > PACKET_MAX ||
          (reader.body.out.size == body.size &&
           (!body.size || !memcmp(reader.body.out.data, body.data, body.size))));
    writer_free(&reader.body);
    writer_free(&framed);
    r->count++;
}

/* Tells whether a packet is `monitor save` or `monitor source`, which use files. */
static bool uses_files(penta_bytes packet)
{
    uint8_t text[8] = {0};
    size_t size = 0;
    if (!packet_word(&packet, "qRcmd,")) return false;
    while (packet.size >= 2 && (!memcmp(packet.data, "20", 2) || packet.data[0] == '0')) {
        packet.data += 2; /* Spaces may stand before the command. */
        packet.size -= 2;
    }
    if (packet.size > 4) packet.size = 4;
    if (!packet_bytes(packet, text, sizeof text, &size) || size < 1) return false;
    return text[0] == 's' && (text[1] == 'a' || text[1] == 'o');
}

static void gdb_packets_converse(struct stub *s, penta_bytes input)
{
    struct packet_reader reader = {0};
    struct reply reply = {0};
    struct stub_line line = {take_reply, NULL, &reply};
    for (size_t i = 0; i < input.size && !s->ended; i++) {
        if (packet_take(&reader, input.data[i]) != PACKET_READY) continue;
        penta_bytes packet = writer_view(&reader.body);
        if (uses_files(packet)) continue;
        reply.count = 0;
        bool killed = packet.size && packet.data[0] == 'k';
        stub_answer(s, packet, &line);
        CHECK(reply.count || killed);
    }
    writer_free(&reader.body);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    if (!size) return;
    size_t chosen = data[0] % (sizeof programs / sizeof *programs);
    struct cli c = {.command = COMMAND_GDBSERVER};
    struct stub s = {.shell = {.cli = &c}, .token = data[0] & 0x80 ? "secret" : NULL};
    struct machine *m = &s.shell.machine;
    penta_error err;
    penta_stop stop;
    m->in.name = "program";
    m->in.module = penta_assemble(bytes_of(programs[chosen].text), programs[chosen].format, NULL, 0,
                                  NULL, NULL);
    CHECK(m->in.module);
    m->session = penta_session_new(m->in.module, "interp", &programs[chosen].option, 1, NULL, &err);
    CHECK(m->session);
    s.shell.debugger = penta_debugger_new(m->session, &err);
    CHECK(s.shell.debugger);
    stub_open(&s);
    gdb_packets_converse(&s, (penta_bytes){data + 1, size - 1});
    stub_close(&s);
    CHECK(penta_debugger_back(s.shell.debugger, UINT64_MAX, &stop, &err));
    CHECK(penta_session_steps(m->session) == 0);
    penta_debugger_free(s.shell.debugger);
    penta_session_free(m->session);
    penta_close(m->in.module);
    penta_buffer_free(&s.shell.source);
    free(s.shell.source_name);
    writer_free(&c.out);
    for (size_t i = 0; i < c.diagnostic_count; i++) {
        free(c.diagnostics[i].file);
        free(c.diagnostics[i].path);
    }
    free(c.diagnostics);
}
