/* Finds the handler of a host call by its number (JAM 4.1). The cost is paid and the call's
 * ranges of memory are checked here, before the handler runs. So a program that names memory
 * which it may not access ends before any handler sees it. */
#include "base/bytes.h"
#include "pvm/host/jam/host.h"
#include <string.h>

enum range_kind { NO_RANGE, READ_RANGE, WRITE_RANGE };
enum length_kind {
    FIXED,         /* The length is a constant. */
    BY_REGISTER,   /* The length is the value of a register. */
    BY_PAIRS,      /* The length is twelve times the value of a register. */
    UP_TO_SEGMENT, /* The length is the value of a register, but at most a segment. */
    ALL_CORES,     /* This and the next two lengths depend on the chain. */
    ONE_QUEUE,
    ALL_KEYS,
};

struct range {
    uint8_t kind, reg, length, number;
};

static const struct call {
    const char *name;
    uint8_t contexts;
    uint16_t cost; /* the gas; PLUS puts the number of a register above the low byte */
    int16_t number[4];
    struct range first, second;
    const char *kinds, *names;
    jam_handler *handler;
} calls[] = {
#define A JAM_AUTHORIZE
#define R JAM_REFINE
#define C JAM_ACCUMULATE
#define T JAM_ON_TRANSFER
#define PLUS(cost, reg) (cost | reg << 8)
#define NEVER (-1)
#define NUMBERS(...) __VA_ARGS__
#define NOTHING                                                                                    \
    {                                                                                              \
        NO_RANGE, 0, 0, 0                                                                          \
    }
#define IN(reg, ...)                                                                               \
    {                                                                                              \
        READ_RANGE, reg, __VA_ARGS__                                                               \
    }
#define OUT(reg, ...)                                                                              \
    {                                                                                              \
        WRITE_RANGE, reg, __VA_ARGS__                                                              \
    }
#define HASH FIXED, JAM_HASH
#define MEMO FIXED, PENTA_JAM_MEMO
#define FRAME FIXED, 112
#define REGISTER(n) BY_REGISTER, n
#define PAIRS(n) BY_PAIRS, n
#define SEGMENT UP_TO_SEGMENT, 8
#define CORES ALL_CORES, 0
#define QUEUE ONE_QUEUE, 0
#define KEYS ALL_KEYS, 0
#define CALL(id, ...) ROW(id, __VA_ARGS__)
#define ROW(id, name, contexts, cost, n0, n1, n2, n3, ...)                                         \
    {name, contexts, cost, {n0, n1, n2, n3}, __VA_ARGS__, jam_call_##id},
#include "pvm/host/jam_calls/calls.def"
};
enum { CALLS = sizeof calls / sizeof *calls, WHAT_COST = 10, KEY_BYTES = 336 };

void jam_calls_number(struct penta_jam_host *host)
{
    memset(host->calls, -1, sizeof host->calls);
    for (unsigned i = 0; i < CALLS; i++) {
        int number = calls[i].number[host->version->numbers];
        if (number >= 0) host->calls[number] = (int16_t)i;
    }
}

static const struct call *call_of(const struct penta_jam_host *host, uint32_t number)
{
    int row = number < sizeof host->calls / sizeof *host->calls ? host->calls[number] : -1;
    return row < 0 ? NULL : &calls[row];
}

const char *jam_call_name(const struct penta_jam_host *host, uint32_t number, const char **kinds,
                          const char **names)
{
    const struct call *call = call_of(host, number);
    if (!call) return NULL;
    *kinds = call->kinds;
    *names = call->names;
    return call->name;
}

static uint64_t range_length(const struct jam_run *run, const struct range *range)
{
    const uint64_t *r = run->vm->state->regs;
    const struct jam_chain *chain = &run->host->chain;
    uint64_t n = r[range->number < PVM_REGISTERS ? range->number : 0];
    switch ((enum length_kind)range->length) {
    case FIXED: return range->number;
    case BY_REGISTER: return n;
    /* From 2^32 pairs on any size is too large, so the largest number stands for it. */
    case BY_PAIRS: return n < UINT64_C(1) << 32 ? 12 * n : UINT64_MAX;
    case UP_TO_SEGMENT: return n < PENTA_JAM_SEGMENT ? n : PENTA_JAM_SEGMENT;
    case ALL_CORES: return 4 * chain->cores;
    case ONE_QUEUE: return JAM_HASH * chain->queue_size;
    case ALL_KEYS: return KEY_BYTES * chain->validators;
    }
    return UINT64_MAX;
}

/* Makes a view of the range. Returns false when the guest may not access it. */
static bool dispatch_take(struct jam_run *run, const struct range *range, unsigned which,
                          penta_bytes *out)
{
    *out = (penta_bytes){0};
    run->reads[which].size = 0;
    if (range->kind == NO_RANGE) return true;
    const struct pvm_memory *m = &run->vm->memory;
    uint64_t at = run->vm->state->regs[range->reg], size = range_length(run, range);
    bool write = range->kind == WRITE_RANGE;
    run->reads[which].at = at;
    run->reads[which].size = write ? 0 : size;
    if (!pvm_memory_allows(m, at, size, write ? PVM_WRITABLE : PVM_READ)) return false;
    *out = pvm_memory_view(m, at, size, &run->scratch[which]);
    return true;
}

enum jam_end jam_no_memory(struct jam_run *run)
{
    error_at(run->err, BASE_MEMORY, 0, "no memory for what a program asked of its host");
    return JAM_END_ERROR;
}

enum jam_end jam_copy_to(struct jam_run *run, struct pvm_memory *to, uint64_t at, penta_bytes from)
{
    enum { PIECE = 1 << 20 };
    for (size_t done = 0, n; done < from.size; done += n) {
        n = from.size - done < PIECE ? from.size - done : PIECE;
        if (vm_work(&run->vm->base, poll_bytes(n))) return JAM_END_INTERRUPT;
        if (!pvm_memory_write(to, at + done, from.data + done, n)) return jam_no_memory(run);
    }
    return JAM_GO_ON;
}

/* Tells whether the current host call reads from this range of guest memory. If it does, the
 * call could not start again after a part of the range is written. */
static bool range_is_read(const struct jam_run *run, uint64_t at, uint64_t size)
{
    for (unsigned i = 0; i < 2; i++)
        if (run->reads[i].size && at < run->reads[i].at + run->reads[i].size &&
            run->reads[i].at < at + size)
            return true;
    return false;
}

enum jam_end jam_copy_out(struct jam_run *run, bool has, penta_bytes v, uint64_t o, uint64_t f,
                          uint64_t l)
{
    uint64_t size = has ? v.size : 0;
    if (f > size) f = size;
    if (l > size - f) l = size - f;
    if (!pvm_memory_allows(&run->vm->memory, o, l, PVM_WRITABLE)) return JAM_END_PANIC;
    if (!has) return jam_result(run->vm->state->regs, JAM_NONE);
    if (!l) return jam_result(run->vm->state->regs, (int64_t)size);
    if (!range_is_read(run, o, l)) {
        penta_bytes part = {v.data + f, (size_t)l};
        enum jam_end end = jam_copy_to(run, &run->vm->memory, o, part);
        if (end) return end;
    } else if (!pvm_memory_write(&run->vm->memory, o, v.data + f, (size_t)l)) {
        return jam_no_memory(run);
    }
    return jam_result(run->vm->state->regs, (int64_t)size);
}

/* Returns the cost of a call. A cost that does not fit 64 bits becomes the largest number. */
static uint64_t call_cost(const struct call *call, const uint64_t *r)
{
    uint64_t fixed = call->cost & 255u, more = call->cost >> 8 ? r[call->cost >> 8] : 0;
    return more > UINT64_MAX - fixed ? UINT64_MAX : fixed + more;
}

static enum jam_end dispatch_settle(struct jam_run *run, const struct call *call)
{
    struct pvm_state *s = run->vm->state;
    penta_bytes a, b;
    bool offered = call && call->contexts & run->context;
    uint64_t cost = offered ? call_cost(call, s->regs) : WHAT_COST;
    if (s->gas < 0 || (uint64_t)s->gas < cost) return JAM_END_GAS;
    s->gas -= (int64_t)cost;
    if (!offered) return jam_result(s->regs, JAM_WHAT);
    if (!dispatch_take(run, &call->first, 0, &a) || !dispatch_take(run, &call->second, 1, &b))
        return JAM_END_PANIC;
    if (run->scratch[0].failed || run->scratch[1].failed) return jam_no_memory(run);
    return call->handler(run, s->regs, a, b);
}

enum jam_end jam_call(struct jam_run *run)
{
    struct pvm_vm *vm = run->vm;
    uint32_t number = vm->host_number;
    uint64_t before[PVM_REGISTERS];
    memcpy(before, vm->state->regs, sizeof before);
    int64_t gas = vm->state->gas;
    enum jam_end end = dispatch_settle(run, call_of(run->host, number));
    if (end == JAM_END_PANIC || end == JAM_END_GAS || end == JAM_END_INTERRUPT)
        memcpy(vm->state->regs, before, sizeof before);
    if (end == JAM_END_INTERRUPT) { /* The program makes and pays the call again. */
        vm->state->gas = gas;
        return end;
    }
    if (end == JAM_GO_ON && run->layer && run->layer->failed) end = jam_no_memory(run);
    if (run->host->called) jam_log_call(run, number, before, end);
    return end;
}
