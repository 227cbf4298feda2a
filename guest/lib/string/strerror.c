/* Has the texts of the numbers of <errno.h> and <signal.h>. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "system/weak.h"

/* clang-format off */
static const struct {
    short number;
    const char *text;
} texts[] = {
    {0, "Success"},
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {ESRCH, "No such process"},
    {EINTR, "Interrupted system call"},
    {EIO, "Input/output error"},
    {ENXIO, "No such device or address"},
    {E2BIG, "Argument list too long"},
    {ENOEXEC, "Exec format error"},
    {EBADF, "Bad file descriptor"},
    {ECHILD, "No child processes"},
    {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EFAULT, "Bad address"},
    {ENOTBLK, "Block device required"},
    {EBUSY, "Device or resource busy"},
    {EEXIST, "File exists"},
    {EXDEV, "Invalid cross-device link"},
    {ENODEV, "No such device"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {EINVAL, "Invalid argument"},
    {ENFILE, "Too many open files in system"},
    {EMFILE, "Too many open files"},
    {ENOTTY, "Inappropriate ioctl for device"},
    {ETXTBSY, "Text file busy"},
    {EFBIG, "File too large"},
    {ENOSPC, "No space left on device"},
    {ESPIPE, "Illegal seek"},
    {EROFS, "Read-only file system"},
    {EMLINK, "Too many links"},
    {EPIPE, "Broken pipe"},
    {EDOM, "Numerical argument out of domain"},
    {ERANGE, "Numerical result out of range"},
    {EDEADLK, "Resource deadlock avoided"},
    {ENAMETOOLONG, "File name too long"},
    {ENOLCK, "No locks available"},
    {ENOSYS, "Function not implemented"},
    {ENOTEMPTY, "Directory not empty"},
    {ELOOP, "Too many levels of symbolic links"},
    {ENOMSG, "No message of desired type"},
    {ENODATA, "No data available"},
    {ETIME, "Timer expired"},
    {EPROTO, "Protocol error"},
    {EBADMSG, "Bad message"},
    {EOVERFLOW, "Value too large for defined data type"},
    {EILSEQ, "Invalid or incomplete multibyte or wide character"},
    {ENOTSOCK, "Socket operation on non-socket"},
    {EDESTADDRREQ, "Destination address required"},
    {EMSGSIZE, "Message too long"},
    {EPROTOTYPE, "Protocol wrong type for socket"},
    {ENOPROTOOPT, "Protocol not available"},
    {EPROTONOSUPPORT, "Protocol not supported"},
    {EOPNOTSUPP, "Operation not supported"},
    {EAFNOSUPPORT, "Address family not supported by protocol"},
    {EADDRINUSE, "Address already in use"},
    {EADDRNOTAVAIL, "Cannot assign requested address"},
    {ENETDOWN, "Network is down"},
    {ENETUNREACH, "Network is unreachable"},
    {ENETRESET, "Network dropped connection on reset"},
    {ECONNABORTED, "Software caused connection abort"},
    {ECONNRESET, "Connection reset by peer"},
    {ENOBUFS, "No buffer space available"},
    {EISCONN, "Transport endpoint is already connected"},
    {ENOTCONN, "Transport endpoint is not connected"},
    {ETIMEDOUT, "Connection timed out"},
    {ECONNREFUSED, "Connection refused"},
    {EHOSTUNREACH, "No route to host"},
    {EALREADY, "Operation already in progress"},
    {EINPROGRESS, "Operation now in progress"},
    {ESTALE, "Stale file handle"},
    {EDQUOT, "Disk quota exceeded"},
    {ECANCELED, "Operation canceled"},
    {EOWNERDEAD, "Owner died"},
    {ENOTRECOVERABLE, "State not recoverable"},
};
/* clang-format on */

static const char *text_of(int number)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].number == number) return texts[i].text;
    return NULL;
}

/* Writes a text such as "Unknown error N" to 32 bytes. */
static char *unknown_text(char *to, const char *what, int number)
{
    char digits[12], *p = digits + sizeof digits;
    unsigned left = number < 0 ? 0 - (unsigned)number : (unsigned)number;
    *--p = 0;
    do *--p = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0) *--p = '-';
    return strcat(strcpy(to, what), p);
}

char *strerror(int number)
{
    static char unknown[32];
    const char *text = text_of(number);
    return text ? (char *)text : unknown_text(unknown, "Unknown error ", number);
}

WEAK int strerror_r(int number, char *to, size_t size)
{
    char unknown[32];
    const char *text = text_of(number),
               *whole = text ? text : unknown_text(unknown, "Unknown error ", number);
    if (size) strncat(strcpy(to, ""), whole, size - 1);
    return !text ? EINVAL : strlen(whole) < size ? 0 : ERANGE;
}

WEAK char *strsignal(int number)
{
    static const struct {
        int number;
        const char *text;
    } names[] = {{SIGHUP, "Hangup"},
                 {SIGINT, "Interrupt"},
                 {SIGQUIT, "Quit"},
                 {SIGILL, "Illegal instruction"},
                 {SIGTRAP, "Trace/breakpoint trap"},
                 {SIGABRT, "Aborted"},
                 {SIGBUS, "Bus error"},
                 {SIGFPE, "Floating point exception"},
                 {SIGKILL, "Killed"},
                 {SIGUSR1, "User defined signal 1"},
                 {SIGSEGV, "Segmentation fault"},
                 {SIGUSR2, "User defined signal 2"},
                 {SIGPIPE, "Broken pipe"},
                 {SIGALRM, "Alarm clock"},
                 {SIGTERM, "Terminated"},
                 {SIGCHLD, "Child exited"}};
    static char unknown[32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number) return (char *)names[i].text;
    return unknown_text(unknown, "Unknown signal ", number);
}
