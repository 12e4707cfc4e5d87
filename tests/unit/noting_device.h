#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "kernels/core/status.h"
#include "kernels/device/forwarding.h"

namespace assay {

/// Calls that a device received, and what it can do.
struct Notes {
  std::string text;  // the calls, in order
  bool can_block = false;
  bool has_graphs = false;
  bool may_wait = false;
  bool refuses = false;
  bool refuses_uploads = false;
  int blocks_left = 1000;

  void add(const std::string& word) { text += (text.empty() ? "" : " ") + word; }
};

class NotingKernel final : public Kernel {
 public:
  explicit NotingKernel(Notes& notes, std::string word = "launch")
      : notes_(notes), word_(std::move(word)) {}
  void launch() override {
    if (notes_.refuses) throw DeviceError(Failure::device_lost, "refused");
    notes_.add(word_);
  }
  std::string implementation() const override { return word_; }
  bool may_wait() const override { return notes_.may_wait; }

 private:
  Notes& notes_;
  std::string word_;
};

class NotingStream final : public ForwardingStream {
 public:
  NotingStream(std::unique_ptr<Stream> real, Notes& notes)
      : ForwardingStream(std::move(real)), notes_(notes) {}
  void record(Event& event) override {
    notes_.add("record");
    ForwardingStream::record(event);
  }
  void flush_caches() override { notes_.add("flush"); }
  bool block() override {
    const bool blocks = notes_.can_block && notes_.blocks_left-- > 0;
    if (blocks) notes_.add("block");
    return blocks;
  }
  void synchronize() override { notes_.add("wait"); }
  void unblock() override { notes_.add("unblock"); }
  std::unique_ptr<Kernel> as_graph(Kernel& /*kernel*/, std::int64_t launches,
                                   std::span<Stream* const> streams) override {
    if (!notes_.has_graphs) return nullptr;
    const std::string each = streams.size() == 1 ? "" : "x" + std::to_string(streams.size());
    return std::make_unique<NotingKernel>(notes_, "graph" + std::to_string(launches) + each);
  }

 private:
  Notes& notes_;
};

class NotingDevice final : public ForwardingDevice {
 public:
  NotingDevice(std::unique_ptr<Device> real, Notes& notes)
      : ForwardingDevice(std::move(real)), notes_(notes) {}
  std::unique_ptr<Stream> create_stream() override {
    return std::make_unique<NotingStream>(ForwardingDevice::create_stream(), notes_);
  }
  void upload(void* to, const void* from, std::size_t bytes) override {
    if (notes_.refuses_uploads) throw DeviceError(Failure::device_lost, "no upload");
    ForwardingDevice::upload(to, from, bytes);
  }
  std::unique_ptr<Kernel> prepare(const OpInstance&, const Binding&) override {
    return std::make_unique<NotingKernel>(notes_);
  }

 private:
  Notes& notes_;
};

}  // namespace assay
