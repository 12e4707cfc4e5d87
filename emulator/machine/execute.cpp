#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "emulator/machine/cluster_addresses.h"
#include "emulator/machine/program_state.h"
#include "emulator/machine/random.h"
#include "emulator/machine/resident_cluster.h"

namespace emulator {
namespace {

/// Instructions of a warp before another resident block of the same host thread gets its turn.
constexpr int turn = 20000;
/// Blocks that one host thread runs by turns, at least; more are started while all of these wait.
constexpr std::uint64_t max_usual_residents = 3;

std::atomic<std::uint64_t> lane_instructions{0};

/// A permutation of 0 to n - 1 that needs no memory: a Feistel network over the next power of four,
/// walked until the value is below n (Black and Rogaway, "Ciphers with arbitrary finite domains",
/// 2002).
class Order {
 public:
  Order(std::uint64_t n, std::uint64_t seed) : n_(n), seed_(seed) {
    while (std::uint64_t{1} << (2 * half_bits_) < n) ++half_bits_;
  }
  std::uint64_t at(std::uint64_t index) const {
    do {
      index = shuffled(index);
    } while (index >= n_);
    return index;
  }

 private:
  std::uint64_t shuffled(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_, right = value & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t next = left ^ (mix(right ^ mix(seed_ + round)) & mask);
      left = right;
      right = next;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t n_, seed_;
  int half_bits_ = 1;
};

std::vector<std::array<std::uint32_t, 3>> thread_positions(const Dim3& block) {
  std::vector<std::array<std::uint32_t, 3>> positions;
  for (std::uint32_t thread = 0; thread < block.x * block.y * block.z || thread % warp_lanes != 0;
       ++thread)
    positions.push_back({thread % block.x, thread / block.x % block.y, thread / block.x / block.y});
  return positions;
}

/// Returns null where nothing is counted.
std::unique_ptr<LaunchCounter> counter_of(const Launch& launch, const KernelCode& kernel,
                                          const Memory::Window& window) {
  if (!is_counting() || kernel.entry->costs.empty()) return nullptr;
  KernelCounts counts;
  counts.kernel = launch.kernel;
  counts.demangled = kernel.demangled;
  counts.ptx = kernel.module->text;
  counts.threads_per_block = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  counts.shared_bytes_per_block = kernel.shared_bytes(launch.dynamic_shared_bytes);
  return std::make_unique<LaunchCounter>(std::move(counts), window.begin, window.end);
}

class Run {
 public:
  Run(const LaunchContext& launch, std::uint64_t clusters, std::uint64_t seed)
      : launch_(launch), clusters_(clusters), seed_(seed), order_(clusters, seed) {}

