/* Makes lists of arguments and of the environment. They are below the heap, because a program
 * without malloc has no heap. */
#include <string.h>
#include <unistd.h>
#include "penta_guest.h"
#include "system/system.h"

char **environ;

char **penta_words(long (*read)(char *to, size_t size), int *count)
{
    long size = read(NULL, 0), words = 0;
    if (size < 0) size = 0;
    char *end = penta_system_sbrk((size_t)size + sizeof(char *));
    if (!end) penta_trap();
    char *text = end - size;
    if (read(text, (size_t)size) != size) size = 0;
    for (long i = 0; i < size; i++) words += !text[i];
    size_t room = ((size_t)words + 1) * sizeof(char *);
    end = penta_system_sbrk(room + sizeof(char *));
    if (!end) penta_trap();
    char **list = (char **)((uintptr_t)(end - room) / sizeof(char *) * sizeof(char *));
    for (long i = 0; i < words; i++) {
        list[i] = text;
        text += strlen(text) + 1;
    }
    list[words] = NULL;
    *count = (int)words;
    return list;
}
