/* Records what a process reached of the code from which it was built, for scripts/mutate. It
 * defines the functions that clang's -fsanitize-coverage=inline-8bit-counters,pc-table calls. At
 * the end of a process, the folder that PENTA_REACHED names has for each module (program or shared
 * library)
 *
 *     NAME         a byte for each block of code, not 0 when a process reached it
 *     NAME.blocks  where each block is, as 64-bit offsets into the module */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct block {
    uintptr_t address, is_entry;
};

static const uint8_t *counters, *counters_end;
static const struct block *blocks;

void __sanitizer_cov_8bit_counters_init(const uint8_t *first, const uint8_t *end);
void __sanitizer_cov_pcs_init(const struct block *first, const struct block *end);

/* The compiler makes both calls for each object file of a module, with all counters or blocks of
 * the module. */
void __sanitizer_cov_8bit_counters_init(const uint8_t *first, const uint8_t *end)
{
    counters = first;
    counters_end = end;
}

void __sanitizer_cov_pcs_init(const struct block *first, const struct block *end)
{
    (void)end;
    blocks = first;
}

static void blocks_write(const char *path, const char *base, size_t count)
{
    FILE *out = access(path, F_OK) ? fopen(path, "wb") : NULL;
    if (!out) return;
    for (size_t i = 0; i < count; i++) {
        uint64_t offset = blocks[i].address - (uintptr_t)base;
        fwrite(&offset, sizeof offset, 1, out);
    }
    fclose(out);
}

__attribute__((destructor)) static void reached_write(void)
{
    const char *folder = getenv("PENTA_REACHED");
    Dl_info module;
    if (!folder || !blocks || !dladdr((const void *)counters, &module)) return;
    size_t count = (size_t)(counters_end - counters);
    const char *slash = strrchr(module.dli_fname, '/');
    const char *name = slash ? slash + 1 : module.dli_fname;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.blocks", folder, name);
    blocks_write(path, module.dli_fbase, count);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)count)) return;
    uint8_t *all = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (all == MAP_FAILED) return;
    for (size_t i = 0; i < count; i++)
        if (counters[i] && !all[i]) all[i] = 1;
    munmap(all, count);
    close(file);
}
