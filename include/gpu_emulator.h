/* gpu_emulator: a mock GPU in a child process, and the kernel blobs it runs.
 *
 * Ownership. gpu_emulator_open gives a handle that gpu_emulator_close releases, together with the
 * child process. Device pointers are plain integers, arithmetic on them is allowed. Every buffer
 * given to a call belongs to the caller and is not kept. Lists are copied into the caller's array.
 *
 * Threads. Any number of threads may use one device: each call is one request and one response,
 * and a wait lets other threads through at least every 50 ms. Only gpu_emulator_close must be the
 * last call on a handle. The kblob_* functions share nothing; a builder or a memory belongs to
 * one thread at a time.
 *
 * Failures. Every call returns a gpu_status. A call before open succeeded or after shutdown gives
 * GPU_ERR_NOT_READY; when the child is gone, this and every later call give GPU_ERR_DEVICE_LOST,
 * and shutdown still succeeds. A child that owes an answer and uses no processor time for 10 seconds,
 * for it is stopped or hangs, is killed and so gone; so is one that takes longer than call_ms. No call
 * waits longer than that, beyond the time it is asked to wait. Nothing here raises SIGPIPE, prints or
 * exits. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define GPU_API __attribute__((visibility("default")))
#else
#define GPU_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gpu_status {
    GPU_OK = 0,
    GPU_ERR_UNKNOWN = 1,
    GPU_ERR_INVALID_POINTER = 2,
    GPU_ERR_ALLOCATION_FAILED = 3,
    GPU_ERR_WRITE = 4, /* the range starts inside an allocation and leaves it */
    GPU_ERR_READ = 5,
    GPU_ERR_KERNEL_NOT_FOUND = 6,
    GPU_ERR_THREAD_LAUNCH = 7,
    GPU_ERR_RESET = 8,
    GPU_ERR_SHUTDOWN = 9,
    GPU_ERR_INVALID_KERNEL_BLOB = 10, /* kblob_validate says why */
    GPU_ERR_INVALID_ARGUMENT = 11,
    GPU_ERR_NOT_READY = 12,
    GPU_ERR_TASK_FAULT = 13, /* of gpu_emulator_wait_task */
    GPU_ERR_TIMEOUT = 14,
    GPU_ERR_TASK_NOT_FOUND = 15,
    GPU_ERR_PROTOCOL = 16,
    GPU_ERR_LIMIT_EXCEEDED = 17,
    GPU_ERR_DEVICE_LOST = 18
} gpu_status;

GPU_API const char *gpu_status_string(gpu_status s); /* "InvalidPointer"; never NULL */

/* ---- the device ---- */

typedef struct gpu_emulator gpu_emulator;

enum {                       /* gpu_emulator_options.mode */
       GPU_MODE_THREADS = 0, /* one OS thread per task; SLEEP takes its time */
       GPU_MODE_SERIAL = 1,  /* a task runs to its end inside launch_task; virtual clock */
       GPU_MODE_SEEDED = 2   /* tasks are interleaved by a seeded generator inside wait, barrier and
                                memfence; virtual clock */
};

enum {                       /* gpu_emulator_options.flags */
       GPU_RACE_CHECK = 1,   /* report races between tasks the host did not order */
       GPU_INIT_CHECK = 2,   /* report reads of bytes never written since their allocation */
       GPU_CHECK_TRAILER = 4 /* refuse blobs whose checked trailer is wrong */
};

typedef struct { /* zeros are the defaults */
    uint32_t mode;
    uint64_t seed;             /* of addresses and of the interleaving */
    uint64_t memory_limit;     /* bytes in all; 0: 1 GiB */
    uint64_t max_instructions; /* per task; 0: no limit */
    uint32_t max_tasks;        /* running at once; 0: 1024 */
    uint32_t flags;
    uint32_t task_wall_ms;   /* per task; 0: no limit. Virtual ms in SERIAL and SEEDED */
    const char *trace_path;  /* a new file of JSON lines, or NULL */
    const char *device_path; /* the device executable, or NULL: PENTA_DEVICE, then the installed */
    uint32_t call_ms; /* real time that the device may take for an answer; 0: 600000. 0xFFFFFFFF: no
                         limit, and a stopped device is waited for, as a debugger wants it */
} gpu_emulator_options;

enum { GPU_TASK_RUNNING = 1, GPU_TASK_DONE = 2, GPU_TASK_FAULTED = 3, GPU_TASK_CANCELLED = 4 };

