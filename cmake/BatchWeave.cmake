# Compiler settings for the whole project, and the three functions by which every folder declares its targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
# BW_TRY is a GNU statement expression: the one extension that the project allows itself.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wno-gnu-statement-expression-from-macro-expansion -Wthread-safety)
  add_link_options(-fuse-ld=lld)
else()
  # GCC 12 warns of std::optional members that it cannot prove to be set, inside its own library (GCC bug 80635).
  add_compile_options(-Wno-maybe-uninitialized)
endif()

if(BATCHWEAVE_SANITIZE)
  add_compile_options(-fsanitize=${BATCHWEAVE_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${BATCHWEAVE_SANITIZE})
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
if(NOT BATCHWEAVE_PYTHON)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
find_program(FLATC flatc REQUIRED)
find_library(XXHASH xxhash REQUIRED)

# bw_library(NAME SOURCES a.cc ... [DEPS targets...]): the library bw_NAME, alias batchweave::NAME.
function(bw_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(bw_${name} STATIC ${ARG_SOURCES})
  add_library(batchweave::${name} ALIAS bw_${name})
  target_include_directories(bw_${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_link_libraries(bw_${name} PUBLIC ${ARG_DEPS})
endfunction()

# bw_test(NAME SOURCES a_test.cc ... [DEPS targets...] [LABELS concurrency] [TIMEOUT s] [OF_MUTANTS]): one gtest binary NAME,
# one ctest entry. Under BATCHWEAVE_ONLY_CONCURRENCY only tests labelled concurrency are built, under BATCHWEAVE_MUTANTS only
# those OF_MUTANTS, which no other build has, under BATCHWEAVE_PYTHON none.
function(bw_test name)
  cmake_parse_arguments(ARG "OF_MUTANTS" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(BATCHWEAVE_PYTHON OR (BATCHWEAVE_ONLY_CONCURRENCY AND NOT "concurrency" IN_LIST ARG_LABELS))
    return()
  endif()
  if((BATCHWEAVE_MUTANTS AND NOT ARG_OF_MUTANTS) OR (ARG_OF_MUTANTS AND NOT BATCHWEAVE_MUTANTS))
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} rapidcheck GTest::gmock GTest::gtest_main)
  # A test's own code runs once: the time that it takes is its compiler's, most of all under sanitizers. What is inline in
  # our headers may then be linked from the test, not optimised; what is measured (bench, sim, the command) has no such sources.
  target_compile_options(${name} PRIVATE -O0)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# bw_fuzz(NAME SOURCES a_fuzz.cc ... [DEPS targets...]): the libFuzzer binary fuzz/NAME, where BATCHWEAVE_FUZZ is on.
function(bw_fuzz name)
  if(NOT BATCHWEAVE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endfunction()