  void execute(unsigned threads) {
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back([this, i] { work(i); });
    work(0);
    for (std::thread& helper : helpers) helper.join();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work(unsigned which) {
    try {
      run_blocks(which);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_.store(true);
    }
  }

  bool start(std::deque<std::unique_ptr<ResidentCluster>>& residents) {
    const std::uint64_t index = next_.fetch_add(1);
    if (index >= clusters_) return false;
    residents.push_back(std::make_unique<ResidentCluster>(launch_, order_.at(index), seed_));
    return true;
  }

  void run_blocks(unsigned which) {
    Random random(mix(seed_ + which + 1));
    // Blocks of a cooperative launch wait for one another.
    const std::uint64_t usual =
        launch_.launch.grid_workspace != 0 ? clusters_ : 1 + random.below(max_usual_residents);
    std::deque<std::unique_ptr<ResidentCluster>> residents;
    std::size_t waiting = 0;  // turns in a row in which a block only waited
    while (!stop_.load(std::memory_order_relaxed)) {
      if (residents.size() < usual) start(residents);
      if (residents.empty()) return;
      std::unique_ptr<ResidentCluster> cluster = std::move(residents.front());
      residents.pop_front();
      const ResidentBlock::Result result = cluster->run(turn);
      if (result == ResidentBlock::Result::done) {
        lane_instructions += cluster->executed_lanes();
        if (launch_.counter != nullptr) cluster->add_counts_to(*launch_.counter);
        waiting = 0;
        continue;
      }
      waiting = result == ResidentBlock::Result::spins ? waiting + 1 : 0;
      residents.push_back(std::move(cluster));
      if (waiting < residents.size()) continue;
      // All of them wait: for a block that has not started, for one of another host thread, or for
      // the host.
      waiting = 0;
      if (!start(residents)) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  const LaunchContext& launch_;
  const std::uint64_t clusters_, seed_;
  const Order order_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

std::uint64_t executed_lane_instructions() { return lane_instructions; }

void execute(Program& program, const Launch& launch, const GpuModel& gpu, Memory& memory,
             const Settings& settings) {
  const KernelCode& kernel = program.state().kernel(launch.kernel);
  const auto fault = [&](const std::string& text) {
    return Fault(FaultKind::illegal_instruction,
                 fmt::format("kernel {} [{}]: {}", kernel.demangled, launch.kernel, text));
  };
  const std::uint64_t threads_per_block =
      std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  if (threads_per_block == 0 || threads_per_block > 1024)
    throw fault(fmt::format("a block has 1 to 1024 threads, not {}", threads_per_block));
  if (launch.parameters.size() < kernel.function->parameter_bytes)
    throw fault(fmt::format("{} bytes of parameters instead of {}", launch.parameters.size(),
                            kernel.function->parameter_bytes));
  const std::size_t shared = kernel.shared_bytes(launch.dynamic_shared_bytes);
  if (shared > gpu.shared_bytes_per_block_optin)
    throw fault(fmt::format("{} bytes of shared memory, where {} has {}", shared, gpu.name,
                            gpu.shared_bytes_per_block_optin));
  const auto& required = kernel.function->cluster;
  const bool is_explicit = launch.cluster.x != 0 || required[0] != 0;
  const Dim3 cluster = required[0] != 0        ? Dim3{required[0], required[1], required[2]}
                       : launch.cluster.x != 0 ? launch.cluster
                                               : Dim3{};
  if (launch.grid.x % cluster.x != 0 || launch.grid.y % cluster.y != 0 ||
      launch.grid.z % cluster.z != 0)
    throw fault("the grid is no multiple of the cluster");
  const std::uint64_t blocks_per_cluster = std::uint64_t{cluster.x} * cluster.y * cluster.z;
  if (blocks_per_cluster > cluster_addresses::max_blocks)
    throw fault(fmt::format("a cluster has at most {} blocks, not {}",
                            cluster_addresses::max_blocks, blocks_per_cluster));
  Releases releases;
  LateStores late_stores;
  const Memory::Window& window = memory.window_of(launch.gpu);
  const std::unique_ptr<LaunchCounter> counter = counter_of(launch, kernel, window);
  const LaunchContext context{kernel,
                              launch,
                              gpu,
                              memory,
                              settings,
                              window,
                              memory.window_of(managed),
                              launch.number != 0 ? launch.number : memory.next_launch(),
                              launch.parameters,
                              releases,
                              late_stores,
                              thread_positions(launch.block),
                              WarpUnits{gpu.name},
                              counter.get(),
                              cluster,
                              is_explicit};
  memory.use_by_kernel(launch.parameters);
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  if (blocks == 0) return;
  const unsigned cores = settings.threads > 0 ? static_cast<unsigned>(settings.threads)
                                              : std::max(1u, std::thread::hardware_concurrency());
  // Different launches of one seed take different orders.
  static std::atomic<std::uint64_t> launches{0};
  const std::uint64_t seed = mix(settings.seed + 0x9e3779b97f4a7c15u * ++launches);
  const std::uint64_t clusters = blocks / blocks_per_cluster;
  Run(context, clusters, seed)
      .execute(static_cast<unsigned>(std::min<std::uint64_t>(cores, clusters)));
}

}  // namespace emulator
