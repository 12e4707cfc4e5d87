#include "emulator/machine/counts/counts.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

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

bool is_counting() { return table().is_on; }

std::vector<KernelCounts> take_counts() {
  const std::lock_guard lock(table().mutex);
  table().is_on = false;
  return std::move(table().kernels);
}

/// A bit for each sector of a GPU's memory. Untouched parts take no memory.
class SectorMap {
 public:
  SectorMap(std::uintptr_t begin, std::uintptr_t end)
      : begin_(begin), bytes_((end - begin) / sector_bytes / 8 + 8) {
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
  State(KernelCounts launch, std::uintptr_t begin, std::uintptr_t end)
      : sum(std::move(launch)), loads(begin, end), stores(begin, end) {
    sum.launches = 1;
  }
  KernelCounts sum;
  SectorMap loads, stores;
  std::mutex mutex;
};

LaunchCounter::LaunchCounter(KernelCounts launch, std::uintptr_t begin, std::uintptr_t end)
    : state_(std::make_unique<State>(std::move(launch), begin, end)) {}

LaunchCounter::~LaunchCounter() {
  KernelCounts& sum = state_->sum;
  const std::lock_guard lock(table().mutex);
  std::vector<KernelCounts>& kernels = table().kernels;
  const auto found = std::ranges::find(kernels, sum.kernel, &KernelCounts::kernel);
  if (found == kernels.end()) {
    kernels.push_back(std::move(sum));
    return;
  }
  ++found->launches;
  found->blocks += sum.blocks;
  found->threads_per_block = sum.threads_per_block;
  found->shared_bytes_per_block = sum.shared_bytes_per_block;
  found->counts += sum.counts;
}

void LaunchCounter::add(const Counts& block) {
  const std::lock_guard lock(state_->mutex);
  state_->sum.counts += block;
  ++state_->sum.blocks;
}

bool LaunchCounter::is_first_load(std::uint64_t address) { return state_->loads.add(address); }
bool LaunchCounter::is_first_store(std::uint64_t address) { return state_->stores.add(address); }

}  // namespace emulator
