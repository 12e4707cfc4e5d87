#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/libraries/nccl/board.h"

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
  std::atomic<Result> async_error = success;

  std::mutex mutex;
  std::vector<std::optional<CreatedReduction>> reductions;  // empty: destroyed
  /// Part of the numbers that it gives to reductions, so that another communicator's are refused.
  int first_reduction = 0;

  /// Calls begun on the stream, on each board and place: of a message to itself a rank is both
  /// ends.
  std::map<std::pair<const Board*, std::size_t>, std::uint64_t> begun;
};

/// Reductions that the program names by number. Empty if this communicator has none such.
struct NamedReduction {
  Reduction reduction;
  std::optional<CreatedReduction> created;
};
std::optional<NamedReduction> reduction_of(Communicator& communicator, int operation);

struct Call {
  const char* name;  // "ncclAllReduce"
  std::shared_ptr<Communicator> communicator;
  Kind kind = Kind::all_reduce;
  std::uintptr_t input = 0, output = 0;  // 0: this rank has none
  std::size_t count = 0;                 // of a chunk where there are chunks
  Type type = int8;
  NamedReduction reduction;
  std::size_t root = 0;
  std::size_t peer = 0;  // of a message
  std::uint64_t thread = 0, group = 0;

  std::size_t ranks() const { return communicator->board->ranks(); }
  std::size_t chunk_bytes() const { return count * size_bytes(type); }
  /// Bytes that this rank reads and writes.
  std::size_t input_bytes() const {
    return input == 0 ? 0 : chunk_bytes() * (kind == Kind::reduce_scatter ? ranks() : 1);
  }
  std::size_t output_bytes() const {
    return output == 0 ? 0 : chunk_bytes() * (kind == Kind::all_gather ? ranks() : 1);
  }
};

/// Puts the call on the stream. It waits there until all ranks have arrived; for ever if they call
/// for something else, or if one thread called two of them without a group. A message waits for the
/// other end of it alone; the sender only until it may leave it.
cudaError_t enqueue(const Call& call, cudaStream_t stream);

}  // namespace emulator::nccl
