/* Reads and writes bytes as hex digits in which runs of equal bytes are folded. */
#include "text/hex.h"
#include <ctype.h>
#include "base/bytes.h"

/* RUN_MIN: shorter runs of equal bytes are as readable when they are written in full */
enum { ROW = 32, RUN_MIN = 64 };

/* Returns the number of equal bytes at the start, but not more than `most`. */
static size_t run_size(penta_bytes bytes, size_t most)
{
    size_t n = 1;
    while (n < bytes.size && n < most && bytes.data[n] == bytes.data[0]) n++;
    return n;
}

/* Returns the number of bytes before the next run that is long enough to fold, but not more than
 * `row`. */
static size_t plain_size(penta_bytes bytes, size_t row)
{
    size_t n = 0, most = bytes.size < row ? bytes.size : row;
    while (n < most) {
        size_t more = run_size(bytes_slice(bytes, n, bytes.size), RUN_MIN);
        if (more == RUN_MIN) break;
        n += more;
    }
    return n < most ? n : most;
}

static size_t hex_piece(struct writer *out, penta_bytes bytes, size_t row, size_t *folds)
{
    size_t n = run_size(bytes, *folds);
    bool run = n >= RUN_MIN;
    if (run)
        *folds -= n;
    else if (*folds >= RUN_MIN)
        n = plain_size(bytes, row);
    else
        n = bytes.size < row ? bytes.size : row;
    writer_hex(out, bytes_slice(bytes, 0, run ? 1 : n));
    if (run) {
        writer_char(out, '*');
        writer_dec(out, n);
    }
    return n;
}

size_t hex_row(struct writer *out, penta_bytes bytes, size_t *folds)
{
    return hex_piece(out, bytes, ROW, folds);
}

void hex_line(struct writer *out, penta_bytes bytes)
{
    size_t folds = HEX_FOLDS;
    for (size_t at = 0; at < bytes.size;) {
        if (at) writer_char(out, ' ');
        at += hex_piece(out, bytes_slice(bytes, at, bytes.size), SIZE_MAX, &folds);
    }
}

void hex_rows(struct writer *out, const char *first, const char *next, penta_bytes bytes)
{
    size_t folds = HEX_FOLDS;
    for (size_t at = 0; at < bytes.size;) {
        writer_text(out, at ? next : first);
        at += hex_row(out, bytes_slice(bytes, at, bytes.size), &folds);
        writer_char(out, '\n');
    }
}

/* Reads the number after `*`, which is at least 1. Returns 0 when there is none or it has more
 * than 12 digits. */
static uint64_t repeat_count(penta_bytes text, size_t *at)
{
    uint64_t n = 0;
    size_t digits = 0;
    for (; *at < text.size && isdigit(text.data[*at]) && digits < 13; ++*at, digits++)
        n = n * 10 + (uint64_t)(text.data[*at] - '0');
    return digits < 13 ? n : 0;
}

bool hex_read(penta_bytes text, struct writer *out, uint64_t *runs, size_t *bad, bool *limit)
{
    *limit = false;
    for (size_t i = 0; i < text.size;) {
        *bad = i;
        if (isspace(text.data[i])) {
            i++;
            continue;
        }
        int high = hex_digit(text.data[i]);
        int low = i + 1 < text.size ? hex_digit(text.data[i + 1]) : -1;
        if (high < 0 || low < 0) return false;
        i += 2;
        uint64_t count = 1;
        if (i < text.size && text.data[i] == '*') {
            i++;
            count = repeat_count(text, &i);
            if (!count) return false;
            *limit = count > HEX_RUNS_MAX - *runs;
            if (*limit) return false;
            *runs += count;
        }
        writer_fill(out, (uint8_t)(high << 4 | low), (size_t)count);
    }
    return true;
}
