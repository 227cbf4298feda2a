# The tool and the device are processes of their own, often for a moment's work: loading shared libraries took
# them longer than most commands run. They are linked with static archives where these are installed;
# libpenta.so is not. With PENTA_ARCHIVES=ON each of them must be there.
penta_option(ARCHIVES "Static archives of the libraries in the tool and the device")
if(PENTA_SANITIZE) # which look into shared libraries alone
  set(PENTA_WANTS_ARCHIVES FALSE)
endif()
set(TOOL_ARCHIVES)
set(ARCHIVES_TAKEN) # their names, for the table, and of those that stay shared
set(ARCHIVES_SHARED)

# penta_archives(NAME... CALLS FUNCTION...): adds libNAME.a of a library and of what it needs to TOOL_ARCHIVES, if a
# program that calls these functions links with nothing else; otherwise the shared library stays. Archives that are
# not there are left out, since releases of a library differ in what they need. A name with '-' is an option.
function(penta_archives name)
  if(NOT PENTA_WANTS_ARCHIVES)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "CALLS")
  set(archives)
  foreach(part ${name} ${ARG_UNPARSED_ARGUMENTS})
    if(part MATCHES "^-")
      list(APPEND archives ${part})
      continue()
    endif()
    find_library(ARCHIVE_${part} lib${part}.a)
    mark_as_advanced(ARCHIVE_${part})
    if(ARCHIVE_${part})
      list(APPEND archives ${ARCHIVE_${part}})
    endif()
  endforeach()
  if(ARCHIVE_${name})
    list(JOIN ARG_CALLS "(), " declared)
    list(JOIN ARG_CALLS "() + " called)
    set(CMAKE_REQUIRED_LIBRARIES ${archives} ${CMAKE_DL_LIBS} Threads::Threads)
    set(CMAKE_REQUIRED_FLAGS -w)
    check_c_source_compiles("int ${declared}(); int main(void) { return ${called}(); }" ARCHIVE_${name}_LINKS)
  endif()
  if(ARCHIVE_${name}_LINKS)
    set(TOOL_ARCHIVES ${TOOL_ARCHIVES} ${archives} PARENT_SCOPE)
    set(ARCHIVES_TAKEN ${ARCHIVES_TAKEN} ${name} PARENT_SCOPE)
  elseif(NOT PENTA_ARCHIVES STREQUAL "AUTO")
    message(FATAL_ERROR "PENTA_ARCHIVES is ${PENTA_ARCHIVES}, and lib${name}.a is not installed or needs libraries that are not "
                        "(AUTO takes the shared library for such)")
  else()
    set(ARCHIVES_SHARED ${ARCHIVES_SHARED} ${name} PARENT_SCOPE)
  endif()
endfunction()
