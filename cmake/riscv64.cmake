# 64-bit RISC-V: characters are unsigned there, and small atomics come from libatomic.
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(PENTA_TRIPLE riscv64-linux-gnu)
set(PENTA_MULTIARCH riscv64-linux-gnu)
set(PENTA_QEMU qemu-riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
