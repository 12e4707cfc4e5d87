#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::cli {

/// What tells one trial of a selection from the others.
struct TrialName {
  std::string case_id;  // "linear/f32/batch=64,in=1024,out=1024,bias=1,act=none"
  std::string lane;     // "cpu", "cuda:0", "cuda:0>cuda:1"
  std::string timing;   // "batch", "cold"; empty when only checked

  bool operator==(const TrialName&) const = default;
};

/// A trial as the filters of GoogleTest and Google Benchmark can name it. The first cannot name
/// `:`, `-`, `*` and `?`, and parts a name at its `.`; the second is a regular expression. So names
/// consist of letters, digits and `_ / = , %` alone:
///
/// - a lane is its devices without colons, and a word for what joins them: `cpu`, `cuda0`,
///   `cuda0_with_cuda1` (+, a collective), `cuda0_to_cuda1` (>), `cuda0_swap_cuda1` (<>);
/// - a case id is itself; a character that is not in the list is its code, `%2D` for `-`, as in
///   addresses of the web (RFC 3986).
///
/// `to_gtest_name` is LANE.CASE: of test suite LANE the test CASE. Its trials have no timing.
/// `to_gbench_name` is LANE/CASE, and LANE/cold/CASE for one on empty caches.
std::string to_gtest_name(const TrialName& trial);
std::string to_gbench_name(const TrialName& trial);

/// The inverse; nothing for what is not such a name. That of a benchmark may have what the library
/// appends: "/iterations:1/manual_time", "_median".
std::optional<TrialName> from_gtest_name(std::string_view name);
std::optional<TrialName> from_gbench_name(std::string_view name);

/// "cuda0_to_cuda1" of "cuda:0>cuda:1".
std::string lane_name(std::string_view lane);

}  // namespace assay::cli
