#include "kernels/sim/address_space.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <string>

#include "kernels/core/status.h"

namespace assay::sim {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

AddressSpace::~AddressSpace() {
  for (const auto& [address, block] : blocks_) unmap(address, block);
}

std::size_t AddressSpace::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

void* AddressSpace::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto refuse = [&] {
    return DeviceError(Failure::out_of_memory, "sim: no memory for " + std::to_string(bytes) +
                                                   " bytes (" + std::to_string(used_) + " of " +
                                                   std::to_string(capacity_) + " in use)");
  };
  if (bytes > capacity_ - used_) throw refuse();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t mapped = (bytes / page + 1) * page;  // never empty
  void* address = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw refuse();
  auto* host = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
  if (host == nullptr) {
    munmap(address, mapped);
    throw refuse();
  }
  blocks_.emplace(static_cast<std::byte*>(address), Block{bytes, mapped, host});
  used_ += bytes;
  return address;
}

void AddressSpace::unmap(const std::byte* address, const Block& block) noexcept {
  munmap(const_cast<std::byte*>(address), block.mapped_bytes);
  ::operator delete(block.host, alignment);
}

void AddressSpace::release(void* address) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<const std::byte*>(address));
  if (found == blocks_.end()) return;
  used_ -= found->second.bytes;
  unmap(found->first, found->second);
  blocks_.erase(found);
}

std::byte* AddressSpace::host(const void* address) const {
  if (std::byte* found = find(address)) return found;
  throw DeviceError(Failure::internal, "sim: the address is not of this device");
}

std::byte* AddressSpace::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  const auto* wanted = static_cast<const std::byte*>(address);
  auto block = blocks_.upper_bound(wanted);
  if (block != blocks_.begin()) {
    --block;
    const auto offset = static_cast<std::size_t>(wanted - block->first);
    if (offset <= block->second.bytes) return block->second.host + offset;
  }
  return nullptr;
}

}  // namespace assay::sim
