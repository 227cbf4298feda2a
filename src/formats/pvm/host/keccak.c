/* Computes Keccak-256 (keccak.h), as the reference of Keccak does. Long inputs count as work of
 * the host, so that an interrupt can end them. */
#include "pvm/host/keccak.h"
#include <string.h>
#include "base/bytes.h"

static uint64_t keccak_rotate(uint64_t v, unsigned n) { return n ? v << n | v >> (64 - n) : v; }

/* Returns the next round constant. The constants come from the shift register of degree 8 in the
 * Keccak reference, 2.3.5. */
static uint64_t round_constant(uint8_t *lfsr)
{
    uint64_t constant = 0;
    for (unsigned j = 0; j < 7; j++) {
        if (*lfsr & 1) constant |= UINT64_C(1) << ((1u << j) - 1);
        *lfsr = (uint8_t)(*lfsr << 1 ^ (*lfsr & 0x80 ? 0x71 : 0));
    }
    return constant;
}

static void keccak_permute(uint64_t a[25])
{
    uint8_t lfsr = 1;
    for (unsigned round = 0; round < 24; round++) {
        uint64_t c[5], row[5];
        for (unsigned x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (unsigned i = 0; i < 25; i++) a[i] ^= c[(i + 4) % 5] ^ keccak_rotate(c[(i + 1) % 5], 1);
        uint64_t moving = a[1]; /* The steps rho and pi of Keccak move the lanes along one cycle. */
        for (unsigned t = 0, x = 1, y = 0; t < 24; t++) {
            unsigned next = (2 * x + 3 * y) % 5;
            x = y;
            y = next;
            uint64_t here = a[x + 5 * y];
            a[x + 5 * y] = keccak_rotate(moving, (t + 1) * (t + 2) / 2 % 64);
            moving = here;
        }
        for (unsigned y = 0; y < 25; y += 5) {
            memcpy(row, a + y, sizeof row);
            for (unsigned x = 0; x < 5; x++)
                a[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
        }
        a[0] ^= round_constant(&lfsr);
    }
}

void keccak256_digest(penta_bytes in, uint8_t out[32]) { keccak256_work(in, out, NULL); }

void keccak256_work(penta_bytes in, uint8_t out[32], struct long_work *work)
{
    enum { RATE = 136, PIECE = 512, BLOCK_UNITS = 20 };
    size_t block = 0;
    uint64_t a[25] = {0};
    uint8_t last[RATE] = {0};
    for (; in.size >= RATE; in.data += RATE, in.size -= RATE) {
        for (unsigned i = 0; i < RATE / 8; i++) a[i] ^= bytes_get64(in.data + 8 * i);
        keccak_permute(a);
        if (!(++block % PIECE) && long_work_over(work, PIECE * BLOCK_UNITS)) return;
    }
    bytes_copy(last, in);
    last[in.size] ^= 0x01;
    last[RATE - 1] ^= 0x80;
    for (unsigned i = 0; i < RATE / 8; i++) a[i] ^= bytes_get64(last + 8 * i);
    keccak_permute(a);
    for (unsigned i = 0; i < 4; i++) bytes_put64(out + 8 * i, a[i]);
}
