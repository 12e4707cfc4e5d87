#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/collective.h"
#include "kernels/core/status.h"
#include "kernels/device/device.h"

namespace assay {

/// Lets the processes of a job find each other before a collective library can communicate. For one
/// process: `SingleProcess`. A launcher such as MPI provides its own.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends `bytes` from process `root` to all. Every process calls it, in the same order.
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;

  /// Library that runs collectives of host memory over these processes: "Open MPI 4.1.4". Empty if
  /// none does.
  virtual std::string library() const { return {}; }
  /// "mpi": what carries the data of `library`.
  virtual std::string transport() const { return {}; }
  /// Makes this process's call of a collective. Every process makes one.
  virtual void run(const CollectiveCall& /*call*/) {
    throw DeviceError(Failure::unsupported, "these processes have no collectives");
  }
};

class SingleProcess final : public Bootstrap {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) override {}
};

/// The ranks of one collective that this process drives.
class Communicator {
 public:
  virtual ~Communicator() = default;

  /// "gloo-tcp", "nccl": the CSV column `transport`.
  virtual std::string transport() const = 0;

  /// One launch runs the op on every local rank; `bindings` are in rank order.
  virtual std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                          std::span<const Binding> bindings) = 0;
};

}  // namespace assay
