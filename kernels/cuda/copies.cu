#include <algorithm>
#include <string>

#include "kernels/cuda/describe.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/peer_access.h"

// Copies between memories, by a copy engine or by a kernel.
namespace assay::cuda {
namespace {

constexpr int threads = 256;
constexpr int words_per_thread = 4;  // in flight together
constexpr std::int64_t max_blocks = 1 << 16;

/// Copies whole 16-byte words, to which both addresses are aligned, then the last bytes one by one.
__global__ void copy_words(const std::byte* from, std::byte* to, std::int64_t bytes) {
  using Word = uint4;
  constexpr std::int64_t tile = std::int64_t{threads} * words_per_thread;
  const auto* x = reinterpret_cast<const Word*>(from);
  auto* y = reinterpret_cast<Word*>(to);
  const std::int64_t words = bytes / static_cast<std::int64_t>(sizeof(Word));
  for (std::int64_t first = blockIdx.x * tile; first < words; first += gridDim.x * tile) {
    Word held[words_per_thread];
#pragma unroll
    for (int i = 0; i < words_per_thread; ++i) {
      const std::int64_t at = first + i * threads + threadIdx.x;
      if (at < words) held[i] = x[at];
    }
#pragma unroll
    for (int i = 0; i < words_per_thread; ++i) {
      const std::int64_t at = first + i * threads + threadIdx.x;
      if (at < words) y[at] = held[i];
    }
  }
  const std::int64_t rest = words * static_cast<std::int64_t>(sizeof(Word)) + threadIdx.x;
  if (blockIdx.x == 0 && rest < bytes) to[rest] = from[rest];
}

struct Copy {
  const std::byte* from;
  std::byte* to;
  std::int64_t bytes;
};

Copy copy_of(const OpInstance& op, const Binding& binding) {
  return {static_cast<const std::byte*>(binding.inputs[0]),
          static_cast<std::byte*>(binding.outputs[0]), op.params.integer("bytes")};
}

std::unique_ptr<Kernel> by_kernel(const Copy& copy, const Binding& binding) {
  constexpr std::int64_t bytes_per_block = std::int64_t{threads} * words_per_thread * 16;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(
      (copy.bytes + bytes_per_block - 1) / bytes_per_block, 1, max_blocks));
  return std::make_unique<FunctionKernel>(
      "kernel of 16-byte words", binding, [=](cudaStream_t stream) {
        copy_words<<<blocks, threads, 0, stream>>>(copy.from, copy.to, copy.bytes);
      });
}

std::unique_ptr<Kernel> by_engine(const std::string& name, const Copy& copy, const Binding& binding,
                                  Waits waits) {
  return std::make_unique<FunctionKernel>(
      name, binding,
      [=](cudaStream_t stream) {
        check(cudaMemcpyAsync(copy.to, copy.from, static_cast<std::size_t>(copy.bytes),
                              cudaMemcpyDefault, stream),
              "cudaMemcpyAsync");
      },
      waits);
}

std::unique_ptr<Kernel> device_memcpy(const OpInstance& op, const Binding& binding) {
  const Copy copy = copy_of(op, binding);
  if (op.params.word("by") == "kernel") return by_kernel(copy, binding);
  // The runtime copies from and to pageable memory through its own buffer, and waits for it.
  const bool is_pageable =
      op.params.word("from") == "pageable" || op.params.word("to") == "pageable";
  return by_engine("cudaMemcpyAsync", copy, binding, is_pageable ? Waits::yes : Waits::no);
}

int holder(const void* memory) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  return attributes.device;
}

std::unique_ptr<Kernel> peer_memcpy(const OpInstance& op, const Binding& binding) {
  const Copy copy = copy_of(op, binding);
  const int from = holder(copy.from);
  const int to = holder(copy.to);
  // A mistake of ours: the refusal of access to its own memory would make it a skip.
  if (from == to) {
    throw DeviceError(Failure::internal,
                      "both tensors of a peer copy lie on cuda:" + std::to_string(from));
  }
  const bool direct = op.params.word("access") == "direct";
  if (direct) {
    demand_peer_access(from, to);
    demand_peer_access(to, from);
  }
  set_peer_access(to, from, direct);
  set_peer_access(from, to, direct);  // last: it makes the launching stream's GPU current
  if (op.params.word("by") == "kernel") return by_kernel(copy, binding);
  // Without access the copy uses a buffer of the driver, and a call may have to wait for it.
  return by_engine(direct ? "cudaMemcpyAsync, peer access" : "cudaMemcpyAsync, no peer access",
                   copy, binding, direct ? Waits::no : Waits::yes);
}

constexpr KernelRow rows[] = {
    {"device_memcpy", device_memcpy},
    {"peer_memcpy", peer_memcpy},
};

}  // namespace

std::span<const KernelRow> copies_kernels() { return rows; }

}  // namespace assay::cuda
