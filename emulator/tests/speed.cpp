#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "emulator/tests/device.h"

// Prints how fast the interpreter is; asserts nothing. Lane-instructions are counted by
// hand in the PTX that nvcc makes of speed.cu, within a few percent.
namespace emulator::test {
namespace {

void measure(const char* name, double lane_instructions, const std::function<void()>& launch) {
  launch();  // the first launch may translate
  double best = 1e300;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    launch();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%-12s %8.3f s %8.1f M lane-instructions/s\n", name, best,
              lane_instructions / best / 1e6);
}

void measure_all(int threads) {
  Device device;
  Kernels kernels(device, ptx_of("speed"), "speed.ptx");
  kernels.settings.threads = threads;
  std::printf("host threads: %d (0: all)\n", threads);

  const int n = 1 << 20;
  const auto x = device.upload(std::vector<float>(n, 1)),
             y = device.upload(std::vector<float>(n, 2));
  const Shape shape{.grid = {64}, .block = {256}};
  // Loops unrolled by four: 31 and 20 instructions, and those before and after.
  measure("saxpy", 8.1 * n, [&] { kernels.run("saxpy", shape, 2.0f, x, y, n); });

  const auto sums = device.allocate(64 * sizeof(float));
  measure("reduce", 6.0 * n, [&] { kernels.run("reduce", shape, x, sums, n); });

  const unsigned blocks = 64;
  std::vector<std::uint32_t> keys(blocks * 512);
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::uint32_t>(i * 2654435761u);
  const auto data = device.upload(keys);
  // 45 unrolled passes, half of whose exchanges write.
  measure("sort_blocks", 470.0 * 256 * blocks,
          [&] { kernels.run("sort_blocks", {.grid = {blocks}, .block = {256}}, data); });
}

}  // namespace
}  // namespace emulator::test

int main() {
  emulator::test::measure_all(1);
  emulator::test::measure_all(0);
}
