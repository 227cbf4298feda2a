/* Computes with numbers of 256 bits (uint256.h) in four words, and reads and writes them as
 * text. */
#include "pvm/host/revive/uint256.h"
#include <string.h>
#include "base/bytes.h"
#include "base/u128.h"

bool revive_u256_is_zero(const struct u256 *a) { return !(a->w[0] | a->w[1] | a->w[2] | a->w[3]); }
bool revive_u256_fits(const struct u256 *a) { return !(a->w[1] | a->w[2] | a->w[3]); }

int revive_u256_compare(const struct u256 *a, const struct u256 *b)
{
    for (int i = 3; i >= 0; i--)
        if (a->w[i] != b->w[i]) return a->w[i] < b->w[i] ? -1 : 1;
    return 0;
}

struct u256 revive_u256_add(const struct u256 *a, const struct u256 *b, bool *carry)
{
    struct u256 sum;
    uint64_t more = 0;
    for (int i = 0; i < 4; i++) {
        u128 part = u128_add(u128_add(u128_of(a->w[i]), u128_of(b->w[i])), u128_of(more));
        sum.w[i] = u128_low(part);
        more = u128_high(part);
    }
    *carry = more != 0;
    return sum;
}

struct u256 revive_u256_subtract(const struct u256 *a, const struct u256 *b)
{
    struct u256 difference;
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        u128 part = u128_sub(u128_sub(u128_of(a->w[i]), u128_of(b->w[i])), u128_of(borrow));
        difference.w[i] = u128_low(part);
        borrow = u128_high(part) & 1;
    }
    return difference;
}

struct u256 revive_u256_get(const uint8_t little_endian[WORD])
{
    struct u256 a;
    for (int i = 0; i < 4; i++) a.w[i] = bytes_get64(little_endian + 8 * i);
    return a;
}

void revive_u256_put(const struct u256 *a, uint8_t little_endian[WORD])
{
    for (int i = 0; i < 4; i++) bytes_put64(little_endian + 8 * i, a->w[i]);
}

/* Computes a * factor + digit. Returns false when the result is too large. */
static bool uint256_text_append(struct u256 *a, unsigned factor, unsigned digit)
{
    uint64_t carry = digit;
    for (int i = 0; i < 4; i++) {
        u128 part = u128_add(u128_product(a->w[i], factor), u128_of(carry));
        a->w[i] = u128_low(part);
        carry = u128_high(part);
    }
    return !carry;
}

bool revive_u256_parse(penta_bytes text, struct u256 *out)
{
    struct u256 a = {{0}};
    bool hex = text.size > 2 && text.data[0] == '0' && (text.data[1] | 32) == 'x';
    size_t i = hex ? 2 : 0;
    unsigned base = hex ? 16 : 10;
    if (i == text.size) return false;
    for (; i < text.size; i++) {
        if (text.data[i] == '_' && i && i + 1 < text.size) continue;
        int digit = hex_digit(text.data[i]);
        if (digit < 0 || digit >= (int)base || !uint256_text_append(&a, base, (unsigned)digit))
            return false;
    }
    *out = a;
    return true;
}

void revive_u256_print(const struct u256 *a, char text[U256_DIGITS])
{
    struct u256 left = *a;
    char digits[U256_DIGITS];
    size_t count = 0;
    do {
        uint64_t rest = 0;
        for (int i = 3; i >= 0; i--) {
            u128 part = u128_join(rest, left.w[i]);
            left.w[i] = u128_low(u128_div(part, u128_of(10)));
            rest = u128_low(u128_mod(part, u128_of(10)));
        }
        digits[count++] = (char)('0' + (int)rest);
    } while (!revive_u256_is_zero(&left));
    for (size_t i = 0; i < count; i++) text[i] = digits[count - 1 - i];
    text[count] = 0;
}
