# Writes a C file with the bytes of some files, one after the other, and their SHA-256 digest:
#     cmake -DNAME=name -DFILES=a,b -DOUT=name.c -P embed.cmake
string(REPLACE "," ";" FILES "${FILES}")
set(all "")
foreach(file ${FILES})
  file(READ ${file} hex HEX)
  string(APPEND all ${hex})
endforeach()
string(LENGTH "${all}" length)
math(EXPR size "${length} / 2")
# The digest of several files: of what they are together.
set(joined ${OUT}.joined)
file(WRITE ${joined} "")
foreach(file ${FILES})
  file(READ ${file} text)
  file(APPEND ${joined} "${text}")
endforeach()
file(SHA256 ${joined} digest)
file(SIZE ${joined} joined_size)
file(REMOVE ${joined})
if(NOT joined_size EQUAL size)
  message(FATAL_ERROR "${NAME}: the files are not plain text")
endif()
foreach(part all digest)
  string(REGEX REPLACE "(................................)" "\\1\n" ${part} "${${part}}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," ${part} "${${part}}")
endforeach()
file(WRITE ${OUT} "/* Written by cmake/embed.cmake. */
#include <stddef.h>
extern const unsigned char ${NAME}[], ${NAME}_sha256[];
extern const size_t ${NAME}_size;
const unsigned char ${NAME}[] = {
${all}};
const size_t ${NAME}_size = ${size};
const unsigned char ${NAME}_sha256[] = {
${digest}};
")
