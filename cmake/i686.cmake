# 32-bit x86: pointers and sizes have 32 bits, and the compiler has no integers of 128 bits.
set(CMAKE_SYSTEM_PROCESSOR i686)
set(PENTA_TRIPLE i686-linux-gnu)
set(PENTA_MULTIARCH i386-linux-gnu)
set(PENTA_QEMU qemu-i386)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