enum { /* fault kinds */
       GPU_FAULT_NULL = 1,
       GPU_FAULT_UNMAPPED = 2,
       GPU_FAULT_OUT_OF_BOUNDS = 3,
       GPU_FAULT_USE_AFTER_FREE = 4,
       GPU_FAULT_LIMIT = 5, /* max_instructions or task_wall_ms */
       GPU_FAULT_DIVISION = 7,
       GPU_FAULT_ARGUMENT = 8, /* the launch has fewer arguments; its number is the address */
       GPU_FAULT_BARRIER = 9   /* threads of a block wait at a barrier that others do not reach */
};

enum { GPU_TASK_HAS_LAST_READ = 1, GPU_TASK_HAS_FAULT = 2 }; /* gpu_task_info.flags */

typedef struct gpu_task_info {
    uint32_t launch_id, kernel_id;
    uint32_t state, flags;
    uint64_t instructions; /* executed; a faulting one does not count */
    uint64_t last_read;    /* with GPU_TASK_HAS_LAST_READ */
    uint32_t instruction;  /* this and the next six with GPU_TASK_HAS_FAULT: its index */
    uint8_t opcode, kind;
    uint16_t reserved;
    uint64_t address, length;
    uint64_t nearest_base, nearest_size; /* the nearest allocation, 0 when there was none */
    uint64_t slept_ms;
} gpu_task_info;

typedef struct gpu_fault {
    uint32_t launch_id, kernel_id;
    uint32_t instruction;
    uint8_t opcode, kind;
    uint16_t reserved;
    uint64_t address, length;
    uint64_t nearest_base, nearest_size;
    uint64_t time_ms; /* since open; 0 in SERIAL and SEEDED */
} gpu_fault;

enum { GPU_RACE_WRITE_WRITE = 1, GPU_RACE_READ_WRITE = 2, GPU_RACE_UNINITIALISED = 3 };

typedef struct gpu_race {
    uint32_t launch_a, index_a;
    uint32_t launch_b, index_b; /* 0xFFFFFFFF for an uninitialised read */
    uint64_t address, length;   /* the common bytes */
    uint32_t kind;
    uint32_t benign; /* 1: both write the same value */
} gpu_race;

/* The same with the threads of grids; 0xFFFFFFFF where they are not known. In a race among the threads of
 * one grid launch_a and launch_b are the same. */
typedef struct gpu_race_threads {
    uint32_t launch_a, index_a, block_a,
        thread_a; /* numbers of block and thread, as ID gives them */
    uint32_t launch_b, index_b, block_b, thread_b;
    uint64_t address, length;
    uint32_t kind, benign;
} gpu_race_threads;

/* A launch as threads: sizes in x, y and z, of which 0 means 1. */
typedef struct gpu_grid {
    uint32_t blocks[3];  /* of the grid */
    uint32_t threads[3]; /* of a block, at most 1024; 65536 in the grid */
    uint32_t shared;     /* bytes of shared memory of a block, at most 65536 */
} gpu_grid;

typedef struct gpu_task_grid {
    gpu_grid grid;
    uint32_t threads, ended;            /* in all; that have ended */
    uint32_t fault_block, fault_thread; /* of the task's fault; 0xFFFFFFFF: none */
} gpu_task_grid;

typedef struct gpu_range {
    uint64_t base, size;
} gpu_range;

typedef struct gpu_kernel_info {
    uint32_t id, blob_size;
    uint8_t sha256[32];
} gpu_kernel_info;

/* opt NULL: all defaults. On failure *dev is NULL and no child is left. */
GPU_API gpu_status gpu_emulator_open(gpu_emulator **dev, const gpu_emulator_options *opt);
/* Cancels what runs and ends the child. The handle stays valid; later calls: GPU_ERR_NOT_READY,
 * shutdown itself: GPU_OK. */
GPU_API gpu_status gpu_emulator_shutdown(gpu_emulator *dev);
GPU_API void gpu_emulator_close(gpu_emulator *dev); /* shutdown and release; NULL is fine */
/* Cancels every task, forgets memory, kernels, records and reports; launch ids restart at 1. */
GPU_API gpu_status gpu_emulator_reset(gpu_emulator *dev);
/* Why calls give GPU_ERR_DEVICE_LOST, with the id of the process: one line; "" while the device works.
 * The text is there until close. */
GPU_API const char *gpu_emulator_failure(gpu_emulator *dev);
GPU_API int64_t gpu_emulator_process_id(gpu_emulator *dev); /* of the child; -1 when it is gone */

/* Memory is zero when allocated. Transfers may address any part of one allocation, at most 256 MiB,
 * and are atomic against tasks. */
GPU_API gpu_status gpu_emulator_alloc(gpu_emulator *dev, uint64_t size, uint64_t *ptr);
GPU_API gpu_status gpu_emulator_alloc_at(gpu_emulator *dev, uint64_t base, uint64_t size);
GPU_API gpu_status gpu_emulator_free(gpu_emulator *dev, uint64_t ptr);
GPU_API gpu_status gpu_emulator_write(gpu_emulator *dev, uint64_t dst, const void *src,
                                      uint64_t size);
