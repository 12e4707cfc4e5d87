# assay/version.h is made anew at each build, and rewritten only when it changes: a commit without a
# reconfigure still names its own revision.
set(generated ${PROJECT_BINARY_DIR}/generated)
add_custom_target(assay_version_header
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${generated}/assay/version.h
    -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -P ${PROJECT_SOURCE_DIR}/scripts/cmake/write_version.cmake
  BYPRODUCTS ${generated}/assay/version.h
  COMMENT "" VERBATIM)
add_library(assay_version INTERFACE)
target_include_directories(assay_version INTERFACE ${generated})
add_dependencies(assay_version assay_version_header)
