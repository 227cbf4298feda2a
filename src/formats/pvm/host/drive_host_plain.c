/* Replaces drive_host.c where the system has no such folders: there, all files of programs lie
 * in memory. */
#include "pvm/host/drive.h"
#include "base/error.h"

struct pvm_drive *pvm_drive_host_new(struct pvm_files *files, const char *path, penta_error *err)
{
    (void)files;
    error_at(err, BASE_IO, 0, "files: '%.80s': this build has no folders but those in memory",
             path);
    return NULL;
}
