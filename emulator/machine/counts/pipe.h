#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "emulator/ptx/module.h"

namespace emulator {

/// Parts of a multiprocessor that limit how many instructions it executes in a clock: rows of
/// "Throughput of Native Arithmetic Instructions" in the CUDA C++ Programming Guide.
enum class Pipe : unsigned char {
  none,          // no instruction of the GPU: an address of a parameter, a move between registers
  f32,           // add, multiply, fused multiply-add; of packed 16-bit floats too
  integer,       // of 32 bits: arithmetic, comparisons, shifts, logic
  f64,           // add, multiply, fused multiply-add
  special,       // reciprocal, square root, exponential, logarithm of f32
  widen,         // 8 and 16-bit integers to 32-bit ones
  convert,       // other types
  convert_wide,  // from and to types of 64 bits
  shuffle,
  load_store,
  control,  // branches, barriers, votes
};
inline constexpr std::size_t pipes = 11;
using PipeCounts = std::array<std::uint64_t, pipes>;

enum class Traffic : unsigned char { none, load, store, atomic };

/// One PTX instruction as a GPU would issue it.
struct Cost {
  Pipe pipe = Pipe::none;
  unsigned char instructions = 0;  // of that pipe
  unsigned char special = 0;       // of the pipe for special functions besides
  bool is_division = false;        // of integers; nvcc replaces those of 64 bits by 32 if it can
  bool is_call = false;
  bool ends_block = false;    // a branch or a barrier: no load moves over it
  bool is_unknown = false;    // asynchronous copies and matrix units have no model here
  bool moves = false;         // registers alone: no thread waits for a value to move it
  bool is_read_only = false;  // ld.global.nc: no store changes what it loads
  Traffic traffic = Traffic::none;
  unsigned char bytes = 0;  // of the access, each lane
};

/// Estimates a PTX instruction. Where a GPU has no such instruction, the length of the sequence
/// that computes it is an estimate of ours: no public table has it.
Cost cost_of(const ptx::Instruction& instruction);

}  // namespace emulator
