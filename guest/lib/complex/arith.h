/* Defines the products and quotients of complex numbers that compilers call, for one type. It is
 * included with REAL, NAME(mul), LOGB(x), SCALE(x, n) and SIGN(x, y). Where both parts of a
 * result are NaN although the result is infinite or zero, it is mended as annex G of C says. */
#include <math.h>

typedef REAL _Complex product;

static inline product complex_make(REAL x, REAL y)
{
    union {
        REAL part[2];
        product z;
    } u = {{x, y}};
    return u.z;
}

static inline REAL box_infinity(REAL x) { return SIGN(isinf(x) ? 1 : 0, x); }
static inline REAL no_nan(REAL x) { return isnan(x) ? SIGN(0, x) : x; }

product NAME(mul)(REAL a, REAL b, REAL c, REAL d)
{
    REAL ac = a * c, bd = b * d, ad = a * d, bc = b * c, x = ac - bd, y = ad + bc;
    if (!isnan(x) || !isnan(y)) return complex_make(x, y);
    int again = 0;
    if (isinf(a) || isinf(b)) {
        a = box_infinity(a), b = box_infinity(b), c = no_nan(c), d = no_nan(d);
        again = 1;
    }
    if (isinf(c) || isinf(d)) {
        c = box_infinity(c), d = box_infinity(d), a = no_nan(a), b = no_nan(b);
        again = 1;
    }
    if (!again && (isinf(ac) || isinf(bd) || isinf(ad) || isinf(bc))) {
        a = no_nan(a), b = no_nan(b), c = no_nan(c), d = no_nan(d);
        again = 1;
    }
    if (!again) return complex_make(x, y);
    return complex_make((REAL)INFINITY * (a * c - b * d), (REAL)INFINITY * (a * d + b * c));
}

product NAME(div)(REAL a, REAL b, REAL c, REAL d)
{
    int scale = 0;
    REAL size = c < 0 ? -c : c, other = d < 0 ? -d : d;
    REAL larger = LOGB(other > size || isnan(size) ? other : size);
    if (larger - larger == 0) {
        scale = -(int)larger;
        c = SCALE(c, scale), d = SCALE(d, scale);
    }
    REAL below = c * c + d * d;
    REAL x = SCALE((a * c + b * d) / below, scale), y = SCALE((b * c - a * d) / below, scale);
    if (!isnan(x) || !isnan(y)) return complex_make(x, y);
    if (below == 0 && (!isnan(a) || !isnan(b)))
        return complex_make(SIGN(INFINITY, c) * a, SIGN(INFINITY, c) * b);
    if ((isinf(a) || isinf(b)) && c - c == 0 && d - d == 0) {
        a = box_infinity(a), b = box_infinity(b);
        return complex_make((REAL)INFINITY * (a * c + b * d), (REAL)INFINITY * (b * c - a * d));
    }
    if (larger > 0 && isinf(larger) && a - a == 0 && b - b == 0) {
        c = box_infinity(c), d = box_infinity(d);
        return complex_make(0 * (a * c + b * d), 0 * (b * c - a * d));
    }
    return complex_make(x, y);
}
