#pragma once
#include <sys/types.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct penta_folder DIR;
struct dirent {
    ino_t d_ino;
    unsigned char d_type;
    char d_name[256];
};
#define DT_UNKNOWN 0
#define DT_FIFO 1
#define DT_CHR 2
#define DT_DIR 4
#define DT_BLK 6
#define DT_REG 8
#define DT_LNK 10
#define DT_SOCK 12
DIR *opendir(const char *path);
struct dirent *readdir(DIR *folder); /* Gives . and .. first, then the other entries sorted by
                                      * name. */
void rewinddir(DIR *folder);
long telldir(DIR *folder);
void seekdir(DIR *folder, long position);
int closedir(DIR *folder);
int alphasort(const struct dirent **a, const struct dirent **b);
int scandir(const char *path, struct dirent ***list, int (*wanted)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));
#ifdef __cplusplus
}
#endif
