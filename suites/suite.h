#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/core/format.h"
#include "kernels/core/params.h"

namespace assay {

/// Part of a suite to run: each level includes those before it. Cases `in_turns` are costly ones:
/// of an op and a point the profile smoke has one format, in turns, and later profiles all. No
/// profile has `never`; `edges` are grids of their own.
enum class Level { seeds, smoke, in_turns, standard, full, never, edges };

/// A named level, with the time cap of one measurement.
struct Profile {
  std::string_view name;
  Level level;
  double cap_s;
  bool measures_limits;  // before the first of its trials that is large enough to have one
  std::string_view description;
  double timeout_s = 120;  // limit for one case: ample for the largest
  /// Pairs of devices after the first one take only the cases of a grid `of_each_pair`: eight
  /// devices have 56 pairs.
  bool thins_pairs = false;
};

std::span<const Profile> all_profiles();
/// Throws UsageError that names the valid profiles.
const Profile& find_profile(std::string_view name);

/// One value of an axis, or one tuple of values of parameters that vary together (the shape of a
/// layer), and the first level that runs it.
struct Point {
  Level level;
  std::vector<ParamValue> values;
  /// Parameter that grows with the devices' caches (suites/growth.h); empty: none.
  std::string_view grows{};
  /// Says if each size on the way, this one included, is a case too.
  bool is_swept = false;
};

/// A value of a parameter at which kernels go wrong, and why.
struct Boundary {
  std::int64_t value;
  std::string_view reason;
};
struct Boundaries {
  std::string_view name;  // of the parameter
  std::vector<Boundary> values;
};

struct Axis {
  std::vector<std::string_view> names;
  std::vector<Point> points;
  /// Boundaries for which the points were chosen, up to `max_work` (suites/boundaries.h).
  std::vector<Boundaries> boundaries{};
  double max_work = 0;
};

/// The cases {ops} x {formats} x {axes...}, without the formats that an op does not have.
struct Grid {
  std::vector<std::string_view> ops;
  std::vector<Format> formats;
  std::vector<Axis> axes;
  /// Cases of earlier levels are only checked: they are many, and too small for meaningful times.
  /// Cases with values from the user are always timed.
  Level timed_from = Level::seeds;
  /// Sizes that the profile `edges` alone has: beyond what 19, 31 or 32 bits count.
  bool of_edges = false;
  /// Its cases run on each pair of devices also where a profile thins pairs.
  bool of_each_pair = false;
};

/// Adds the grids of the profile `edges`, which are only checked.
std::vector<Grid> with_edges(std::vector<Grid> grids, std::vector<Grid> of_edges);
/// Numbers just beyond those that 19, 31 and 32 bits count.
inline constexpr std::int64_t over_2_19 = (std::int64_t{1} << 19) + 1;
inline constexpr std::int64_t over_2_31 = (std::int64_t{1} << 31) + 1;
inline constexpr std::int64_t over_2_32 = (std::int64_t{1} << 32) + 1;
/// Two extents whose product is beyond 2^31, but neither of them beyond 2^17.
inline constexpr std::int64_t tall = (1 << 16) + 1, wide = (1 << 15) + 1;

/// A family of cases: one file of suites/families/, which defines `Suite NAME_suite()`.
struct Suite {
  int order;  // in the order in which a run takes them
  std::string_view name;
  std::string_view description;
  std::vector<Grid> grids;

  bool has_op(std::string_view op) const;
};

/// Returns the suites in the order in which a run takes them.
std::span<const Suite> all_suites();
/// Adds a suite to them, before anything is planned. Its texts must live as long as the process.
void add_suite(Suite suite);
/// Returns null for an unknown name. A suite also has the name of the op that stands for it.
const Suite* find_suite(std::string_view name);

/// An axis of one parameter: "n" with {level, value} pairs.
Axis axis(std::string_view name, const std::vector<std::pair<Level, ParamValue>>& points);
/// The axis, whose first point grows by this parameter.
Axis growing(std::string_view parameter, Axis axis);
/// The axis, whose last point goes on by doubling this parameter.
Axis sweeping(std::string_view parameter, Axis axis);

}  // namespace assay
