/* What the three dialects' readers and writers share; only container.c and the dialects' own files
 * include this. */
#pragma once
#include "core/describe.h"
#include "pvm/pvm.h"
#include "pvm/format/varint.h"

/* ---- reading ---- */

struct pvm_parse {
    struct pvm_module *m;
    struct reader in;     /* the file; its error is the module's damage */
    bool leb;             /* numbers are LEB128 */
    uint32_t varint_next; /* index of the next number */
    size_t varint_capacity;
    penta_error *fatal; /* memory ran out */
};

/* The next number. The program remembers one that is longer than needed. */
uint32_t pvm_take_varint(struct pvm_parse *p, struct reader *r);
/* A part of the file as a reader of its own. */
struct reader pvm_part(struct pvm_parse *p, penta_bytes bytes, uint64_t offset);
/* N, Z, L, jump table, code and bitmask: all of r. entry_max is the dialect's largest Z. */
bool pvm_take_code(struct pvm_parse *p, struct reader *r, unsigned entry_max);

/* False: the module is damaged, or *p->fatal says that memory ran out. */
bool pvm_polkavm_parse(struct pvm_parse *p);
bool pvm_doc_parse(struct pvm_parse *p);
bool pvm_jam_parse(struct pvm_parse *p);

/* How surely the bytes are of the dialect, 0 to 100. evidence may be NULL. */
int pvm_doc_probe(penta_bytes file, struct writer *evidence);
int pvm_jam_probe(penta_bytes file, struct writer *evidence);

/* The lengths in the file fit its size; the code is not looked at. */
bool pvm_doc_fits(penta_bytes file, penta_error *err);
bool pvm_jam_fits(penta_bytes file);

/* ---- writing ---- */

struct pvm_emit {
    struct writer *out;
    const struct pvm_program *program;
    bool leb;
    uint32_t varint_next;
};

void pvm_emit_varint(struct pvm_emit *e, uint32_t value);
/* The number of bytes, then the bytes. */
void pvm_emit_framed(struct pvm_emit *e, penta_bytes bytes);
void pvm_emit_code(struct pvm_emit *e);

void pvm_polkavm_write(struct pvm_emit *e);
void pvm_doc_write(struct pvm_emit *e);
void pvm_jam_write(struct pvm_emit *e);
/* Writes the payload of a section from the program's fields. */
void pvm_section_write(struct pvm_emit *e, uint8_t id);

/* ---- describing: a position that moves over the file ---- */

struct pvm_walk {
    const penta_visitor *v;
    const struct pvm_module *m;
    penta_bytes file;
    size_t pos, end; /* end: of the part being walked */
    bool leb;
};

bool pvm_walk_varint(struct pvm_walk *w, const char *name, uint32_t *value); /* false: no number */
void pvm_walk_uint(struct pvm_walk *w, const char *name, unsigned size, penta_kind kind,
                   const char *note);
void pvm_walk_raw(struct pvm_walk *w, const char *name, size_t size, const char *note);
void pvm_walk_text(struct pvm_walk *w, const char *name, size_t size);
void pvm_walk_rest(struct pvm_walk *w, const char *name, const char *note); /* up to end, if any */
void pvm_walk_insns(struct pvm_walk *w);                                    /* the code */
void pvm_walk_table(struct pvm_walk *w, uint32_t count, unsigned entry_size);
void pvm_walk_program(struct pvm_walk *w); /* N, Z, L, jump table, code, bitmask */
void pvm_walk_debug(struct pvm_walk *w, uint8_t id);

void pvm_polkavm_describe(struct pvm_walk *w);
void pvm_doc_describe(struct pvm_walk *w);
void pvm_jam_describe(struct pvm_walk *w);
