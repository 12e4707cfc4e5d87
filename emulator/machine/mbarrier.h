#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/machine/async_copy.h"
#include "emulator/machine/shared_races.h"

namespace emulator {

/// One barrier object in shared memory (PTX ISA, mbarrier): a phase ends when no arrival and no
/// transaction is pending. The functions that change it return why the result is undefined, or
/// null.
class Mbarrier {
 public:
  static constexpr std::uint32_t max_count = (1u << 20) - 1;

  Mbarrier(std::uint64_t offset, std::uint32_t count)
      : offset_(offset), expected_(count), pending_(count) {}

  const char* arrive(std::uint32_t count, bool may_complete);
  /// An arrival that later phases do not expect any more.
  const char* drop(std::uint32_t count, bool may_complete);
  /// One more arrival in this phase, for cp.async.mbarrier.arrive.
  const char* expect_arrival();
  const char* expect_bytes(std::uint32_t bytes);
  const char* complete_bytes(std::uint32_t bytes);

  /// The opaque state that an arrival returns.
  std::uint64_t state() const;
  const char* test(std::uint64_t state, bool& complete) const;
  bool test_parity(std::uint32_t parity) const { return (phase_ & 1) != parity; }
  static std::uint32_t pending_count(std::uint64_t state);

  std::uint64_t offset() const { return offset_; }
  /// Bytes that this phase expects, and that have come: they differ while transactions are pending.
  std::uint64_t expected_bytes() const { return expected_bytes_; }
  std::uint64_t completed_bytes() const { return completed_bytes_; }

  /// Released by the arrivals of this phase, and by those of all phases that ended.
  Released released, completed;
  /// Copies that signalled this phase, and phases that ended and nobody has seen.
  std::vector<std::shared_ptr<AsyncCopy>> landed, unseen;
  int pending_signals = 0;    // copies and arrivals that are still to come
  std::uint64_t changes = 0;  // for the search for threads that wait for ever

 private:
  void end_phase_if_done();

  std::uint64_t offset_;
  std::uint32_t expected_, pending_;
  std::int64_t bytes_ = 0;  // expected_bytes_ - completed_bytes_
  std::uint64_t expected_bytes_ = 0, completed_bytes_ = 0;
  std::uint32_t phase_ = 0;
};

}  // namespace emulator
