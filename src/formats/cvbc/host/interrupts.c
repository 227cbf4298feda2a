/* Handles the pins that a program watches (CVBC 14.7). Edges are those of the script's digital
 * inputs. Nothing interrupts the machine: the program asks, at places that the compiler chooses,
 * whether there was an edge, and calls the handler itself. So every edge has its call, in their
 * order, and none is lost. */
#include "cvbc/host/board_state.h"

enum { MODE_LOW, MODE_CHANGE, MODE_FALLING, MODE_RISING, MODES };

/* Tells whether an input of the script is an edge for which its pin is watched. */
static bool watch_meets(const struct cvbc_board_state *b, uint32_t line)
{
    const struct cvbc_input *in = &b->inputs[line];
    const struct cvbc_pins *p = b->pins;
    if (in->analog || !p->watch.modes[in->pin] || line < p->watch.since[in->pin]) return false;
    bool before = cvbc_board_level(b, in->pin, in->before), after = in->value != 0;
    switch (p->watch.modes[in->pin] - 1) {
    case MODE_CHANGE: return before != after;
    case MODE_FALLING: return before && !after;
    case MODE_RISING: return !before && after;
    default: return false; /* The function watch_low handles low levels. */
    }
}

/* Returns the handler of a pin that is watched for a low level and has it, or 0. */
static int32_t watch_low(const struct cvbc_board_state *b)
{
    for (unsigned pin = 0; pin < CVBC_PINS; pin++) {
        if (b->pins->watch.modes[pin] != MODE_LOW + 1) continue;
        uint32_t line = cvbc_board_newest(b, pin, false, b->now);
        if (!cvbc_board_level(b, pin, line)) return b->pins->watch.handlers[pin];
    }
    return 0;
}

/* Goes to the first edge that has come and was not handled. Returns false if there is none. */
static bool watch_edge(struct cvbc_board_state *b)
{
    uint32_t come = (uint32_t)cvbc_board_come(b, b->now);
    uint32_t *seen = &b->pins->watch.seen;
    while (*seen < come && !watch_meets(b, *seen)) ++*seen;
    return *seen < come;
}

int32_t cvbc_watch_next(struct cvbc_board_state *b)
{
    if (b->pins->watch.held) return 0;
    return watch_edge(b) ? b->pins->watch.handlers[b->inputs[b->pins->watch.seen].pin]
                         : watch_low(b);
}

/* Returns the time of the next input after now that may give TAKE a handler, but at most `end`. */
static uint64_t watch_until(const struct cvbc_board_state *b, uint64_t end)
{
    for (size_t i = cvbc_board_come(b, b->now); i < b->input_count && !b->pins->watch.held; i++) {
        const struct cvbc_input *in = &b->inputs[i];
        bool low = !in->analog && b->pins->watch.modes[in->pin] == MODE_LOW + 1 && !in->value;
        if (in->ms > end / 1000) break;
        if (low || watch_meets(b, (uint32_t)i)) return in->ms * 1000 < end ? in->ms * 1000 : end;
    }
    return end;
}

/* Waits until there is a handler. If there is one already, a microsecond passes, so that programs
 * which wait again and again come to an end. */
static void watch_wait(struct cvbc_board_state *b, uint32_t us)
{
    uint64_t passed = cvbc_watch_next(b) ? us != 0 : watch_until(b, b->now + us) - b->now;
    b->pins->us += passed;
    b->now += passed;
}

unsigned cvbc_watch_call(struct cvbc_board_state *b, uint8_t call, const int32_t *args,
                         uint64_t *value, struct writer *out)
{
    struct cvbc_pins *p = b->pins;
    bool pin = call == CVBC_OP_ATTACH || call == CVBC_OP_DETACH;
    if (pin && (args[0] < 0 || args[0] > UINT8_MAX)) return CVBC_TRAP_INVALID_OPCODE;
    if (call == CVBC_OP_ATTACH && (args[2] < 0 || args[2] >= MODES))
        return CVBC_TRAP_INVALID_OPCODE;
    if (pin && args[0] >= CVBC_PINS) return CVBC_TRAP_HARDWARE_FAULT;
    switch (call) {
    case CVBC_OP_ATTACH:
        p->watch.handlers[args[0]] = args[1];
        p->watch.modes[args[0]] = (uint8_t)(args[2] + 1);
        p->watch.since[args[0]] = (uint32_t)cvbc_board_come(b, b->now);
        if (b->trace)
            writer_print(out, "Attach interrupt: pin %d = %d\n", (int)args[0], (int)args[2]);
        break;
    case CVBC_OP_DETACH:
        p->watch.modes[args[0]] = 0;
        if (b->trace) writer_print(out, "Detach interrupt: pin %d\n", (int)args[0]);
        break;
    case CVBC_OP_INTERRUPTS: p->watch.held = !args[0]; break;
    case CVBC_OP_PENDING: *value = cvbc_watch_next(b) != 0; break;
    case CVBC_OP_TAKE:
        *value = (uint32_t)cvbc_watch_next(b);
        if (*value && watch_edge(b)) p->watch.seen++;
        break;
    default:
        if (args[0] < 0) return CVBC_TRAP_INVALID_OPCODE;
        watch_wait(b, (uint32_t)args[0]);
        if (b->trace) writer_print(out, "Wait: %d us\n", (int)args[0]);
    }
    return CVBC_TRAP_NONE;
}
