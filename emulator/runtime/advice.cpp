#include "emulator/runtime/advice.h"

#include <iterator>

namespace emulator {
namespace {

constexpr std::uintptr_t page_bytes = 4096;

std::uintptr_t first_page(std::uintptr_t address) { return address / page_bytes * page_bytes; }

std::uintptr_t end_of_pages(std::uintptr_t address, std::size_t bytes) {
  return first_page(address + bytes + page_bytes - 1);
}

}  // namespace

void AdviceMap::split(std::uintptr_t address) {
  const auto after = parts_.upper_bound(address);
  parts_.emplace(address, after == parts_.begin() ? Advice{} : std::prev(after)->second);
}

void AdviceMap::change(std::uintptr_t address, std::size_t bytes,
                       const std::function<void(Advice&)>& to) {
  const std::uintptr_t begin = first_page(address), end = end_of_pages(address, bytes);
  split(begin);
  split(end);
  for (auto part = parts_.find(begin); part->first != end; ++part) to(part->second);
}

void AdviceMap::forget(std::uintptr_t address, std::size_t bytes) {
  change(address, bytes, [](Advice& advice) { advice = {}; });
}

std::vector<Advice> AdviceMap::of(std::uintptr_t address, std::size_t bytes) const {
  std::vector<Advice> found;
  auto part = parts_.upper_bound(address);
  found.push_back(part == parts_.begin() ? Advice{} : std::prev(part)->second);
  for (; part != parts_.end() && part->first < address + bytes; ++part)
    found.push_back(part->second);
  return found;
}

}  // namespace emulator
