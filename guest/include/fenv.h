#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef struct {
    unsigned rounding;
} fenv_t;
typedef unsigned fexcept_t;
/* The machine has no exceptions and only one rounding, so no other macros for them are defined. */
#define FE_ALL_EXCEPT 0
#define FE_TONEAREST 0
extern const fenv_t penta_fenv_default;
#define FE_DFL_ENV (&penta_fenv_default)
int feclearexcept(int which);
int fegetexceptflag(fexcept_t *into, int which);
int feraiseexcept(int which);
int fesetexceptflag(const fexcept_t *from, int which);
int fetestexcept(int which);
int fegetround(void);
int fesetround(int rounding); /* Returns a value other than 0 for roundings other than
                               * FE_TONEAREST. */
int fegetenv(fenv_t *into);
int feholdexcept(fenv_t *into);
int fesetenv(const fenv_t *from);
int feupdateenv(const fenv_t *from);
#ifdef __cplusplus
}
#endif
