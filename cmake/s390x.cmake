# A big-endian host under qemu-user, to check that nothing depends on the byte order: the library alone, without other libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x -L /usr/s390x-linux-gnu)
set(PENTA_TOOL OFF)
set(PENTA_WITHOUT json deflate lz4 crypto b2 elf reserve pairs)
