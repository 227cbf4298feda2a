# penta_static_archive(NAME OBJECT_LIBRARY...): libNAME.a with one relocatable object in
# which everything hidden has become local, so that a static archive exports no more than the
# shared library does. A static library among the arguments gives only the members that are needed.
function(penta_static_archive name)
  set(objects)
  foreach(library ${ARGN})
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
    COMMAND ${CMAKE_AR} rcsD ${archive} ${whole}
    DEPENDS ${objects} ${ARGN}
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Archiving lib${name}.a")
  add_custom_target(${name}_archive ALL DEPENDS ${archive})
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
