/* Shows host calls as lines of text: `write key=6b6579 value=01 -> NONE`. */
#include "pvm/host/jam/host.h"
#include <string.h>

enum { SHOWN = 64 }; /* the most bytes of memory that a line shows */

/* Returns the name of a result code, such as "FULL", or NULL when the result is a value. */
static const char *code_name(uint64_t result)
{
    static const char *const names[] = {"NONE", "WHAT", "OOB", "WHO", "FULL",
                                        "CORE", "CASH", "LOW", "HUH"};
    uint64_t index = UINT64_MAX - result;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static void log_memory(const struct jam_run *run, uint64_t at, uint64_t size, struct writer *w)
{
    uint8_t bytes[SHOWN];
    uint64_t shown = size < SHOWN ? size : SHOWN;
    const struct pvm_memory *m = &run->vm->memory;
    if (!pvm_memory_allows(m, at, size, PVM_READ)) {
        writer_print(w, "unreadable 0x%llx+%llu", (unsigned long long)at, (unsigned long long)size);
        return;
    }
    if (shown && pvm_memory_read(m, at, bytes, (size_t)shown))
        writer_hex(w, (penta_bytes){bytes, (size_t)shown});
    if (size > shown) writer_print(w, "..(%llu)", (unsigned long long)size);
}

static void log_argument(const struct jam_run *run, char kind, const uint64_t *r, struct writer *w)
{
    switch (kind) {
    case 's':
        if (*r == UINT64_MAX)
            writer_text(w, "self");
        else
            writer_dec(w, *r);
        break;
    case 'h': log_memory(run, *r, JAM_HASH, w); break;
    case 'k': log_memory(run, r[0], r[1], w); break;
    case 'p': writer_0x(w, *r); break;
    default: writer_dec(w, *r);
    }
}

static void log_arguments(const struct jam_run *run, const char *kinds, const char *name,
                          const uint64_t *r, struct writer *w)
{
    for (unsigned i = 0; kinds[i]; i++) {
        int size = (int)strcspn(name, " ");
        if (kinds[i] != 'l') {
            writer_print(w, " %.*s=", size, name);
            log_argument(run, kinds[i], r + 7 + i, w);
        }
        name += size + (name[size] == ' ');
    }
}

/* Shows a host call. Memory is shown as it is after the call, even when the call changed the
 * bytes of its arguments. */
void jam_log_call(const struct jam_run *run, uint32_t number, const uint64_t *before,
                  enum jam_end end)
{
    struct writer w = {0};
    const char *kinds, *names, *name = jam_call_name(run->host, number, &kinds, &names);
    if (name)
        writer_text(&w, name);
    else
        writer_print(&w, "call %u", number);
    if (name) log_arguments(run, kinds, names, before, &w);
    uint64_t result = run->vm->state->regs[PVM_A0];
    const char *code = code_name(result);
    writer_text(&w, " -> ");
    if (end == JAM_END_PANIC)
        writer_text(&w, "panic");
    else if (end == JAM_END_GAS)
        writer_text(&w, "out of gas");
    else if (end == JAM_END_ERROR)
        writer_text(&w, "error");
    else if (code)
        writer_text(&w, code);
    else
        writer_dec(&w, result);
    writer_char(&w, 0);
    if (!w.failed)
        run->host->called(run->host->called_user, run->service, (const char *)w.out.data);
    writer_free(&w);
}
