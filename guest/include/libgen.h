#pragma once
#ifdef __cplusplus
extern "C" {
#endif
char *dirname(char *path);
char *basename(char *path);
#ifdef __cplusplus
}
#endif
