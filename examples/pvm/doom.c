/* Plays the Doom program with a WAD, as an example of embedding: the program is opened, compiled
 * and called once a tick, and its host calls are answered here.
 *
 *     doom BLOB WAD                      in the terminal: arrows, x fires, space opens, q ends
 *     doom BLOB WAD --ticks N --hash     N ticks as fast as they go, and a hash of all frames
 *     doom BLOB WAD --ticks N --frames DIR          every frame as DIR/frame-00001.ppm
 * also --engine interp|jit, and --gas N for a metered run. */
#include <err.h>
#include <limits.h>
#include <penta/pvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { TICKS_PER_SECOND = 35, HELD = 6, SIDE_MAX = 4096 };

static penta_module *module;
static penta_vm *vm;
static penta_bytes wad;
static penta_error error;
static uint32_t *pixels, width, height, frame_count; /* pixels: 0xRRGGBB in the low 24 bits */
static const char *frames;                           /* the folder for frames, or NULL */
static bool play, hashing, quit;
static uint64_t hash; /* the hash of the pixels of all frames */

static penta_bytes read_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    long size = in && !fseek(in, 0, SEEK_END) ? ftell(in) : -1;
    uint8_t *data = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!data || fseek(in, 0, SEEK_SET) || fread(data, 1, (size_t)size, in) != (size_t)size)
        errx(1, "%s: %s", path, "cannot be read");
    fclose(in);
    return (penta_bytes){data, (size_t)size};
}

static void write_frame(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/frame-%05u.ppm", frames, frame_count);
    FILE *out = fopen(path, "wb");
    if (!out) errx(1, "%s: %s", path, "cannot be written");
    fprintf(out, "P6\n%u %u\n255\n", width, height);
    for (const uint32_t *p = pixels; p < pixels + width * height; p++)
        fwrite((uint8_t[]){*p >> 16 & 255, *p >> 8 & 255, *p & 255}, 1, 3, out);
    if (fclose(out)) errx(1, "%s: %s", path, "cannot be written");
}

/* Draws half blocks: each character shows two pixels, one above the other. The picture is 4 : 3. */
static void screen_draw(void)
{
    struct winsize size = {0};
    bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col;
    unsigned rows = known ? 2u * size.ws_row : 48, columns = known ? size.ws_col : 80;
    if (rows * 4 > columns * 3) rows = (columns * 3 / 4) & ~1u;
    columns = rows * 4 / 3;
    printf("\033[H");
    for (unsigned y = 0; y < rows; y += 2) {
        for (unsigned x = 0; x < columns; x++) {
            const uint32_t *column = pixels + x * width / columns;
            uint32_t a = column[y * height / rows * width];
            uint32_t b = column[(y + 1) * height / rows * width];
            printf("\033[38;2;%u;%u;%u;48;2;%u;%u;%um\u2580", a >> 16 & 255, a >> 8 & 255, a & 255,
                   b >> 16 & 255, b >> 8 & 255, b & 255);
        }
        fputs(y + 2 < rows ? "\033[0m\r\n" : "\033[0m", stdout);
    }
    fflush(stdout);
}

static void frame_take(uint64_t address, uint64_t w, uint64_t h)
{
    if (w - 1 >= SIDE_MAX || h - 1 >= SIDE_MAX) errx(1, "frame: odd size");
    pixels = realloc(pixels, (size_t)(4 * w * h));
    if (!pixels || !penta_vm_peek(vm, address, pixels, (size_t)(4 * w * h)))
        errx(1, "frame: outside of memory");
    width = (uint32_t)w, height = (uint32_t)h, frame_count++;
    for (size_t i = 0; hashing && i < w * h; i++)
        hash = (hash ^ (pixels[i] & 0xffffff)) * UINT64_C(0x100000001b3);
    if (frames) write_frame();
    if (play) screen_draw();
}

static uint64_t guest_print(uint64_t address, uint64_t size)
{
    char text[4096];
    if (size > sizeof text || !penta_vm_peek(vm, address, text, (size_t)size)) return 0;
    return play ? size : fwrite(text, 1, (size_t)size, stderr);
}

