// Copies on the CPU: rows with gaps, and huge pages.
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "harness/input/guarded_tensor.h"
#include "kernels/core/status.h"
#include "kernels/cpu/huge_pages.h"
#include "kernels/device/forwarding.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

const std::string from_host = "transfers/memcpy/u8/from=host,to=host,";
const std::string rows_from_host = "transfers/memcpy_2d/u8/from=host,to=host,";

TEST_F(Engines, CopiesOfRowsPass) {
  for (const char* shape : {"rows=1,width=1,pitch=1", "rows=3,width=5,pitch=8",
                            "rows=1000,width=700,pitch=701", "rows=7,width=64,pitch=64"}) {
    for (const char* threads : {",threads=one", ",threads=all"}) {
      const Record record = execute(planned(rows_from_host + shape + threads, {{"cpu", 0}}));
      EXPECT_EQ(record.status, Status::pass) << shape << threads << ": " << record.reason;
    }
  }
}

void expect_writes_between_rows_are_seen(Device& device) {
  // Exceeds the rows that one piece of the check holds.
  constexpr std::size_t pitch = 16384;
  constexpr std::size_t width = 16000;
  constexpr std::size_t rows = 1000;
  input::GuardedTensor tensor(device,
                              {.dtype = DType::u8, .shape = {rows, width}, .strides = {pitch, 1}});
  const auto clear = [&](std::size_t at) { device.fill(tensor.data() + at, std::byte{0}, 1); };
  HostTensor content(tensor.spec());
  std::ranges::fill(content.bytes(), std::byte{7});
  for (const std::size_t row : {std::size_t{0}, std::size_t{255}, std::size_t{256}, rows - 2}) {
    tensor.set_guards(std::byte{0x5c});
    tensor.upload(content);
    EXPECT_EQ(tensor.damage(), std::nullopt);
    EXPECT_EQ(tensor.first_difference(content), std::nullopt);
    clear(row * pitch + width + 3);
    EXPECT_EQ(tensor.damage(), "1 bytes written between rows, from byte 3 of the gap behind row " +
                                   std::to_string(row));
    EXPECT_EQ(tensor.first_difference(content), std::nullopt) << "gaps are not elements";
    clear((row + 1) * pitch + 1);
    EXPECT_EQ(tensor.first_difference(content), (row + 1) * width + 1);
  }
  clear((rows - 1) * pitch - 1);
  EXPECT_TRUE(
      tensor.damage().value_or("").starts_with("2 bytes written between rows, from byte 3"));
  tensor.poison(std::byte{9});
  tensor.download(content);
  EXPECT_TRUE(std::ranges::all_of(content.bytes(), [](std::byte b) { return b == std::byte{9}; }));
  EXPECT_TRUE(tensor.damage()) << "poison does not mend the gaps";
}

TEST(GuardBands, AWriteBetweenRowsIsSeenWhereverItIs) {
  expect_writes_between_rows_are_seen(*cpu::make_backend()->open(0));
  expect_writes_between_rows_are_seen(*sim::make_backend(1)->open(0));
}

TEST(GuardBands, ADifferenceIsFoundInEachBlock) {
  const auto backend = cpu::make_backend();
  const auto device = backend->open(0);
  constexpr std::size_t n = (std::size_t{9} << 20) + 1;
  input::GuardedTensor tensor(*device, {.dtype = DType::u8, .shape = {n}});
  HostTensor content(tensor.spec());
  std::ranges::fill(content.bytes(), std::byte{7});
  for (const std::size_t wrong : {std::size_t{0}, (n / 2), n - 1}) {
    tensor.upload(content);
    EXPECT_EQ(tensor.first_difference(content), std::nullopt);
    tensor.data()[wrong] = std::byte{0};
    EXPECT_EQ(tensor.first_difference(content), wrong);
  }
}

/// Copies rows with the gaps between them.
class SpanCopies final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    class Whole final : public Kernel {
     public:
      Whole(const Binding& binding, std::size_t bytes) : binding_(binding), bytes_(bytes) {}
      void launch() override { std::memcpy(binding_.outputs[0], binding_.inputs[0], bytes_); }
      std::string implementation() const override { return "the whole span"; }

     private:
      Binding binding_;
      std::size_t bytes_;
    };
    return std::make_unique<Whole>(binding, op.signature.outputs[0].span_bytes());
  }
};

TEST_F(Engines, ACopyThatWritesIntoGapsIsCaught) {
  backends_.add(std::make_unique<WrappingBackend>("spans", cpu::make_backend(), [](auto real) {
    return std::make_unique<SpanCopies>(std::move(real));
  }));
  const Record record =
      execute(planned(rows_from_host + "rows=3,width=5,pitch=8,threads=one", {{"spans", 0}}));
  EXPECT_EQ(record.status, Status::fail);
  EXPECT_NE(record.reason.find("6 bytes written between rows"), std::string::npos) << record.reason;
}

// --- Huge pages --------------------------------------------------------------------------------

TEST_F(Engines, HugePagesPassOrAreASkipThatNamesTheKernelsSetting) {
  const Record record =
      execute(planned(from_host + "bytes=16777217,threads=all,pages=huge", {{"cpu", 0}}));
  if (record.status == Status::skip) {
    EXPECT_NE(record.reason.find("/sys/kernel/mm/transparent_hugepage/enabled"), std::string::npos);
  } else {
    EXPECT_EQ(record.status, Status::pass) << record.reason;
    EXPECT_NE(record.implementation.find("% on huge pages"), std::string::npos);
    EXPECT_EQ(record.implementation.find(" 0% on"), std::string::npos) << record.implementation;
  }
}

TEST_F(Engines, WithoutHugePagesTheCaseIsASkip) {
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
  const Record record =
      execute(planned(from_host + "bytes=4194304,threads=one,pages=huge", {{"cpu", 0}}));
  ASSERT_EQ(prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0), 0);
  EXPECT_EQ(record.status, Status::skip);
  EXPECT_EQ(record.skip_category, SkipCategory::not_here);
  EXPECT_EQ(record.reason.find("not here: no huge pages for"), 0U) << record.reason;
  EXPECT_NE(record.reason.find("/sys/kernel/mm/transparent_hugepage/enabled is"), std::string::npos)
      << record.reason;
}

TEST(HugePages, LessThanOneIsNotApplicable) {
  EXPECT_THROW(parse_case_id(from_host + "bytes=2097151,threads=one,pages=huge"), UsageError);
  EXPECT_EQ(parse_case_id(from_host + "bytes=4,threads=one,pages=normal").id(),
            from_host + "bytes=4,threads=one")
      << "normal pages are left out";
}

TEST(HugePages, OrdinaryMemoryHasNone) {
  const int local = 0;
  EXPECT_EQ(cpu::huge_page_share(&local), 0);
  EXPECT_EQ(cpu::huge_page_share(nullptr), 0) << "no mapping at all";
}

}  // namespace
}  // namespace assay
