#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::cli {

/// Key of a trial within a selection.
struct TrialName {
  std::string case_id;  // "linear/f32/batch=64,in=1024,out=1024,bias=1,act=none"
  std::string lane;     // "cpu", "cuda:0", "cuda:0>cuda:1"
  std::string timing;   // "batch", "cold"; empty when only checked

  bool operator==(const TrialName&) const = default;
};

/// Name of a trial for the filters of GoogleTest and Google Benchmark. The first cannot name `:`,
/// `-`, `*` and `?`, and splits a name at its `.`; the second is a regular expression. So names
/// consist of letters, digits and `_ / = , %` alone:
///
/// - a lane is its devices without colons, and a word for the sign between them: `cpu`, `cuda0`,
///   `cuda0_with_cuda1` (+, a collective), `cuda0_to_cuda1` (>), `cuda0_swap_cuda1` (<>);
/// - a case id is itself; a character that is not in the list is percent-encoded (RFC 3986): `%2D`
///   for `-`.
///
/// `to_gtest_name` is LANE.CASE: test CASE of test suite LANE. Its trials have no timing.
/// `to_gbench_name` is LANE/CASE, and LANE/cold/CASE for one on empty caches.
std::string to_gtest_name(const TrialName& trial);
std::string to_gbench_name(const TrialName& trial);

/// The inverse; nothing if it is no such name. A benchmark's name may have the library's suffix:
/// "/iterations:1/manual_time", "_median".
std::optional<TrialName> from_gtest_name(std::string_view name);
std::optional<TrialName> from_gbench_name(std::string_view name);

/// Returns "cuda0_to_cuda1" for "cuda:0>cuda:1".
std::string lane_name(std::string_view lane);

}  // namespace assay::cli
