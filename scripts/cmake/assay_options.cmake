add_library(assay_options INTERFACE)
target_include_directories(assay_options INTERFACE ${PROJECT_SOURCE_DIR})
set(warnings -Wall -Wextra
  # designated initialisers leave out what keeps its default
  -Wno-missing-field-initializers)
list(JOIN warnings "," warnings_of_host)
target_compile_options(assay_options INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Woverloaded-virtual>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${warnings_of_host}>"
  # GCC 12 warns of its own containers, depending on the length of a path or the level of optimisation (GCC bugs
  # 105651, 105329); AddressSanitizer finds the real ones
  "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>"
  # a * b + c is two roundings unless the source says fma: references and exact ops depend on it
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
  # where a loop lies within a cache line changes its time by some percent: code elsewhere must not
  $<$<COMPILE_LANGUAGE:CXX>:-falign-functions=64>)
if(ASSAY_CPU_ISA STREQUAL AVX2)
  target_compile_definitions(assay_options INTERFACE ASSAY_CPU_ISA_AVX2)
endif()
if(ASSAY_WERROR)
  target_compile_options(assay_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
    # a third of the compile time, for what AddressSanitizer finds too
    -fno-sanitize=null,vptr,object-size,pointer-overflow)
  target_link_options(assay_options INTERFACE -fsanitize=address,undefined)
endif()

# assay_library(NAME [OWN_UNITS] FOLDERS... [BESIDE sources...] [EXCEPT sources...] [LINK libraries...])
# All .cpp files in these folders and below, those EXCEPTed left out, and some BESIDE them.
# OWN_UNITS: each source is a translation unit of its own, also where the preset joins several (CMAKE_UNITY_BUILD).
function(assay_library name)
  cmake_parse_arguments(ARG "OWN_UNITS" "" "BESIDE;EXCEPT;LINK" ${ARGN})
  set(sources)
  foreach(folder IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_filename_component(folder ${folder} ABSOLUTE)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${folder}/*.cpp)
    if(NOT found)
      message(FATAL_ERROR "assay_library(${name}): no source in ${folder}")
    endif()
    list(APPEND sources ${found})
  endforeach()
  foreach(left_out IN LISTS ARG_EXCEPT)
    set(others)
    foreach(source IN LISTS sources)
      string(FIND ${source} ${CMAKE_CURRENT_SOURCE_DIR}/${left_out} at)
      if(NOT at EQUAL 0)
        list(APPEND others ${source})
      endif()
    endforeach()
    if(others STREQUAL sources)
      message(FATAL_ERROR "assay_library(${name}): no source is ${left_out}")
    endif()
    set(sources ${others})
  endforeach()
  add_library(${name} STATIC ${sources} ${ARG_BESIDE})
  target_link_libraries(${name} PUBLIC assay_options ${ARG_LINK})
  if(ARG_OWN_UNITS)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()
