#include "emulator/machine/unordered.h"

#include <fmt/format.h>

#include <algorithm>

#include "emulator/machine/global_stamps.h"

namespace emulator {
namespace {

using namespace global_stamps;

constexpr std::size_t launch_numbers = 1 << 16;

/// The launch among the unordered ones whose stamp says that it wrote, or read, any of the word's
/// bytes in `part`; 0: none.
std::uint64_t user_of_word(const Memory::Window& window, std::uint64_t word, std::uint64_t part,
                           int which, const Unordered& unordered) {
  const std::uint64_t writer = get(window.stamps[2 * word]);
  const std::uint64_t stamp = which == 0 ? writer : get(window.stamps[2 * word + 1]);
  const bool is_split = writer != 0 && bytes_of(writer) == 0;
  if (!is_split)
    return unordered.has_launch(launch_of(stamp)) && (bytes_of(stamp) & part) != 0
               ? launch_of(stamp)
               : 0;
  for (std::uint64_t k = 0; k < 4; ++k) {
    const std::uint64_t of_byte =
        get(window.byte_stamps[8 * word + 2 * k + static_cast<unsigned>(which)]);
    if ((part >> k & 1) != 0 && unordered.has_launch(launch_of(of_byte))) return launch_of(of_byte);
  }
  return 0;
}

}  // namespace

void Unordered::add_launch(std::uint64_t number, const std::string& name) {
  is_launch_.resize(launch_numbers);
  is_launch_[number] = true;
  launches[number] = name;
}

const Unordered::Range* Unordered::meets(std::uintptr_t begin, std::size_t bytes,
                                         bool writes) const {
  const auto found = std::ranges::find_if(ranges, [&](const Range& range) {
    return (writes || range.is_written) && begin < range.end && range.begin < begin + bytes;
  });
  return found == ranges.end() ? nullptr : &*found;
}

std::optional<std::string> unordered_use(const Memory& memory, std::uintptr_t address,
                                         std::size_t bytes, bool writes,
                                         const Unordered& unordered) {
  if (const auto* range = unordered.meets(address, bytes, writes))
    return fmt::format("{}, which {} the bytes from {:#x} to {:#x},", range->name,
                       range->is_written ? "writes" : "reads", range->begin, range->end);
  if (unordered.launches.empty()) return std::nullopt;
  const auto allocation = memory.find(address);
  if (!allocation || allocation->owner == host) return std::nullopt;
  const Memory::Window& window = memory.window_of(allocation->owner);
  const std::uint64_t begin = address - window.begin, end = begin + bytes;
  for (std::uint64_t word = begin / 4; word < (end + 3) / 4; ++word) {
    std::uint64_t part = 0xf;
    if (word * 4 < begin) part &= 0xfu << (begin - word * 4);
    if (word * 4 + 4 > end) part &= 0xfu >> (word * 4 + 4 - end);
    for (const int which : {0, 1}) {
      if (which == 1 && !writes) continue;
      const std::uint64_t launch = user_of_word(window, word, part, which, unordered);
      if (launch != 0)
        return fmt::format("{}, which {} the word at {:#x},", unordered.launches.at(launch),
                           which == 0 ? "writes" : "reads", window.begin + word * 4);
    }
  }
  return std::nullopt;
}

}  // namespace emulator
