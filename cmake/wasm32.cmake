# WebAssembly with Debian's clang, lld, wasi-libc and libclang-rt-19-dev-wasm32 (or of another release, as
# packages.txt has them): libpenta for browsers and node. The libraries come from scripts/web-dependencies, whose folder is
# PENTA_WEB_LIBRARIES.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../scripts/llvm clang OUTPUT_VARIABLE CMAKE_C_COMPILER
                OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(PENTA_WEB ON)
set(PENTA_TOOL OFF)
set(PENTA_WEB_LIBRARIES "" CACHE PATH "what scripts/web-dependencies prints")
# Never the headers of the host, which would be found after those of the C library.
set(CMAKE_C_FLAGS_INIT "-nostdlibinc -isystem /usr/include/wasm32-wasi")
set(CMAKE_EXE_LINKER_FLAGS_INIT "--sysroot=/usr -fuse-ld=lld")
# Small rather than fast, but for what runs programs (src/web/CMakeLists.txt).
set(CMAKE_C_FLAGS_RELEASE "-Oz -DNDEBUG" CACHE STRING "")
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
set(PENTA_WITHOUT crypto b2 elf reserve mmap threads folders pairs)
set(PENTA_CROSS_LIBRARIES json-c deflate xxhash lz4)
