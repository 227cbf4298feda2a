/* An allocator that refuses: the nth request after hook_start, or all from it on. Requests are
 * malloc, calloc, realloc, strdup, aligned_alloc and mmap of the whole process, or, under a
 * sanitizer, which has an allocator of its own, of our code and libcrypto. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { HOOK_STACK = 24 };
struct hook_result {
    unsigned long made; /* requests since hook_start */
    bool refused;       /* one of them, at least */
    bool foreign;       /* made by a library that our code calls */
    unsigned long live; /* blocks that our code allocated since hook_start, not freed */
    int depth;
    void *stack[HOOK_STACK]; /* who made the first refused one */
};

void hook_init(void); /* before anything else */
/* nth 0: refuses none. own_only: requests of other libraries are neither counted nor refused. */
void hook_start(unsigned long nth, bool all_after, bool own_only);
struct hook_result hook_stop(void);
/* Requests that the scenario itself makes to prepare something are not refused. */
void hook_pause(void);
void hook_resume(void);
/* The calls that led to the refused request, as offsets for addr2line. */
void hook_print(const struct hook_result *r, FILE *out);
