// Kernels whose accesses have 16 bytes, on tensors that begin anywhere. Trials place theirs at the
// beginning of a page.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tests/unit/kernels/cuda/emulated/support.h"

namespace assay {
namespace {

constexpr std::size_t margin = 64;  // bytes on either side of an output

/// Bytes of an op's only output if tensor i begins `shifts[i]` bytes behind a 16-byte boundary,
/// output last. Fails if bytes beside the output change, or if a second launch differs.
template <class Input>
std::vector<std::byte> result_of(Device& gpu, const OpInstance& op,
                                 const std::vector<std::size_t>& shifts, const Input& input) {
  const auto stream = gpu.create_stream();
  std::vector<std::unique_ptr<Buffer>> buffers;
  Binding binding;
  binding.stream = stream.get();
  for (std::size_t i = 0; i < op.signature.inputs.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(op.signature.inputs[i].span_bytes());
    buffers.push_back(std::make_unique<Buffer>(gpu, bytes + 16));
    std::byte* at = buffers.back()->data() + shifts[i];
    const std::vector<std::byte> content = input(bytes);
    gpu.upload(at, content.data(), bytes);
    binding.inputs.push_back(at);
  }
  const auto bytes = static_cast<std::size_t>(op.signature.outputs[0].span_bytes());
  const std::size_t first = margin + shifts.back();
  buffers.push_back(std::make_unique<Buffer>(gpu, first + bytes + margin));
  binding.outputs = {buffers.back()->data() + first};
  const auto kernel = gpu.prepare(op, binding);
  std::vector<std::byte> before;
  for (const std::byte poison : {std::byte{0x5a}, std::byte{0xc3}}) {
    gpu.fill(buffers.back()->data(), poison, first + bytes + margin);
    kernel->launch();
    stream->synchronize();
    std::vector<std::byte> all(first + bytes + margin);
    gpu.download(all.data(), buffers.back()->data(), all.size());
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(first + bytes);
    EXPECT_EQ(std::count(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first), poison),
              static_cast<std::ptrdiff_t>(first));
    EXPECT_EQ(std::count(end, all.end(), poison), static_cast<std::ptrdiff_t>(margin));
    const std::vector<std::byte> result(all.begin() + static_cast<std::ptrdiff_t>(first), end);
    EXPECT_TRUE(before.empty() || result == before) << "in the second launch";
    before = result;
  }
  return before;
}

/// Small integers of type T, whose sums are exact in any order.
template <class T>
std::vector<std::byte> integers(std::size_t bytes) {
  std::vector<T> values(bytes / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 37 % 101);
  std::vector<std::byte> content(bytes);
  std::memcpy(content.data(), values.data(), bytes);
  return content;
}

std::string name_of(const OpInstance& op, const std::vector<std::size_t>& shifts) {
  std::string text = std::string(op.op->name) + " " + op.params.text();
  for (const std::size_t shift : shifts) text += " " + std::to_string(shift);
  return text;
}

TEST(Alignment, ChangesNoResultOfExactSums) {
  on_gpu([](Device& gpu) {
    for (const std::string op_name : {"sum", "dot", "reduce_max", "argmax", "scan"}) {
      for (const std::string n : {"3", "1003", "9001"}) {
        const OpInstance op = instance(op_name, DType::f32, {{"n", n}});
        const auto tensors = op.signature.inputs.size() + 1;
        const auto expected =
            result_of(gpu, op, std::vector<std::size_t>(tensors), integers<float>);
        for (std::size_t shift = 4; shift < 16; shift += 4) {
          for (const std::size_t last : {std::size_t{0}, shift}) {
            std::vector<std::size_t> shifts(tensors, shift);
            // Element types of outputs of other sizes keep their own alignment.
            shifts.back() = op_name == "argmax" ? last / 8 * 8 : last;
            EXPECT_EQ(result_of(gpu, op, shifts, integers<float>), expected) << name_of(op, shifts);
            shifts.front() = 0;
            EXPECT_EQ(result_of(gpu, op, shifts, integers<float>), expected) << name_of(op, shifts);
          }
        }
      }
    }
  });
}

TEST(Alignment, ChangesNoResultOfBytes) {
  on_gpu([](Device& gpu) {
    for (const std::string op_name : {"reduce_min", "reduce_max", "argmax"}) {
      const OpInstance op = instance(op_name, DType::u8, {{"n", "20011"}});
      const auto expected = result_of(gpu, op, {0, 0}, integers<std::uint8_t>);
      for (std::size_t shift = 1; shift < 16; ++shift) {
        EXPECT_EQ(result_of(gpu, op, {shift, 0}, integers<std::uint8_t>), expected)
            << op_name << " " << shift;
      }
    }
  });
}

TEST(Alignment, ChangesRowsByNoMoreThanTheOrderOfSums) {
  on_gpu([](Device& gpu) {
    for (const std::string op_name : {"softmax", "layernorm"}) {
      for (const std::string cols : {"3", "128", "1003", "9001"}) {
        const OpInstance op = instance(op_name, DType::f32, {{"rows", "3"}, {"cols", cols}});
        const auto tensors = op.signature.inputs.size() + 1;
        const auto values = [&](const std::vector<std::size_t>& shifts) {
          const auto bytes = result_of(gpu, op, shifts, integers<float>);
          std::vector<float> result(bytes.size() / sizeof(float));
          std::memcpy(result.data(), bytes.data(), bytes.size());
          return result;
        };
        const std::vector<float> expected = values(std::vector<std::size_t>(tensors));
        for (std::size_t shift = 4; shift < 16; shift += 4) {
          for (const std::size_t last : {std::size_t{0}, shift}) {
            std::vector<std::size_t> shifts(tensors, shift);
            shifts.back() = last;
            const std::vector<float> found = values(shifts);
            for (std::size_t i = 0; i < found.size(); ++i) {
              const float allowed = 1e-4F * std::abs(expected[i]) + 1e-30F;
              ASSERT_TRUE(std::abs(found[i] - expected[i]) <= allowed)
                  << name_of(op, shifts) << " at " << i << ": " << found[i] << ", not "
                  << expected[i];
            }
          }
        }
      }
    }
  });
}

/// The library proposes fewer algorithms for a bias at an odd address.
TEST(Alignment, OfABiasIsPartOfTheChoiceOfAnAlgorithm) {
  on_gpu([](Device& gpu) {
    const OpInstance op =
        instance("linear", DType::f32,
                 {{"batch", "16"}, {"in", "64"}, {"out", "64"}, {"bias", "1"}, {"act", "none"}});
    const Rank rank(gpu, op);
    const Buffer bias(gpu, 64 * 4 + 16);
    gpu.fill(bias.data(), std::byte{1}, bias.bytes());
    for (const std::size_t shift : {0, 4, 0}) {
      Binding binding = rank.binding;
      binding.inputs[2] = bias.data() + shift;
      const auto kernel = gpu.prepare(op, binding);
      kernel->launch();
      rank.stream->synchronize();
      // An algorithm of vectors, which this GPU does not run.
      const bool was_tried = kernel->implementation().find("algorithm 67, ") != std::string::npos;
      EXPECT_EQ(was_tried, shift == 0) << kernel->implementation();
    }
  });
}

}  // namespace
}  // namespace assay
