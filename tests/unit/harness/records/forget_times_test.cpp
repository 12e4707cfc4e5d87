#include "harness/records/forget_times.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>

namespace assay {
namespace {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// Fills every column.
Record full() {
  Record record;
  visit_fields(record, [](std::string_view, auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::string>) {
      field = "x";
    } else if constexpr (IsOptional<Field>::value) {
      field.emplace();
    }
  });
  return record;
}

TEST(ForgetTimes, EmptiesWhatTimingFillsAndNothingElse) {
  Record record = full();
  forget_times(record);
  std::set<std::string> emptied;
  visit_fields(record, [&](std::string_view name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    bool is_empty = false;
    if constexpr (std::is_same_v<Field, std::string>) {
      is_empty = field.empty();
    } else if constexpr (IsOptional<Field>::value) {
      is_empty = !field.has_value();
    }
    if (is_empty) emptied.emplace(name);
  });
  EXPECT_EQ(emptied, (std::set<std::string>{"samples",
                                            "stop_reason",
                                            "time_min_s",
                                            "time_q1_s",
                                            "time_median_s",
                                            "time_q3_s",
                                            "time_ci_low_s",
                                            "time_ci_high_s",
                                            "noise",
                                            "flops_per_s",
                                            "bandwidth_bytes_per_s",
                                            "algbw_bytes_per_s",
                                            "busbw_bytes_per_s",
                                            "fraction_of_limit",
                                            "limit",
                                            "clock_hz",
                                            "temperature_c",
                                            "power_w",
                                            "throttled",
                                            "launches_per_sample",
                                            "empty_sample_s",
                                            "between_samples_s",
                                            "beyond_limit",
                                            "bandwidth_forth_bytes_per_s",
                                            "bandwidth_back_bytes_per_s",
                                            "fraction_ci_low",
                                            "fraction_ci_high",
                                            "turns_with_limit",
                                            "rank_times_s",
                                            "energy_per_launch_j",
                                            "energy_ci_low_j",
                                            "energy_ci_high_j",
                                            "energy_by_power_per_launch_j",
                                            "energy_per_flop_j",
                                            "energy_resolution_s",
                                            "second_take",
                                            "void_samples",
                                            "power_capped",
                                            "sm_clock_hz"}));
}

}  // namespace
}  // namespace assay
