#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/tests/emulated_process.h"
#include "kernels/core/status.h"
#include "kernels/device/module.h"

namespace assay {

/// Runs `body` with the CUDA backend on emulated GPUs, in a process of its own.
inline void on_gpus(int gpus, const std::function<void(Backend&)>& body,
                    const emulator::Environment& environment = {}) {
  emulator::on_gpus(
      gpus,
      [&] {
        const LoadedModule module = load_module(ASSAY_CUDA_MODULE);
        body(*module.backend);
      },
      environment);
}

/// Runs `body` with one GPU, which is open.
inline void on_gpu(const std::function<void(Device&)>& body,
                   const emulator::Environment& environment = {}) {
  on_gpus(
      1, [&](Backend& backend) { body(*backend.open(0)); }, environment);
}

/// An op with parameters as case ids give them: instance("add", DType::f32, {{"n", "64"}}).
inline OpInstance instance(std::string_view name, DType dtype,
                           const std::vector<std::pair<std::string, std::string>>& texts) {
  const Op& op = *find_op(name);
  Params params;
  for (const auto& [parameter, text] : texts) {
    params.set(parameter, parse_parameter(op, parameter, text));
  }
  return instantiate(op, dtype, params);
}

/// Runs `call` and returns the error, whose failure must be `failure`.
inline std::string error_of(Failure failure, const std::function<void()>& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.failure(), failure) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

inline void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// One rank of an op: its tensors, whose bytes are all 1, and a stream.
struct Rank {
  Rank(Device& device, const OpInstance& op) : stream(device.create_stream()) {
    binding.stream = stream.get();
    for (const TensorSpec& spec : op.signature.inputs) {
      binding.inputs.push_back(add(device, spec));
    }
    for (const TensorSpec& spec : op.signature.outputs) {
      binding.outputs.push_back(add(device, spec));
    }
  }

  std::unique_ptr<Stream> stream;
  std::vector<std::unique_ptr<Buffer>> buffers;
  Binding binding;

 private:
  std::byte* add(Device& device, const TensorSpec& spec) {
    buffers.push_back(std::make_unique<Buffer>(device, spec.span_bytes(), spec.memory));
    device.fill(buffers.back()->data(), std::byte{1}, spec.span_bytes());
    return buffers.back()->data();
  }
};

}  // namespace assay
