#include "emulator/machine/mbarrier.h"

#include <algorithm>
#include <iterator>

namespace emulator {
namespace {

// A state, from bit 0: pending arrivals (20), phase (20), word of the object (16), and a bit that
// no other number in a kernel is likely to have.
constexpr std::uint64_t count_bits = 20, phase_mask = (1u << 20) - 1, mark = std::uint64_t{1} << 62;

std::uint64_t tag_of(std::uint64_t offset) { return (offset / 8 & 0xffff) << 40 | mark; }

}  // namespace

void Mbarrier::end_phase_if_done() {
  ++changes;
  if (pending_ != 0 || bytes_ != 0) return;
  ++phase_;
  expected_bytes_ = completed_bytes_ = 0;
  pending_ = expected_;
  completed.join(released);
  released = {};
  std::ranges::move(landed, std::back_inserter(unseen));
  landed.clear();
}

const char* Mbarrier::arrive(std::uint32_t count, bool may_complete) {
  if (count == 0 || count > max_count) return "a count of arrivals is 1 to 1048575";
  if (count > pending_) return "more arrivals than the phase expects";
  if (!may_complete && count == pending_) return "an arrival with .noComplete completes the phase";
  pending_ -= count;
  end_phase_if_done();
  return nullptr;
}

const char* Mbarrier::drop(std::uint32_t count, bool may_complete) {
  if (count > expected_) return "more arrivals are dropped than the phases expect";
  expected_ -= count;
  return arrive(count, may_complete);
}

const char* Mbarrier::expect_arrival() {
  if (pending_ == max_count) return "more than 1048575 arrivals are pending";
  ++pending_;
  ++changes;
  return nullptr;
}

const char* Mbarrier::expect_bytes(std::uint32_t bytes) {
  if (bytes_ + bytes > max_count) return "more than 1048575 bytes are pending";
  bytes_ += bytes;
  expected_bytes_ += bytes;
  end_phase_if_done();
  return nullptr;
}

const char* Mbarrier::complete_bytes(std::uint32_t bytes) {
  if (bytes_ - std::int64_t{bytes} < -std::int64_t{max_count})
    return "more than 1048575 bytes came that nobody expects";
  bytes_ -= bytes;
  completed_bytes_ += bytes;
  end_phase_if_done();
  return nullptr;
}

std::uint64_t Mbarrier::state() const {
  return pending_ | (phase_ & phase_mask) << count_bits | tag_of(offset_);
}

const char* Mbarrier::test(std::uint64_t state, bool& complete) const {
  const std::uint64_t behind = (phase_ - (state >> count_bits)) & phase_mask;
  if (state >> 40 != tag_of(offset_) >> 40) return "the state is not from this object";
  if (behind > 1) return "the state is neither of this phase nor of the one before";
  complete = behind == 1;
  return nullptr;
}

std::uint32_t Mbarrier::pending_count(std::uint64_t state) {
  return static_cast<std::uint32_t>(state & phase_mask);
}

}  // namespace emulator
