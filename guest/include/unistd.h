/* Declares POSIX for one process without threads and users: files, folders, time. */
#pragma once
#include <sys/types.h>
#include <getopt.h>
#ifdef __cplusplus
extern "C" {
#endif
#define _POSIX_VERSION 200809L
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#ifndef SEEK_SET
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#endif
#define F_OK 0
#define X_OK 1
#define W_OK 2
#define R_OK 4
#define _SC_ARG_MAX 0
#define _SC_CLK_TCK 2
#define _SC_OPEN_MAX 4
#define _SC_PAGESIZE 30
#define _SC_PAGE_SIZE _SC_PAGESIZE
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
#define _SC_PHYS_PAGES 85
#define _PC_PATH_MAX 4
#define _PC_NAME_MAX 3
extern char **environ;
ssize_t read(int fd, void *to, size_t size);
ssize_t write(int fd, const void *from, size_t size);
ssize_t pread(int fd, void *to, size_t size, off_t offset);
ssize_t pwrite(int fd, const void *from, size_t size, off_t offset);
off_t lseek(int fd, off_t offset, int whence);
int close(int fd);
int dup(int fd);          /* Fails with EMFILE. */
int dup2(int fd, int to); /* Succeeds only if the two numbers are equal. */
int pipe(int ends[2]);    /* Fails with ENOSYS, because there is only one process. */
int fsync(int fd);
int fdatasync(int fd);
void sync(void);
int ftruncate(int fd, off_t size);
int truncate(const char *path, off_t size);
int access(const char *path, int how);
int unlink(const char *path);
int rmdir(const char *path);
int link(const char *path, const char *other);    /* Fails with EPERM, because there are no
                                                   * links. */
int symlink(const char *path, const char *other); /* Fails with EPERM, because there are no
                                                   * links. */
ssize_t readlink(const char *path, char *to, size_t size);
int chown(const char *path, uid_t user, gid_t group);
int lchown(const char *path, uid_t user, gid_t group);
int fchown(int fd, uid_t user, gid_t group);
char *getcwd(char *to, size_t size);
int chdir(const char *path);
int isatty(int fd);
char *ttyname(int fd);
pid_t getpid(void);
pid_t getppid(void);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int gethostname(char *to, size_t size);
long sysconf(int name);
long pathconf(const char *path, int name);
int getpagesize(void);
int getdtablesize(void);
int getentropy(void *to, size_t size);
unsigned alarm(unsigned seconds); /* Does nothing, because there are no alarms. */
int usleep(useconds_t microseconds);
unsigned sleep(unsigned seconds);
__attribute__((noreturn)) void _exit(int code);
#ifdef __cplusplus
}
#endif
