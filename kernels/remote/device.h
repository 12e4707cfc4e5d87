#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "kernels/device/device.h"
#include "kernels/device/process_watch.h"
#include "kernels/remote/peer.h"
#include "kernels/remote/process_memory.h"
#include "kernels/remote/standstill.h"

namespace assay::remote {

/// The device of another process: forwards all calls to it. Enqueues work without waiting. With the
/// process's memory, which then must be the device's, transfers do not pass through the process.
class RemoteDevice : public Device {
 public:
  RemoteDevice(DeviceInfo info, Peer& peer, std::optional<ProcessMemory> memory = {});

  const DeviceInfo& info() const override { return info_; }
  Peer& peer() const { return peer_; }
  void* allocate(std::size_t bytes, Memory kind) override;
  void release(void* memory) noexcept override;
  std::string owner_uuid(const void* memory) const override;
  std::string hardware() const override {
    return info_.name == served_ ? served_ : info_.name + ": " + served_;
  }
  DeviceCondition condition() const override;
  std::int64_t free_memory_bytes() const override;
  bool is_host() const override { return is_host_; }
  bool has_fences() const override { return has_fences_; }
  bool tries_odd_addresses() const override { return tries_odd_addresses_; }
  void upload(void* to, const void* from_host, std::size_t bytes) override;
  void download(void* to_host, const void* from, std::size_t bytes) override;
  void fill(void* to, std::byte value, std::size_t bytes) override;
  void upload_pieces(void* to, std::span<const SourcePiece> pieces) override;
  void download_pieces(const void* from, std::span<const Piece> pieces) override;
  void pause() override;
  std::optional<pid_t> process() const override {
    return memory_ ? std::optional(memory_->process()) : std::nullopt;
  }
  std::unique_ptr<Stream> create_stream() override;
  void launch_and_fill(Kernel& kernel, Stream& stream, void* memory, std::byte value,
                       std::size_t bytes) override;
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override;

 private:
  DeviceInfo info_;
  /// Calls with the memory if it can be reached, when all that was told has been done. False
  /// without it.
  bool directly(const std::function<void(const ProcessMemory&)>& call);

  Peer& peer_;
  std::optional<ProcessMemory> memory_;
  Standstill standstill_;
  bool is_host_ = false;
  bool has_fences_ = false;
  bool tries_odd_addresses_ = false;
  std::string served_;  // name of the device that serves it
};

/// A device on which a process runs kernels of others.
class DeviceOfOthers final : public RemoteDevice, public ProcessWatch {
 public:
  using RemoteDevice::RemoteDevice;
  std::optional<std::string> changed_process() override;
};

/// A kernel in one or more processes: one op on one device, or a collective.
class RemoteKernel final : public Kernel {
 public:
  struct Part {
    Peer* peer;
    std::uint64_t id;
  };
  /// The part of this process, if it has one, must be the last.
  RemoteKernel(std::vector<Part> parts, std::string implementation, const MathMode& mode,
               std::string wrong_algorithms)
      : parts_(std::move(parts)),
        implementation_(std::move(implementation)),
        mode_(mode),
        wrong_algorithms_(std::move(wrong_algorithms)) {}
  ~RemoteKernel() override;
  RemoteKernel(const RemoteKernel&) = delete;
  RemoteKernel& operator=(const RemoteKernel&) = delete;

  void launch() override;
  const std::vector<Part>& parts() const { return parts_; }
  std::string implementation() const override { return implementation_; }
  std::string wrong_algorithms() const override { return wrong_algorithms_; }
  MathMode math_mode() const override { return mode_; }

 private:
  std::vector<Part> parts_;
  std::string implementation_;
  MathMode mode_;
  std::string wrong_algorithms_;
};

/// Writes the binding of a kernel.
void put_binding(Writer& writer, const Binding& binding);

}  // namespace assay::remote
