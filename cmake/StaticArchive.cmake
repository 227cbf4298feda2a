# penta_static_archive(NAME OBJECT_LIBRARY...): libNAME.a with one relocatable object in
# which everything hidden has become local, so that a static archive exports no more than the
# shared library does.
function(penta_static_archive name)
  set(objects)
  foreach(library ${ARGN})
    list(APPEND objects $<TARGET_OBJECTS:${library}>)
  endforeach()
  set(archive ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/lib${name}.a)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/${name}-whole.o)
  add_custom_command(
    OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
    COMMAND ${CMAKE_LINKER} -r -o ${whole} ${objects}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
    COMMAND ${CMAKE_AR} rcsD ${archive} ${whole}
    DEPENDS ${objects} ${ARGN}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Archiving lib${name}.a")
  add_custom_target(${name}_archive ALL DEPENDS ${archive})
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
