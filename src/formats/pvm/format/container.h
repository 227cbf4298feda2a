/* Declares what the readers and writers of the three dialects share. Only container.c and the
 * files of the dialects include this header. */
#pragma once
#include "core/describe.h"
#include "pvm/pvm.h"
#include "base/codec/varint.h"

struct pvm_parse {
    struct pvm_module *m;
    struct reader in;     /* the reader of the file; its error is the module's damage */
    bool leb;             /* Numbers are LEB128, not prefix varints. */
    uint32_t varint_next; /* the index of the next number of the file */
    size_t varint_capacity;
    penta_error *fatal; /* the error that is set when memory ran out */
};

/* Takes the next number. The program remembers a number that is longer than needed. */
uint32_t pvm_take_varint(struct pvm_parse *p, struct reader *r);
/* Makes a reader of one part of the file. */
struct reader pvm_part(struct pvm_parse *p, penta_bytes bytes, uint64_t offset);
/* Takes N, Z, L, jump table, code and bitmask, which must fill all of r. entry_max is the
 * largest Z of the dialect. */
bool pvm_take_code(struct pvm_parse *p, struct reader *r, unsigned entry_max);

/* These functions return false when the module is damaged, or when memory ran out (*p->fatal). */
bool pvm_polkavm_parse(struct pvm_parse *p);
bool pvm_doc_parse(struct pvm_parse *p);
bool pvm_jam_parse(struct pvm_parse *p);

/* These functions tell how surely the bytes are of their dialect, from 0 to 100. `evidence` may
 * be NULL. */
int pvm_doc_probe(penta_bytes file, struct writer *evidence);
int pvm_jam_probe(penta_bytes file, struct writer *evidence);

/* These functions tell whether the lengths in the file fit its size. They do not look at the
 * code. */
bool pvm_doc_fits(penta_bytes file, penta_error *err);
bool pvm_jam_fits(penta_bytes file);

struct pvm_emit {
    struct writer *out;
    const struct pvm_program *program;
    bool leb;
    uint32_t varint_next;
};

void pvm_emit_varint(struct pvm_emit *e, uint32_t value);
/* Writes the number of bytes as a varint, then the bytes. */
void pvm_emit_framed(struct pvm_emit *e, penta_bytes bytes);
void pvm_emit_code(struct pvm_emit *e);

void pvm_polkavm_write(struct pvm_emit *e);
void pvm_doc_write(struct pvm_emit *e);
void pvm_jam_write(struct pvm_emit *e);
/* Writes the payload of a section from the program's fields. */
void pvm_section_write(struct pvm_emit *e, uint8_t id);

/* A struct pvm_walk is a position that moves over the file while a module is described. */

struct pvm_walk {
    const penta_visitor *v;
    const struct pvm_module *m;
    penta_bytes file;
    size_t pos, end; /* end: the end of the part that is walked over now */
    bool leb;
};

/* Describes a number. Returns false when there is no number at the position. */
bool pvm_walk_varint(struct pvm_walk *w, const char *name, uint32_t *value);
void pvm_walk_uint(struct pvm_walk *w, const char *name, unsigned size, penta_kind kind,
                   const char *note);
void pvm_walk_raw(struct pvm_walk *w, const char *name, size_t size, const char *note);
void pvm_walk_text(struct pvm_walk *w, const char *name, size_t size);
/* Describes the bytes up to w->end. */
void pvm_walk_rest(struct pvm_walk *w, const char *name, const char *note);
void pvm_walk_insns(struct pvm_walk *w); /* Describes all the code. */
void pvm_walk_table(struct pvm_walk *w, uint32_t count, unsigned entry_size);
void pvm_walk_program(struct pvm_walk *w); /* Describes N, Z, L, jump table, code and bitmask. */
void pvm_walk_debug(struct pvm_walk *w, uint8_t id);

void pvm_polkavm_describe(struct pvm_walk *w);
void pvm_doc_describe(struct pvm_walk *w);
void pvm_jam_describe(struct pvm_walk *w);
