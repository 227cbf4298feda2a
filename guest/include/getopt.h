#pragma once
#ifdef __cplusplus
extern "C" {
#endif
extern char *optarg;
extern int optind, opterr, optopt;
#define no_argument 0
#define required_argument 1
#define optional_argument 2
struct option {
    const char *name;
    int has_arg;
    int *flag;
    int val;
};
int getopt(int count, char *const list[], const char *options);
/* Options may stand after operands, unless `options` starts with '+', as in GNU's library. */
int getopt_long(int count, char *const list[], const char *options, const struct option *names,
                int *which);
int getopt_long_only(int count, char *const list[], const char *options, const struct option *names,
                     int *which);
#ifdef __cplusplus
}
#endif
