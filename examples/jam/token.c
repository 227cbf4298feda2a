/* Implements a token as a JAM service: balances in storage, moved by work items.
 *
 *     penta-cc -O2 token.c --to jam --dispatch refine,accumulate --metadata 0005746f6b656e -o token.jam
 *     penta block state.json block.json --save-state next.json
 *
 * A payload is a list of moves of 16 bytes each: u32 from, u32 to, u64 amount. Account 0 has no
 * balance: what comes from it is new, what goes to it is gone. Refine checks the form and returns
 * the list; accumulate moves what the balances allow, and skips the rest. Value that other services
 * send to this one becomes tokens of the account in the first four bytes of the memo. The output of
 * a block is how many moves the service ever made.
 *
 * Storage: "b" and u32 account: u64 balance; "n": u64 moves. authorizer.c says who may send
 * packages. */
#include <penta_jam.h>
#include <stdbool.h>
#include <string.h>

enum { MOVE_BYTES = 16, ITEM_BYTES_MAX = 0xf000 };

struct move {
    uint32_t from, to;
    uint64_t amount;
};

static uint8_t item_bytes[ITEM_BYTES_MAX];
static uint64_t output[4]; /* the number of moves, in 32 bytes */

static struct move take_move(struct jam_bytes *in)
{
    struct move m;
    m.from = (uint32_t)jam_take_number(in, 4);
    m.to = (uint32_t)jam_take_number(in, 4);
    m.amount = jam_take_number(in, 8);
    return m;
}

struct balance_key {
    uint8_t bytes[5];
};

static struct balance_key key_of(uint32_t account)
{
    struct balance_key key = {{'b'}};
    memcpy(key.bytes + 1, &account, sizeof account);
    return key;
}

static uint64_t balance_of(uint32_t account)
{
    struct balance_key key = key_of(account);
    uint64_t balance = 0;
    jam_read(JAM_SELF, key.bytes, sizeof key.bytes, &balance, 0, sizeof balance);
    return balance;
}

/* Stores a value, for which the service's own balance pays. When the balance is too small,
 * nothing of this item stays. */
static void storage_set(const void *key, uint64_t size, uint64_t value)
{
    if (jam_write(key, size, &value, sizeof value) == JAM_FULL) penta_trap();
}

static void set_balance(uint32_t account, uint64_t balance)
{
    struct balance_key key = key_of(account);
    storage_set(key.bytes, sizeof key.bytes, balance);
}

static uint64_t moves_before(void)
{
    uint64_t moves = 0;
    jam_read(JAM_SELF, "n", 1, &moves, 0, sizeof moves);
    return moves;
}

/* Makes a move. Returns false when the move is skipped. */
static bool move_apply(struct move m)
{
    uint64_t left = 0, sum = 0;
    if (m.from == m.to) return false;
    if (m.from && __builtin_sub_overflow(balance_of(m.from), m.amount, &left)) return false;
    if (m.to && __builtin_add_overflow(balance_of(m.to), m.amount, &sum)) return false;
    if (m.from) set_balance(m.from, left);
    if (m.to) set_balance(m.to, sum);
    return true;
}

static uint64_t apply_all(struct jam_bytes list)
{
    uint64_t moves = 0;
    while (list.size >= MOVE_BYTES) moves += move_apply(take_move(&list));
    return moves;
}

static uint64_t deposit_apply(const struct jam_item *transfer)
{
    struct move m = {.amount = transfer->amount};
    memcpy(&m.to, transfer->memo, sizeof m.to);
    return move_apply(m);
}

/* Returns how many moves the item made. */
static uint64_t apply_item(struct jam_bytes bytes)
{
    struct jam_item item = jam_take_item(&bytes);
    if (item.kind == JAM_TRANSFER) return deposit_apply(&item);
    return item.status == JAM_REFINED ? apply_all(item.output) : 0;
}

struct jam_bytes refine(const uint8_t *arguments, uint64_t size)
{
    struct jam_refine work = jam_refine_arguments(arguments, size);
    if (work.payload.size % MOVE_BYTES) penta_trap();
    return work.payload;
}
PENTA_EXPORT(refine, 2);

struct jam_bytes accumulate(const uint8_t *arguments, uint64_t size)
{
    struct jam_accumulate work = jam_accumulate_arguments(arguments, size);
    output[0] = moves_before();
    for (uint64_t i = 0; i < work.items; i++) {
        uint64_t length = jam_fetch(item_bytes, 0, sizeof item_bytes, JAM_ITEM, i, 0);
        /* The item is too long for the buffer, or absent, because JAM_NONE is longer than any
         * item. */
        if (length > sizeof item_bytes) continue;
        output[0] += apply_item((struct jam_bytes){item_bytes, length});
        storage_set("n", 1, output[0]);
        jam_checkpoint(); /* After a checkpoint, an item that fails undoes only itself. */
    }
    return (struct jam_bytes){(const uint8_t *)output, sizeof output};
}
PENTA_EXPORT(accumulate, 2);
