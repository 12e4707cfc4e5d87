# version.cpp is made anew at each build, and rewritten only when it changes: a commit without a reconfigure still
# names its own revision, and costs the compilation of this one file.
set(version_source ${PROJECT_BINARY_DIR}/generated/version.cpp)
set(assay_build_type ${CMAKE_BUILD_TYPE})
if(ASSAY_CPU_ISA STREQUAL AVX2)
  set(assay_build_type "${CMAKE_BUILD_TYPE} without AVX-512")  # part of each run's record
endif()
add_custom_target(assay_version_source
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${version_source}
    -DVERSION=${PROJECT_VERSION} "-DBUILD_TYPE=${assay_build_type}"
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -P ${PROJECT_SOURCE_DIR}/scripts/cmake/write_version.cmake
  BYPRODUCTS ${version_source}
  COMMENT "" VERBATIM)
add_library(assay_version STATIC ${version_source})
target_link_libraries(assay_version PRIVATE assay_options)
add_dependencies(assay_version assay_version_source)
