# Decides whether the CUDA backend is built, and for which GPUs: assay_with_cuda, CMAKE_CUDA_ARCHITECTURES.
set(assay_with_cuda OFF)
if(ASSAY_SANITIZE)
  return()  # sanitizers under nvcc find what is the compiler's, not ours
endif()
set(ASSAY_CUDA_ARCHITECTURES "" CACHE STRING
  "For which GPUs: native, packaged (all that scripts/package is for), or as CMAKE_CUDA_ARCHITECTURES: 80-real;90-real")
include(assay_find_nvcc)
if(NOT assay_nvcc)
  return()
endif()
message(STATUS "The CUDA backend by ${assay_nvcc} for ${assay_cuda_architectures}")

set(CMAKE_CUDA_COMPILER ${assay_nvcc})
set(CMAKE_CUDA_ARCHITECTURES ${assay_cuda_architectures})
if(CCACHE AND NOT CMAKE_CUDA_COMPILER_LAUNCHER)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
find_package(CUDAToolkit REQUIRED)
set(assay_with_cuda ON)
