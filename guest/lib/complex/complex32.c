/* Implements <complex.h> for float. Results are computed in double and then rounded. */
#include <complex.h>

static inline float complex complex_narrow(double complex z)
{
    union {
        float part[2];
        float complex z;
    } u = {{(float)__real__ z, (float)__imag__ z}};
    return u.z;
}

#define ONE(name)                                                                                  \
    float complex name##f(float complex z) { return complex_narrow(name(z)); }
ONE(cacos)
ONE(casin)
ONE(catan)
ONE(ccos)
ONE(csin)
ONE(ctan)
ONE(cacosh)
ONE(casinh)
ONE(catanh)
ONE(ccosh)
ONE(csinh)
ONE(ctanh)
ONE(cexp)
ONE(clog)
ONE(csqrt)
ONE(conj)
ONE(cproj)
float cabsf(float complex z) { return (float)cabs(z); }
float cargf(float complex z) { return (float)carg(z); }
float crealf(float complex z) { return __real__ z; }
float cimagf(float complex z) { return __imag__ z; }
float complex cpowf(float complex z, float complex w) { return complex_narrow(cpow(z, w)); }
