#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "kernels/device/backend.h"

// Devices that forward to real ones, except where a test, or a device with a fault, overrides them.
namespace assay {

class ForwardingStream : public Stream {
 public:
  explicit ForwardingStream(std::unique_ptr<Stream> real) : real_(std::move(real)) {}
  std::unique_ptr<Event> create_event() override { return real_->create_event(); }
  void record(Event& event) override { real_->record(event); }
  double elapsed_s(const Event& start, const Event& stop) override {
    return real_->elapsed_s(start, stop);
  }
  void synchronize() override { real_->synchronize(); }
  void flush_caches() override { real_->flush_caches(); }
  void await_all() override { real_->await_all(); }

 private:
  std::unique_ptr<Stream> real_;
};

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> real) : real_(std::move(real)) {}
  Device& real() { return *real_; }
  const DeviceInfo& info() const override { return real_->info(); }
  void* allocate(std::size_t n, Memory kind) override { return real_->allocate(n, kind); }
  void release(void* memory) noexcept override { real_->release(memory); }
  void upload(void* to, const void* from, std::size_t n) override { real_->upload(to, from, n); }
  void download(void* to, const void* from, std::size_t n) override {
    real_->download(to, from, n);
  }
  void fill(void* to, std::byte value, std::size_t n) override { real_->fill(to, value, n); }
  std::unique_ptr<Stream> create_stream() override { return real_->create_stream(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    return real_->prepare(op, binding);
  }

 private:
  std::unique_ptr<Device> real_;
};

/// The devices of another backend, wrapped.
class WrappingBackend final : public Backend {
 public:
  using Wrap = std::function<std::unique_ptr<Device>(std::unique_ptr<Device>)>;
  WrappingBackend(std::string kind, std::unique_ptr<Backend> real, Wrap wrap)
      : traits_(real->traits()), real_(std::move(real)), wrap_(std::move(wrap)) {
    traits_.kind = std::move(kind);
  }
  const BackendTraits& traits() const override { return traits_; }
  std::vector<DeviceInfo> describe() const override { return real_->describe(); }
  std::unique_ptr<Device> open(int index) override { return wrap_(real_->open(index)); }
  std::unique_ptr<Communicator> connect(std::span<Device* const>, int, Bootstrap&) override {
    return nullptr;  // it knows its own devices, not these
  }

 private:
  BackendTraits traits_;
  std::unique_ptr<Backend> real_;
  Wrap wrap_;
};

}  // namespace assay
