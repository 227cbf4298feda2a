/* Implements the environment of floating point. It has one rounding, to the nearest, and no
 * exceptions. */
#include <fenv.h>

const fenv_t penta_fenv_default = {FE_TONEAREST};

int feclearexcept(int which) { return (void)which, 0; }
int fegetexceptflag(fexcept_t *into, int which) { return (void)which, *into = 0, 0; }
int feraiseexcept(int which) { return which != 0; }
int fesetexceptflag(const fexcept_t *from, int which) { return (void)from, which != 0; }
int fetestexcept(int which) { return (void)which, 0; }
int fegetround(void) { return FE_TONEAREST; }
int fesetround(int rounding) { return rounding != FE_TONEAREST; }
int fegetenv(fenv_t *into) { return *into = penta_fenv_default, 0; }
int feholdexcept(fenv_t *into) { return fegetenv(into); }
int fesetenv(const fenv_t *from) { return (void)from, 0; }
int feupdateenv(const fenv_t *from) { return (void)from, 0; }
