#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace assay {

/// Work of one device on one case for one interval of a soak. Every launch is covered by a
/// comparison of all bits that it led to, or is not counted.
struct SoakWork {
  std::int64_t launches = 0;
  double products = 0;  // multiply-adds behind the compared bits
  double copied_bytes = 0;
  double launch_s = 0;  // host time from the enqueueing of launches to their end
  double wall_s = 0;    // of the interval, with its comparisons, without `setup_s`
  double setup_s = 0;   // inputs and verification, before the first interval of a case
  std::int64_t wrong_elements = 0;
  std::int64_t wrong_comparisons = 0;   // that found a wrong element
  std::string first_wrong;              // "launch 7 [12] expected 0x41 actual 0x40; ..."
  std::optional<double> clock_hz;       // lowest that was seen
  std::optional<double> temperature_c;  // highest
  std::optional<double> power_w;        // highest
  std::optional<bool> throttled;        // at any time
  // Errors that the driver counted during the interval.
  std::optional<std::int64_t> ecc_corrected;
  std::optional<std::int64_t> ecc_uncorrected;
  std::optional<std::int64_t> nvlink_errors;
  std::optional<std::int64_t> xid_errors;
  std::optional<std::int64_t> last_xid;  // empty without one
};

/// Calls `visit(name, field)` for each field in the order of the columns of soak.csv.
template <class S, class Visitor>
void visit_fields(S& s, Visitor&& visit) requires std::same_as<std::remove_const_t<S>, SoakWork> {
  visit("launches", s.launches);
  visit("products", s.products);
  visit("copied_bytes", s.copied_bytes);
  visit("launch_s", s.launch_s);
  visit("wall_s", s.wall_s);
  visit("setup_s", s.setup_s);
  visit("wrong_elements", s.wrong_elements);
  visit("wrong_comparisons", s.wrong_comparisons);
  visit("first_wrong", s.first_wrong);
  visit("clock_hz", s.clock_hz);
  visit("temperature_c", s.temperature_c);
  visit("power_w", s.power_w);
  visit("throttled", s.throttled);
  visit("ecc_corrected", s.ecc_corrected);
  visit("ecc_uncorrected", s.ecc_uncorrected);
  visit("nvlink_errors", s.nvlink_errors);
  visit("xid_errors", s.xid_errors);
  visit("last_xid", s.last_xid);
}

}  // namespace assay
