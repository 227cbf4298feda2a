# What leaves the libraries: tests/symbols has the lists, which tests/programs/symbols.py compares.

# penta_declared(VARIABLE HEADER...): the names of the functions that public headers declare.
function(penta_declared variable)
  set(names)
  foreach(header ${ARGN})
    set(path ${CMAKE_SOURCE_DIR}/include/${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(READ ${path} text)
    string(REGEX MATCHALL "\n(PENTA|GPU|CVBC)_API[^;(]*[^a-z0-9_;(][a-z0-9_]+\\(" found "${text}")
    foreach(declaration ${found})
      string(REGEX REPLACE ".*[^a-z0-9_]([a-z0-9_]+)\\($" "\\1" name "${declaration}")
      list(APPEND names ${name})
    endforeach()
  endforeach()
  set(${variable} ${names} PARENT_SCOPE)
endfunction()

# penta_exports(TARGET PATTERN... [INTERNAL FILE]): a shared library exports names like these and no others. The names in FILE
# have a version of this release: a library that was linked with another one does not load.
function(penta_exports target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "INTERNAL" "")
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  list(JOIN ARG_UNPARSED_ARGUMENTS "; " names)
  if(ARG_INTERNAL)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${ARG_INTERNAL})
    file(STRINGS ${CMAKE_SOURCE_DIR}/${ARG_INTERNAL} internal REGEX "^[a-z]")
    list(JOIN internal "; " internal)
    file(CONFIGURE OUTPUT ${script} @ONLY CONTENT
         "PENTA_@PENTA_SOVERSION@ { global: @names@; local: *; };\nPENTA_INTERNAL_@PROJECT_VERSION@ { global: @internal@; };\n")
  else()
    file(CONFIGURE OUTPUT ${script} CONTENT "{ global: @names@; local: *; };\n" @ONLY)
  endif()
  target_link_options(${target} PRIVATE -Wl,--version-script=${script})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
endfunction()

# penta_static_archive(NAME OBJECT_LIBRARY...): libNAME.a with one relocatable object in
# which everything hidden has become local, so that a static archive exports no more than the
# shared library does. A static library among the arguments gives only the members that are needed.
# KEEP PATTERN... at the end: nothing but these names stays visible.
function(penta_static_archive name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "KEEP")
  set(objects)
  set(visible)
  foreach(pattern ${ARG_KEEP})
    list(APPEND visible --keep-global-symbol=${pattern})
  endforeach()
  foreach(library ${ARG_UNPARSED_ARGUMENTS})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL STATIC_LIBRARY)
      list(APPEND objects $<TARGET_FILE:${library}>)
    else()
      list(APPEND objects $<TARGET_OBJECTS:${library}>)
    endif()
  endforeach()
  set(archive ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/lib${name}.a)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/${name}-whole.o)
  add_custom_command(
    OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_LINKER} -r -o ${whole} ${objects}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
    COMMAND ${CMAKE_OBJCOPY} --wildcard ${visible} ${whole}
    COMMAND ${CMAKE_AR} rcsD ${archive} ${whole}
    DEPENDS ${objects} ${ARG_UNPARSED_ARGUMENTS}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Archiving lib${name}.a")
  add_custom_target(${name}_archive ALL DEPENDS ${archive})
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
