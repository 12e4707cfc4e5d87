#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/libraries/cublas_lt/descriptors.h"

// Scales of blocks: one for each 16 or 32 elements of the innermost dimension, in tiles of 128 by 4
// (NVIDIA's cuBLAS documentation, "1D Block Scaling Factors Layout").
namespace emulator::cublas_lt {

/// Elements that share a scale; 0: the mode has one scale for the whole matrix.
std::int64_t block_of(std::int32_t scale_mode);

/// Multiplies the elements of a matrix, whose columns lie one after the other, by the scales of
/// their blocks. Reads all tiles, as kernels do. Throws Fault for memory that cannot be read.
void scale_blocks(std::vector<float>& elements, const MatrixLayout& layout, std::int32_t mode,
                  const void* scales, int gpu, const std::string& what);

}  // namespace emulator::cublas_lt
