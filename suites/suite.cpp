#include "suites/suite.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/core/status.h"
#include "kernels/ops/op.h"

namespace assay {
namespace {

constexpr double usual_timeout_s = 120;  // ample for the largest case
constexpr std::array profiles{
    Profile{"seeds", Level::seeds, 0.05, false, "the smallest shapes of everything: a few seconds"},
    Profile{"smoke", Level::in_turns, 0.15, false, "every path once more, larger: under a minute",
            usual_timeout_s, true},
    Profile{"default", Level::standard, 0.5, true, "real sizes, measured well: a few minutes",
            usual_timeout_s, true},
    Profile{"full", Level::full, 3.0, true, "everything, measured best"},
    Profile{"edges", Level::edges, 0.15, false,
            "sizes beyond 19, 31 and 32 bits, only checked: half an hour, and up to 26 GB", 1800},
};

}  // namespace

std::span<const Profile> all_profiles() { return profiles; }

const Profile& find_profile(std::string_view name) {
  std::vector<std::string> valid;
  for (const Profile& profile : profiles) {
    if (profile.name == name) return profile;
    valid.emplace_back(profile.name);
  }
  throw UsageError(unknown_name("profile", name, valid));
}

bool Suite::has_op(std::string_view op) const {
  return std::ranges::any_of(
      grids, [&](const Grid& grid) { return std::ranges::find(grid.ops, op) != grid.ops.end(); });
}

std::vector<Grid> with_edges(std::vector<Grid> grids, std::vector<Grid> of_edges) {
  for (Grid& grid : of_edges) {
    grid.timed_from = Level::never;
    grid.of_edges = true;
    grids.push_back(std::move(grid));
  }
  return grids;
}

const Suite* find_suite(std::string_view name) {
  if (const Op* op = find_op(name); op != nullptr && !op->stands_for_suite.empty()) {
    name = op->stands_for_suite;
  }
  for (const Suite& suite : all_suites()) {
    if (suite.name == name) return &suite;
  }
  return nullptr;
}

Axis axis(std::string_view name, const std::vector<std::pair<Level, ParamValue>>& points) {
  Axis axis{{name}, {}};
  for (const auto& [level, value] : points) axis.points.push_back({level, {value}});
  return axis;
}

Axis growing(std::string_view parameter, Axis axis) {
  axis.points.front().grows = parameter;
  return axis;
}

Axis sweeping(std::string_view parameter, Axis axis) {
  axis.points.back().grows = parameter;
  axis.points.back().is_swept = true;
  return axis;
}

}  // namespace assay
