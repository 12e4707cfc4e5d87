#include <cstring>
#include <vector>

#include "emulator/runtime/copy_sides.h"
#include "emulator/runtime/graph_work.h"
#include "emulator/runtime/say.h"

// Copies and memsets of graph nodes.
namespace emulator {
namespace {

std::byte* row_of(const cudaPitchedPtr& memory, const cudaPos& at, std::size_t y, std::size_t z) {
  return static_cast<std::byte*>(memory.ptr) +
         ((at.z + z) * memory.ysize + at.y + y) * memory.pitch + at.x;
}

bool fits(const cudaPitchedPtr& memory, const cudaPos& at, const cudaExtent& extent) {
  const bool is_one_row = extent.height <= 1 && extent.depth <= 1;
  return is_one_row || (at.x + extent.width <= memory.pitch &&
                        (extent.depth <= 1 || at.y + extent.height <= memory.ysize));
}

}  // namespace

cudaMemcpy3DParms parameters_of_copy(void* to, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  parameters.dstPtr = {to, bytes, bytes, 1};
  parameters.extent = {bytes, 1, 1};
  parameters.kind = kind;
  return parameters;
}

cudaError_t make_copy_work(Process& p, const cudaMemcpy3DParms& c, Work& work) {
  if (c.srcArray != nullptr || c.dstArray != nullptr) {
    say("a copy from or to an array as a node of a graph is not emulated");
    return cudaErrorNotSupported;
  }
  if (c.srcPtr.ptr == nullptr || c.dstPtr.ptr == nullptr) return cudaErrorInvalidValue;
  if (!fits(c.srcPtr, c.srcPos, c.extent) || !fits(c.dstPtr, c.dstPos, c.extent))
    return cudaErrorInvalidPitchValue;
  std::vector<Sides> rows;
  for (std::size_t z = 0; z < c.extent.depth; ++z)
    for (std::size_t y = 0; y < c.extent.height && c.extent.width > 0; ++y) {
      const cudaError_t error =
          find_sides(p, row_of(c.dstPtr, c.dstPos, y, z), row_of(c.srcPtr, c.srcPos, y, z),
                     c.extent.width, c.kind, rows.emplace_back());
      if (error != cudaSuccess) return error;
    }
  work.name = "a copy of a graph";
  work.step = [&p, rows = std::move(rows), bytes = c.extent.width] {
    for (const Sides& row : rows) copy_now(p, row.to, row.from, bytes, "a copy of a graph");
    return Progress::done;
  };
  work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeMemcpy, c});
  return cudaSuccess;
}

cudaError_t make_memset_work(Process& p, const cudaMemsetParams& m, Work& work) {
  const bool is_element = m.elementSize == 1 || m.elementSize == 2 || m.elementSize == 4;
  const std::size_t bytes = m.width * m.elementSize;
  if (!is_element || bytes == 0 || m.height == 0 || (m.height > 1 && m.pitch < bytes) ||
      reinterpret_cast<std::uintptr_t>(m.dst) % m.elementSize != 0) {
    return cudaErrorInvalidValue;
  }
  const std::size_t span = m.height > 1 ? m.pitch * (m.height - 1) + bytes : bytes;
  const auto side = side_at(p, m.dst, span);
  if (!side || side->place == Place::pageable) return cudaErrorInvalidValue;
  work.name = "a memset of a graph";
  work.step = [&p, m, bytes, gpu = side->place == Place::pinned ? 0 : host] {
    for (std::size_t row = 0; row < m.height; ++row) {
      const auto address = reinterpret_cast<std::uintptr_t>(m.dst) + row * m.pitch;
      std::byte* to = p.memory.view(address, bytes, Access::write, gpu, "a memset of a graph");
      for (std::size_t i = 0; i < bytes; i += m.elementSize)
        std::memcpy(to + i, &m.value, m.elementSize);
    }
    return Progress::done;
  };
  work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeMemset, m});
  return cudaSuccess;
}

}  // namespace emulator
