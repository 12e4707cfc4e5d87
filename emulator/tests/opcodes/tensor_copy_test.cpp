#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emulator/tests/opcodes/tensor_run.h"

// PTX ISA: cp.async.bulk.tensor, against an independent reference.
namespace emulator::test {
namespace {

struct Case {
  TensorMap map;
  Bytes tensor;
  Coordinate at;
  std::size_t shared_address;
};

/// A tensor and a box that mostly crosses its bounds.
Case draw(std::mt19937& random, std::size_t rank, Swizzle swizzle, Device& device) {
  constexpr TensorElement types[] = {TensorElement::u8, TensorElement::bf16, TensorElement::s32,
                                     TensorElement::f64};
  const TensorElement type = types[random() % 4];
  const auto bytes = static_cast<unsigned>(bytes_of(type));
  const unsigned inner =
      swizzle == Swizzle::none ? 16 * (1 + random() % 4) : static_cast<unsigned>(span_of(swizzle));
  std::vector<std::uint64_t> dims{1 + random() % (2 * inner / bytes)};
  std::vector<unsigned> box{inner / bytes};
  for (std::size_t i = 1; i < rank; ++i) {
    dims.push_back(1 + random() % 6);
    box.push_back(1 + random() % (rank > 3 ? 3 : 9));
  }
  Case result{tensor_map(type, 0, dims, box, swizzle, 16 * (random() % 3)), {}, {}, 0};
  for (std::size_t i = 0; i < rank; ++i) {
    result.map.element_strides[i] = static_cast<std::uint8_t>(1 + random() % 3);
    const auto least = -static_cast<std::int64_t>(box[i]) - 1,
               most = static_cast<std::int64_t>(dims[i]) + 2;
    result.at.push_back(
        least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least)));
  }
  std::uint64_t size = dims[0] * bytes;
  for (std::size_t i = 1; i < rank; ++i) size += (dims[i] - 1) * result.map.strides[i - 1];
  result.tensor = numbers(random, size);
  result.map.address = device.upload(result.tensor);
  result.shared_address = 128 * (random() % 9);
  seal(result.map);
  return result;
}

constexpr Swizzle swizzles[] = {Swizzle::none,           Swizzle::span_32,
                                Swizzle::span_64,        Swizzle::span_128,
                                Swizzle::span_128_by_32, Swizzle::span_128_by_64};
constexpr int draws = 12;

TEST(TensorCopy, LoadsBoxesOfEachRank) {
  std::mt19937 random(1);
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    TensorRun test(acquire + load_body(rank));
    for (const Swizzle swizzle : swizzles)
      for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(std::to_string(rank) + "d, swizzle " +
                     std::to_string(static_cast<int>(swizzle)) + ", draw " + std::to_string(i));
        const Case each = draw(random, rank, swizzle, test.device);
        test.shared_address = each.shared_address;
        test.kernels.settings.seed = random();
        Bytes expected(each.map.box_bytes());
        for (const BoxByte& byte : bytes_of_box(each.map, each.at, each.shared_address))
          expected[byte.shared] =
              byte.global < 0 ? 0 : each.tensor[static_cast<std::size_t>(byte.global)];
        ASSERT_EQ(test.load(each.map, each.at), expected);
      }
  }
}

TEST(TensorCopy, StoresBoxesOfEachRank) {
  std::mt19937 random(2);
  for (std::size_t rank = 1; rank <= 5; ++rank) {
    TensorRun test(acquire + store_body("cp.async.bulk.tensor", rank));
    for (const Swizzle swizzle : swizzles)
      for (int i = 0; i < draws; ++i) {
        SCOPED_TRACE(std::to_string(rank) + "d, swizzle " +
                     std::to_string(static_cast<int>(swizzle)) + ", draw " + std::to_string(i));
        const Case each = draw(random, rank, swizzle, test.device);
        test.shared_address = each.shared_address;
        test.kernels.settings.seed = random();
        const Bytes source = numbers(random, each.map.box_bytes());
        Bytes expected = each.tensor;
        for (const BoxByte& byte : bytes_of_box(each.map, each.at, each.shared_address))
          if (byte.global >= 0)
            expected[static_cast<std::size_t>(byte.global)] = source[byte.shared];
        test.run(each.map, each.at, test.device.upload(source));
        ASSERT_EQ(test.device.download<std::uint8_t>(each.map.address, expected.size()), expected);
      }
  }
}

TEST(TensorCopy, FillsWithNaNs) {
  TensorRun test(acquire + load_body(1));
  for (const TensorElement type :
       {TensorElement::f16, TensorElement::bf16, TensorElement::f32, TensorElement::f64}) {
    const auto bytes = bytes_of(type);
    TensorMap map = tensor_map(type, test.device.upload(Bytes(32)), {32 / bytes},
                               {static_cast<unsigned>(64 / bytes)});
    map.fills_with_nan = true;
    seal(map);
    const Bytes found = test.load(map, {0});
    for (std::size_t at = 0; at < found.size(); at += bytes) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &found[at], bytes);
      const std::uint64_t infinity = type == TensorElement::f16    ? 0x7c00
                                     : type == TensorElement::bf16 ? 0x7f80
                                     : bytes == 4                  ? 0x7f800000
                                                                   : 0x7ff0000000000000;
      EXPECT_EQ(bits > infinity, at >= 32) << at;
      EXPECT_TRUE(at >= 32 || bits == 0) << at;
    }
  }
}

TEST(TensorCopy, FlushesAndRefusesToRound) {
  TensorRun test(acquire + load_body(1));
  const auto load = [&](TensorElement type, const std::vector<std::uint32_t>& values) {
    const Bytes bytes = test.load(tensor_map(type, test.device.upload(values), {4}, {4}), {0});
    std::vector<std::uint32_t> result(4);
    std::memcpy(result.data(), bytes.data(), 16);
    return result;
  };
  const std::vector<std::uint32_t> values{0x80000001, 0x007fe000, 0x3f802000, 0xff800000},
      flushed{0x80000000, 0, 0x3f802000, 0xff800000};
  EXPECT_EQ(load(TensorElement::f32, values), values);
  EXPECT_EQ(load(TensorElement::f32_ftz, values), flushed);
  const std::vector<std::uint32_t> short_values{0x80002000, 0x007fe000, 0x3f802000, 0xff800000};
  EXPECT_EQ(load(TensorElement::tf32, short_values), short_values);
  EXPECT_EQ(load(TensorElement::tf32_ftz, short_values), flushed);
  const Caught caught = caught_from([&] { load(TensorElement::tf32, {0x3f800001, 0, 0, 0}); });
  EXPECT_NE(caught.text.find("not documented"), std::string::npos) << caught.text;
}

}  // namespace
}  // namespace emulator::test
