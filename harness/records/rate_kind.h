#pragma once

#include <string_view>

namespace assay {

/// Work whose rate is told: bytes that are moved, or operations.
enum class RateKind { data, arithmetic };

constexpr std::string_view unit_of(RateKind kind) {
  return kind == RateKind::data ? "B/s" : "FLOP/s";
}

}  // namespace assay
