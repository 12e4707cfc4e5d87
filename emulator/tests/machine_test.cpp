#include "emulator/machine/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>
#include <thread>

namespace emulator {
namespace {

std::string read_text(const std::string& name) {
  std::ifstream file(std::string(EMULATOR_TEST_PTX_DIR) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr std::array<std::size_t, 2> capacities{std::size_t{8} << 30, std::size_t{8} << 30};

/// Two GPUs and the kernels of kernels.cu.
class MachineTest : public testing::Test {
 protected:
  template <class T>
  T* upload(const std::vector<T>& values, int gpu = 0) {
    const std::uintptr_t address = memory_.allocate(gpu, values.size() * sizeof(T));
    memory_.copy(address, reinterpret_cast<std::uintptr_t>(values.data()),
                 values.size() * sizeof(T), host, "upload");
    return reinterpret_cast<T*>(address);
  }
  template <class T>
  T* room(std::size_t count, int gpu = 0) {
    return reinterpret_cast<T*>(memory_.allocate(gpu, count * sizeof(T)));
  }
  template <class T>
  std::vector<T> download(const T* from, std::size_t count) {
    std::vector<T> values(count);
    const std::byte* bytes = memory_.view(reinterpret_cast<std::uintptr_t>(from), count * sizeof(T),
                                          Access::read, host, "download");
    std::memcpy(values.data(), bytes, count * sizeof(T));
    return values;
  }

  template <class... Arguments>
  void run(const std::string& kernel, Dim3 grid, Dim3 block, Arguments... arguments) {
    Launch launch{kernel, grid, block, {}, 0, {}, gpu_};
    const auto parameters = program_.parameters(kernel);
    ASSERT_EQ(parameters.size(), sizeof...(arguments));
    launch.parameters.resize(program_.facts(kernel).parameter_bytes);
    std::size_t index = 0;
    ((std::memcpy(launch.parameters.data() + parameters[index++].offset, &arguments,
                  sizeof arguments)),
     ...);
    execute(program_, launch, model_, memory_, settings_);
  }

  template <class... Arguments>
  std::string fault(FaultKind kind, const std::string& kernel, Dim3 grid, Dim3 block,
                    Arguments... arguments) {
    try {
      run(kernel, grid, block, arguments...);
    } catch (const Fault& fault) {
      EXPECT_EQ(static_cast<int>(fault.kind), static_cast<int>(kind)) << fault.what();
      return fault.what();
    }
    ADD_FAILURE() << kernel << " ended without a fault";
    return {};
  }

  Memory memory_{capacities};
  Program program_{read_text("kernels.ptx"), "kernels.ptx", memory_, 2};
  GpuModel model_;
  Settings settings_;
  int gpu_ = 0;
};

std::vector<float> ramp(int n) {
  std::vector<float> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST_F(MachineTest, AddsMultiplesOfVectors) {
  for (const int n : {1, 31, 32, 33, 1000, 5000}) {
    const std::vector<float> x = ramp(n);
    float* y = upload(x);
    run("saxpy", {static_cast<unsigned>(n + 127) / 128}, {128}, 2.5f, upload(x), y, n);
    std::vector<float> expected = x;
    for (float& value : expected) value = 2.5f * value + value;
    EXPECT_EQ(download(y, x.size()), expected);
  }
}

TEST_F(MachineTest, ReducesByShuffles) {
  const std::vector<float> x = ramp(1000);
  float* sums = room<float>(4);
  run("block_sums", {4}, {128}, upload(x), sums, 1000);
  const std::vector<float> of_block = download(sums, 4);
  EXPECT_EQ(std::accumulate(of_block.begin(), of_block.end(), 0.0f), 500500.0f);
}

TEST_F(MachineTest, TransposesThroughSharedMemory) {
  constexpr int rows = 50, columns = 70;
  std::vector<double> in(rows * columns);
  std::iota(in.begin(), in.end(), 0.0);
  double* out = room<double>(in.size());
  run("transpose", {3, 2}, {32, 32}, upload(in), out, rows, columns);
  const std::vector<double> result = download(out, in.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < columns; ++k) ASSERT_EQ(result[k * rows + i], in[i * columns + k]);
}

TEST_F(MachineTest, CountsWithAtomics) {
  std::vector<unsigned char> in(10000);
  std::vector<unsigned> expected(256);
  for (std::size_t i = 0; i < in.size(); ++i)
    ++expected[in[i] = static_cast<unsigned char>(i * i >> 3)];
  unsigned* bins = upload(std::vector<unsigned>(256));
  run("histogram", {7}, {96}, upload(in), bins, 10000);
  EXPECT_EQ(download(bins, 256), expected);
}

unsigned collatz(unsigned value) {
  unsigned count = 0;
  for (; value != 1; ++count) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  return count;
}

TEST_F(MachineTest, LetsLanesDiverge) {
  std::vector<unsigned> start(500), expected;
  std::iota(start.begin(), start.end(), 1u);
  for (const unsigned value : start) expected.push_back(collatz(value));
  unsigned* steps = room<unsigned>(start.size());
  run("collatz", {4}, {128}, upload(start), steps, 500);
  EXPECT_EQ(download(steps, start.size()), expected);
}

TEST_F(MachineTest, CallsFunctions) {
  std::vector<unsigned> start(64), expected;
  std::iota(start.begin(), start.end(), 1u);
  for (const unsigned value : start) expected.push_back(collatz(value));
  unsigned* steps = room<unsigned>(start.size());
  run("calls", {1}, {64}, upload(start), steps, 64);
  EXPECT_EQ(download(steps, start.size()), expected);
}

TEST_F(MachineTest, StartsBlocksThatOthersWaitFor) {
  constexpr unsigned blocks = 100;
  for (settings_.seed = 0; settings_.seed < 4; ++settings_.seed) {
    unsigned* flags = upload(std::vector<unsigned>(blocks));
    unsigned* sums = room<unsigned>(blocks);
    settings_.threads = settings_.seed % 2 == 0 ? 1 : 3;
    run("chain", {blocks}, {64}, flags, sums);
    EXPECT_EQ(download(sums, blocks).back(), blocks * (blocks - 1) / 2);
  }
}

TEST_F(MachineTest, LetsTheLastBlockFinish) {
  const std::vector<unsigned> in(32 * 40, 3);
  unsigned *partial = room<unsigned>(40), *out = room<unsigned>(1);
  for (int repeat = 0; repeat < 3; ++repeat) {
    run("last_block", {40}, {32}, upload(in), partial, out);
    EXPECT_EQ(download(out, 1)[0], 3u * 32 * 40);
  }
}

TEST_F(MachineTest, LetsLanesOfAWarpWaitForOneAnother) {
  unsigned *lock = upload(std::vector<unsigned>(1)), *count = upload(std::vector<unsigned>(1));
  run("locked", {4}, {64}, lock, count);
  EXPECT_EQ(download(count, 1)[0], 256u);
}

TEST_F(MachineTest, Prints) {
  testing::internal::CaptureStdout();
  run("prints", {1}, {32}, 42);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "42 text 1.50 -3     7|\n");
}

TEST_F(MachineTest, ReportsAssertions) {
  run("asserts", {1}, {32}, 1);
  const std::string text = fault(FaultKind::trap, "asserts", {1}, {32}, 2);
  EXPECT_NE(text.find("value == 1"), text.npos) << text;
}

TEST_F(MachineTest, ReportsAccessesPastTheEnd) {
  float* x = room<float>(64);
  run("past_the_end", {1}, {32}, x, 32);
  const std::string text = fault(FaultKind::illegal_address, "past_the_end", {1}, {32}, x, 33);
  for (const char* part :
       {"past_the_end", "block (0,0,0)", "thread (31,0,0)", "kernels.ptx:", "256 bytes at"})
    EXPECT_NE(text.find(part), text.npos) << text;
  memory_.release(reinterpret_cast<std::uintptr_t>(x));
  fault(FaultKind::illegal_address, "past_the_end", {1}, {32}, x, 0);
}

TEST_F(MachineTest, ReportsMisalignedAndUninitialisedReads) {
  const float* x = upload(ramp(64));
  float* y = room<float>(64);
  run("reads", {1}, {32}, x, y, 0);
  fault(FaultKind::misaligned_address, "reads", {1}, {32}, x, y, 2);
  fault(FaultKind::illegal_address, "reads", {1}, {64}, x, y, 4);
  fault(FaultKind::uninitialised_read, "reads", {1}, {32}, y, y, 4);
  fault(FaultKind::uninitialised_read, "reads_garbage", {1}, {64}, y);
}

TEST_F(MachineTest, ReportsOtherMemory) {
  const float* x = upload(ramp(64), 1);
  float* y = room<float>(64);
  fault(FaultKind::illegal_address, "reads", {1}, {32}, x, y, 0);
  memory_.enable_peer(0, 1, true);
  run("reads", {1}, {32}, x, y, 0);
  std::vector<float> pageable = ramp(64);
  const float* z = pageable.data();
  fault(FaultKind::illegal_address, "reads", {1}, {32}, z, y, 0);
  memory_.add_host(pageable.data(), 64 * sizeof(float));
  run("reads", {1}, {32}, z, y, 0);
  EXPECT_EQ(download(y, 1)[0], 2.0f);
}

TEST_F(MachineTest, ReportsRacesInSharedMemory) {
  float* out = room<float>(64);
  fault(FaultKind::race, "missing_barrier", {1}, {64}, out);
  fault(FaultKind::race, "missing_warp_barrier", {1}, {32}, out);
  run("with_warp_barrier", {1}, {32}, out);
}

TEST_F(MachineTest, ReportsRacesBetweenBlocks) {
  unsigned* out = upload(std::vector<unsigned>(16));
  fault(FaultKind::race, "blocks_race", {2}, {1}, out);
  unsigned* both = upload(std::vector<unsigned>(16));
  fault(FaultKind::race, "blocks_read_what_others_write", {16}, {32}, both, both);
  unsigned *data = room<unsigned>(1), *flag = upload(std::vector<unsigned>(1));
  fault(FaultKind::race, "unfenced_flag", {2}, {32}, data, flag, out);
}

TEST_F(MachineTest, ReportsBarriersThatAreNotReached) {
  int* out = room<int>(64);
  fault(FaultKind::divergent_barrier, "unreached_barrier", {1}, {64}, out);
  fault(FaultKind::divergent_barrier, "divergent_barrier", {1}, {32}, out);
  fault(FaultKind::divergent_barrier, "wrong_mask", {1}, {32}, out);
  fault(FaultKind::endless, "endless_barrier", {1}, {32});
}

TEST_F(MachineTest, SeesTheHostsMemoryChange) {
  alignas(64) static std::array<std::atomic<unsigned>, 16> flag;
  flag[0] = 0;
  memory_.add_host(flag.data(), sizeof flag);
  auto* nanoseconds = room<unsigned long long>(1);
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    flag[0] = 1;
  });
  void* address = flag.data();
  run("waits_for_host", {1}, {1}, address, nanoseconds);
  setter.join();
  memory_.remove_host(flag.data());
  EXPECT_GT(download(nanoseconds, 1)[0], 5'000'000u);
}

TEST_F(MachineTest, RefusesHugeAllocations) {
  EXPECT_EQ(memory_.allocate(0, std::size_t{1} << 46), 0u);
  EXPECT_EQ(memory_.allocate(0, ~std::size_t{0}), 0u);
  const std::size_t before = memory_.free_bytes(0);
  const std::uintptr_t most = memory_.allocate(0, std::size_t{7} << 30);
  EXPECT_NE(most, 0u);
  EXPECT_EQ(memory_.allocate(0, std::size_t{2} << 30), 0u);
  EXPECT_TRUE(memory_.release(most));
  EXPECT_FALSE(memory_.release(most));
  EXPECT_EQ(memory_.free_bytes(0), before);
}

}  // namespace
}  // namespace emulator
