include(CMakeParseArguments)

# aaco_module(NAME [DEPENDS module...] [TEST_DEPENDS module...] [PARTS part...])
#
# The current folder becomes target aaco_NAME: every .cc beside this file except *_test.cc and *_fuzz.cc. *_test.cc become the
# test program aaco_NAME_test, each *_fuzz.cc a fuzz target of its own. DEPENDS are modules (seen by whoever links this
# one), TEST_DEPENDS those that only its tests use, PARTS are foreign libraries (private to this folder).
function(aaco_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;TEST_DEPENDS;PARTS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz)\\.cc$")

  set(target aaco_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE aaco_settings)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  foreach(module ${arg_DEPENDS})
    target_link_libraries(${target} ${scope} aaco_${module})
  endforeach()
  if(sources)
    foreach(part ${arg_PARTS})
      target_link_libraries(${target} PRIVATE aaco_part_${part})
    endforeach()
  endif()
  set_property(GLOBAL APPEND PROPERTY AACO_MODULES ${target})

  if(AACO_BUILD_TESTS AND tests)
    list(TRANSFORM arg_TEST_DEPENDS PREPEND aaco_)
    aaco_test(${target}_test SOURCES ${tests} LIBRARIES ${target} ${arg_TEST_DEPENDS} PARTS ${arg_PARTS})
  endif()
  if(AACO_BUILD_FUZZ AND fuzzers)
    if(NOT TARGET aaco_fuzzers)
      add_custom_target(aaco_fuzzers)
    endif()
    foreach(source ${fuzzers})
      get_filename_component(fuzzer ${source} NAME_WE)
      add_executable(${fuzzer} ${source})
      add_dependencies(aaco_fuzzers ${fuzzer})
      target_link_libraries(${fuzzer} PRIVATE ${target} aaco_settings)
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
      set_target_properties(${fuzzer} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    endforeach()
  endif()
endfunction()

# How every test is compiled. What is tested is optimised, the test is not: it compiles in half the time.
function(aaco_test_settings name)
  target_link_libraries(${name} PRIVATE aaco_settings GTest::gmock)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)  # tests/support/...
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fpch-preprocess) # ccache asks for it
  endif()
endfunction()

# Once, before the tests: a header that says where the sources lie (a definition on the command line would keep ccache from
# finding a clone's tests), and the headers of GoogleTest, read once for all: they are a fifth of what a test file takes.
function(aaco_prepare_tests)
  find_package(GTest REQUIRED)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/tests/support/source_dir.h
    CONTENT "#pragma once\n\n#define AACO_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\"\n")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/test_headers.cc CONTENT "int main() {}\n")
  add_executable(aaco_test_headers ${CMAKE_BINARY_DIR}/generated/test_headers.cc) # a program, for a library's flags are not a test's
  aaco_test_settings(aaco_test_headers)
  set_target_properties(aaco_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD OFF)
  target_precompile_headers(aaco_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
endfunction()

# aaco_test(NAME SOURCES file... LIBRARIES target... [PARTS part...]): a GoogleTest program, run by ctest with its results
# as XML in build/<preset>/test-results, from which scripts/run_tests.sh counts.
function(aaco_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;PARTS" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  aaco_test_settings(${name})
  target_precompile_headers(${name} REUSE_FROM aaco_test_headers)
  foreach(part ${arg_PARTS})
    target_link_libraries(${name} PRIVATE aaco_part_${part})
  endforeach()
  # Each test file has helpers of its own, often of the same names: they are compiled one by one.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD OFF)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 --gtest_output=xml:${CMAKE_BINARY_DIR}/test-results/${name}.xml)
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
endfunction()

# aaco_python_test(NAME [COST SECONDS] [PARTS N] [ENVIRONMENT VARIABLE=VALUE...]): the *_test.py of the current folder as N test
# programs (1), divided by class. What takes longest says so and starts first, so that no core waits for it at the end.
function(aaco_python_test name)
  cmake_parse_arguments(arg "" "COST;PARTS" "ENVIRONMENT" ${ARGN})
  if(NOT arg_PARTS)
    set(arg_PARTS 1)
  endif()
  find_program(AACO_PYTHON python3)
  if(NOT AACO_PYTHON)
    message(STATUS "${name} is left out: python3 is missing")
    return()
  endif()
  foreach(part RANGE 1 ${arg_PARTS})
    set(test ${name})
    if(arg_PARTS GREATER 1)
      set(test ${name}_${part})
    endif()
    add_test(NAME ${test} COMMAND ${AACO_PYTHON} ${PROJECT_SOURCE_DIR}/tests/support/run_python.py ${CMAKE_CURRENT_SOURCE_DIR}
      --part ${part}/${arg_PARTS} --xml ${CMAKE_BINARY_DIR}/test-results/${test}.xml)
    set_tests_properties(${test} PROPERTIES TIMEOUT 600 COST 0${arg_COST} ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;${arg_ENVIRONMENT}")
  endforeach()
endfunction()
