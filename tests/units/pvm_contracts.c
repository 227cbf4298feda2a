/* Compares arithmetic of the contract host with known results: 256-bit numbers, addresses,
 * precompiles. */
#include "support.h"
#include <stdlib.h>
#include <string.h>
#include "base/number.h"
#include "crypto/hash.h"
#include "crypto/precompiles/precompiles.h"
#include "pvm/host/keccak.h"
#include "pvm/host/revive/revive.h"

static void check_hex(const char *what, const void *bytes, size_t size, const char *wanted)
{
    struct writer text = {0};
    writer_hex(&text, (penta_bytes){bytes, size});
    CHECK(text.out.size == strlen(wanted) && !memcmp(text.out.data, wanted, text.out.size), "%s",
          what);
    writer_free(&text);
}

static struct blob pvm_contracts_hex(const char *text)
{
    struct blob b = {0};
    b.data = hex_parse(bytes_of(text), &b.size, NULL);
    return b;
}

static void pvm_contracts_numbers(void)
{
    static const char most[] =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    struct u256 a, b, one = revive_u256_of(1), zero = revive_u256_of(0);
    char text[U256_DIGITS];
    bool carry;
    CHECK(revive_u256_parse(bytes_of(most), &a), "largest");
    revive_u256_print(&a, text);
    CHECK(!strcmp(text, most), "largest, printed");
    CHECK(revive_u256_parse(bytes_of("0xffffffffffffffffffffffffffffffff"
                                     "ffffffffffffffffffffffffffffffff"),
                            &b) &&
              !revive_u256_compare(&a, &b),
          "hex");
    b = revive_u256_add(&a, &one, &carry);
    CHECK(carry && revive_u256_is_zero(&b), "carry");
    b = revive_u256_subtract(&zero, &one);
    CHECK(!revive_u256_compare(&a, &b), "borrow");
    CHECK(!revive_u256_parse(
              bytes_of("1157920892373161954235709850086879078532699846656405640394575840"
                       "07913129639936"),
              &a),
          "too large");
    static const char *const bad[] = {"", "0x", "12a", "-1", "_", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!revive_u256_parse(bytes_of(bad[i]), &a), "%s", bad[i]);
    revive_u256_print(&zero, text);
    CHECK(!strcmp(text, "0"), "zero");
}

static void pvm_contracts_addresses(void)
{
    static const struct {
        uint8_t creator;
        uint64_t nonce;
        const char *address;
    } made[] = {{0x01, 1, "c851da37e4e8d3a20d8d56be2963934b4ad71c3b"},
                {0xa1, 0, "a24dc96c7cfd9e1c44d482f5fb78d118ff0c53f3"},
                {0xa1, 1, "ead6f7107935b916a44219d1bdfd00fb03e24717"},
                {0xa1, 127, "7ae0169fd3aac06467735b09d6e6fbcea97145de"},
                {0xa1, 128, "c51e5505e6de3b4b49a395c4e049c3fc8ece4f3a"}};
    uint8_t creator[ADDRESS], address[ADDRESS];
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        memset(creator, made[i].creator, ADDRESS);
        revive_address_create(creator, made[i].nonce, address);
        check_hex("create", address, ADDRESS, made[i].address);
    }
    struct blob salt =
        pvm_contracts_hex("1234567890123456789012345678901234567890123456789012345678901234");
    struct blob code = pvm_contracts_hex("600060005560016000"), data = pvm_contracts_hex("55");
    memset(creator, 1, ADDRESS);
    CHECK(revive_address_create2(creator, salt.data, (penta_bytes){code.data, code.size},
                                 (penta_bytes){data.data, data.size}, address),
          "create2");
    check_hex("create2", address, ADDRESS, "7f31e795e5836a19a8f919ab5a9de9a197ecd2b6");
    free(salt.data);
    free(code.data);
    free(data.data);
}

static void pvm_contracts_hashes(void)
{
    static const char *const ripemd[][2] = {
        {"", "9c1185a5c5e9fc54612808977ee8f548b2258d31"},
        {"a", "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe"},
        {"abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"},
        {"message digest", "5d0689ef49d2fae572b881b123a85ffa21595f36"}};
    uint8_t out[20];
    for (size_t i = 0; i < sizeof ripemd / sizeof *ripemd; i++) {
        CHECK(precompile_ripemd160(bytes_of(ripemd[i][0]), out, NULL), "ripemd160");
        check_hex(ripemd[i][0], out, sizeof out, ripemd[i][1]);
    }
}

