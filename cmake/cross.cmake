# Another machine that runs Linux, with every library: PENTA_SYSROOT, of the environment, is what scripts/sysroot prints. The
# compiler is Debian's for that machine, PENTA_TRIPLE-gcc; its programs run under qemu. What includes this file sets
# CMAKE_SYSTEM_PROCESSOR, PENTA_TRIPLE, PENTA_MULTIARCH (the folder of libraries) and PENTA_QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(PENTA_SYSROOT "$ENV{PENTA_SYSROOT}" CACHE PATH "what scripts/sysroot prints")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PENTA_SYSROOT)
set(CMAKE_SYSROOT ${PENTA_SYSROOT})
set(CMAKE_C_COMPILER ${PENTA_TRIPLE}-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR ${PENTA_QEMU} -L ${PENTA_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE ${PENTA_MULTIARCH})
# Before the folders of Debian's packages for cross compilers, which may have another release of the C library.
set(folder ${PENTA_SYSROOT}/usr/lib/${PENTA_MULTIARCH})
set(headers ${PENTA_SYSROOT}/usr/include)
set(CMAKE_C_FLAGS_INIT "-isystem ${headers}/${PENTA_MULTIARCH} -isystem ${headers}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-B${folder} -L${folder} -Wl,-rpath-link,${folder}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${CMAKE_EXE_LINKER_FLAGS_INIT}")
set(ENV{PKG_CONFIG_LIBDIR} ${folder}/pkgconfig:${PENTA_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${PENTA_SYSROOT})
