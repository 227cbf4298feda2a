# Writes a C file with the bytes of some files, one after the other, and their SHA-256 digest:
#     cmake -DNAME=name -DFILES=a,b -DOUT=name.c -P embed.cmake
# JavaScript modules become one script: each is a function that gives what it exports, and is called FOLDER_FILE. They
# are named in the order in which they need each other, with imports and exports at the start of lines.
string(REPLACE "," ";" FILES "${FILES}")
set(joined ${OUT}.joined)
file(WRITE ${joined} "")
foreach(file ${FILES})
  file(READ ${file} text)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  get_filename_component(name ${file} NAME_WE)
  if(file MATCHES "[.]js$")
    string(REGEX REPLACE "\nimport ({[^}]*}) from \"[.][^\"]*/views/([a-z]+)[.]js\";" "\nconst \\1 = views_\\2;" text "\n${text}")
    string(REGEX REPLACE "\nimport ({[^}]*}) from \"[.]/([a-z]+)[.]js\";" "\nconst \\1 = ${folder}_\\2;" text "${text}")
    set(export "\nexport (async function|function|const|class) ")
    string(REGEX MATCHALL "${export}[A-Za-z]+" exported "${text}")
    string(REGEX REPLACE "${export}" "\n\\1 " text "${text}")
    string(REGEX REPLACE "\n[^;]* " "" exported "${exported}")
    string(REPLACE ";" ", " exported "${exported}")
    if(text MATCHES "\n((import|export)[ {][^\n]*)")
      message(FATAL_ERROR "${file}: this form is not known here: ${CMAKE_MATCH_1}")
    endif()
    set(text "const ${folder}_${name} = (() => {${text}\nreturn {${exported}};\n})();\n")
  endif()
  file(APPEND ${joined} "${text}")
endforeach()
file(READ ${joined} all HEX)
file(SHA256 ${joined} digest)
file(SIZE ${joined} size)
file(REMOVE ${joined})
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
