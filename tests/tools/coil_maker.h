/* Declares what the files of the generator of COIL programs share. */
#pragma once
#include "coil_programs.h"
#include <stdbool.h>

/* how many types of vectors a function has, and how many variables of each */
enum { VECTOR_KINDS = 4, VECTORS_OF_KIND = 3 };
struct maker {
    struct coil_choices *c;
    struct writer *w;
    struct writer tables;
    unsigned function, labels, depth, loops;
    unsigned vectors; /* how much of the function uses vectors, from 0 (nothing) to 2 */
    unsigned kinds[VECTOR_KINDS];
};

unsigned pick(struct maker *m, unsigned below);
void line(struct maker *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes an operand in memory of a type. Some operands are out of bounds. */
void memory_of(struct maker *m, char *out, size_t room, const char *type);

/* coil_bounds.c defines what this block declares. */
void bounds_program(struct maker *m);

/* coil_vectors.c defines what this block declares. */
void vector_variables(struct maker *m);
void vector_statement(struct maker *m);
void vector_dump(struct maker *m); /* Writes code that stores all vectors. */
