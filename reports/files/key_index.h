#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace assay {

/// Finds the places of keys that somebody else holds: open addressing over (hash, place), so that a
/// search touches one line of memory, and the key itself only where the hash agrees. For as many
/// keys as fit into 32 bits.
class KeyIndex {
 public:
  static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

  /// The place of the key with this hash for which `is_it(place)` holds, or `absent`.
  template <class IsIt>
  std::uint32_t find(std::size_t hash, IsIt&& is_it) const {
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      const Slot& slot = slots_[at];
      if (slot.place == absent) return absent;
      if (slot.hash == hash && is_it(slot.place)) return slot.place;
    }
  }

  /// For a key that is not in it.
  void insert(std::size_t hash, std::uint32_t place) {
    if (2 * (used_ + 1) > slots_.size()) {
      std::vector<Slot> old(2 * slots_.size());
      std::swap(old, slots_);
      for (const Slot& slot : old) put(slot);
    }
    put({hash, place});
    ++used_;
  }

 private:
  struct Slot {
    std::size_t hash = 0;
    std::uint32_t place = absent;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  void put(const Slot& slot) {
    if (slot.place == absent) return;
    std::size_t at = slot.hash & mask();
    while (slots_[at].place != absent) at = (at + 1) & mask();
    slots_[at] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two, at most half of them used
  std::size_t used_ = 0;
};

}  // namespace assay
