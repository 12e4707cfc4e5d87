#include "tests/cuda_emulator/machine/guarded_words.h"

#include <fmt/format.h>

#include "tests/cuda_emulator/machine/block.h"
#include "tests/cuda_emulator/machine/warp.h"

namespace emulator {
namespace {

[[noreturn]] void report(Warp& warp, int lane, std::uint64_t offset, std::uint64_t bytes,
                         bool writes, int thread, const char* does) {
  const auto tid = [&](Special which) {
    return warp.block().special(which, thread / warp_lanes, thread % warp_lanes);
  };
  warp.fault(FaultKind::race, lane,
             fmt::format("{} {} bytes of shared memory at {:#x}, which a copy that thread "
                         "({},{},{}) started {}: nothing has waited for it",
                         writes ? "writes" : "reads", bytes, offset, tid(Special::tid_x),
                         tid(Special::tid_y), tid(Special::tid_z), does));
}

}  // namespace

template <class F>
void GuardedWords::for_each(std::uint64_t offset, std::uint64_t bytes, F f) {
  for (std::uint64_t at = offset / 4; at < (offset + bytes + 3) / 4; ++at) f(words_[at]);
}

void GuardedWords::add_write(std::uint64_t offset, std::uint64_t bytes, int thread) {
  for_each(offset, bytes,
           [&](Word& word) { word.writer = static_cast<std::uint16_t>(thread + 1); });
}

void GuardedWords::remove_write(std::uint64_t offset, std::uint64_t bytes) {
  for_each(offset, bytes, [](Word& word) { word.writer = 0; });
}

void GuardedWords::add_read(std::uint64_t offset, std::uint64_t bytes, int thread) {
  for_each(offset, bytes, [&](Word& word) {
    word.reader = static_cast<std::uint16_t>(thread + 1);
    ++word.reads;
  });
}

void GuardedWords::remove_read(std::uint64_t offset, std::uint64_t bytes) {
  for_each(offset, bytes, [](Word& word) { --word.reads; });
}

void GuardedWords::set_mbarrier(std::uint64_t offset, bool live) {
  for_each(offset, 8, [live](Word& word) { word.mbarrier = live; });
}

void GuardedWords::check(Warp& warp, int lane, std::uint64_t offset, std::uint64_t bytes,
                         bool writes) const {
  for (std::uint64_t at = offset / 4; at < (offset + bytes + 3) / 4; ++at) {
    const Word& word = words_[at];
    if (word.mbarrier)
      warp.fault(FaultKind::undefined, lane,
                 fmt::format("{} {} bytes of shared memory at {:#x}, where an mbarrier object is",
                             writes ? "writes" : "reads", bytes, offset));
    if (word.writer != 0) report(warp, lane, offset, bytes, writes, word.writer - 1, "writes");
    if (writes && word.reads != 0)
      report(warp, lane, offset, bytes, writes, word.reader - 1, "reads");
  }
}

}  // namespace emulator
