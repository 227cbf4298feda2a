/* Is the smallest JAM service: refine returns its payload, accumulate stores the last one and
 * counts them.
 *
 *     penta-cc -O2 skeleton.c --to jam --dispatch refine,accumulate --metadata '' -o skeleton.jam
 *     penta run skeleton.jam --host jam --entry refine --payload 68656c6c6f
 *     penta run skeleton.jam --host jam --entry accumulate --service 7 --slot 50 --items items.json
 *
 * with items.json [{"result": {"ok": "68656c6c6f"}}]. */
#include <penta_jam.h>

static uint8_t item_bytes[4096];

/* Refine runs outside of the chain: it may take long, and sees no state. What it returns becomes
 * part of the work report. */
struct jam_bytes refine(const uint8_t *arguments, uint64_t size)
{
    struct jam_refine work = jam_refine_arguments(arguments, size);
    return work.payload;
}
PENTA_EXPORT(refine, 2);

/* Accumulate runs on the chain: it sees what refine returned, and changes the service's state.
 * Exactly 32 bytes would be the service's output of this block. */
struct jam_bytes accumulate(const uint8_t *arguments, uint64_t size)
{
    struct jam_accumulate work = jam_accumulate_arguments(arguments, size);
    uint64_t count = 0;
    jam_read(JAM_SELF, "count", 5, &count, 0, sizeof count);
    for (uint64_t i = 0; i < work.items; i++) {
        uint64_t length = jam_fetch(item_bytes, 0, sizeof item_bytes, JAM_ITEM, i, 0);
        /* The item is too long for the buffer, or absent, because JAM_NONE is longer than any
         * item. */
        if (length > sizeof item_bytes) continue;
        struct jam_item item = jam_take_item(&(struct jam_bytes){item_bytes, length});
        if (item.kind != JAM_OPERAND || item.status != JAM_REFINED) continue;
        if (jam_write("last", 4, item.output.data, item.output.size) == JAM_FULL) penta_trap();
        count++;
    }
    jam_write("count", 5, &count, sizeof count);
    return (struct jam_bytes){0, 0};
}
PENTA_EXPORT(accumulate, 2);