GPU_API gpu_status gpu_emulator_read(gpu_emulator *dev, uint64_t src, void *dst, uint64_t size);
GPU_API gpu_status gpu_emulator_memory_size(gpu_emulator *dev, uint64_t base, uint64_t *size);
/* Lists: at most max records into out, the number there is into *count. */
GPU_API gpu_status gpu_emulator_leaks(gpu_emulator *dev, gpu_range *out, size_t max, size_t *count);

/* Kernel ids are 0 .. 2^32-1. Registering an id again replaces it for later launches. */
GPU_API gpu_status gpu_emulator_register_kernel(gpu_emulator *dev, uint64_t kernel_id,
                                                const void *blob, size_t size);
GPU_API gpu_status gpu_emulator_unregister_kernel(gpu_emulator *dev, uint64_t kernel_id);
GPU_API gpu_status gpu_emulator_kernels(gpu_emulator *dev, gpu_kernel_info *out, size_t max,
                                        size_t *count);

GPU_API gpu_status gpu_emulator_launch_task(gpu_emulator *dev, uint64_t kernel_id, const void *args,
                                            size_t args_size, uint32_t *launch_id);
/* A kernel of version 2 as a grid of threads; one of version 1 takes one thread only. The grid is one
 * task. GPU_ERR_LIMIT_EXCEEDED: it is too large. */
GPU_API gpu_status gpu_emulator_launch_grid(gpu_emulator *dev, uint64_t kernel_id,
                                            const gpu_grid *grid, const void *args,
                                            size_t args_size, uint32_t *launch_id);
GPU_API gpu_status gpu_emulator_task_grid(gpu_emulator *dev, uint32_t launch_id,
                                          gpu_task_grid *out);
/* Until no task runs, or GPU_ERR_TIMEOUT. 0 polls, 0xFFFFFFFF waits forever. In SERIAL and SEEDED the
 * milliseconds are virtual, and tasks may work for call_ms. */
GPU_API gpu_status gpu_emulator_wait(gpu_emulator *dev, uint32_t deadline_ms);
/* The same for one task; GPU_ERR_TASK_FAULT when it ended in a fault. */
GPU_API gpu_status gpu_emulator_wait_task(gpu_emulator *dev, uint32_t launch_id,
                                          uint32_t deadline_ms);
/* Cancels the task and waits for its end. */
GPU_API gpu_status gpu_emulator_stop_task(gpu_emulator *dev, uint32_t launch_id);
GPU_API gpu_status gpu_emulator_task_info(gpu_emulator *dev, uint32_t launch_id,
                                          gpu_task_info *out);
/* The launch arguments: at most max bytes into out, their number into *size. */
GPU_API gpu_status gpu_emulator_task_args(gpu_emulator *dev, uint32_t launch_id, void *out,
                                          size_t max, size_t *size);
/* Oldest first; those copied leave the list, so that a small array loses nothing. */
GPU_API gpu_status gpu_emulator_faults(gpu_emulator *dev, gpu_fault *out, size_t max,
                                       size_t *count);
/* Races and uninitialised reads since reset; they stay in the list. At most 65,536 of either kind
 * are kept: a *count as large as that says that there may be more. */
GPU_API gpu_status gpu_emulator_races(gpu_emulator *dev, gpu_race *out, size_t max, size_t *count);
GPU_API gpu_status gpu_emulator_race_threads(gpu_emulator *dev, gpu_race_threads *out, size_t max,
                                             size_t *count);

GPU_API gpu_status gpu_emulator_barrier(gpu_emulator *dev); /* all tasks launched before it */
GPU_API gpu_status gpu_emulator_memfence(gpu_emulator *dev);
GPU_API gpu_status gpu_emulator_yield(gpu_emulator *dev); /* a hint, without effect */

/* ---- kernel blobs, no device needed ---- */

typedef enum kblob_code {
    KBLOB_CODE_OK = 0,
    KBLOB_CODE_TRUNCATED_HEADER = 1,
    KBLOB_CODE_BAD_MAGIC = 2,
    KBLOB_CODE_BAD_VERSION = 3,
    KBLOB_CODE_BAD_FLAGS = 4,
    KBLOB_CODE_BAD_ENTRY = 5,
    KBLOB_CODE_EMPTY = 6,
    KBLOB_CODE_TOO_LARGE = 7,
    KBLOB_CODE_TRUNCATED_CODE = 8,
    KBLOB_CODE_BAD_OPCODE = 9,
    KBLOB_CODE_BAD_INST_FLAGS = 10,
    KBLOB_CODE_BAD_RESERVED = 11,
    KBLOB_CODE_BAD_TRAILER = 12,
    KBLOB_CODE_BAD_REGISTER = 13, /* from here on version 2 */
    KBLOB_CODE_BAD_OPERAND = 14,
    KBLOB_CODE_BAD_TARGET = 15,
    KBLOB_CODE_BAD_SPECIAL = 16,
    KBLOB_CODE_BAD_LOOP = 17,
    KBLOB_CODE_UNBOUNDED = 18,
    KBLOB_CODE_BAD_SYMBOLS = 19, /* of the checked trailer */
    KBLOB_CODE_NO_MEMORY = 255
} kblob_code;

