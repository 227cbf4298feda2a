# Libraries that penta has a use for and can do without. Each has an option: ON fails without the library, OFF leaves it out,
# AUTO (the default) takes it where it is installed. What came of it is a table at the end of the configuration.
set(PENTA_TABLE)

# penta_row(NAME SETTING RESULT): a line of the table.
macro(penta_row name setting result)
  list(APPEND PENTA_TABLE "${name}|${setting}|${result}")
endmacro()

# penta_option(NAME WHAT): the option PENTA_NAME, and PENTA_WANTS_NAME, which is false for OFF.
macro(penta_option name what)
  set(PENTA_${name} AUTO CACHE STRING "${what}: ON, OFF or AUTO (where it is installed)")
  set_property(CACHE PENTA_${name} PROPERTY STRINGS AUTO ON OFF)
  set(PENTA_WANTS_${name} TRUE)
  if(NOT PENTA_${name} STREQUAL "AUTO" AND NOT PENTA_${name})
    set(PENTA_WANTS_${name} FALSE)
  endif()
endmacro()

# penta_optional(NAME FOUND): the row of an option; FOUND is empty where there is no such library.
macro(penta_optional name found)
  if("${found}" STREQUAL "" AND PENTA_WANTS_${name} AND NOT PENTA_${name} STREQUAL "AUTO")
    message(FATAL_ERROR "PENTA_${name} is ${PENTA_${name}}, and the library is not installed "
                        "(packages.txt names Debian's packages; AUTO goes on without it)")
  endif()
  if("${found}" STREQUAL "")
    penta_row(PENTA_${name} "${PENTA_${name}}" "no")
  else()
    penta_row(PENTA_${name} "${PENTA_${name}}" "${found}")
  endif()
endmacro()

function(penta_print_table)
  message(STATUS "penta ${PROJECT_VERSION} for ${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}:")
  foreach(row ${PENTA_TABLE})
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 name)
    list(GET row 1 setting)
    list(GET row 2 result)
    string(SUBSTRING "${name}                    " 0 20 name)
    string(SUBSTRING "${setting}      " 0 6 setting)
    message(STATUS "  ${name}${setting}${result}")
  endforeach()
endfunction()
