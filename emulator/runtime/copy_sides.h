#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulator/runtime/process.h"

namespace emulator {

enum class Place { pageable, pinned, device, unified };

/// One side of a copy.
struct Side {
  std::uintptr_t address;
  Place place;
  int owner;  // a GPU, `host` or `managed`
};

inline bool is_for_gpus(const Side& side) {
  return side.place == Place::device || side.place == Place::unified;
}

/// Classifies memory that a copy uses. Nothing if an allocation ends within it, or a GPU's address
/// belongs to none.
std::optional<Side> side_at(const Process& process, const void* pointer, std::size_t bytes);

struct Sides {
  Side to, from;
};

/// Checks what all copies check, and says why one is refused.
cudaError_t find_sides(const Process& process, const void* to, const void* from, std::size_t bytes,
                       cudaMemcpyKind kind, Sides& sides);

/// Finds work of other streams that uses the bytes and that nothing orders with this copy or
/// memset, which begins. `from` is null for a memset.
void demand_order(Process& process, const Side& to, const Side* from, std::size_t bytes,
                  const char* call);

void copy_now(Process& process, const Side& to, const Side& from, std::size_t bytes,
              const char* call);

}  // namespace emulator
