/* Keeps the kernels of a device. An id stands for a program that never changes. When an id is
 * registered again, later launches get the new program, and tasks keep the program they started
 * with. */
#include <openssl/sha.h>
#include <stdlib.h>
#include "gpu/child/device.h"
#include "base/array.h"

static size_t kernels_position(const struct device *d, uint32_t id)
{
    size_t low;
    ARRAY_SEARCH(low, 0, d->kernel_count, d->kernels[low]->id >= id);
    return low;
}

struct kernel *kernels_find(const struct device *d, uint32_t id)
{
    size_t i = kernels_position(d, id);
    return i < d->kernel_count && d->kernels[i]->id == id ? d->kernels[i] : NULL;
}

void kernel_release(struct kernel *kernel)
{
    if (!kernel || atomic_fetch_sub_explicit(&kernel->references, 1, memory_order_acq_rel) > 1)
        return;
    explicit_bzero(kernel->program, ((size_t)kernel->count + 1) * sizeof *kernel->program);
    free(kernel->program);
    free(kernel);
}

static bool kernels_insert(struct device *d, struct kernel *kernel)
{
    if (!ARRAY_RESERVE(d->kernels, d->kernel_capacity, d->kernel_count + 1)) return false;
    size_t i = kernels_position(d, kernel->id);
    memmove(&d->kernels[i + 1], &d->kernels[i], (d->kernel_count++ - i) * sizeof *d->kernels);
    d->kernels[i] = kernel;
    return true;
}

static struct kernel *kernel_new(uint32_t id, const struct kblob_module *module)
{
    penta_error err = {0};
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) return NULL;
    kernel->id = id;
    kernel->count = (uint32_t)module->count;
    kernel->grid = module->header.version == KBLOB_VERSION_2;
    kernel->blob_size = (uint32_t)module->base.file.size;
    kernel->program = kblob_program_new(module, &err);
    if (!kernel->program) {
        free(kernel);
        return NULL;
    }
    SHA256(module->base.file.data, module->base.file.size, kernel->sha256);
    atomic_init(&kernel->references, 1);
    return kernel;
}

gpu_status kernels_register(struct device *d, uint32_t id, penta_bytes blob,
                            struct wire_refusal *refusal)
{
    penta_error err = {0};
    penta_option trailer = {"trailer", "1"};
    penta_module *module =
        kblob_parse(blob, &trailer, d->settings.flags & GPU_CHECK_TRAILER ? 1 : 0, &err);
    if (!module) return GPU_ERR_ALLOCATION_FAILED;
    refusal->code = (uint8_t)kblob_verdict(module, &refusal->instruction);
    struct kernel *kernel = refusal->code ? NULL : kernel_new(id, kblob_module(module));
    kblob_close(module);
    if (refusal->code) return GPU_ERR_INVALID_KERNEL_BLOB;
    if (!kernel) return GPU_ERR_ALLOCATION_FAILED;

    size_t i = kernels_position(d, id);
    if (i < d->kernel_count && d->kernels[i]->id == id) {
        /* A kernel with the same bytes counts as the same kernel, also in the race report. */
        bool same = !memcmp(d->kernels[i]->sha256, kernel->sha256, sizeof kernel->sha256);
        struct kernel *old = same ? kernel : d->kernels[i];
        if (!same) d->kernels[i] = kernel;
        kernel_release(old);
        return GPU_OK;
    }
    if (kernels_insert(d, kernel)) return GPU_OK;
    kernel_release(kernel);
    return GPU_ERR_ALLOCATION_FAILED;
}

bool kernels_remove(struct device *d, uint32_t id)
{
    size_t i = kernels_position(d, id);
    if (i == d->kernel_count || d->kernels[i]->id != id) return false;
    kernel_release(d->kernels[i]);
    memmove(&d->kernels[i], &d->kernels[i + 1], (--d->kernel_count - i) * sizeof *d->kernels);
    return true;
}

void kernels_clear(struct device *d)
{
    for (size_t i = 0; i < d->kernel_count; i++) kernel_release(d->kernels[i]);
    free(d->kernels);
    d->kernels = NULL;
    d->kernel_count = d->kernel_capacity = 0;
}
