/* Reads numbers and hex as people write them in options, scripts and vectors, and rounds sizes. */
#pragma once
#include "penta/penta.h"

/* Reads a text that is one unsigned number and nothing else: decimal, 0x, 0o or 0b, with _
 * between digits. */
bool number_parse(const char *text, uint64_t *out);
/* Reads a number from text.size bytes, as number_parse does from a text. */
bool number_parse_bytes(penta_bytes text, uint64_t *out);
/* Reads a size: a number with an optional suffix K, M or G (powers of 1024). */
bool number_parse_size(const char *text, uint64_t *out);
bool number_parse_size_bytes(penta_bytes text, uint64_t *out);
/* Removes "0x" or "0X" from the start of a text. */
penta_bytes number_without_0x(penta_bytes text);
/* Reads the bytes of hex digits into a new buffer that the caller frees. White space may stand
 * between bytes. Returns NULL when the text is something else, and NULL with an error when
 * memory ran out. `err` may be NULL. */
uint8_t *hex_parse(penta_bytes text, size_t *size, penta_error *err);

/* Returns the smallest multiple of `unit` that is not below n. The multiple must fit 64 bits;
 * `unit` is not 0. */
static inline uint64_t round_up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit * unit; }
