#include "kernels/cuda/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "kernels/cuda/describe.h"
#include "kernels/cuda/error.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/faults.h"
#include "kernels/cuda/nvml.h"
#include "kernels/cuda/stream.h"
#include "kernels/device/view_kernel.h"
#include "kernels/ops/views.h"

namespace assay::cuda {
DeviceCondition CudaDevice::condition() const {
  return Nvml::instance().condition(info_.pci_bus_id);
}

DeviceErrors CudaDevice::errors() const { return Nvml::instance().errors(info_.pci_bus_id); }

void* CudaDevice::allocate(std::size_t bytes, Memory kind) {
  if (kind == Memory::huge_pages) {
    throw DeviceError(Failure::not_here, "a GPU has no huge pages of the host");
  }
  make_current(ordinal_);
  if (kind != Memory::standard) return host_.allocate(bytes, kind);
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}

void CudaDevice::release(void* memory) noexcept {
  if (!host_.release(memory)) ignore(cudaFree(memory));
}

std::string CudaDevice::owner_uuid(const void* memory) const {
  if (host_.holds(memory)) return {};
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeDevice ? uuid_of(attributes.device) : "host";
}

std::int64_t CudaDevice::free_memory_bytes() const {
  make_current(ordinal_);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return static_cast<std::int64_t>(free_bytes);
}

void CudaDevice::upload(void* to, const void* from_host, std::size_t bytes) {
  if (host_.holds(to)) {
    std::memcpy(to, from_host, bytes);
    return;
  }
  make_current(ordinal_);
  check(cudaMemcpy(to, from_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the GPU");
  // Waits: a copy from pageable memory may return before it has reached the GPU, and our streams do
  // not wait for the default stream.
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void CudaDevice::download(void* to_host, const void* from, std::size_t bytes) {
  if (host_.holds(from)) {
    std::memcpy(to_host, from, bytes);
    return;
  }
  make_current(ordinal_);
  check(cudaMemcpy(to_host, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy from the GPU");
}

/// Pinned memory of at least so many bytes: copies of pageable memory wait for each other.
std::byte* CudaDevice::staging(std::size_t bytes) {
  constexpr std::size_t least = std::size_t{1} << 16;
  if (bytes > staging_bytes_) {
    if (staging_ != nullptr) host_.release(std::exchange(staging_, nullptr));
    staging_bytes_ = 0;
    const std::size_t wanted = std::max(least, std::bit_ceil(bytes));
    staging_ = host_.allocate(wanted, Memory::pinned);
    staging_bytes_ = wanted;
  }
  return static_cast<std::byte*>(staging_);
}

void CudaDevice::upload_pieces(void* to, std::span<const SourcePiece> pieces) {
  if (host_.holds(to)) return Device::upload_pieces(to, pieces);
  make_current(ordinal_);
  std::byte* at = staging(total_bytes(pieces));
  for (const auto& [offset, content] : pieces) {
    std::ranges::copy(content, at);
    check(cudaMemcpyAsync(static_cast<std::byte*>(to) + offset, at, content.size(),
                          cudaMemcpyHostToDevice, nullptr),
          "cudaMemcpyAsync to the GPU");
    at += content.size();
  }
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

void CudaDevice::download_pieces(const void* from, std::span<const Piece> pieces) {
  if (host_.holds(from)) return Device::download_pieces(from, pieces);
  make_current(ordinal_);
  std::byte* at = staging(total_bytes(pieces));
  for (const auto& [offset, content] : pieces) {
    check(cudaMemcpyAsync(at, static_cast<const std::byte*>(from) + offset, content.size(),
                          cudaMemcpyDeviceToHost, nullptr),
          "cudaMemcpyAsync from the GPU");
    at += content.size();
  }
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  at = static_cast<std::byte*>(staging_);
  for (const Piece& piece : pieces) {
    std::copy_n(at, piece.bytes.size(), piece.bytes.begin());
    at += piece.bytes.size();
  }
}

void CudaDevice::fill(void* to, std::byte value, std::size_t bytes) {
  if (host_.holds(to)) {
    std::memset(to, std::to_integer<int>(value), bytes);
    return;
  }
  make_current(ordinal_);
  check(cudaMemset(to, std::to_integer<int>(value), bytes), "cudaMemset");
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

std::unique_ptr<Stream> CudaDevice::create_stream() {
  return std::make_unique<CudaStream>(ordinal_);
}

void CudaDevice::wait_for_all() {
  make_current(ordinal_);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void CudaDevice::launch_and_fill(Kernel& kernel, Stream& stream, void* memory, std::byte value,
                                 std::size_t bytes) {
  if (!urgent_) urgent_ = std::make_unique<CudaStream>(ordinal_, CudaStream::Priority::greatest);
  kernel.launch();
  stream.synchronize();
  make_current(ordinal_);
  // Ahead of blocks that have not begun; the default stream would wait for most others.
  check(cudaMemsetAsync(memory, std::to_integer<int>(value), bytes, urgent_->handle()),
        "cudaMemsetAsync");
  urgent_->synchronize();
  wait_for_all();
}

std::unique_ptr<Kernel> CudaDevice::prepare(const OpInstance& op, const Binding& binding) {
  for (const auto family : kernels_families()) {
    for (const KernelRow& row : family()) {
      if (row.op == op.op->name) {
        make_current(ordinal_);
        if (has_view(op) && !row.takes_views) {
          const auto of_dense = [this](const OpInstance& dense, const Binding& tensors) {
            return prepare(dense, tensors);
          };
          return through_dense_tensors(*this, of_dense, op, binding);
        }
        return with_fault(row.make(op, binding), op, binding);
      }
    }
  }
  throw DeviceError(Failure::not_here, "cuda has no op " + std::string(op.op->name));
}

int multiprocessors(const Binding& binding) {
  int count = 0;
  check(
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, stream_of(binding).ordinal()),
      "cudaDeviceGetAttribute");
  return count;
}

}  // namespace assay::cuda
