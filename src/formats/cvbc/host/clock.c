/* Implements the clock of the simulated board, which also skips loops that only wait, and keeps
 * a run in step with real time.
 *
 *  A loop waits if the machine comes back to a call in the same state, and all calls in between
 * only read time and pins. Each round of such a loop gets the same answers until the next
 * millisecond or the next input of the script begins. So whole rounds up to then can be counted
 * without being executed: the program cannot notice a difference. */
#include "cvbc/host/clock.h"
#include <time.h>
#include "base/bytes.h"
#include "base/codec/checksum.h"

enum { US_PER_SECOND = 1000000, US_PER_MS = 1000, LOOK_BACK = 64 };
enum { SLEEP_US = 5000, PAUSE_US = 100000 };

static uint64_t clock_us(uint64_t instructions, uint32_t hz)
{
    if (!hz) return 0;
    return instructions / hz * US_PER_SECOND + instructions % hz * US_PER_SECOND / hz;
}

uint64_t cvbc_clock_now(const struct cvbc_vm *vm, const struct cvbc_pins *pins, uint32_t hz)
{
    return pins->us + clock_us(vm->executed + pins->idle, hz);
}

/* Returns a digest of everything that decides what the machine does next, except the answers of
 * its host. */
static uint64_t clock_state(const struct cvbc_vm *vm)
{
    const uint64_t parts[] = {
        vm->pc,
        vm->sp,
        vm->pool_used,
        checksum_xxh64((penta_bytes){(const uint8_t *)vm->args, vm->arg_count * sizeof *vm->args}),
        checksum_xxh64(
            (penta_bytes){(const uint8_t *)(vm->stack + CVBC_GUARD), vm->sp * sizeof *vm->stack}),
        checksum_xxh64((penta_bytes){(const uint8_t *)vm->globals, sizeof vm->globals}),
        checksum_xxh64((penta_bytes){(const uint8_t *)vm->pool, vm->pool_used * sizeof *vm->pool}),
        checksum_xxh64((penta_bytes){(const uint8_t *)vm->arrays, sizeof vm->arrays}),
    };
    return checksum_xxh64((penta_bytes){(const uint8_t *)parts, sizeof parts});
}

/* Returns how many whole rounds of `period` instructions end before the time `until`. */
static uint64_t clock_rounds(uint64_t now, uint64_t until, uint64_t period, uint32_t hz)
{
    /* This is one less, because a division may have rounded `now` down. */
    uint64_t us = until - now - 1;
    if (us > UINT64_MAX / hz) us = UINT64_MAX / hz;
    return us * hz / US_PER_SECOND / period;
}

uint64_t cvbc_clock_wait(const struct cvbc_vm *vm, struct cvbc_pins *pins, uint32_t hz,
                         unsigned reads, uint64_t event, uint64_t since)
{
    uint64_t now = cvbc_clock_now(vm, pins, hz), at = vm->executed + pins->idle;
    if (!hz || !reads) {
        pins->wait.seen = pins->wait.limit = 0;
        return now;
    }
    uint64_t state = clock_state(vm);
    bool same = pins->wait.limit && pins->wait.state == state && since <= pins->wait.us &&
                at > pins->wait.at;
    uint64_t kinds = pins->wait.reads | reads, until = event;
    if (kinds & CVBC_READS_MILLIS) {
        uint64_t next = now / US_PER_MS * US_PER_MS + US_PER_MS;
        same = same && now / US_PER_MS == pins->wait.us / US_PER_MS;
        if (next < until) until = next;
    }
    if (same && !(kinds & CVBC_READS_MICROS) && until != UINT64_MAX && until > now) {
        uint64_t period = at - pins->wait.at;
        pins->idle += clock_rounds(now, until, period, hz) * period;
        pins->wait.limit = 0;
        return cvbc_clock_now(vm, pins, hz);
    }
    pins->wait.reads = kinds;
    if (pins->wait.limit && ++pins->wait.seen < pins->wait.limit) return now;
    /* Later calls are compared with this one. The next call takes its place, then the third
     * after that, then the 7th, 15th and so on up to the 127th; then it begins again with the
     * next call. */
    pins->wait.limit = pins->wait.limit < LOOK_BACK ? 2 * pins->wait.limit + 1 : 1;
    pins->wait.seen = 0;
    pins->wait.state = state;
    pins->wait.at = at;
    pins->wait.us = now;
    pins->wait.reads = reads;
    return now;
}

static uint64_t host_micros(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * US_PER_SECOND + (uint64_t)t.tv_nsec / 1000;
}

/* Waits until the host's clock has reached the board's. If the host is late by more than
 * PAUSE_US, a debugger may have stopped it, or it is slower than the board: both clocks then
 * continue from here, because a program that catches up would show nothing for a while and then
 * too much. Sleeping is done in short pieces, after each of which the flag is looked at. */
bool cvbc_clock_pace(struct cvbc_pace *pace, uint64_t now, atomic_bool *flag)
{
    if (!pace->used) return true;
    uint64_t host = host_micros();
    if (!pace->begun || now < pace->board ||
        host - pace->host > now - pace->board + (uint64_t)PAUSE_US) {
        pace->begun = true;
        pace->host = host;
        pace->board = now;
    }
    uint64_t until = now - pace->board;
    while (host - pace->host < until) {
        if (atomic_load(flag)) return false;
        uint64_t left = until - (host - pace->host);
        if (left > SLEEP_US) left = SLEEP_US;
        nanosleep(&(struct timespec){.tv_nsec = (long)left * 1000}, NULL);
        host = host_micros();
    }
    return true;
}
