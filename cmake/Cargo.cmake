# What is written in Rust: one library, built by cargo as its Cargo.lock says.

set(BATCHWEAVE_RUST_MIN 1.95)
# One for all build folders: it is the same everywhere, and takes minutes.
set(BATCHWEAVE_CARGO_DIR "${CMAKE_SOURCE_DIR}/build/cargo" CACHE PATH "Where cargo builds")
set(BATCHWEAVE_CARGO_JOBS "" CACHE STRING "How many compilers cargo runs at once; as many as it likes where empty")

find_program(CARGO cargo REQUIRED)
execute_process(COMMAND ${CARGO} --version OUTPUT_VARIABLE cargo_version)
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" cargo_version "${cargo_version}")
if(cargo_version VERSION_LESS BATCHWEAVE_RUST_MIN)
  message(FATAL_ERROR "cargo is ${cargo_version}, and the cloud stores need ${BATCHWEAVE_RUST_MIN}: run tools/setup.sh build, "
    "or configure with -DBATCHWEAVE_CLOUD=OFF")
endif()

# bw_cargo(NAME SOURCES src/lib.rs ...): links the static library of this folder's Cargo.toml, batchweave-NAME, into bw_NAME.
function(bw_cargo name)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(archive "${BATCHWEAVE_CARGO_DIR}/release/libbatchweave_${name}.a")
  set(jobs)
  if(BATCHWEAVE_CARGO_JOBS)
    set(jobs --jobs ${BATCHWEAVE_CARGO_JOBS})
  endif()
  add_custom_command(
    OUTPUT ${archive}
    # The wheel's build sets some of these: crates that compile C would be built anew each time after the other build.
    COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS
            ${CARGO} build --quiet --release --locked ${jobs} --target-dir ${BATCHWEAVE_CARGO_DIR}
    # Cargo leaves what is fresh as old as it is, and ninja would ask for it again each time.
    COMMAND ${CMAKE_COMMAND} -E touch ${archive}
    DEPENDS ${ARG_SOURCES} Cargo.toml Cargo.lock
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Building the Rust library ${name}"
    VERBATIM)
  add_custom_target(bw_${name}_rust DEPENDS ${archive})
  add_dependencies(bw_${name} bw_${name}_rust)
  target_link_libraries(bw_${name} PUBLIC ${archive} Threads::Threads ${CMAKE_DL_LIBS} m)
endfunction()
