# Every test. Those that need another build (asan, tsan, fuzz, s390x) take it from build/, where
# `make test` puts it, and count as skipped (77) without it.
set(BUILDS ${CMAKE_SOURCE_DIR}/build)
set(PYTHON python3)
set(SHARED ${CMAKE_SOURCE_DIR}/../shared/data)

function(penta_test name)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endfunction()

penta_test(cases ${PYTHON} tests/run --penta $<TARGET_FILE:penta_cli>)
penta_test(cases-asan tests/if_built asan/bin/penta ${PYTHON} tests/run --penta ${BUILDS}/asan/bin/penta)
penta_test(cases-switch tests/if_built switch/bin/penta
           ${PYTHON} tests/run --penta ${BUILDS}/switch/bin/penta)
penta_test(cli ${PYTHON} tests/cli.py $<TARGET_FILE:penta_cli>)
penta_test(cli-asan tests/if_built asan/bin/penta ${PYTHON} tests/cli.py ${BUILDS}/asan/bin/penta)
penta_test(examples ${PYTHON} tests/examples.py $<TARGET_FILE:penta_cli>)
penta_test(cvbc ${PYTHON} tests/cvbc.py $<TARGET_FILE:penta_cli>)
penta_test(coil-units $<TARGET_FILE:coil_units>)
penta_test(coil ${PYTHON} tests/coil.py $<TARGET_FILE:penta_cli>)
penta_test(coverage ${PYTHON} tests/coverage.py $<TARGET_FILE:penta_cli>)
penta_test(properties tests/properties.sh $<TARGET_FILE:penta_cli> $<TARGET_FILE:properties> 1)
penta_test(properties-asan tests/properties.sh $<TARGET_FILE:penta_cli> ${BUILDS}/asan/bin/properties 7)
penta_test(properties-big-endian tests/properties.sh $<TARGET_FILE:penta_cli>
           ${BUILDS}/s390x/bin/properties 41)
penta_test(layers ${PYTHON} tests/layers.py)
penta_test(package tests/package $<TARGET_FILE:penta_cli> ${CMAKE_BINARY_DIR})
penta_test(sixth-format tests/sixth_format)
penta_test(units $<TARGET_FILE:units>)
penta_test(pvm-units $<TARGET_FILE:pvm_units>)
penta_test(tvmr-train $<TARGET_FILE:tvmr_train> examples/tvmr ${CMAKE_BINARY_DIR}/shapes.tvmw)
penta_test(tvmr-extension $<TARGET_FILE:tvmr_extension>)
penta_test(tvmr-units $<TARGET_FILE:tvmr_units>)
penta_test(fuzz-seeds tests/fuzz_brief)
penta_test(conform tests/conform $<TARGET_FILE:penta_cli> ${SHARED})
penta_test(contracts ${PYTHON} tests/contracts.py $<TARGET_FILE:penta_cli> ${SHARED}/revive)

# The emitter against another project's decoder.
find_library(ZYDIS Zydis)
if(PENTA_JIT AND ZYDIS)
  add_executable(x64_test tests/x64.c src/x64/x64.c)
  target_include_directories(x64_test PRIVATE src)
  target_link_libraries(x64_test PRIVATE ${ZYDIS})
  penta_test(x64 $<TARGET_FILE:x64_test>)
endif()

if(PENTA_JIT)
  add_executable(pvm_jit_test tests/pvm_jit.c $<TARGET_OBJECTS:penta_objects>)
  target_link_libraries(pvm_jit_test PRIVATE penta_objects)
  penta_test(pvm-jit $<TARGET_FILE:pvm_jit_test>)
  add_executable(pvm_escapes_test tests/pvm_escapes.c $<TARGET_OBJECTS:penta_objects>)
  target_link_libraries(pvm_escapes_test PRIVATE penta_objects)
  penta_test(pvm-escapes $<TARGET_FILE:pvm_escapes_test>)
  add_executable(pvm_differ tests/pvm_differ.c tests/pvm_programs.c tests/pvm_patterns.c
                            tests/pvm_trial.c
                            $<TARGET_OBJECTS:penta_objects>)
  target_link_libraries(pvm_differ PRIVATE penta_objects)
  penta_test(pvm-differ $<TARGET_FILE:pvm_differ> --count 20000 --seed 1 --cover)
  add_executable(pvm_jit_tools_test tests/pvm_jit_tools.c src/cli/native_listing.c
                                    src/cli/native_plain.c $<TARGET_OBJECTS:penta_objects>)
  target_link_libraries(pvm_jit_tools_test PRIVATE penta_objects)
  penta_test(pvm-jit-tools $<TARGET_FILE:pvm_jit_tools_test> $<TARGET_FILE:penta_cli>)
endif()
penta_test(python ${PYTHON} tests/python.py ${CMAKE_BINARY_DIR} ${SHARED}/cvbc)
penta_test(cvbc-c tests/cvbc/run $<TARGET_FILE:penta_cli> ${CMAKE_BINARY_DIR})
penta_test(cvbc-c-asan tests/if_built asan/lib/libpenta_cvbc.so
           tests/cvbc/run ${BUILDS}/asan/bin/penta ${BUILDS}/asan -fsanitize=address,undefined)
