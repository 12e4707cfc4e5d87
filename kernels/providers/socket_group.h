#pragma once

#include <functional>

#include "kernels/core/file_descriptor.h"
#include "kernels/device/process_group.h"

namespace assay::providers {

/// Two processes that talk over a socket: rank 0 judges, rank 1 runs kernels of others.
class SocketGroup final : public ProcessGroup {
 public:
  /// `lost` is called when the other process has closed its end, and does not return.
  SocketGroup(FileDescriptor socket, int rank, std::function<void()> lost)
      : socket_(std::move(socket)), rank_(rank), lost_(std::move(lost)) {}

  int rank() const override { return rank_; }
  int size() const override { return 2; }
  std::string library() const override { return {}; }
  std::string transport() const override { return {}; }
  void send(int to, std::span<const std::byte> bytes) override;
  std::vector<std::byte> receive(int from) override;
  /// Waits until the other process says something, or has gone. False if it does neither in time.
  bool wait_for_message(double seconds) const;

  // Not between these two: a provider has no collectives.
  void broadcast(std::span<const int> members, std::span<std::byte> bytes) override;
  void run(std::span<const int> members, const CollectiveCall& call) override;

 private:
  void send_all(const void* bytes, std::size_t count);
  void receive_all(void* bytes, std::size_t count);
  [[noreturn]] void end();

  FileDescriptor socket_;
  int rank_;
  std::function<void()> lost_;
};

}  // namespace assay::providers
