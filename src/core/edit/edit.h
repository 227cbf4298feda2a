/* Edits the bytes of a file. An edit is a set of splices: ranges of the old file with the bytes that take their place.
 * Those that were asked for come first; then each format says which of its fields hold lengths, counts and places of
 * other bytes, and those whose values no longer fit get splices of their own, until nothing changes any more. All
 * offsets here are offsets of the old file. */
#pragma once
#include "base/arena.h"
#include "base/error.h"
#include "base/writer.h"

struct edit;

/* What a driver does for edits. Each entry may be NULL. */
struct driver_edit {
    /* Tells every field that measures other bytes, by edit_length and edit_place. */
    void (*measures)(struct edit *e);
    /* Changes what cannot stay as it is, such as a signature, after the asked changes and before the measures. */
    void (*prepare)(struct edit *e);
    /* Puts the right checksums into the new file, but for those that were asked for (edit_asked). */
    void (*sums)(const struct edit *e, uint8_t *data, size_t size);
};

struct edit_splice {
    uint64_t at, size; /* the range of the old file */
    penta_bytes bytes; /* what takes its place */
    int64_t before;    /* how much longer all splices before this one make the file */
    bool asked;        /* a change that was asked for, which no repair overrules */
};

struct edit {
    const penta_module *module;
    penta_bytes file;
    struct findings *findings;
    struct arena arena; /* has the bytes of the splices */
    struct edit_splice *splices;
    size_t count, capacity;
    size_t sorted; /* so many splices are in order, and decide where bytes are in the new file */
    bool moves;    /* a splice changes the size of the file */
    bool changed;  /* a measure got another value in this round */
    penta_error *err;
};

/* Replaces a range. `asked` says that this is the change that was asked for. */
bool edit_put(struct edit *e, uint64_t at, uint64_t size, penta_bytes bytes, bool asked);
/* Puts all splices in order. Fails when two asked changes overlap. */
bool edit_sort(struct edit *e);
/* Whether a byte of the range is changed by what was asked for. */
bool edit_asked(const struct edit *e, uint64_t at, uint64_t size);
/* Where a byte of the old file is in the new one. */
uint64_t edit_offset(const struct edit *e, uint64_t at);
/* The same for the start of a part, before which bytes may be inserted. */
uint64_t edit_start(const struct edit *e, uint64_t at);
/* Writes the new file. */
bool edit_write(const struct edit *e, struct writer *out, penta_error *err);

/* A stored number: where it is and how it is encoded. */
struct edit_number {
    uint64_t at;
    unsigned size;
    penta_encoding encoding;
};
/* This number counts the bytes of a range, in units. */
void edit_length(struct edit *e, struct edit_number n, uint64_t from, uint64_t size, uint64_t unit);
/* This number is the place of a byte, counted from another one. */
void edit_place(struct edit *e, struct edit_number n, uint64_t target, uint64_t base);

/* Keeps the start of a part at a multiple of `unit`, by the zeros between the end of the part before it and it. */
void edit_align(struct edit *e, uint64_t end, uint64_t start, uint64_t unit);

/* Encodes a number as `size` bytes, or as many as it needs. False: it does not fit. `negative` says that the value is
 * in two's complement and below zero. */
bool edit_encode(struct writer *out, penta_encoding encoding, uint64_t size, uint64_t value,
                 bool negative);
/* The bytes of a field that has this value, which is a number, a word that the field has for one, text or hex digits.
 * `stored` are its bytes now. */
bool edit_value(const penta_field *field, penta_bytes stored, const char *path, const char *value,
                struct writer *out, penta_error *err);

/* Makes all repairs for the asked changes. */
bool edit_repair(struct edit *e);
void edit_free(struct edit *e);