GPU_API const char *kblob_code_name(kblob_code code); /* "BAD_MAGIC"; "OK"; never NULL */

typedef struct {
    uint8_t opcode, flags;
    uint16_t reserved;
    uint64_t arg0;
    uint32_t arg1;
} kblob_inst;

/* The first rule the blob breaks. flags: GPU_CHECK_TRAILER. *bad_index (may be NULL) is the
 * instruction the rule is about, else 0xFFFFFFFF. */
GPU_API kblob_code kblob_validate(const void *blob, size_t size, uint32_t flags,
                                  uint32_t *bad_index);
/* At most max instructions into out, their number into *count. The blob must be valid. */
GPU_API kblob_code kblob_decode(const void *blob, size_t size, kblob_inst *out, size_t max,
                                size_t *count);

/* Builds a blob. Every step returns 0, or -1 when memory ran out or the blob would be too large;
 * after a failure all later steps fail too. */
typedef struct kblob_builder kblob_builder;
GPU_API kblob_builder *kblob_builder_new(void); /* NULL: no memory */
GPU_API int kblob_builder_nop(kblob_builder *b);
GPU_API int kblob_builder_write8(kblob_builder *b, uint64_t address, uint8_t value);
GPU_API int kblob_builder_write64(kblob_builder *b, uint64_t address, uint32_t value);
GPU_API int kblob_builder_read8(kblob_builder *b, uint64_t address);
GPU_API int kblob_builder_read64(kblob_builder *b, uint64_t address);
GPU_API int kblob_builder_memset(kblob_builder *b, uint64_t address, uint32_t length);
GPU_API int kblob_builder_sleep(kblob_builder *b, uint32_t ms);
GPU_API int kblob_builder_halt(kblob_builder *b);
/* The blob so far, with the checked trailer if asked for. Release *blob with kblob_free. */
GPU_API int kblob_builder_finish(kblob_builder *b, int trailer, void **blob, size_t *size);
GPU_API void kblob_builder_free(kblob_builder *b); /* NULL is fine */
GPU_API void kblob_free(void *blob);               /* what finish and assemble gave */

/* Memory for the in-process interpreter: allocations at chosen bases, zeroed. */
typedef struct kblob_memory kblob_memory;
GPU_API kblob_memory *kblob_memory_new(uint64_t limit); /* bytes in all; 0: 1 GiB */
GPU_API int kblob_memory_map(kblob_memory *mem, uint64_t base, uint64_t size); /* 0, or -1 */
GPU_API int kblob_memory_unmap(kblob_memory *mem, uint64_t base);
GPU_API int kblob_memory_poke(kblob_memory *mem, uint64_t address, const void *from, size_t size);
GPU_API int kblob_memory_peek(const kblob_memory *mem, uint64_t address, void *into, size_t size);
GPU_API void kblob_memory_delete(kblob_memory *mem); /* NULL is fine */

typedef struct {
    uint32_t state;        /* GPU_TASK_DONE or GPU_TASK_FAULTED */
    int halted_explicitly; /* HALT was executed, not the end of the code */
    uint64_t instructions, slept_ms;
    int has_last_read;
    uint64_t last_read;
    uint32_t fault_instruction; /* this and the next four when FAULTED */
    uint8_t fault_opcode, fault_kind;
    uint64_t fault_address, fault_length;
} kblob_result;

/* Runs a blob to its end in this process, of version 2 with one thread and without arguments;
 * SLEEP only advances slept_ms. */
GPU_API kblob_code kblob_exec(const void *blob, size_t size, kblob_memory *mem, kblob_result *out);

/* Assembly text. 0, or -1: the blob is not valid, or writing failed. */
GPU_API int kblob_disassemble(const void *blob, size_t size, FILE *f);
/* 0 and a blob for kblob_free, or -1 and the first error as "line:column: what" in message, which
 * may be NULL when message_size is 0. */
GPU_API int kblob_assemble(const char *text, void **blob, size_t *size, char *message,
                           size_t message_size);

#ifdef __cplusplus
}
#endif
