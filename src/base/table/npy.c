/* Reads and writes NPY files: 93 "NUMPY" | major u8 | minor u8 | length u16 (u32 from version 2
 * on) | a dictionary of Python with descr, fortran_order and shape | elements. */
#include "base/bytes.h"
#include "base/table/table.h"
#include <stdlib.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC = 6, HEADER_MAX = 65536 };

bool npy_is(penta_bytes file) { return file.size >= MAGIC && !memcmp(file.data, magic, MAGIC); }

struct header {
    penta_bytes text;
    size_t from; /* the offset of the text in the file */
    penta_error *err;
};

static bool npy_wrong(const struct header *h, size_t at, const char *what)
{
    return error_at(h->err, BASE_SYNTAX, h->from + at, "the header of the array: %s", what);
}

static void npy_blanks(const struct header *h, size_t *at)
{
    while (*at < h->text.size && strchr(" \t\r\n,", h->text.data[*at]) && h->text.data[*at]) ++*at;
}

static bool npy_quoted(const struct header *h, size_t *at, penta_bytes *out)
{
    uint8_t quote = *at < h->text.size ? h->text.data[*at] : 0;
    if (quote != '\'' && quote != '"') return npy_wrong(h, *at, "a quote is expected");
    size_t from = ++*at;
    while (*at < h->text.size && h->text.data[*at] != quote) ++*at;
    if (*at == h->text.size) return npy_wrong(h, from, "a quote is never closed");
    *out = bytes_slice(h->text, from, *at - from);
    ++*at;
    return true;
}

static bool npy_word(const struct header *h, size_t *at, const char *text)
{
    size_t n = strlen(text);
    if (h->text.size - *at < n || memcmp(h->text.data + *at, text, n)) return false;
    *at += n;
    return true;
}

static bool npy_shape(const struct header *h, size_t *at, struct penta_table *t)
{
    if (!npy_word(h, at, "(")) return npy_wrong(h, *at, "the shape is no tuple");
    for (;;) {
        npy_blanks(h, at);
        if (npy_word(h, at, ")")) return true;
        uint64_t n = 0;
        size_t start = *at;
        while (*at < h->text.size && h->text.data[*at] >= '0' && h->text.data[*at] <= '9' &&
               n < UINT64_C(1) << 56)
            n = n * 10 + h->text.data[(*at)++] - '0';
        if (*at == start || t->rank == TABLE_RANK) return npy_wrong(h, *at, "a bad shape");
        t->dims[t->rank++] = n;
    }
}

static bool npy_type(const struct header *h, size_t at, penta_bytes text, struct table_type *out)
{
    char order = text.size == 3 ? (char)text.data[0] : 0, kind = order ? (char)text.data[1] : 0;
    unsigned bytes = order ? text.data[2] - '0' : 0;
    bool size = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    out->bytes = bytes;
    out->big_endian = order == '>';
    out->kind = kind == 'f' ? TABLE_FLOAT : kind == 'i' ? TABLE_SIGNED : TABLE_UNSIGNED;
    bool known =
        size && order && strchr("<>|=", order) &&
        (kind == 'i' || kind == 'u' || (kind == 'b' && bytes == 1) || (kind == 'f' && bytes >= 4));
    return known || npy_wrong(h, at, "no whole or floating numbers of 1 to 8 bytes");
}

struct found {
    bool descr, order, shape, fortran;
    struct table_type type;
};

