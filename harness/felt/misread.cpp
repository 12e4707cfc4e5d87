#include "harness/felt/misread.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "kernels/core/host_tensor.h"
#include "kernels/device/forwarding.h"

namespace assay::felt {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
T least_of() {
  if constexpr (std::numeric_limits<T>::has_infinity) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <class T>
T greatest_of() {
  if constexpr (std::numeric_limits<T>::has_infinity) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

Bytes neutral_bytes(const OpInstance& op, DType dtype) {
  Bytes bytes(size_bytes(dtype));
  visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    T value{};
    switch (neutral_of(op)) {
      case Neutral::zero:
        break;
      case Neutral::one:
        value = static_cast<T>(1.0F);
        break;
      case Neutral::least:
        value = least_of<T>();
        break;
      case Neutral::greatest:
        value = greatest_of<T>();
        break;
    }
    std::memcpy(bytes.data(), &value, sizeof value);
  });
  return bytes;
}

class MisreadingKernel final : public Kernel {
 public:
  MisreadingKernel(std::unique_ptr<Kernel> real, OpInstance op, std::vector<Binding> ranks,
                   Misreading& misreading)
      : real_(std::move(real)),
        op_(std::move(op)),
        ranks_(std::move(ranks)),
        misreading_(misreading) {}

  void launch() override {
    if (!misreading_.is_on) return real_->launch();
    const RankTensors tensors = tensors_of(op_.signature, misreading_.rank);
    const TensorSpec& spec = tensors.inputs.at(static_cast<std::size_t>(misreading_.input));
    std::byte* const at = address(spec, misreading_.element);
    const std::size_t width = size_bytes(spec.dtype);
    const Bytes true_bytes(at, at + width);
    const Bytes read = instead(spec, true_bytes);
    misreading_.before = true_bytes;
    std::ranges::copy(read, at);
    real_->launch();
    const bool is_output = op_.signature.in_place && misreading_.input == 0;
    if (!is_output) std::ranges::copy(true_bytes, at);
  }
  std::string implementation() const override { return real_->implementation(); }
  std::string transport() const override { return real_->transport(); }
  MathMode math_mode() const override { return real_->math_mode(); }

 private:
  std::byte* address(const TensorSpec& spec, std::int64_t element) const {
    const auto& inputs = ranks_.at(static_cast<std::size_t>(misreading_.rank)).inputs;
    const auto* begin =
        static_cast<const std::byte*>(inputs.at(static_cast<std::size_t>(misreading_.input)));
    // The tensors of a trial are the judge's, and may be written.
    return const_cast<std::byte*>(begin) +  // NOLINT(cppcoreguidelines-pro-type-const-cast)
           static_cast<std::size_t>(spec.offset_of(element)) * size_bytes(spec.dtype);
  }
  /// Next element, or the one before the last, that has memory of its own.
  static std::int64_t next_to(const TensorSpec& spec, std::int64_t element) {
    const std::int64_t own = spec.offset_of(element);
    for (std::int64_t i = element + 1; i < spec.elements(); ++i) {
      if (spec.offset_of(i) != own) return i;
    }
    std::int64_t before = element - 1;
    while (spec.offset_of(before) == own) --before;
    return before;
  }
  Bytes instead(const TensorSpec& spec, const Bytes& true_bytes) const {
    switch (misreading_.as) {
      case Misread::neighbour: {
        if (spec.distinct_elements() == 1) return neutral_bytes(op_, spec.dtype);
        const std::byte* const read = address(spec, next_to(spec, misreading_.element));
        return {read, read + true_bytes.size()};
      }
      case Misread::neutral:
        return neutral_bytes(op_, spec.dtype);
      case Misread::stale:
        return misreading_.before.size() == true_bytes.size() ? misreading_.before : true_bytes;
    }
    __builtin_unreachable();
  }

  std::unique_ptr<Kernel> real_;
  OpInstance op_;
  std::vector<Binding> ranks_;
  Misreading& misreading_;
};

class MisreadingDevice final : public ForwardingDevice {
 public:
  MisreadingDevice(std::unique_ptr<Device> real, Misreading& misreading)
      : ForwardingDevice(std::move(real)), misreading_(misreading) {}
  bool is_host() const override { return true; }
  bool is_readable_by_host() const override { return true; }
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    return std::make_unique<MisreadingKernel>(ForwardingDevice::prepare(op, binding), op,
                                              std::vector<Binding>{binding}, misreading_);
  }

 private:
  Misreading& misreading_;
};

class MisreadingCommunicator final : public Communicator {
 public:
  MisreadingCommunicator(std::unique_ptr<Communicator> real, Misreading& misreading)
      : real_(std::move(real)), misreading_(misreading) {}
  std::string transport() const override { return real_->transport(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    return std::make_unique<MisreadingKernel>(
        real_->prepare(op, bindings), op, std::vector<Binding>(bindings.begin(), bindings.end()),
        misreading_);
  }

 private:
  std::unique_ptr<Communicator> real_;
  Misreading& misreading_;
};

class MisreadingBackend final : public Backend {
 public:
  MisreadingBackend(std::unique_ptr<Backend> real, Misreading& misreading)
      : real_(std::move(real)), misreading_(misreading) {}
  const BackendTraits& traits() const override { return real_->traits(); }
  std::vector<DeviceInfo> describe() const override { return real_->describe(); }
  std::unique_ptr<Device> open(int index) override {
    return std::make_unique<MisreadingDevice>(real_->open(index), misreading_);
  }
  std::unique_ptr<Communicator> connect(std::span<Device* const> devices, int ranks,
                                        Bootstrap& bootstrap) override {
    std::vector<Device*> real;
    for (Device* device : devices) real.push_back(&static_cast<MisreadingDevice*>(device)->real());
    return std::make_unique<MisreadingCommunicator>(real_->connect(real, ranks, bootstrap),
                                                    misreading_);
  }

 private:
  std::unique_ptr<Backend> real_;
  Misreading& misreading_;
};

}  // namespace

std::string_view name(Misread misread) {
  switch (misread) {
    case Misread::neighbour:
      return "neighbour";
    case Misread::neutral:
      return "neutral";
    case Misread::stale:
      return "stale";
  }
  __builtin_unreachable();
}

std::unique_ptr<Backend> misreading_backend(std::unique_ptr<Backend> real, Misreading& misreading) {
  return std::make_unique<MisreadingBackend>(std::move(real), misreading);
}

}  // namespace assay::felt
