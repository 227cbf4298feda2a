/* Defines the functions of <complex.h> for one type. It is included with REAL, and F(name),
 * which adds the letter of the type. The formulas compute real and imaginary parts. Those of the
 * inverse functions are by W. Kahan; they keep signs of zeros and lose nothing where parts are
 * small. */
#include <complex.h>
#include <math.h>

typedef REAL complex number;

static inline number F(make)(REAL x, REAL y)
{
    union {
        REAL part[2];
        number z;
    } u = {{x, y}};
    return u.z;
}

REAL F(creal)(number z) { return __real__ z; }
REAL F(cimag)(number z) { return __imag__ z; }
number F(conj)(number z) { return F(make)(__real__ z, -__imag__ z); }
REAL F(cabs)(number z) { return F(hypot)(__real__ z, __imag__ z); }
REAL F(carg)(number z) { return F(atan2)(__imag__ z, __real__ z); }

number F(cproj)(number z)
{
    if (!isinf(__real__ z) && !isinf(__imag__ z)) return z;
    return F(make)(INFINITY, F(copysign)(0, __imag__ z));
}

number F(cexp)(number z)
{
    REAL x = __real__ z, y = __imag__ z;
    if (y == 0) return F(make)(F(exp)(x), y);
    if (x == 0) return F(make)(F(cos)(y), F(sin)(y));
    if (isinf(x) && (isnan(y) || isinf(y)))
        return x < 0 ? F(make)(0, F(copysign)(0, y)) : F(make)(x, NAN);
    if (x <= LARGE) {
        REAL e = F(exp)(x);
        return F(make)(e * F(cos)(y), e * F(sin)(y));
    }
    /* e^x may be too large where the product is not. */
    REAL e = F(exp)(x / 2);
    return F(make)(e * F(cos)(y) * e, e * F(sin)(y) * e);
}

number F(clog)(number z)
{
    REAL x = F(fabs)(__real__ z), y = F(fabs)(__imag__ z), more = F(fmax)(x, y),
         less = F(fmin)(x, y);
    REAL size;
    if (more > (REAL)0.5 && more < 2 && less == less) /* Near the unit circle the result is
                                                       * log1p(|z|^2 - 1). */
        size = F(log1p)(F(fma)(less, less, (more - 1) * (more + 1))) / 2;
    else
        size = F(log)(F(hypot)(x, y));
    if (isnan(x) || isnan(y))
        size = isinf(more) ? INFINITY : NAN;
    else if (more > MOST / 2 && more <= MOST) /* hypot may be too large. */
        size = F(log)(F(hypot)(x / 4, y / 4)) + F(log)(4);
    return F(make)(size, F(carg)(z));
}

number F(cpow)(number z, number w)
{
    if (__real__ z == 0 && __imag__ z == 0)
        return __real__ w > 0 ? F(make)(0, 0) : F(cexp)(w * F(clog)(z));
    return F(cexp)(w * F(clog)(z));
}

number F(csqrt)(number z)
{
    REAL x = __real__ z, y = __imag__ z;
    if (x == 0 && y == 0) return F(make)(0, y);
    if (isinf(y)) return F(make)(INFINITY, y);
    if (isnan(x)) return F(make)(x, NAN);
    if (isinf(x)) {
        REAL other = isnan(y) ? y : F(copysign)(0, y);
        return x > 0 ? F(make)(x, other) : F(make)(isnan(y) ? y : 0, F(copysign)(INFINITY, y));
    }
    int scale = F(ilogb)(F(fmax)(F(fabs)(x), F(fabs)(y))) & ~1; /* An even scale makes the root of
                                                         * 2^scale exact. */
    REAL a = F(scalbn)(F(fabs)(x), -scale), b = F(scalbn)(y, -scale);
    REAL t = F(scalbn)(F(sqrt)((a + F(hypot)(a, b)) / 2), scale / 2);
    if (x >= 0) return F(make)(t, y / (2 * t));
    return F(make)(F(fabs)(y) / (2 * t), F(copysign)(t, y));
}

number F(csinh)(number z)
{
    REAL x = __real__ z, y = __imag__ z;
    if (y == 0) return F(make)(F(sinh)(x), y);
    if (x == 0) return F(make)(y - y == 0 ? x * F(cos)(y) : x, F(sin)(y));
    if (F(fabs)(x) > LARGE && !isinf(x)) { /* e^|x| / 2 is computed in two factors. */
        REAL e = F(exp)(F(fabs)(x) / 2);
        return F(make)(F(copysign)(e / 2 * F(cos)(y) * e, x * F(cos)(y)), e / 2 * F(sin)(y) * e);
    }
    if (isinf(x) && !(y - y == 0)) return F(make)(x, NAN);
    return F(make)(F(sinh)(x) * F(cos)(y), F(cosh)(x) * F(sin)(y));
}

number F(ccosh)(number z)
{
    REAL x = __real__ z, y = __imag__ z;
    if (y == 0) return F(make)(F(cosh)(x), y * F(copysign)(1, x));
    if (x == 0) return F(make)(F(cos)(y), y - y == 0 ? x * F(sin)(y) : 0);
    if (F(fabs)(x) > LARGE && !isinf(x)) {
        REAL e = F(exp)(F(fabs)(x) / 2);
        return F(make)(e / 2 * F(cos)(y) * e, F(copysign)(1, x) * (e / 2 * F(sin)(y)) * e);
    }
    if (isinf(x) && !(y - y == 0)) return F(make)(INFINITY, NAN);
    return F(make)(F(cosh)(x) * F(cos)(y), F(sinh)(x) * F(sin)(y));
}

