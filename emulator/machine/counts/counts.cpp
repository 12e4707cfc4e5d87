#include "emulator/machine/counts/counts.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "emulator/machine/function_code.h"

namespace emulator {
namespace {

struct Table {
  std::mutex mutex;
  std::vector<KernelCounts> kernels;
  std::atomic<bool> is_on = false;
};

Table& table() {
  static Table all;
  return all;
}

}  // namespace

GlobalCounts& GlobalCounts::operator+=(const GlobalCounts& other) {
  requests += other.requests;
  lane_bytes += other.lane_bytes;
  wide_bytes += other.wide_bytes;
  sectors += other.sectors;
  distinct_sectors += other.distinct_sectors;
  return *this;
}

Counts& Counts::operator+=(const Counts& other) {
  for (std::size_t i = 0; i < pipes; ++i) instructions[i] += other.instructions[i];
  issued += other.issued;
  lanes += other.lanes;
  divisions += other.divisions;
  calls += other.calls;
  unknown += other.unknown;
  loads += other.loads;
  stores += other.stores;
  atomics += other.atomics;
  polls += other.polls;
  uniform_loads += other.uniform_loads;
  load_waits += other.load_waits;
  shared_requests += other.shared_requests;
  shared_wavefronts += other.shared_wavefronts;
  least_shared_wavefronts += other.least_shared_wavefronts;
  local_requests += other.local_requests;
  return *this;
}

bool counts_wanted() { return std::getenv("ASSAY_EMULATOR_COUNT") != nullptr; }

void start_counts() {
  const std::lock_guard lock(table().mutex);
  table().kernels.clear();
  table().is_on = true;
}

std::vector<KernelCounts> take_counts() {
  const std::lock_guard lock(table().mutex);
  table().is_on = false;
  return std::move(table().kernels);
}

/// A bit for each sector of a GPU's memory. Untouched parts take no memory.
class SectorMap {
 public:
  explicit SectorMap(const Memory::Window& window)
      : begin_(window.begin), bytes_((window.end - window.begin) / sector_bytes / 8 + 8) {
    void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    words_ = static_cast<std::uint64_t*>(data);
  }
  ~SectorMap() { munmap(words_, bytes_); }
  SectorMap(const SectorMap&) = delete;
  SectorMap& operator=(const SectorMap&) = delete;

  bool add(std::uint64_t address) {
    const std::uint64_t sector = (address - begin_) / sector_bytes;
    if (sector / 8 >= bytes_) return true;  // of another device: the link moves it each time
    const std::uint64_t bit = std::uint64_t{1} << (sector % 64);
    return (__atomic_fetch_or(&words_[sector / 64], bit, __ATOMIC_RELAXED) & bit) == 0;
  }

 private:
  std::uintptr_t begin_;
  std::size_t bytes_;
  std::uint64_t* words_;
};

struct LaunchCounter::State {
  State(const Launch& of_launch, const KernelCode& of_kernel, const Memory::Window& window)
      : launch(of_launch), kernel(of_kernel), loads(window), stores(window) {}
  const Launch& launch;
  const KernelCode& kernel;
  SectorMap loads, stores;
  std::mutex mutex;
  Counts sum;
  std::uint64_t blocks = 0;
};

LaunchCounter::LaunchCounter(const Launch& launch, const KernelCode& kernel,
                             const Memory::Window& window)
    : state_(std::make_unique<State>(launch, kernel, window)) {}

LaunchCounter::~LaunchCounter() {
  const Launch& launch = state_->launch;
  const std::lock_guard lock(table().mutex);
  std::vector<KernelCounts>& kernels = table().kernels;
  auto found = std::ranges::find(kernels, launch.kernel, &KernelCounts::kernel);
  if (found == kernels.end()) {
    found = kernels.emplace(kernels.end());
    found->kernel = launch.kernel;
    found->demangled = state_->kernel.demangled;
    found->ptx = state_->kernel.module->text;
  }
  ++found->launches;
  found->blocks += state_->blocks;
  found->threads_per_block = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  found->shared_bytes_per_block = state_->kernel.shared_bytes(launch.dynamic_shared_bytes);
  found->counts += state_->sum;
}

void LaunchCounter::add(const Counts& block) {
  const std::lock_guard lock(state_->mutex);
  state_->sum += block;
  ++state_->blocks;
}

bool LaunchCounter::is_first_load(std::uint64_t address) { return state_->loads.add(address); }
bool LaunchCounter::is_first_store(std::uint64_t address) { return state_->stores.add(address); }

std::unique_ptr<LaunchCounter> counter_of(const Launch& launch, const KernelCode& kernel,
                                          const Memory& memory) {
  if (!table().is_on || kernel.entry->costs.empty()) return nullptr;
  return std::make_unique<LaunchCounter>(launch, kernel,
                                         memory.windows()[static_cast<std::size_t>(launch.gpu)]);
}

}  // namespace emulator
