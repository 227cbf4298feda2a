/* Declares an allocator that refuses the nth request after hook_start, or all from it on.
 * Requests are malloc, calloc, realloc, strdup, aligned_alloc and mmap of the whole process.
 * Under a sanitizer, which has an allocator of its own, they are those of penta's code and
 * libcrypto. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { HOOK_STACK = 24 };
struct hook_result {
    unsigned long made; /* number of requests since hook_start */
    bool refused;       /* At least one request was refused. */
    bool foreign;       /* A library that penta's code calls made the refused request. */
    unsigned long live; /* blocks that penta's code has allocated since hook_start and not freed */
    int depth;
    void *stack[HOOK_STACK]; /* the calls that made the first refused request */
};

void hook_init(void); /* Must be called before anything else. */
/* Starts to count. With nth 0 nothing is refused. With own_only, requests of other libraries are
 * neither counted nor refused. */
void hook_start(unsigned long nth, bool all_after, bool own_only);
struct hook_result hook_stop(void);
/* Between these calls, requests are not refused: a scenario prepares something. */
void hook_pause(void);
void hook_resume(void);
/* Prints the calls that led to the refused request, as offsets for addr2line. */
void hook_print(const struct hook_result *r, FILE *out);
