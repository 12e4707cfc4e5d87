#include <algorithm>

#include "kernels/reference/families.h"

namespace assay::reference {
namespace {

void copy_bits(const Problem& p, std::span<const double>, std::int64_t first,
               std::span<std::byte> out) {
  const auto from = p.ranks[0][0].bytes().subspan(
      static_cast<std::size_t>(first) * size_bytes(p.op.dtype), out.size());
  std::copy(from.begin(), from.end(), out.begin());
}

Reference copied(const OpInstance&) { return {.bits = copy_bits}; }

constexpr ReferenceRow rows[] = {
    {"memcpy", copied},
    {"memcpy_2d", copied},
    {"device_memcpy", copied},
    {"peer_memcpy", copied},
    // On the placement layer a copy comes back by way of whatever it was to show.
    {"device_query", copied},
    {"absent_device_refused", copied},
    {"visible_mask", copied},
    {"most_free", copied},
    {"device_guard", copied},
    {"born_on_cpu", copied},
    {"move_copies", copied},
    {"move_stays", copied},
    {"move_between", copied},
    {"round_trip", copied},
    {"mixed_devices_refused", copied},
    {"mixed_peers_refused", copied},
};

}  // namespace

std::span<const ReferenceRow> memcpy_references() { return rows; }

}  // namespace assay::reference
