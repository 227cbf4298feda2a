#include "hook.h"
#include <errno.h>
#include <execinfo.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <openssl/crypto.h>

/* The functions are replaced by the linker's --wrap (sanitizers), or defined here. In the second
 * case every library of the process uses them, and the C library's own have other names. */
#ifdef PENTA_WRAP
#define HOOK(name) __wrap_##name
#define REAL(name) __real_##name
#else
#define HOOK(name) name
#define REAL(name) __libc_##name
#endif
#define EXPORT __attribute__((visibility("default"))) /* Libraries use the functions, too. */
#define CALLER __builtin_return_address(0)

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *old, size_t size);
void REAL(free)(void *p);
void *__real_mmap(void *at, size_t size, int rights, int flags, int file, off_t offset);
EXPORT void *HOOK(malloc)(size_t size);
EXPORT void *HOOK(calloc)(size_t count, size_t size);
EXPORT void *HOOK(realloc)(void *old, size_t size);
EXPORT void HOOK(free)(void *p);
void *__wrap_mmap(void *at, size_t size, int rights, int flags, int file, off_t offset);
EXPORT void *HOOK(aligned_alloc)(size_t alignment, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

static struct {
    bool on, all_after, own_only;
    unsigned long nth;
    struct hook_result result;
} hook;

enum { BLOCKS = 1 << 15 };
static struct block {
    const void *address; /* NULL in an empty slot */
    bool live;
} blocks[BLOCKS]; /* a hash table of the blocks that penta's code has allocated since hook_start */

static struct block *block_slot(const void *address)
{
    size_t i = (size_t)((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 49);
    for (size_t n = 0; n < BLOCKS; n++, i++) {
        struct block *slot = &blocks[i % BLOCKS];
        if (slot->address == address || !slot->address) return slot;
    }
    abort(); /* No scenario needs so many blocks. */
}

/* Notes a new block. Libraries keep some blocks for later, and a sanitizer knows which of them
 * are lost. */
static void *hook_test_born(void *address, bool foreign)
{
    if (!address || !hook.on || foreign) return address;
    *block_slot(address) = (struct block){address, true};
    hook.result.live++;
    return address;
}

static void hook_test_dies(const void *address)
{
    struct block *slot = address ? block_slot(address) : NULL;
    if (!slot || !slot->live) return;
    slot->live = false;
    hook.result.live--;
}

extern const char __executable_start[], etext[];

static bool hook_test_ours(const void *caller)
{
    return (const char *)caller >= __executable_start && (const char *)caller < etext;
}

static bool hook_test_refuse(bool foreign)
{
    if (!hook.on || (hook.own_only && foreign)) return false;
    hook.result.made++;
    if (!hook.nth || hook.result.made < hook.nth ||
        (!hook.all_after && hook.result.made > hook.nth))
        return false;
    if (!hook.result.refused) hook.result.depth = backtrace(hook.result.stack, HOOK_STACK);
    hook.result.refused = true;
    hook.result.foreign = hook.result.foreign || foreign;
    errno = ENOMEM;
    return true;
}

void *HOOK(malloc)(size_t size)
{
    if (hook_test_refuse(!hook_test_ours(CALLER))) return NULL;
    return hook_test_born(REAL(malloc)(size), !hook_test_ours(CALLER));
}

void *HOOK(calloc)(size_t count, size_t size)
{
    if (hook_test_refuse(!hook_test_ours(CALLER))) return NULL;
    return hook_test_born(REAL(calloc)(count, size), !hook_test_ours(CALLER));
}

void *HOOK(realloc)(void *old, size_t size)
{
    if (hook_test_refuse(!hook_test_ours(CALLER))) return NULL;
    hook_test_dies(old);
    return hook_test_born(REAL(realloc)(old, size), !hook_test_ours(CALLER));
}

void HOOK(free)(void *p)
{
    hook_test_dies(p);
    REAL(free)(p);
}

char *__wrap_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = HOOK(malloc)(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void *HOOK(aligned_alloc)(size_t alignment, size_t size)
{
    if (hook_test_refuse(!hook_test_ours(CALLER))) return NULL;
#ifdef PENTA_WRAP
    return hook_test_born(__real_aligned_alloc(alignment, size), !hook_test_ours(CALLER));
#else
    return hook_test_born(__libc_memalign(alignment, size), !hook_test_ours(CALLER));
#endif
}

void *__wrap_mmap(void *at, size_t size, int rights, int flags, int file, off_t offset)
{
    if (hook_test_refuse(!hook_test_ours(CALLER))) return MAP_FAILED;
    return __real_mmap(at, size, rights, flags, file, offset);
}

#ifdef PENTA_WRAP
static void *crypto_malloc(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return hook_test_refuse(true) ? NULL : REAL(malloc)(size);
}

static void *crypto_realloc(void *old, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return hook_test_refuse(true) ? NULL : REAL(realloc)(old, size);
}

static void crypto_free(void *p, const char *file, int line)
{
    (void)file, (void)line;
    REAL(free)(p);
}

static void use_libraries(void)
{
    CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free);
}
#else
static void use_libraries(void) {}
#endif

void hook_init(void)
{
    void *here[1];
    backtrace(here, 1); /* The first call of backtrace allocates. */
    use_libraries();
}

void hook_print(const struct hook_result *r, FILE *out)
{
    for (int i = 2; i < r->depth; i++)
        if (hook_test_ours(r->stack[i]))
            fprintf(out, " 0x%zx", (size_t)((const char *)r->stack[i] - __executable_start));
}

void hook_start(unsigned long nth, bool all_after, bool own_only)
{
    memset(&hook, 0, sizeof hook);
    memset(blocks, 0, sizeof blocks);
    hook.nth = nth;
    hook.all_after = all_after;
    hook.own_only = own_only;
    hook.on = true;
}

struct hook_result hook_stop(void)
{
    hook.on = false;
    return hook.result;
}

void hook_pause(void) { hook.on = false; }
void hook_resume(void) { hook.on = true; }
