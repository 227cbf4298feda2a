#include "system/system.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "penta_console.h"

int errno;

long penta_system_result(long result)
{
    if (result >= 0) return result;
    errno = (int)-result;
    return -1;
}

char *penta_system_sbrk(size_t n) { return penta_sbrk(n); }
long penta_system_write(int fd, const void *from, size_t size)
{
    return console_write(fd, from, size);
}
long penta_system_read(int fd, void *to, size_t size) { return console_read(fd, to, size); }
long penta_system_close(int fd) { return console_close(fd); }
long penta_system_seek(int fd, long offset, int whence) { return console_seek(fd, offset, whence); }

const char *penta_folder;

struct penta_path *penta_path_of(const char *path, struct penta_path *p)
{
    size_t size = strlen(path),
           front = *path && *path != '/' && penta_folder ? strlen(penta_folder) : 0;
    p->text = path;
    p->size = size;
    if (!front) return p;
    if (front + size >= sizeof p->place) return NULL;
    memcpy(p->place, penta_folder, front);
    memcpy(p->place + front, path, size + 1);
    p->text = p->place;
    p->size = front + size;
    return p;
}

long penta_system_open(const char *path, unsigned flags)
{
    struct penta_path p;
    return penta_path_of(path, &p) ? console_open(p.text, p.size, flags) : -ENAMETOOLONG;
}

int remove(const char *path)
{
    struct penta_path p;
    if (!penta_path_of(path, &p)) return (int)penta_system_result(-ENAMETOOLONG);
    long result = console_remove(p.text, p.size);
    if (result == -EISDIR) result = console_remove_folder(p.text, p.size);
    return (int)penta_system_result(result);
}

int rename(const char *from, const char *to)
{
    struct penta_path p, q;
    if (!penta_path_of(from, &p) || !penta_path_of(to, &q))
        return (int)penta_system_result(-ENAMETOOLONG);
    return (int)penta_system_result(console_rename(p.text, p.size, q.text, q.size));
}
