# 64-bit ARM: characters are unsigned there, memory is weakly ordered.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(PENTA_TRIPLE aarch64-linux-gnu)
set(PENTA_MULTIARCH aarch64-linux-gnu)
set(PENTA_QEMU qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
