/* This header may be included again with another NDEBUG. */
#undef assert
#ifdef NDEBUG
#define assert(x) ((void)0)
#else
#define assert(x) ((x) ? (void)0 : penta_assert_failed(#x, __FILE__, __LINE__, __func__))
#endif
#ifndef __cplusplus
#undef static_assert
#define static_assert _Static_assert
#endif
#ifdef __cplusplus
extern "C"
#endif
    __attribute__((noreturn)) void
    penta_assert_failed(const char *what, const char *file, int line, const char *function);
