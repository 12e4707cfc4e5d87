#include "kernels/cpu/device.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "kernels/cpu/caches.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/kernels.h"
#include "kernels/cpu/rapl.h"
#include "kernels/cpu/traits.h"
#include "kernels/cpu/vectorize.h"
#include "kernels/device/view_kernel.h"
#include "kernels/ops/views.h"

namespace assay::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Size of a cache line, and of the widest vector.
constexpr std::size_t alignment = 64;

/// Returns aligned memory, null if there is none. A block of malloc() that is freed serves the next
/// request of its size, which one of aligned_alloc() does not: glibc looks for a larger block, so
/// each trial would have new pages cleared.
void* allocate_aligned(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) return nullptr;
  auto* block = static_cast<std::byte*>(std::malloc(bytes + alignment));
  if (block == nullptr) return nullptr;
  // malloc() aligns to 16 bytes, so that the distance lies before the memory.
  const std::size_t distance = alignment - reinterpret_cast<std::uintptr_t>(block) % alignment;
  block += distance;
  block[-1] = static_cast<std::byte>(distance);
  return block;
}

void free_aligned(void* memory) noexcept {
  auto* data = static_cast<std::byte*>(memory);
  if (data != nullptr) std::free(data - std::to_integer<std::size_t>(data[-1]));
}

struct CpuEvent final : Event {
  Clock::time_point time;
};

class CpuStream final : public Stream {
 public:
  std::unique_ptr<Event> create_event() override { return std::make_unique<CpuEvent>(); }
  void record(Event& event) override { static_cast<CpuEvent&>(event).time = Clock::now(); }
  double elapsed_s(const Event& start, const Event& stop) override {
    const auto ticks =
        static_cast<const CpuEvent&>(stop).time - static_cast<const CpuEvent&>(start).time;
    return std::chrono::duration<double>(ticks).count();
  }
  void synchronize() override {}
  void flush_caches() override { evict_caches(); }
};

/// Calls body(first, count) for all bytes, on all threads if there are many bytes. Never calls it
/// for zero bytes: memcpy and memset take no null pointer.
template <class Body>
void in_blocks(std::size_t bytes, const Body& body) {
  parallel_blocks(static_cast<std::int64_t>(bytes), 1,
                  [&](std::int64_t, std::int64_t first, std::int64_t count) {
                    if (count > 0) {
                      body(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
                    }
                  });
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
  in_blocks(bytes, [&](std::size_t first, std::size_t count) {
    std::memcpy(static_cast<std::byte*>(to) + first, static_cast<const std::byte*>(from) + first,
                count);
  });
}

}  // namespace

DeviceCondition CpuDevice::condition() const {
  DeviceCondition now;
  if (info_.backend == traits().kind) now.energy_j = Rapl::of_this_machine().joules();
  return now;
}

void* CpuDevice::allocate(std::size_t bytes, Memory kind) {
  if (kind == Memory::huge_pages) return keep(std::make_unique<HugePageMapping>(bytes));
  if (kind == Memory::fenced) return keep(std::make_unique<FencedMemory>(bytes));
  void* memory = allocate_aligned(bytes);
  if (memory == nullptr) {
    throw DeviceError(Failure::out_of_memory,
                      "cpu: no memory for " + std::to_string(bytes) + " bytes");
  }
  return memory;
}

void* CpuDevice::keep(Mapping mapping) {
  void* data = std::visit([](const auto& held) { return held->data(); }, mapping);
  const std::lock_guard lock(mutex_);
  mappings_.emplace(data, std::move(mapping));
  return data;
}

void CpuDevice::release(void* memory) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (mappings_.erase(memory) > 0) return;
  }
  free_aligned(memory);
}

void CpuDevice::upload(void* to, const void* from_host, std::size_t bytes) {
  copy_bytes(to, from_host, bytes);
}

void CpuDevice::download(void* to_host, const void* from, std::size_t bytes) {
  copy_bytes(to_host, from, bytes);
}

void CpuDevice::fill(void* to, std::byte value, std::size_t bytes) {
  in_blocks(bytes, [&](std::size_t first, std::size_t count) {
    std::memset(static_cast<std::byte*>(to) + first, std::to_integer<int>(value), count);
  });
}

void CpuDevice::touch(void* memory, std::size_t bytes) {
  constexpr std::size_t page_bytes = 4096;
  in_blocks(bytes, [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; i += page_bytes) {
      static_cast<volatile std::byte*>(memory)[i] = std::byte{0};
    }
  });
}

namespace {

/// True if another thread of this process runs, or waits for a disk.
bool others_run() {
  const std::string own = std::to_string(gettid());
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own) continue;
    std::ifstream file(task.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(") ");  // the name may hold anything
    if (name_end == std::string::npos) continue;    // it has ended
    const char state = stat[name_end + 2];
    if (state == 'R' || state == 'D') return true;
  }
  return false;
}

}  // namespace

void CpuDevice::wait_for_all() {
  constexpr double max_wait_s = 2;
  for (const Deadline deadline = after(max_wait_s);
       others_run() && std::chrono::steady_clock::now() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::unique_ptr<Stream> CpuDevice::create_stream() { return std::make_unique<CpuStream>(); }

std::unique_ptr<Kernel> CpuDevice::prepare(const OpInstance& op, const Binding& binding) {
  for (const auto family : kernels_families()) {
    for (const KernelRow& row : family()) {
      if (row.op != op.op->name) continue;
      // Its tensors are f32 or bytes, and a product of those would be another one.
      if (op.format.product() != nullptr) refuse_dtype(op);
      if (!has_view(op) || row.takes_views) return row.make(op, binding);
      const auto of_dense = [this](const OpInstance& dense, const Binding& tensors) {
        return prepare(dense, tensors);
      };
      return through_dense_tensors(*this, of_dense, op, binding);
    }
  }
  throw DeviceError(Failure::not_here, "cpu has no op " + std::string(op.op->name));
}

}  // namespace assay::cpu
