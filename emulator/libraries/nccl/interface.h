#pragma once

#include <cstddef>

// The parts of NCCL's documented binary interface that this stand-in has: CUDA's toolkit may come
// without nccl.h. tests/nccl_test.cpp compares them with the header where it is installed.
namespace emulator::nccl {

struct UniqueId {
  char internal[128];
};

enum Result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

enum Type : int {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float8_e4m3 = 10,
  float8_e5m2 = 11,
};
inline constexpr int type_count = 12;

/// Larger values are reductions that a communicator has created.
enum Operation : int { sum = 0, prod = 1, max = 2, min = 3, avg = 4 };
inline constexpr int operation_count = 5;

/// Where the scalar of a created reduction lies: in memory of the GPU, read when the collective
/// runs, or in the host's, read at once.
enum Residence : int { device = 0, host_immediate = 1 };

inline constexpr int version = 22809;  // 2.28.9

std::size_t size_bytes(Type type);

}  // namespace emulator::nccl
