/* Defines variable arguments. The compiler passes arguments of 16 bytes and their alignment
 * (long double, __int128) at multiples of 16 bytes from the stack pointer of the call, which is
 * a multiple of 8 only in this ABI. Its own va_arg takes them from multiples of 16. So bit 63 of
 * a list tells whether that stack pointer was odd. The machine's addresses have 32 bits. */
#pragma once

typedef __builtin_va_list va_list;
typedef __builtin_va_list __gnuc_va_list;

#define va_end(list) __builtin_va_end(list)
#define va_copy(to, from) __builtin_va_copy(to, from)
#define __va_copy(to, from) __builtin_va_copy(to, from)

#if __STDC_VERSION__ >= 202311L
#define __va_begin(list, ...) __builtin_va_start(list, 0)
#else
#define __va_begin(list, last) __builtin_va_start(list, last)
#endif

#if __riscv_xlen == 64
/* The frame address is the stack pointer of the call. */
#define va_start(list, ...)                                                                        \
    (__va_begin(list, __VA_ARGS__),                                                                \
     (void)((list) = (va_list)((unsigned long)(list) |                                             \
                               ((unsigned long)__builtin_frame_address(0) & 8) << 60)))

static __inline__ void *__va_pair(va_list *list)
{
    unsigned long at = (unsigned long)*list, odd = at >> 63 << 3;
    at = ((at - odd + 15) & ~15ul) + odd;
    *list = (va_list)(at + 16);
    return (void *)(at << 1 >> 1);
}

#define __VA_PAIRED(type) (sizeof(type) == 16 && __alignof__(type) == 16)

#ifdef __cplusplus
template <typename T> struct __attribute__((packed, may_alias)) __va_unaligned {
    T value;
};
template <typename T, bool paired> struct __va_taken {
    static T take(va_list &list) { return __builtin_va_arg(list, T); }
};
template <typename T> struct __va_taken<T, true> {
    static T take(va_list &list)
    {
        return static_cast<__va_unaligned<T> *>(__va_pair(&list))->value;
    }
};
#define va_arg(list, type) (__va_taken<__typeof__(type), __VA_PAIRED(type)>::take(list))
#else
#define va_arg(list, type)                                                                         \
    __builtin_choose_expr(__VA_PAIRED(type),                                                       \
                          ((struct { __typeof__(type) value; }                                     \
                            __attribute__((packed, may_alias)) *)__va_pair(&(list)))               \
                              ->value,                                                             \
                          __builtin_va_arg(list, type))
#endif
#else
#define va_start(list, ...) __va_begin(list, __VA_ARGS__)
#define va_arg(list, type) __builtin_va_arg(list, type)
#endif
