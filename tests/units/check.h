/* Checks of a unit test: each is counted, one that fails is printed, and the test's exit status follows from them. */
#pragma once
#include <stdbool.h>

/* The condition holds. More arguments, in the form of printf, say what it is about in place of its own text:
 *     CHECK(size == 3);
 *     CHECK(size == 3, "%s has %zu bytes", name, size);
 * The value is that of the condition. Any thread may check. */
#define CHECK(condition, ...) check_one(condition, __FILE__, __LINE__, #condition, " " __VA_ARGS__)

/* The same for what the rest of a test needs: a failure ends the process. */
#define REQUIRE(condition, ...)                                                                    \
    do {                                                                                           \
        if (!check_one(condition, __FILE__, __LINE__, #condition, " " __VA_ARGS__)) checks_exit(); \
    } while (0)

bool check_one(bool holds, const char *file, int line, const char *text, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Is printed after every failure, where it is set and not empty: the message of an error that calls fill. */
extern const char *check_note;

/* How many checks have failed; a forked process starts with those of its parent. */
unsigned long checks_failed(void);

/* Prints the counts and returns the exit status of main: 0 if something was checked and nothing failed. */
int checks_end(void);
_Noreturn void checks_exit(void);

/* Ends the process as a skipped test. */
_Noreturn void checks_skip(const char *why);