static uint64_t call_answer(const char *name, const uint64_t *a)
{
    if (!strcmp(name, "ext_rom_size")) return wad.size;
    if (!strcmp(name, "ext_stdout")) return guest_print(a[0], a[1]);
    if (!strcmp(name, "ext_output_video")) return frame_take(a[0], a[1], a[2]), 0;
    if (!strcmp(name, "ext_output_audio")) return 0;
    if (strcmp(name, "ext_rom_read")) errx(1, "unknown host call: %s", name);
    if (a[1] > wad.size || a[2] > wad.size - a[1] ||
        !penta_vm_poke(vm, a[0], wad.data + a[1], (size_t)a[2]))
        errx(1, "%s: outside of the WAD or of memory", name);
    return 0;
}

static void export_call(const char *export, uint64_t a0, uint64_t a1)
{
    uint32_t pc;
    if (!penta_pvm_export(module, export, &pc)) errx(1, "no such export: %s", export);
    penta_pvm_call(vm, pc, (uint64_t[]){a0, a1}, 2);
    for (penta_stop stop; penta_vm_run(vm, UINT64_MAX, &stop), stop.kind != PENTA_STOP_HALT;) {
        penta_bytes name = {0};
        char text[64] = "";
        if (stop.kind != PENTA_STOP_HOST) errx(1, "%s: %s", export, "a trap, or no gas left");
        if (penta_pvm_import(module, stop.detail, &name) && name.size < sizeof text)
            memcpy(text, name.data, name.size);
        penta_vm_answer(vm, (uint64_t[]){call_answer(text, stop.args)}, 1, &error);
    }
}

static struct termios before;

static void terminal_restore(void)
{
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    printf("\033[0m\033[?25h\033[2J\033[H");
}

static void take_terminal(void)
{
    if (tcgetattr(STDIN_FILENO, &before)) errx(1, "terminal: needed, or --ticks");
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    atexit(terminal_restore);
    printf("\033[2J\033[?25l");
}

static void keys_send(void)
{
    static const uint8_t arrows[] = {0xad, 0xaf, 0xae, 0xac};
    static unsigned held[256];
    char input[256] = "";
    /* The terminal does not wait for a key. */
    if (read(STDIN_FILENO, input, sizeof input - 1) < 0) quit = true;
    for (const char *p = input; *p; p++) {
        uint8_t key = *p == ' ' ? 0xa2 : *p == 'x' ? 0xa3 : *p == '\n' ? 13 : (uint8_t)*p;
        if (p[0] == 27 && p[1] == '[' && p[2] >= 'A' && p[2] <= 'D') key = arrows[*(p += 2) - 'A'];
        quit |= *p == 'q' || *p == 3;
        if (!held[key]) export_call("ext_on_keychange", key, 1);
        held[key] = HELD;
    }
    for (unsigned key = 0; key < 256; key++)
        if (held[key] && !--held[key]) export_call("ext_on_keychange", key, 0);
}

static double seconds_now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_MONOTONIC, &t), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *option_value(char **argv, const char *name)
{
    for (; *argv; argv++)
        if (!strcmp(*argv, name)) return argv[1] ? argv[1] : "";
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3) errx(1, "usage: doom BLOB WAD [--ticks N --hash --frames DIR --engine E ...]");
    const char *ticks = option_value(argv, "--ticks"), *gas = option_value(argv, "--gas");
    const char *engine = option_value(argv, "--engine");
    hashing = option_value(argv, "--hash"), frames = option_value(argv, "--frames");
    /* The stack of the program needs 16 KiB. */
    penta_option options[] = {{"page-size", "16384"}, {"gas", gas}};
    wad = read_file(argv[2]);
    module = penta_open(read_file(argv[1]), "pvm", NULL, 0, &error);
    penta_pvm_pool *pool = NULL;
    if (module) pool = penta_pvm_pool_new(module, engine, options, gas ? 2 : 1, &error);
    if (!pool || !(vm = penta_pvm_pool_take(pool, &error)))
        errx(1, "%s: %s", argv[1], error.message);
    if ((play = !ticks)) take_terminal();
    export_call("ext_initialize", 0, 0);
    double start = seconds_now();
    unsigned long count = ticks ? strtoul(ticks, NULL, 10) : ULONG_MAX;
    for (unsigned long t = 1; !quit && t <= count; t++) {
        if (play) keys_send();
        export_call("ext_tick", 0, 0);
        double early = start + (double)t / TICKS_PER_SECOND - seconds_now();
        if (play && early > 0) nanosleep(&(struct timespec){0, (long)(early * 1e9)}, NULL);
    }
    if (hashing) printf("%u frames, hash %016llx\n", frame_count, (unsigned long long)hash);
    if (ticks) fprintf(stderr, "%.0f ticks a second\n", (double)count / (seconds_now() - start));
}
