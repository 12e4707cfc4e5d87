#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/file_descriptor.h"
#include "kernels/core/host_tensor.h"
#include "kernels/ops/defined.h"
#include "kernels/providers/socket_group.h"

namespace assay::providers {

/// A process that has the references of a user's ops, and the judge's end of the socket to it.
class ReferenceProcess {
 public:
  /// `how_it_ended` tells of a process that has closed its end: "ended with exit code 3". Throws
  /// UsageError with the reason if the process refuses, ends, or takes longer than `limit_s`.
  ReferenceProcess(FileDescriptor socket, double limit_s,
                   std::function<std::string()> how_it_ended);

  /// Its announcement, for read_definitions.
  const std::vector<std::byte>& definitions() const { return definitions_; }

  bool has_ended() const { return *has_ended_; }

  /// Throws std::runtime_error with the reference's error, or if the process has ended.
  std::vector<MeasuredOutput> measure(const OpInstance& op, std::span<const HostTensor> inputs,
                                      const Effort& effort);

  /// Draws the inputs of an op as its file does. Throws like `measure`.
  std::vector<HostTensor> draw(const OpInstance& op, std::uint64_t seed);

 private:
  std::vector<std::byte> ask(const OpInstance& op, std::span<const std::byte> request);

  std::shared_ptr<bool> has_ended_ = std::make_shared<bool>(false);
  SocketGroup group_;
  std::vector<std::byte> definitions_;
  // The last question and answer, of an op of several outputs, each of which asks for all.
  std::vector<std::byte> last_request_;
  std::vector<MeasuredOutput> last_answer_;
};

}  // namespace assay::providers
