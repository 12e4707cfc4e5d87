// Runs of a tensor's elements, read and written without the rest.
#include "harness/input/guarded_tensor.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/cpu/backend.h"
#include "kernels/sim/backend.h"

namespace assay::input {
namespace {

class GuardedRuns : public testing::TestWithParam<bool> {
 protected:
  /// 7 rows of 10 bytes: dense, 16 apart, as columns, and every second row of every third column.
  static TensorSpec spec(const std::vector<std::int64_t>& strides) {
    return {.dtype = DType::u8, .shape = {7, 10}, .strides = strides};
  }
  static std::vector<std::vector<std::int64_t>> layouts() { return {{}, {16, 1}, {1, 7}, {60, 3}}; }
  std::unique_ptr<Backend> backend_ = GetParam() ? sim::make_backend(1) : cpu::make_backend();
  std::unique_ptr<Device> device_ = backend_->open(0);
};

TEST_P(GuardedRuns, AreWrittenAndReadAsIfThereWereNoGaps) {
  for (const auto& strides : layouts()) {
    GuardedTensor tensor(*device_, spec(strides));
    tensor.set_guards(std::byte{0x5c});
    HostTensor content(tensor.spec());
    for (std::size_t i = 0; i < 70; ++i) content.bytes()[i] = static_cast<std::byte>(i);
    tensor.upload(content);
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
      // Some lie in a row, some go over several, some are empty.
      std::vector<std::vector<std::byte>> bytes;
      std::vector<GuardedTensor::Run<const std::byte>> written;
      for (int i = 0; i < 3; ++i) {
        const std::size_t first = random() % 70;
        const std::size_t length = random() % std::min<std::size_t>(30, 71 - first);
        std::vector<std::byte>& run = bytes.emplace_back(length);
        for (std::byte& byte : run) byte = static_cast<std::byte>(random());
        std::ranges::copy(run, content.bytes().begin() + static_cast<std::ptrdiff_t>(first));
        written.push_back({first, {}});
      }
      for (std::size_t i = 0; i < bytes.size(); ++i) written[i].bytes = bytes[i];
      tensor.write(written);
      ASSERT_EQ(tensor.first_difference(content), std::nullopt);
      std::vector<std::byte> first(25);
      std::vector<std::byte> second(1);
      const std::size_t at = random() % 46;
      const std::array read{GuardedTensor::Run<std::byte>{at, first},
                            GuardedTensor::Run<std::byte>{69, second}};
      tensor.read(read);
      ASSERT_TRUE(std::ranges::equal(first, content.bytes().subspan(at, 25)));
      ASSERT_EQ(second[0], content.bytes()[69]);
    }
    EXPECT_EQ(tensor.damage(), std::nullopt) << "gaps and bands stay";
  }
}

TEST_P(GuardedRuns, ArmedOnesShowWhatIsUnwrittenAndWhatIsWrittenOutside) {
  for (const auto& strides : layouts()) {
    GuardedTensor tensor(*device_, spec(strides));
    HostTensor poisoned(tensor.spec());
    for (const std::byte poison : {std::byte{0xff}, std::byte{0}}) {
      tensor.arm(std::byte{0x5c}, poison);
      std::ranges::fill(poisoned.bytes(), poison);
      EXPECT_EQ(tensor.first_difference(poisoned), std::nullopt);
      EXPECT_EQ(tensor.damage(), std::nullopt);
    }
    const std::byte other{1};
    device_->upload(tensor.data() - 1, &other, 1);
    EXPECT_EQ(tensor.damage(), "1 bytes written before the start, from 1 bytes away");
    tensor.arm(std::byte{0x5c}, std::byte{0});
    device_->upload(tensor.data() + tensor.spec().span_bytes(), &other, 1);
    EXPECT_EQ(tensor.damage(), "1 bytes written past the end, from byte +0");
  }
}

TEST_P(GuardedRuns, ShowWritesBetweenElements) {
  const std::byte other{1};
  GuardedTensor rows(*device_, spec({16, 1}));
  rows.arm(std::byte{0x5c}, std::byte{0});
  device_->upload(rows.data() + 2 * 16 + 13, &other, 1);
  EXPECT_EQ(rows.damage(), "1 bytes written between rows, from byte 3 of the gap behind row 2");
  GuardedTensor stepped(*device_, spec({60, 3}));
  stepped.arm(std::byte{0x5c}, std::byte{0});
  device_->upload(stepped.data() + 60 + 3 * 4 + 2, &other, 1);
  EXPECT_EQ(stepped.damage(),
            "1 bytes written between elements, from byte 1 of the gap behind element 14");
}

TEST_P(GuardedRuns, ThatShareMemoryAreReadAtEachPlace) {
  for (const std::vector<std::int64_t>& strides :
       {std::vector<std::int64_t>{0, 1}, {1, 0}, {0, 0}}) {
    GuardedTensor tensor(*device_, spec(strides));
    tensor.arm(std::byte{0x5c}, std::byte{0xa3});
    HostTensor content(tensor.spec());
    for (std::size_t i = 0; i < 70; ++i) {
      const auto offset = tensor.spec().offset_of(static_cast<std::int64_t>(i));
      content.bytes()[i] = static_cast<std::byte>(offset + 1);
    }
    tensor.upload(content);
    EXPECT_EQ(tensor.first_difference(content), std::nullopt);
    HostTensor back(tensor.spec());
    tensor.download(back);
    EXPECT_TRUE(std::ranges::equal(back.bytes(), content.bytes()));
    EXPECT_EQ(tensor.damage(), std::nullopt) << "seven or ten bytes lie between the bands";
    tensor.replace(69, std::array{std::byte{0x77}});
    EXPECT_NE(tensor.first_difference(content), std::nullopt);
  }
}

TEST_P(GuardedRuns, OfNothingDoNothing) {
  GuardedTensor tensor(*device_, spec({16, 1}));
  tensor.set_guards(std::byte{0x5c});
  tensor.write({});
  tensor.read({});
  EXPECT_EQ(tensor.damage(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Devices, GuardedRuns, testing::Bool(),
                         [](const auto& device) { return device.param ? "sim" : "cpu"; });

}  // namespace
}  // namespace assay::input
