#include "emulator/machine/guarded_words.h"

#include <fmt/format.h>

#include "emulator/machine/product_reads.h"
#include "emulator/machine/target.h"

namespace emulator {
namespace {

void report(const LaunchContext& launch, const WarpState& warp, int lane, std::uint64_t offset,
            std::uint64_t bytes, bool writes, int thread, const char* does) {
  warp.find(
      FaultKind::race, lane,
      fmt::format("{} {} bytes of shared memory at {:#x}, which a copy that thread {} started "
                  "{}: nothing has waited for it",
                  writes ? "writes" : "reads", bytes, offset, launch.name_of_thread(thread), does));
}

}  // namespace

GuardedWords::GuardedWords(const LaunchContext& launch, MarkedBytes& shared)
    : launch_(launch), written_(shared.written), words_((shared.written.size() + 3) / 4) {}

/// Moves the marks aside when the first guard comes, and back when the last one goes.
template <class F>
void GuardedWords::change(std::uint64_t offset, std::uint64_t bytes, F f) {
  for (std::uint64_t at = offset / 4; at < (offset + bytes + 3) / 4; ++at) {
    Word& word = words_[at];
    const bool before = word.is_guarded();
    f(word);
    const bool after = word.is_guarded();
    for (std::uint64_t k = 0; before != after && k < 4 && at * 4 + k < written_.size(); ++k) {
      std::uint8_t& mark = written_[at * 4 + k];
      if (after) word.marks[k] = mark;
      mark = after ? std::uint8_t{0} : word.marks[k];
    }
  }
}

std::uint8_t GuardedWords::mark(std::uint64_t offset) const {
  const Word& word = words_[offset / 4];
  return word.is_guarded() ? word.marks[offset % 4] : written_[offset];
}

void GuardedWords::set_mark(std::uint64_t offset, std::uint8_t mark) {
  Word& word = words_[offset / 4];
  (word.is_guarded() ? word.marks[offset % 4] : written_[offset]) = mark;
}

void GuardedWords::add_write(std::uint64_t offset, std::uint64_t bytes, int thread) {
  change(offset, bytes, [&](Word& word) { word.writer = static_cast<std::uint16_t>(thread + 1); });
}

void GuardedWords::remove_write(std::uint64_t offset, std::uint64_t bytes) {
  change(offset, bytes, [](Word& word) { word.writer = 0; });
}

void GuardedWords::add_read(std::uint64_t offset, std::uint64_t bytes, int thread) {
  change(offset, bytes, [&](Word& word) {
    word.reader = static_cast<std::uint16_t>(thread + 1);
    ++word.reads;
  });
}

void GuardedWords::remove_read(std::uint64_t offset, std::uint64_t bytes) {
  change(offset, bytes, [](Word& word) { --word.reads; });
}

void GuardedWords::set_mbarrier(std::uint64_t offset, bool live) {
  change(offset, 8, [live](Word& word) { word.mbarrier = live; });
}

void GuardedWords::add_product(std::uint64_t offset, std::uint64_t bytes) {
  change(offset, bytes, [](Word& word) { word.product = true; });
}

bool GuardedWords::check(const WarpState& warp, int lane, std::uint64_t offset, std::uint64_t bytes,
                         bool writes) {
  bool is_told = false;
  for (std::uint64_t at = offset / 4; at < (offset + bytes + 3) / 4; ++at) {
    const Word& word = words_[at];
    is_told |= word.mbarrier || word.writer != 0 || (writes && word.reads != 0);
    if (word.mbarrier)
      warp.find(FaultKind::undefined, lane,
                fmt::format("{} {} bytes of shared memory at {:#x}, where an mbarrier object is",
                            writes ? "writes" : "reads", bytes, offset));
    if (word.writer != 0)
      report(launch_, warp, lane, offset, bytes, writes, word.writer - 1, "writes");
    if (writes && word.reads != 0)
      report(launch_, warp, lane, offset, bytes, writes, word.reader - 1, "reads");
    if (writes && word.product) {
      product_reads->check_write(warp, lane, at * 4, bytes);
      change(at * 4, 4, [](Word& each) { each.product = false; });
    }
  }
  if (is_told) return true;
  for (std::uint64_t at = offset; at < offset + bytes; ++at)
    if (mark(at) != mark_written) return false;
  return true;
}

}  // namespace emulator
