#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/tests/faults/support.h"
#include "emulator/tests/tensor_reference.h"

// Mistakes with copies of tensors must be found whatever the order, and their mended twins pass.
namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 8;
constexpr unsigned width = 16, height = 8, blocks = 3;
constexpr Shape one_block{.grid = {1}, .block = {width * height}};

struct TensorTest : FaultTest {
  TensorTest() : FaultTest("tensor_copies_sm90") {}
  /// Fails unless a report has that kind (none: any), and names the kernel and the text.
  template <class... Arguments>
  void expect(std::optional<FaultKind> kind, const std::string& text, const std::string& kernel,
              const Shape& shape, const Arguments&... arguments) {
    SCOPED_TRACE(kernel + ", seed " + std::to_string(kernels.settings.seed));
    try {
      kernels.run(kernel, shape, arguments...);
      ADD_FAILURE() << "not found: " << text;
    } catch (const Fault& fault) {
      if (kind) expect_report(fault, kernel, {*kind, std::nullopt, std::nullopt, std::nullopt});
      EXPECT_NE(std::string(fault.what()).find(text), std::string::npos) << fault.what();
    }
  }
  std::uintptr_t tensor = device.upload(std::vector<int>(blocks * width * height, 7));
  TensorMap map = tensor_map(TensorElement::s32, tensor, {blocks * width, height}, {width, height});
};

TEST(TensorCopyFault, AddOne) {
  TensorTest test;
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("add_one", one_block, test.map, 0);
    const auto run = [&](int mistake, std::optional<FaultKind> kind, const char* text) {
      test.expect(kind, text, "add_one", one_block, test.map, mistake);
    };
    run(1, FaultKind::race, "");
    run(2, FaultKind::endless, "expects 496 bytes, and 512 have come");
    run(3, FaultKind::endless, "expects 576 bytes, and 512 have come");
    run(4, {}, "");  // ends the phase before the copy, or not at all
    run(5, FaultKind::race, "fence.proxy.async");
    run(6, FaultKind::race, "nothing has waited for it");
    run(7, FaultKind::undefined, "nothing has waited for the copy");
    run(8, FaultKind::race, "nothing has waited for it");
  });
  // Each seed has added one.
  EXPECT_GE(test.device.download<int>(test.tensor, 1)[0], 7 + static_cast<int>(seeds));
  EXPECT_EQ(test.device.download<int>(test.tensor, width + 1)[width], 7);
}

TEST(TensorCopyFault, Blocks) {
  TensorTest test;
  const Shape shape{.grid = {blocks}, .block = {width * height}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("tiles", shape, test.map, 0);
    const auto stored = test.device.download<int>(test.tensor, blocks * width * height);
    for (std::size_t i = 0; i < stored.size(); ++i)
      ASSERT_EQ(stored[i], static_cast<int>(i % (blocks * width) / width));
    test.expect(FaultKind::race, "without order between", "tiles", shape, test.map, 1);
    test.expect(FaultKind::race, "without order between", "tiles", shape, test.map, 2);
  });
}

TEST(TensorCopyFault, Sum) {
  TensorTest test;
  const Shape shape{.grid = {20}, .block = {width * height}};
  for (int run = 1; run <= 4; ++run) {
    test.kernels.settings = {.seed = static_cast<std::uint64_t>(run), .threads = 2};
    test.expect_none("sum", shape, test.map, 0);
    const auto sums = test.device.download<int>(test.tensor, width + 1);
    EXPECT_EQ(sums, [&] {
      std::vector<int> expected(width + 1, 7 + 20 * run);
      expected[width] = 7;
      return expected;
    }());
  }
  test.expect(FaultKind::uninitialised_read, "reduces with the byte", "sum", shape, test.map, 1);
}

TEST(TensorCopyFault, WhereTheMapIs) {
  TensorTest test;
  test.expect_none("copied_map", one_block, test.map, 0);
  test.expect(FaultKind::undefined, "is local memory", "copied_map", one_block, test.map, 1);
  const auto maps = test.device.upload(std::vector<TensorMap>{test.map, test.map});
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("map_in_memory", one_block, maps, 0);
    for (const int mistake : {1, 2})
      test.expect(FaultKind::race, "fence.proxy.tensormap::generic.acquire", "map_in_memory",
                  one_block, maps, mistake);
  });
}

TEST(TensorCopyFault, RingOfStages) {
  TensorTest test;
  constexpr int tiles = 7;
  const auto tensor = test.device.upload(std::vector<int>(tiles * width * height, 3)),
             out = test.device.allocate(64 * sizeof(int));
  const TensorMap map =
      tensor_map(TensorElement::s32, tensor, {tiles * width, height}, {width, height});
  const Shape shape{.grid = {1}, .block = {96}};
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("ring", shape, map, out, tiles, 0);
    EXPECT_EQ(test.device.download<int>(out, 64), std::vector<int>(64, 3 * tiles * 2));
    for (const int mistake : {1, 2})
      test.expect(std::nullopt, "", "ring", shape, map, out, tiles, mistake);
  });
}

TEST(TensorCopyFault, NamesCoordinates) {
  TensorTest test;
  test.map.dims[0] = width;
  test.map.dims[1] = height;
  test.map.strides[0] = blocks * width * 4 + 32;
  seal(test.map);
  test.expect(FaultKind::illegal_address, "element (0,7) of the tensor", "add_one", one_block,
              test.map, 0);
  test.device.memory().release(test.tensor);
  test.expect(FaultKind::illegal_address, "element (0,0) of the tensor", "add_one", one_block,
              test.map, 0);
}

}  // namespace
}  // namespace emulator::test
