/* The default host (COIL 7.11): port 1 reads and writes bytes, port 2 prints numbers. Input comes
 * from a file or from standard input. */
#include "core/host.h"
#include "base/file/file.h"
#include "coil/vm/vm.h"
#include <stdio.h>
#include <stdlib.h>

struct ports {
    penta_buffer input;
    size_t at;
    bool from_file;
};

static bool host_open(penta_vm *vm, const penta_option *options, size_t count,
                      struct opened_host *out, penta_error *err)
{
    (void)vm;
    struct ports *p = calloc(1, sizeof *p);
    const char *input = option_text(options, count, "input");
    if (!p) return error_at(err, BASE_MEMORY, 0, "no memory for a host");
    p->from_file = input != NULL;
    if (input && !file_read(input, UINT64_C(1) << 30, &p->input, err)) {
        free(p);
        return false;
    }
    out->state = p;
    return true;
}

static uint64_t next_byte(struct ports *p)
{
    if (p->from_file) return p->at < p->input.size ? p->input.data[p->at++] : UINT64_MAX;
    int c = getchar();
    return c == EOF ? UINT64_MAX : (uint64_t)c;
}

static bool host_answer(void *state, penta_vm *vm, const penta_stop *stop, struct answer *out)
{
    (void)vm;
    /* This host executes no vendor instructions. */
    if (stop->detail == COIL_HOST_VENDOR) return false;
    uint8_t type = (uint8_t)stop->args[2];
    if (stop->detail == COIL_HOST_IN) {
        out->results[0] = next_byte(state);
        out->count = 1;
        return true;
    }
    if (stop->args[0] == 1) {
        uint64_t value = coil_convert_bits(stop->args[1], type, COIL_T_INT64, false);
        writer_char(&out->output, (char)(uint8_t)value);
        return true;
    }
    if (coil_types[type].family == COIL_F_REAL)
        coil_print_real(&out->output, coil_real(type, stop->args[1]), type == COIL_T_FP32);
    else if (coil_types[type].family == COIL_F_SIGNED)
        writer_print(&out->output, "%lld", (long long)stop->args[1]);
    else
        writer_dec(&out->output, stop->args[1]);
    writer_char(&out->output, '\n');
    return true;
}

static void host_close(void *state)
{
    struct ports *p = state;
    if (p) penta_buffer_free(&p->input);
    free(p);
}

const struct host coil_host = {.open = host_open, .answer = host_answer, .close = host_close};
