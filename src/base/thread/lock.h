/* What threads of one program share: a lock, and work that is done once. lock_threads.c is over POSIX
 * threads; lock_single.c is for hosts that have none. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>

/* Room for a mutex of the host. A lock is not copied or moved after lock_open. */
struct lock {
    _Alignas(16) unsigned char bytes[64];
};
bool lock_open(struct lock *lock); /* false: the host has no more of them */
void lock_close(struct lock *lock);
void lock_take(struct lock *lock);
void lock_give(struct lock *lock);

/* Starts from zeros. */
struct once {
    atomic_bool done;
};
/* Calls make unless it was called before; when this returns, it has returned. */
void once_do(struct once *once, void (*make)(void));
