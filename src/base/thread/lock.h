/* Threads of one program share locks, and work that is done once. lock_threads.c uses POSIX
 * threads; lock_single.c is for hosts without threads. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

/* A struct lock has room for a mutex of the host. It must not be copied or moved after
 * lock_open. */
struct lock {
    _Alignas(16) unsigned char bytes[64];
};
bool lock_open(struct lock *lock); /* Returns false when the host has no more locks. */
void lock_close(struct lock *lock);
void lock_take(struct lock *lock);
void lock_give(struct lock *lock);

/* A struct once starts with all bytes zero. */
struct once {
    atomic_bool done;
};
/* Calls `make` unless it was called before. When once_do returns, `make` has returned, too. */
void once_do(struct once *once, void (*make)(void));
