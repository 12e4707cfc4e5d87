# Run at build time; see assay_version.cmake.
set(REVISION unknown)
find_package(Git QUIET)
if(Git_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(described)
    set(REVISION ${described})
  endif()
endif()

# A module shares classes with the program, so it must have been compiled from the same headers.
file(GLOB headers ${SOURCE_DIR}/kernels/core/*.h ${SOURCE_DIR}/kernels/ops/*.h
  ${SOURCE_DIR}/kernels/device/*.h)
list(SORT headers)
set(interface "")
foreach(header IN LISTS headers)
  file(SHA256 ${header} digest)
  string(APPEND interface ${digest})
endforeach()
string(SHA256 interface "${interface}")
string(SUBSTRING ${interface} 0 12 interface)

configure_file(${SOURCE_DIR}/scripts/cmake/version.cpp.in ${OUTPUT} @ONLY)
