/* Has locks and once_do over POSIX threads. Hosts without threads have lock_single.c instead. */
#include "base/thread/lock.h"
#include <pthread.h>

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct lock), "a lock has room for a mutex");

static pthread_mutex_t *lock_mutex(struct lock *lock)
{
    return (pthread_mutex_t *)(void *)lock->bytes;
}

bool lock_open(struct lock *lock) { return !pthread_mutex_init(lock_mutex(lock), NULL); }
void lock_close(struct lock *lock) { pthread_mutex_destroy(lock_mutex(lock)); }
void lock_take(struct lock *lock) { pthread_mutex_lock(lock_mutex(lock)); }
void lock_give(struct lock *lock) { pthread_mutex_unlock(lock_mutex(lock)); }

void once_do(struct once *once, void (*make)(void))
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load_explicit(&once->done, memory_order_acquire)) return;
    pthread_mutex_lock(&making);
    if (!atomic_load_explicit(&once->done, memory_order_relaxed)) make();
    atomic_store_explicit(&once->done, true, memory_order_release);
    pthread_mutex_unlock(&making);
}
