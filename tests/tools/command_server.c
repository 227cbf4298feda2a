/* Runs many commands of the tool in one process, because starting a process takes longer than most
 * commands do, most of all with a sanitizer. This is a library that is loaded into the tool itself
 * before its own libraries (LD_PRELOAD), so that the program under test stays unchanged. It takes
 * the place of __libc_start_main, and calls the main function of the tool for each command. A
 * sanitizer looks for leaks of all commands once, at the end of the process. Each command runs
 * after others, as in a program that calls the library often.
 *
 *     at start   one line: ready
 *     request    one line: the count of words, then each word as a line of hex: the folder, the files that
 *                are standard input, output and error, variables NAME=VALUE, an empty word, the arguments
 *     answer     one line: the exit code, or -N for signal N
 *
 * When a command ends its process, the parent process answers for it and starts another one. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int argc, char **argv, char **environment);
typedef void start_hook(void);
typedef int start_function(main_function *run, int argc, char **argv, start_hook *init,
                           start_hook *fini, start_hook *loader_fini, void *stack_end);
__attribute__((visibility("default"))) start_function __libc_start_main;

static main_function *tool_main;

enum { WORDS_MAX = 512, FOLDER = 0, INPUT, OUTPUT, ERRORS, VARIABLES };

static char *word_read(FILE *requests)
{
    static char line[1 << 20];
    if (!fgets(line, sizeof line, requests)) exit(2);
    size_t digits = strcspn(line, "\n");
    char *text = calloc(digits / 2 + 1, 1);
    for (size_t i = 0; text && i < digits / 2; i++) {
        char pair[3] = {line[2 * i], line[2 * i + 1], 0};
        text[i] = (char)strtoul(pair, NULL, 16);
    }
    if (!text) exit(2);
    return text;
}

static void descriptor_redirect(int descriptor, const char *path, int flags)
{
    int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
    close(file);
}

/* Returns the environment of this process after the variables of a command. The first one of a
 * name counts. */
static char **environment_join(char **variables, char **before)
{
    size_t here = 0, there = 0;
    while (*variables[here]) here++;
    while (before[there]) there++;
    char **all = calloc(here + there + 1, sizeof *all);
    if (!all) exit(2);
    memcpy(all, variables, here * sizeof *all);
    memcpy(all + here, before, there * sizeof *all);
    return all;
}

static int command_run(char **words, int count)
{
    char **before = environ;
    int first = VARIABLES;
    if (chdir(words[FOLDER])) exit(2);
    descriptor_redirect(STDIN_FILENO, words[INPUT], O_RDONLY);
    descriptor_redirect(STDOUT_FILENO, words[OUTPUT], O_WRONLY | O_CREAT | O_TRUNC);
    descriptor_redirect(STDERR_FILENO, words[ERRORS], O_WRONLY | O_CREAT | O_TRUNC);
    environ = environment_join(words + VARIABLES, before);
    while (*words[first++]) {
    }
    int code = tool_main(count - first, words + first, environ);
    fflush(NULL);
    __fpurge(stdin);
    clearerr(stdin);
    free(environ);
    environ = before;
    return code;
}

/* Answers requests until there are no more. `busy` is set while a command runs. */
static _Noreturn void commands_serve(FILE *requests, FILE *answers, int errors, volatile int *busy)
{
    char line[32];
    while (fgets(line, sizeof line, requests)) {
        int count = atoi(line);
        if (count <= VARIABLES + 1 || count > WORDS_MAX) exit(2);
        char *words[WORDS_MAX + 1] = {NULL};
        for (int i = 0; i < count; i++) words[i] = word_read(requests);
        *busy = 1;
        int code = command_run(words, count);
        dup2(errors, STDERR_FILENO);
        *busy = 0;
        fprintf(answers, "%d\n", code);
        fflush(answers);
        for (int i = 0; i < count; i++) free(words[i]);
    }
    exit(0);
}

static FILE *stream_move(int descriptor, const char *mode)
{
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 100);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, mode);
    if (!stream) exit(2);
    descriptor_redirect(descriptor, "/dev/null", O_RDWR);
    return stream;
}

static int server_main(int argc, char **argv, char **variables)
{
    (void)argc, (void)argv, (void)variables;
    unsetenv("LD_PRELOAD"); /* Programs that the tool starts must not load this library. */
    FILE *requests = stream_move(STDIN_FILENO, "r"), *answers = stream_move(STDOUT_FILENO, "w");
    int errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    volatile int *busy =
        mmap(NULL, sizeof *busy, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (errors < 0 || busy == MAP_FAILED) return 2;
    fputs("ready\n", answers);
    fflush(answers);
    for (;;) {
        int status;
        pid_t pid = fork();
        if (!pid) commands_serve(requests, answers, errors, busy);
        if (pid < 0 || waitpid(pid, &status, 0) < 0) return 2;
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        if (!*busy) return code; /* All commands are done, or leaks were found. */
        *busy = 0;
        fprintf(answers, "%d\n", code);
        fflush(answers);
    }
}

int __libc_start_main(main_function *run, int argc, char **argv, start_hook *init, start_hook *fini,
                      start_hook *loader_fini, void *stack_end)
{
    tool_main = run;
    start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    return start(server_main, argc, argv, init, fini, loader_fini, stack_end);
}
