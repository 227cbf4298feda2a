/* Runs many commands of the tool from one process, each in a fork: starting a process anew for each
 * of thousands of commands would take much longer, most of all with a sanitizer.
 *
 *     request    one line: the count of arguments, then each argument as a line of hex; the files
 *                that take standard output and standard error come first
 *     answer     one line: the exit code, or -N for signal N */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/cli.h"

enum { ARGUMENTS_MAX = 256 };

static char *argument(void)
{
    static char line[1 << 20];
    if (!fgets(line, sizeof line, stdin)) exit(2);
    size_t digits = strcspn(line, "\n");
    char *text = calloc(digits / 2 + 1, 1);
    for (size_t i = 0; text && i < digits / 2; i++) {
        char pair[3] = {line[2 * i], line[2 * i + 1], 0};
        text[i] = (char)strtoul(pair, NULL, 16);
    }
    if (!text) exit(2);
    return text;
}

static void redirect(const char *path, int descriptor)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(127);
    close(file);
}

static int child(int argc, char **argv, const char *out, const char *err)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) _exit(127);
    close(nothing);
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    return cli_main(argc, argv);
}

/* A sanitizer looks for leaks when a process exits, which takes longer than most commands do. What
 * makes documents is looked at by the properties, in one process: here it ends without that. */
static _Noreturn void end(int code, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--json")) {
            fflush(NULL);
            _exit(code);
        }
    exit(code);
}

int main(void)
{
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        int count = atoi(line);
        if (count < 3 || count > ARGUMENTS_MAX) return 2;
        char *words[ARGUMENTS_MAX + 1] = {NULL};
        for (int i = 0; i < count; i++) words[i] = argument();
        pid_t pid = fork();
        if (pid < 0) return 2;
        if (!pid) end(child(count - 2, words + 2, words[0], words[1]), count - 2, words + 2);
        int status;
        if (waitpid(pid, &status, 0) < 0) return 2;
        printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
        fflush(stdout);
        for (int i = 0; i < count; i++) free(words[i]);
    }
    return 0;
}
