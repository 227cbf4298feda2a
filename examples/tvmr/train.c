/* Trains four ternary neurons on pictures of shapes, saves the weights, loads them into a fresh
 * machine with another program, and counts what it gets right.
 *
 *     train FOLDER WEIGHTS        FOLDER has train.tasm, classify.tasm, train.csv, test.csv */
#include <penta/tvmr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 64, CLASSES = 4, SAMPLES = 1000, EPOCHS = 30 };

struct sample {
    int shape;
    int32_t pixels[PIXELS];
};

static void train_die(const char *what, const char *why)
{
    fprintf(stderr, "train: %s: %s\n", what, why);
    exit(1);
}

static size_t read_samples(const char *folder, const char *name, struct sample *samples)
{
    char path[1024], line[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) train_die(path, "cannot be opened");
    size_t count = 0;
    while (count < SAMPLES && fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        char *p = line;
        samples[count].shape = (int)strtol(p, &p, 10);
        for (int i = 0; i < PIXELS; i++) samples[count].pixels[i] = (int32_t)strtol(p + 1, &p, 10);
        count++;
    }
    fclose(file);
    return count;
}

static void finding_die(void *user, const penta_error *finding)
{
    if (finding->severity == PENTA_ERROR) train_die(user, finding->message);
}

static penta_module *program_open(const char *folder, const char *name, char *text, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) train_die(path, "cannot be opened");
    size_t read = fread(text, 1, size, file);
    fclose(file);
    return penta_assemble((penta_bytes){(uint8_t *)text, read}, "tvmr", NULL, 0, finding_die, path);
}

static void sample_run(penta_vm *vm, const struct sample *s)
{
    penta_error err;
    penta_stop stop;
    if (!penta_tvmr_begin(vm, s->pixels, PIXELS, &err)) train_die("input", err.message);
    penta_vm_run(vm, UINT64_MAX, &stop);
    if (stop.kind != PENTA_STOP_HALT) train_die("run", penta_tvmr_failure(vm));
}

static double network_accuracy(penta_vm *vm, const struct sample *samples, size_t count)
{
    size_t right = 0, size;
    for (size_t i = 0; i < count; i++) {
        sample_run(vm, &samples[i]);
        const int32_t *answer = penta_tvmr_output(vm, &size);
        right += size == 1 && answer[0] == samples[i].shape;
    }
    return 100.0 * (double)right / (double)count;
}

int main(int argc, char **argv)
{
    static struct sample training[SAMPLES], test[SAMPLES];
    static char text[2][8192];
    if (argc != 3) train_die("usage", "train FOLDER WEIGHTS");
    size_t trained = read_samples(argv[1], "train.csv", training),
           tested = read_samples(argv[1], "test.csv", test);
    penta_module *learn = program_open(argv[1], "train.tasm", text[0], sizeof text[0]);
    penta_module *classify = program_open(argv[1], "classify.tasm", text[1], sizeof text[1]);
    penta_error err;
    penta_vm *teacher = penta_vm_new(learn, NULL, NULL, 0, NULL, &err),
             *judge = penta_vm_new(classify, NULL, NULL, 0, NULL, &err);
    if (!teacher || !judge) train_die("machine", err.message);
    printf("%zu pictures to learn from, %zu to be judged by\nbefore  %5.1f %%\n", trained, tested,
           network_accuracy(judge, test, tested));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        for (size_t i = 0; i < trained; i++) {
            int32_t target[CLASSES];
            for (int k = 0; k < CLASSES; k++) target[k] = training[i].shape == k ? 255 : -255;
            if (!penta_tvmr_target(teacher, target, CLASSES, &err))
                train_die("target", err.message);
            sample_run(teacher, &training[i]);
        }
        if (epoch != 1 && epoch % 10) continue;
        size_t loaded;
        if (!penta_tvmr_weights_save(teacher, argv[2], &err)) train_die("save", err.message);
        if (!penta_tvmr_weights_load(judge, argv[2], &loaded, &err) || loaded != CLASSES)
            train_die("load", err.message);
        printf("after %2d epochs  %5.1f %%\n", epoch, network_accuracy(judge, test, tested));
    }
    penta_vm_free(judge); /* A new machine has only the weights of the file. */
    judge = penta_vm_new(classify, NULL, NULL, 0, NULL, &err);
    size_t loaded;
    if (!judge || !penta_tvmr_weights_load(judge, argv[2], &loaded, &err))
        train_die("reload", err.message);
    double final = network_accuracy(judge, test, tested);
    printf("reloaded from %s  %5.1f %%\n", argv[2], final);
    penta_vm_free(judge);
    penta_vm_free(teacher);
    penta_close(classify);
    penta_close(learn);
    return final > 95 ? 0 : 1;
}