/* Computes (r s (1 + t^2) + i t) / (1 + s^2 (1 + t^2)) with t = tan y, s = sinh x and r = sqrt(1
 * + s^2). */
number F(ctanh)(number z)
{
    REAL x = __real__ z, y = __imag__ z;
    if (isinf(x) || (F(fabs)(x) > LARGE && y - y == 0))
        return F(make)(F(copysign)(1, x), F(copysign)(0, y - y == 0 ? F(sin)(2 * y) : y));
    if (isnan(x)) return F(make)(x, y == 0 ? y : NAN);
    if (!(y - y == 0)) return F(make)(x == 0 ? x : NAN, NAN);
    REAL t = F(tan)(y), beta = 1 + t * t, s = F(sinh)(x), rho = F(sqrt)(1 + s * s);
    if (isinf(t)) return F(make)(rho / s, 1 / t);
    REAL below = 1 + beta * s * s;
    return F(make)(beta * rho * s / below, t / below);
}

number F(catanh)(number z)
{
    REAL x = F(fabs)(__real__ z), y = F(fabs)(__imag__ z), re, im;
    if (x > BIG || y > BIG) { /* The result is 1 / z, and half of pi. */
        REAL h = F(hypot)(x / 2, y / 2);
        re = isinf(x) || isinf(y) ? 0 : x / h / h / 4;
        im = isnan(y) || (isnan(x) && !isinf(y)) ? NAN : HALF_PI;
    } else if (x == 0 && isnan(y)) {
        re = 0;
        im = NAN;
    } else if (x == 1 && y < TINY) {
        re = y == 0 ? INFINITY : -F(log)(F(sqrt)(y) / F(sqrt)(F(hypot)(y, 2)));
        im = y == 0 ? 0 : (HALF_PI + F(atan)(y / 2)) / 2;
    } else {
        re = F(log1p)(4 * x / ((1 - x) * (1 - x) + y * y)) / 4;
        im = F(atan2)(2 * y, (1 - x) * (1 + x) - y * y) / 2;
    }
    return F(make)(F(copysign)(re, __real__ z), F(copysign)(im, __imag__ z));
}

number F(casin)(number z);
number F(casinh)(number z) /* computes -i asin(i z) */
{
    number w = F(casin)(F(make)(-__imag__ z, __real__ z));
    return F(make)(__imag__ w, -__real__ w);
}

/* These functions compute sqrt(1 - z) and sqrt(1 + z) without losing the sign of a zero part. */
static number F(root_minus)(number z) { return F(csqrt)(F(make)(1 - __real__ z, -__imag__ z)); }
static number F(root_plus)(number z) { return F(csqrt)(F(make)(1 + __real__ z, __imag__ z)); }

static int F(infinite)(number z) { return isinf(__real__ z) || isinf(__imag__ z); }
static int F(large)(number z) { return F(fabs)(__real__ z) > BIG || F(fabs)(__imag__ z) > BIG; }

number F(casin)(number z)
{
    REAL x = __real__ z, y = __imag__ z;
    if (F(large)(z) && !isnan(x) && !isnan(y)) {
        REAL size = F(infinite)(z) ? INFINITY : F(log)(F(hypot)(x / 2, y / 2)) + 2 * LN2;
        return F(make)(F(atan2)(x, F(fabs)(y)), F(copysign)(size, y));
    }
    if (isnan(x) || isnan(y)) {
        if (F(infinite)(z)) return F(make)(isnan(y) ? NAN : x, isnan(y) ? x : y);
        return F(make)(x == 0 ? x : NAN, NAN);
    }
    number a = F(root_minus)(z), b = F(root_plus)(z);
    REAL re = F(atan2)(x, __real__ a * __real__ b - __imag__ a * __imag__ b);
    REAL im = F(asinh)(__real__ a * __imag__ b - __imag__ a * __real__ b);
    return F(make)(re, F(copysign)(im, y));
}

number F(cacos)(number z)
{
    REAL x = __real__ z, y = __imag__ z;
    if (F(large)(z) && !isnan(x) && !isnan(y)) {
        REAL size = F(infinite)(z) ? INFINITY : F(log)(F(hypot)(x / 2, y / 2)) + 2 * LN2;
        return F(make)(F(atan2)(F(fabs)(y), x), F(copysign)(size, -y));
    }
    if (isnan(x) || isnan(y)) {
        if (F(infinite)(z)) return F(make)(NAN, isinf(y) ? -y : INFINITY);
        return F(make)(x == 0 ? HALF_PI : NAN, NAN);
    }
    number a = F(root_minus)(z), b = F(root_plus)(z);
    REAL re = 2 * F(atan2)(__real__ a, __real__ b);
    REAL im = F(asinh)(__imag__ a * __real__ b - __real__ a * __imag__ b);
    return F(make)(re, F(copysign)(im, -y));
}

number F(cacosh)(number z) /* computes i acos z or -i acos z, whichever has a real part that is
                            * not negative */
{
    number w = F(cacos)(z);
    return F(make)(F(fabs)(__imag__ w), F(copysign)(__real__ w, __imag__ z));
}

static number F(turned)(number (*g)(number), number z)
{
    number w = g(F(make)(-__imag__ z, __real__ z));
    return F(make)(__imag__ w, -__real__ w);
}

number F(csin)(number z) { return F(turned)(F(csinh), z); }
number F(ctan)(number z) { return F(turned)(F(ctanh), z); }
number F(catan)(number z) { return F(turned)(F(catanh), z); }
number F(ccos)(number z) { return F(ccosh)(F(make)(-__imag__ z, __real__ z)); }
