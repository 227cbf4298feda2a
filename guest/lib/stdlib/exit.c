/* Implements the ways to end a program. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include "penta_console.h"
#include "system/system.h"
#include "system/weak.h"

enum { FUNCTIONS = 64 };
struct exit_list {
    struct {
        void (*function)(void *);
        void *argument;
    } at[FUNCTIONS];
    unsigned count;
};
static struct exit_list at_exit, at_quick;

/* Adds a function to be called at the end. The first FUNCTIONS have a place without any memory
 * of the heap. */
static int exit_add(struct exit_list *list, void (*function)(void *), void *argument)
{
    if (list->count == FUNCTIONS) return -1;
    list->at[list->count].function = function;
    list->at[list->count++].argument = argument;
    return 0;
}

static void exit_call(struct exit_list *list)
{
    while (list->count) {
        list->count--;
        list->at[list->count].function(list->at[list->count].argument);
    }
}

/* C++ registers destructors with this function. */
int __cxa_atexit(void (*function)(void *), void *argument, void *object)
{
    (void)object;
    return exit_add(&at_exit, function, argument);
}

static void call_plain(void *function) { ((void (*)(void))function)(); }
int atexit(void (*function)(void)) { return exit_add(&at_exit, call_plain, (void *)function); }
int at_quick_exit(void (*function)(void))
{
    return exit_add(&at_quick, call_plain, (void *)function);
}

void _Exit(int code)
{
    console_exit(code);
    penta_trap();
}
WEAK void _exit(int code) { _Exit(code); }

void (*penta_flush_streams)(void);

void exit(int code)
{
    exit_call(&at_exit);
    if (penta_flush_streams) penta_flush_streams();
    _Exit(code);
}

void quick_exit(int code)
{
    exit_call(&at_quick);
    _Exit(code);
}

int system(const char *command) { return command ? -1 : 0; }
