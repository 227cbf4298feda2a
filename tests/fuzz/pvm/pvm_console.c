/* Makes host calls of the console with any arguments. Nothing may crash, answers must fit the
 * guest's memory, and no file outside of the program's folder may be changed or read.
 *
 *     byte 0           number of host calls
 *     6 bytes a call   which one, indices of four arguments in the table below, one byte that is added
 *                      to the second argument
 *     the rest         contents of the guest's memory, among them names of files */
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz.h"
#include "core/host.h"
#include "pvm/host/console.h"
#include "pvm/vm/vm.h"

enum { RO = 0x10000, RW = 0x30000, AREA = 0x1000 };

static const char program[] = "%isa = latest64\n%ro_data_size = 4096\n%rw_data_size = 4096\n"
                              "%import \"console_write\"\n%import \"console_read\"\n"
                              "%import \"console_open\"\n%import \"console_close\"\n"
                              "%import \"console_seek\"\n%import \"console_remove\"\n"
                              "%import \"console_rename\"\n%import \"console_arguments\"\n"
                              "%import \"console_clock\"\n%import \"console_sleep\"\n"
                              "%import \"console_random\"\n%import \"console_exit\"\n"
                              "pub @main:\necalli 0\nret\n";

/* clang-format off */
static const uint64_t edges[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 14, 16, 31, 32, 63, 64, 100, 255, 256, 4095, 4096, 4097,
    1 << 20, (1 << 20) + 1, RO, RO + 1, RO + AREA - 1, RO + AREA, RW, RW + 1, RW + 2, RW + 3, RW + 8,
    RW + 16, RW + 100, RW + AREA - 8, RW + AREA - 1, RW + AREA, 0xfffdfff8, 0xfffffffc, 0xffffffff,
    UINT64_C(0x100000000), UINT64_C(0xffffffff00030000), UINT64_MAX, UINT64_MAX - 1, INT64_MAX};
/* clang-format on */

static void pvm_console_report(void *user, const penta_error *finding)
{
    (void)user;
    check_failed(finding->message, finding->offset, 0);
}

static char base[64], home[80], secret[80];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind;
    return walk->level ? remove(path) : 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    CHECK(out && fputs(text, out) >= 0 && !fclose(out));
}

static void at_end(void)
{
    nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    rmdir(base);
}

static void pvm_console_prepare(void)
{
    char path[100];
    if (!*base) {
        snprintf(base, sizeof base, "/tmp/penta-console-XXXXXX");
        CHECK(mkdtemp(base));
        snprintf(home, sizeof home, "%s/home", base);
        snprintf(secret, sizeof secret, "%s/s", base);
        CHECK(!mkdir(home, 0700));
        write_file(secret, "secret");
        atexit(at_end);
    }
    nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    snprintf(path, sizeof path, "%s/d", home);
    CHECK(!mkdir(path, 0700));
    snprintf(path, sizeof path, "%s/d/f", home);
    write_file(path, "file");
    snprintf(path, sizeof path, "%s/l", home);
    CHECK(!symlink("../s", path));
    snprintf(path, sizeof path, "%s/u", home);
    CHECK(!symlink("..", path));
}

static bool secret_is_safe(void)
{
    char text[16] = "";
    FILE *in = fopen(secret, "r");
    if (!in) return false;
    size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    return n == 6 && !strcmp(text, "secret");
}

static void check_pokes(penta_vm *vm, const struct answer *answer)
{
    penta_bytes left = writer_view(&answer->pokes);
    while (left.size) {
        uint64_t address = bytes_get64(left.data), size = bytes_get64(left.data + 8);
        CHECK(penta_vm_poke(vm, address, left.data + 16, (size_t)size));
        CHECK(!size || address >= RW); /* Read-only memory stays as it is. */
        CHECK(!memmem(left.data + 16, (size_t)size, "secret", 6));
        left.data += 16 + size;
        left.size -= 16 + (size_t)size;
    }
}

static void pvm_console_call(struct pvm_console *console, penta_vm *vm, const uint8_t *bytes)
{
    struct answer answer = {0};
    penta_stop stop = {.kind = PENTA_STOP_HOST, .detail = bytes[0] % 13};
    for (unsigned i = 0; i < 4; i++)
        stop.args[i] = edges[bytes[1 + i] % (sizeof edges / sizeof *edges)];
    stop.args[1] += bytes[5];
    if (pvm_console_answer(console, vm, &stop, &answer)) {
        CHECK(answer.count == 1);
        check_pokes(vm, &answer);
    } else {
        CHECK(stop.detail == 12);
    }
    answer_free(&answer);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static penta_module *module;
    penta_error err = {0};
    if (!module)
        module = penta_assemble((penta_bytes){(const uint8_t *)program, sizeof program - 1}, "pvm",
                                NULL, 0, pvm_console_report, NULL);
    if (size < 1 || size < 1 + 6 * (size_t)data[0]) return;
    pvm_console_prepare();
    penta_vm *vm = penta_vm_new(module, "interp", NULL, 0, NULL, &err);
    penta_option options[] = {
        {"seed", "1"}, {"stdin", "/dev/null"}, {"files", home}, {"argv", "one"}, {"argv", "two"}};
    struct pvm_console *console = pvm_console_new(options, 5, &err);
    CHECK(vm && console);
    size_t rest = size - 1 - 6 * (size_t)data[0];
    penta_vm_poke(vm, RW, data + size - rest, rest < AREA ? rest : AREA);
    for (size_t i = 0; i < data[0]; i++) pvm_console_call(console, vm, data + 1 + 6 * i);
    pvm_console_free(console);
    penta_vm_free(vm);
    CHECK(secret_is_safe());
}
