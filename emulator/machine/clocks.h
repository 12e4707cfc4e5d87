#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "emulator/machine/code.h"

namespace emulator {

/// Who knows what of up to 32 members: the lanes of a warp, or the warps of a block. A member
/// stamps its accesses with `own`; another one is ordered after them once it knows a later clock.
/// Vector clocks (Mattern 1989), kept in one number for as long as all members synchronise
/// together, which is nearly always.
class Clocks {
 public:
  using Row = std::array<std::uint32_t, warp_lanes>;

  std::uint32_t own(int member) const { return own_[static_cast<std::size_t>(member)]; }

  /// Every member knows of everything before this clock.
  std::uint32_t all() const { return all_; }

  bool ordered(int me, int other, std::uint32_t stamp) const {
    return me == other || stamp < known(me, other);
  }

  /// Whether `me` knows no other member's accesses of this clock or later.
  bool knows_nobody(int me, std::uint32_t stamp) const {
    for (int other = 0; other < warp_lanes; ++other)
      if (other != me && stamp < known(me, other)) return false;
    return true;
  }

  /// Whether `me` knows every other member's accesses up to this clock.
  bool knows_everybody(int me, std::uint32_t stamp) const {
    for (int other = 0; other < warp_lanes; ++other)
      if (other != me && stamp >= known(me, other)) return false;
    return true;
  }

  /// `to` learn what `from` know and did. `everyone`: both are all members that there still are.
  void synchronise(Mask from, Mask to, bool everyone) {
    ++now_;
    if (everyone) {
      all_ = now_;
      own_.fill(now_);
      rows_.reset();
      return;
    }
    make_rows();
    Row joined{};
    for_lanes(from, [&](int member) { join(joined, row(member)); });
    for_lanes(from, [&](int member) {
      joined[static_cast<std::size_t>(member)] = now_;
      own_[static_cast<std::size_t>(member)] = now_;
    });
    for_lanes(to, [&](int member) { join(row(member), joined); });
  }

  /// Returns what a member has done and knows, for others to learn later.
  Row release(int member) {
    ++now_;
    Row result;
    for (std::size_t other = 0; other < result.size(); ++other)
      result[other] = known(member, static_cast<int>(other));
    own_[static_cast<std::size_t>(member)] = now_;
    result[static_cast<std::size_t>(member)] = now_;
    return result;
  }
  void acquire(int member, const Row& released) {
    make_rows();
    join(row(member), released);
  }

  /// Keeps what all of these members know in the one number again.
  void settle(Mask members) {
    if (rows_ == nullptr || members == 0) return;
    std::uint32_t least = ~std::uint32_t{0};
    for_lanes(members, [&](int me) {
      for_lanes(members, [&](int other) {
        if (other != me) least = std::min(least, known(me, other));
      });
    });
    if ((members & (members - 1)) != 0) all_ = std::max(all_, least);
  }

  static void join(Row& into, const Row& other) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], other[i]);
  }

 private:
  std::uint32_t known(int me, int other) const {
    if (rows_ == nullptr) return all_;
    return std::max(all_, (*rows_)[static_cast<std::size_t>(me)][static_cast<std::size_t>(other)]);
  }
  Row& row(int member) { return (*rows_)[static_cast<std::size_t>(member)]; }
  void make_rows() {
    if (rows_ == nullptr) rows_ = std::make_unique<std::array<Row, warp_lanes>>();
  }

  std::uint32_t now_ = 1, all_ = 0;
  Row own_ = [] {
    Row row;
    row.fill(1);
    return row;
  }();
  std::unique_ptr<std::array<Row, warp_lanes>> rows_;
};

}  // namespace emulator
