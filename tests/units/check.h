/* Declares the checks of a unit test. Each check is counted, one that fails is printed, and the
 * test's exit status follows from them. */
#pragma once
#include <stdbool.h>

/* Checks that the condition holds, and has its value. More arguments, in the form of printf,
 * replace the text of the condition in the report: CHECK(size == 3); CHECK(size == 3, "%s has
 * %zu bytes", name, size); Any thread may check. */
#define CHECK(condition, ...) check_one(condition, __FILE__, __LINE__, #condition, " " __VA_ARGS__)

/* Checks a condition that the rest of a test needs. A failure ends the process. */
#define REQUIRE(condition, ...)                                                                    \
    do {                                                                                           \
        if (!check_one(condition, __FILE__, __LINE__, #condition, " " __VA_ARGS__)) checks_exit(); \
    } while (0)

bool check_one(bool holds, const char *file, int line, const char *text, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A text that is printed after every failure, unless it is NULL or empty: the message of an
 * error that calls fill. */
extern const char *check_note;

/* Returns how many checks have failed. A forked process starts with those of its parent. */
unsigned long checks_failed(void);

/* Prints the counts and returns the exit status of main: 0 if something was checked and nothing
 * failed. */
int checks_end(void);
_Noreturn void checks_exit(void);

/* Ends the process as a skipped test. */
_Noreturn void checks_skip(const char *why);
