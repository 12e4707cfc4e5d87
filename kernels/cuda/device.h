#pragma once

#include <memory>
#include <string>

#include "kernels/cuda/host_memory.h"
#include "kernels/cuda/stream.h"
#include "kernels/device/device.h"

namespace assay::cuda {

/// One GPU, by its logical index. The first call that needs a context creates it.
class CudaDevice final : public Device {
 public:
  CudaDevice(DeviceInfo info, int ordinal) : info_(std::move(info)), ordinal_(ordinal) {}

  const DeviceInfo& info() const override { return info_; }
  int ordinal() const { return ordinal_; }
  DeviceCondition condition() const override;
  DeviceErrors errors() const override;
  void* allocate(std::size_t bytes, Memory kind) override;
  void release(void* memory) noexcept override;
  /// Kernels of users get views of tensors too.
  bool tries_odd_addresses() const override { return true; }
  std::string owner_uuid(const void* memory) const override;
  std::int64_t free_memory_bytes() const override;
  void upload(void* to, const void* from_host, std::size_t bytes) override;
  void download(void* to_host, const void* from, std::size_t bytes) override;
  void upload_pieces(void* to, std::span<const SourcePiece> pieces) override;
  void download_pieces(const void* from, std::span<const Piece> pieces) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  std::unique_ptr<Stream> create_stream() override;
  void wait_for_all() override;
  void launch_and_fill(Kernel& kernel, Stream& stream, void* memory, std::byte value,
                       std::size_t bytes) override;
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override;

 private:
  DeviceInfo info_;
  int ordinal_;
  std::byte* staging(std::size_t bytes);

  HostMemory host_;
  void* staging_ = nullptr;  // pinned
  std::size_t staging_bytes_ = 0;
  std::unique_ptr<CudaStream> urgent_;  // made when first needed
};

/// Number of multiprocessors of the GPU on which the binding's kernel runs.
int multiprocessors(const Binding& binding);

}  // namespace assay::cuda