static bool npy_member(const struct header *h, size_t *at, struct penta_table *t, struct found *f)
{
    penta_bytes key, text;
    if (!npy_quoted(h, at, &key)) return false;
    npy_blanks(h, at);
    if (!npy_word(h, at, ":")) return npy_wrong(h, *at, "a colon is expected");
    npy_blanks(h, at);
    size_t start = *at;
    if (bytes_equal(key, bytes_of("descr"))) {
        f->descr = true;
        return npy_quoted(h, at, &text) && npy_type(h, start, text, &f->type);
    }
    if (bytes_equal(key, bytes_of("fortran_order"))) {
        f->order = true;
        f->fortran = npy_word(h, at, "True");
        return f->fortran || npy_word(h, at, "False") ||
               npy_wrong(h, start, "neither True nor False");
    }
    if (bytes_equal(key, bytes_of("shape"))) {
        f->shape = true;
        t->rank = 0;
        return npy_shape(h, at, t);
    }
    return npy_wrong(h, start, "an unknown member");
}

/* Rearranges numbers from the order of Fortran, in which the first index changes fastest, to
 * that of C. */
static bool npy_reorder(struct penta_table *t, penta_error *err)
{
    size_t count = t->rows * t->columns;
    int32_t *out = malloc((count ? count : 1) * sizeof *out);
    uint64_t at[TABLE_RANK] = {0};
    if (!out) return error_at(err, BASE_MEMORY, 0, "no memory for a table");
    for (size_t i = 0; i < count; i++) {
        uint64_t to = 0;
        for (size_t k = 0; k < t->rank; k++) to = to * t->dims[k] + at[k];
        out[to] = t->numbers[i];
        for (size_t k = 0; k < t->rank && ++at[k] == t->dims[k]; k++) at[k] = 0;
    }
    free(t->numbers);
    t->numbers = out;
    return true;
}

bool npy_read(penta_bytes file, double scale, struct penta_table *t, penta_error *err)
{
    unsigned major = file.size > MAGIC ? file.data[MAGIC] : 0, width = major == 1 ? 2 : 4;
    if (major < 1 || major > 3 || file.size < MAGIC + 2 + width)
        return error_at(err, BASE_RANGE, MAGIC, "version %u of NPY, of 1 to 3", major);
    size_t from = MAGIC + 2 + width,
           length = (size_t)bytes_uint(file.data + MAGIC + 2, width, false);
    if (length > file.size - from || length > HEADER_MAX)
        return error_at(err, BASE_TRUNCATED, MAGIC + 2, "the header runs past the end");
    struct header h = {bytes_slice(file, from, length), from, err};
    struct found f = {0};
    size_t at = 0;
    npy_blanks(&h, &at);
    if (!npy_word(&h, &at, "{")) return npy_wrong(&h, at, "no dictionary");
    for (npy_blanks(&h, &at); !npy_word(&h, &at, "}"); npy_blanks(&h, &at))
        if (!npy_member(&h, &at, t, &f)) return false;
    if (!f.descr || !f.order || !f.shape)
        return npy_wrong(&h, 0, "descr, fortran_order or shape is missing");
    return table_elements(file, from + length, f.type, scale, t, err) &&
           (!f.fortran || npy_reorder(t, err));
}

void npy_write(struct writer *out, const int16_t *numbers, const uint64_t *dims, size_t rank)
{
    struct writer text = {0};
    size_t count = 1;
    writer_text(&text, "{'descr': '<i2', 'fortran_order': False, 'shape': (");
    for (size_t i = 0; i < rank; i++) {
        writer_print(&text, "%llu%s", (unsigned long long)dims[i],
                     rank == 1      ? ","
                     : i + 1 < rank ? ", "
                                    : "");
        count *= (size_t)dims[i];
    }
    writer_text(&text, "), }");
    while ((MAGIC + 4 + text.out.size + 1) % 64 && !text.failed) writer_char(&text, ' ');
    writer_char(&text, '\n');
    writer_bytes(out, magic, MAGIC);
    writer_uint(out, 1, 1); /* Version 1 is enough, because 255 dimensions fit its header. */
    writer_uint(out, 0, 1);
    writer_uint(out, text.out.size, 2);
    writer_append(out, &text);
    writer_free(&text);
    for (size_t i = 0; i < count; i++) writer_uint(out, (uint16_t)numbers[i], 2);
}
