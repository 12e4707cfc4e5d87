#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/cuda_emulator/libraries/nccl/board.h"

namespace emulator::nccl {

/// A reduction that ncclRedOpCreatePreMulSum has made.
struct CreatedReduction {
  Type type;
  std::array<std::byte, 8> scalar{};
  std::uintptr_t address = 0;  // in memory of the GPU; 0: `scalar` counts
};

/// One rank. Work on streams keeps it alive after an abort.
struct Communicator {
  std::shared_ptr<Board> board;
  std::size_t rank = 0;
  int device = 0, gpu = 0;
  std::atomic<bool> is_aborted = false;

  std::mutex mutex;
  std::vector<std::optional<CreatedReduction>> reductions;  // empty: destroyed
  /// Part of the numbers that it gives to reductions, so that another communicator's are refused.
  int first_reduction = 0;

  std::atomic<std::uint64_t> collectives = 0;  // begun on the stream
};

/// Reductions that the program names by number. Empty if this communicator has none such.
struct NamedReduction {
  Reduction reduction;
  std::optional<CreatedReduction> created;
};
std::optional<NamedReduction> reduction_of(Communicator& communicator, int operation);

struct AllReduce {
  std::shared_ptr<Communicator> communicator;
  std::uintptr_t input = 0, output = 0;
  std::size_t count = 0;
  Type type = int8;
  NamedReduction reduction;
  std::uint64_t thread = 0, group = 0;
};

/// Puts the collective on the stream. It waits there until all ranks have arrived; for ever if
/// their counts, types or reductions differ, or if one thread called two of them without a group.
cudaError_t enqueue(const AllReduce& collective, cudaStream_t stream);

}  // namespace emulator::nccl
