/* Checks what holds for every file, in one process, for each file given, and for every truncation
 * and every single-bit flip of it (every nth for long files):
 *
 *   - opening ends in a module or an error with a code, and uses memory in proportion;
 *   - describe tiles every byte, and its documents come to an end (unless --documents 1, those
 *     of one variant in five: the same walk gives them, and writing them takes a third of the time);
 *   - parse then encode gives the bytes back;
 *   - the structural difference of the file and itself is empty (whole files only);
 *   - print then assemble gives the bytes back, where the module is whole;
 *   - validate's findings have codes that exist and offsets inside the file;
 *   - a machine, where one opens, stops within its fuel, and its snapshot loads back;
 *   - a wrong snapshot is loaded wholly or not at all, and a stop is where penta.h says (whole
 *     files only).
 *
 *     properties [--every N] [--documents N] FILE...
 *
 * The format of FORMAT-anything.bin is the name up to the first dash. --every 16 tries only one in
 * 16 of the variants. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file/file.h"
#include "checks.h"
#include "core/driver.h"

static unsigned long checked, failed;
static const char *current;
static char variant[64];

void check_failed(const char *what, uint64_t a, uint64_t b)
{
    fprintf(stderr, "FAIL %s (%s): %s (0x%" PRIx64 ", 0x%" PRIx64 ")\n", current, variant, what, a,
            b);
    failed++;
}

/* Documents are made of one variant in this many. The number does not divide 8, so that each bit
 * of a byte has its turn. */
static size_t documents = 5;

/* Checks a copy of exactly that size on the heap, so that a sanitizer sees every access beyond
 * it. */
static void check_copy(const uint8_t *data, size_t size, const char *format, bool written)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, data, size);
    check_variant((penta_bytes){copy, size}, format, written);
    checked++;
    free(copy);
}

static size_t every = 1;

static void all_variants(penta_buffer *file, const char *format)
{
    /* Longer files have more variants, and each takes longer, so only some are tried. */
    enum { WHOLE = 1024 };
    size_t stride = (file->size / WHOLE * (file->size / WHOLE) + 1) * every;
    snprintf(variant, sizeof variant, "whole");
    check_copy(file->data, file->size, format, true);
    check_whole_file((penta_bytes){file->data, file->size}, format);
    for (size_t n = 0; n < file->size; n += stride) {
        snprintf(variant, sizeof variant, "cut to %zu", n);
        check_copy(file->data, n, format, checked % documents == 0);
    }
    for (size_t i = 0; i < file->size; i += stride)
        for (unsigned bit = 0; bit < 8; bit++) {
            snprintf(variant, sizeof variant, "bit %u of byte 0x%zx flipped", bit, i);
            file->data[i] ^= (uint8_t)(1u << bit);
            check_copy(file->data, file->size, format, checked % documents == 0);
            file->data[i] ^= (uint8_t)(1u << bit);
        }
}

int main(int argc, char **argv)
{
    for (; argc > 2 && !strncmp(argv[1], "--", 2); argc -= 2, argv += 2)
        *(strcmp(argv[1], "--every") ? &documents : &every) = strtoul(argv[2], NULL, 10);
    if (!every || !documents) return 2;
    for (int i = 1; i < argc; i++) {
        penta_buffer file = {0};
        penta_error err = {0};
        current = argv[i];
        const char *slash = strrchr(argv[i], '/'), *name = slash ? slash + 1 : argv[i];
        char format[32] = "";
        size_t n = strcspn(name, "-.");
        if (n < sizeof format) memcpy(format, name, n);
        if (!file_read(argv[i], UINT64_C(1) << 30, &file, &err)) {
            fprintf(stderr, "%s\n", err.message);
            return 2;
        }
        all_variants(&file, penta_format_uses(format) ? format : NULL);
        penta_buffer_free(&file);
    }
    printf("%lu variants of %d files\n%d passed, %lu failed\n", checked, argc - 1,
           argc - 1 - (failed ? 1 : 0), failed);
    return failed || argc < 2;
}