static void pvm_contracts_powers(void)
{
    static const struct {
        const char *base, *exponent, *modulus, *power;
    } rows[] = {{"03", "05", "07", "05"},
                {"", "", "0007", "0001"},
                {"02", "", "01", "00"},
                {"02", "03", "00", "00"},
                {"ff", "02", "0100", "0001"}, /* The modulus is even. */
                {"03", "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2e",
                 "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
                 "0000000000000000000000000000000000000000000000000000000000000001"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct blob b = pvm_contracts_hex(rows[i].base), e = pvm_contracts_hex(rows[i].exponent),
                    m = pvm_contracts_hex(rows[i].modulus);
        uint8_t out[64];
        bool valid;
        CHECK(precompile_modexp((penta_bytes){b.data, b.size}, (penta_bytes){e.data, e.size},
                                (penta_bytes){m.data, m.size}, out, &valid, NULL) &&
                  valid,
              "modexp");
        check_hex("modexp", out, m.size, rows[i].power);
        free(b.data);
        free(e.data);
        free(m.data);
    }
}

enum { PIECE_MAX = 1 << 15 };

struct counted {
    uint64_t units, largest, most; /* the run is over after `most` units */
};

static bool counted_over(void *user, uint64_t units)
{
    struct counted *c = user;
    if (units > c->largest) c->largest = units;
    c->units += units;
    return c->units > c->most;
}

static void pvm_contracts_curves(void)
{
    uint8_t zero[32] = {0}, key[64];
    uint8_t nothing[BN128_PAIR_BYTES] = {0};
    bool valid = true, one = false;
    CHECK(precompile_recover(zero, false, zero, zero, key, &valid) && !valid,
          "recover: r and s are 0");
    CHECK(precompile_bn128_pairing(NULL, 0, &one, NULL) && one, "pairing of none");
    one = false;
    CHECK(precompile_bn128_pairing(nothing, 1, &one, NULL) && one, "pairing at infinity");
    /* Implementations of EIP-197 share this vector. The second pair has the generator of the
     * twist. */
    struct blob pairs =
        pvm_contracts_hex("1c76476f4def4bb94541d57ebba1193381ffa7aa76ada664dd31c16024c43f59"
                          "3034dd2920f673e204fee2811c678745fc819b55d3e9d294e45c9b03a76aef41"
                          "209dd15ebff5d46c4bd888e51a93cf99a7329636c63514396b4a452003a35bf7"
                          "04bf11ca01483bfa8b34b43561848d28905960114c8ac04049af4b6315a41678"
                          "2bb8324af6cfc93537a2ad1a445cfd0ca2a71acd7ac41fadbf933c2a51be344d"
                          "120a2a4cf30c1bf9845f20c6fe39e07ea2cce61f0c9bb048165fe5e4de877550"
                          "111e129f1cf1097710d41c4ac70fcdfa5ba2023c6ff1cbeac322de49d1b6df7c"
                          "2032c61a830e3c17286de9462bf242fca2883585b93870a73853face6a6bf411"
                          "198e9393920d483a7260bfb731fb5d25f1aa493335a9e71297e485b7aef312c2"
                          "1800deef121f1e76426a00665e5c4479674322d4f75edadd46debd5cd992f6ed"
                          "090689d0585ff075ec9e99ad690c3395bc4b313370b38ef355acdadcd122975b"
                          "12c85ea5db8c6deb4aab71808dcb408fe3d1e7690c43d37b4ce6cc0166fa7daa");
    one = false;
    CHECK(precompile_bn128_pairing(pairs.data, 2, &one, NULL) && one, "pairing");
    CHECK(precompile_bn128_pairing(pairs.data, 1, &one, NULL) && !one, "one of them");
    CHECK(precompile_bn128_pairing(pairs.data + BN128_PAIR_BYTES, 1, &one, NULL) && !one,
          "the other");
    struct counted all = {.most = UINT64_MAX}, few = {.most = 60000};
    struct long_work counting = {counted_over, &all, false}, ending = {counted_over, &few, false};
    CHECK(precompile_bn128_pairing(pairs.data, 2, &one, &counting) && one, "pairing");
    CHECK(all.units > 200000 && all.largest <= PIECE_MAX && !counting.ended, "pairing");
    precompile_bn128_pairing(pairs.data, 2, &one, &ending);
    CHECK(ending.ended && few.units <= 60000 + PIECE_MAX, "pairing");
    pairs.data[191] ^= 1;
    CHECK(!precompile_bn128_pairing(pairs.data, 2, &one, NULL), "off the twist");
    pairs.data[191] ^= 1;
    pairs.data[63] ^= 1;
    CHECK(!precompile_bn128_pairing(pairs.data, 2, &one, NULL), "off the curve");
    free(pairs.data);
}

struct long_kind {
    const char *name;
    void (*run)(uint8_t out[1024], struct long_work *work);
    uint64_t least; /* the least units of work */
};

static uint8_t *pvm_contracts_filler(size_t size)
{
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(i * 37 + 11);
    return bytes;
}

static void long_blake2f(uint8_t out[1024], struct long_work *work)
{
    uint8_t m[128] = {1, 2, 3}, t[16] = {3};
    memset(out, 7, 64);
    precompile_blake2f(1 << 17, out, m, t, true, work);
}

static void long_power(uint8_t out[1024], struct long_work *work, bool odd)
{
    bool valid;
    uint8_t *all = pvm_contracts_filler(3 * 1024);
    all[3071] = (uint8_t)(all[3071] & ~1) | odd;
    precompile_modexp((penta_bytes){all, 1024}, (penta_bytes){all + 1024, 1024},
                      (penta_bytes){all + 2048, 1024}, out, &valid, work);
    free(all);
}

static void long_power_odd(uint8_t out[1024], struct long_work *work)
{
    long_power(out, work, true);
}

static void long_power_even(uint8_t out[1024], struct long_work *work)
{
    long_power(out, work, false);
}

enum { LONG_INPUT = 16 << 20 };

static void long_keccak(uint8_t out[1024], struct long_work *work)
{
    uint8_t *in = pvm_contracts_filler(LONG_INPUT);
    keccak256_work((penta_bytes){in, LONG_INPUT}, out, work);
    free(in);
}

static void long_sha256(uint8_t out[1024], struct long_work *work)
{
    uint8_t *in = pvm_contracts_filler(LONG_INPUT);
    hash_sha256_work((penta_bytes){in, LONG_INPUT}, out, work);
    free(in);
}

static void long_ripemd160(uint8_t out[1024], struct long_work *work)
{
    uint8_t *in = pvm_contracts_filler(LONG_INPUT);
    precompile_ripemd160((penta_bytes){in, LONG_INPUT}, out, work);
    free(in);
}

static const struct long_kind kinds[] = {
    {"blake2f", long_blake2f, 1 << 17},         {"modexp, odd", long_power_odd, 1 << 20},
    {"modexp, even", long_power_even, 1 << 20}, {"keccak", long_keccak, 1 << 20},
    {"sha256", long_sha256, 1 << 20},           {"ripemd160", long_ripemd160, 1 << 20},
};

static void long_work(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint8_t plain[1024] = {0}, whole[1024] = {0}, part[1024] = {0};
        struct counted all = {.most = UINT64_MAX}, few = {.most = 100000};
        struct long_work counting = {counted_over, &all, false},
                         ending = {counted_over, &few, false};
        kinds[i].run(plain, NULL);
        kinds[i].run(whole, &counting);
        kinds[i].run(part, &ending);
        CHECK(!memcmp(plain, whole, sizeof plain) && !counting.ended, "%s", kinds[i].name);
        CHECK(all.units >= kinds[i].least && all.largest <= PIECE_MAX, "%s", kinds[i].name);
        CHECK(ending.ended && few.units <= 100000 + PIECE_MAX, "%s", kinds[i].name);
    }
}

int main(void)
{
    long_work();
    pvm_contracts_numbers();
    pvm_contracts_addresses();
    pvm_contracts_hashes();
    pvm_contracts_powers();
    pvm_contracts_curves();
    return checks_end();
}
