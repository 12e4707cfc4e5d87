#include "suites/boundaries.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace assay {
namespace {

/// Values of two parameters, by their places in the lists.
struct Pair {
  std::size_t parameter;
  std::size_t value;
  std::size_t other_parameter;
  std::size_t other_value;
  auto operator<=>(const Pair&) const = default;
};

/// A place in each parameter's list.
using Choice = std::vector<std::size_t>;

double work(const std::vector<Boundaries>& parameters, const Choice& choice) {
  double product = 1;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    product *= static_cast<double>(parameters[i].values[choice[i]].value);
  }
  return product;
}

Choice smallest(const std::vector<Boundaries>& parameters) {
  Choice choice;
  for (const Boundaries& parameter : parameters) {
    const auto least = std::ranges::min_element(parameter.values, {}, &Boundary::value);
    choice.push_back(static_cast<std::size_t>(least - parameter.values.begin()));
  }
  return choice;
}

/// Pairs that a point of at most `max_work` can have.
std::set<Pair> possible_pairs(const std::vector<Boundaries>& parameters, double max_work) {
  std::set<Pair> pairs;
  for (std::size_t a = 0; a < parameters.size(); ++a) {
    for (std::size_t b = a + 1; b < parameters.size(); ++b) {
      for (std::size_t i = 0; i < parameters[a].values.size(); ++i) {
        for (std::size_t j = 0; j < parameters[b].values.size(); ++j) {
          Choice choice = smallest(parameters);
          choice[a] = i;
          choice[b] = j;
          if (work(parameters, choice) <= max_work) pairs.insert({a, i, b, j});
        }
      }
    }
  }
  return pairs;
}

std::vector<Pair> pairs_of(const Choice& choice) {
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < choice.size(); ++a) {
    for (std::size_t b = a + 1; b < choice.size(); ++b) {
      pairs.push_back({a, choice[a], b, choice[b]});
    }
  }
  return pairs;
}

/// The first pair that is missing, and of the other parameters the values that add most.
Choice next_choice(const std::vector<Boundaries>& parameters, const std::set<Pair>& missing,
                   double max_work) {
  const Pair& first = *missing.begin();
  Choice choice = smallest(parameters);
  choice[first.parameter] = first.value;
  choice[first.other_parameter] = first.other_value;
  const auto added = [&](const Choice& candidate) {
    return std::ranges::count_if(pairs_of(candidate),
                                 [&](const Pair& pair) { return missing.contains(pair); });
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (i == first.parameter || i == first.other_parameter) continue;
    Choice best = choice;
    for (std::size_t value = 0; value < parameters[i].values.size(); ++value) {
      Choice candidate = choice;
      candidate[i] = value;
      if (work(parameters, candidate) <= max_work && added(candidate) > added(best)) {
        best = candidate;
      }
    }
    choice = best;
  }
  return choice;
}

/// Places of a case's values in the lists; empty if one of them is no boundary.
std::optional<Choice> choice_of(const Case& test, const std::vector<Boundaries>& parameters) {
  Choice choice;
  for (const Boundaries& parameter : parameters) {
    const auto at = std::ranges::find(
        parameter.values, test.op.params.integer_or(parameter.name, -1), &Boundary::value);
    if (at == parameter.values.end()) return std::nullopt;
    choice.push_back(static_cast<std::size_t>(at - parameter.values.begin()));
  }
  return choice;
}

/// Coverage of the boundaries of an axis by an op's cases.
Coverage coverage_of(const Axis& axis, const std::string& suite, std::string_view op,
                     std::span<const Case> cases) {
  Coverage found{.suite = suite, .op = std::string(op)};
  std::vector<std::size_t> first;  // place of each parameter's first value
  for (const Boundaries& parameter : axis.boundaries) {
    first.push_back(found.values.size());
    for (const Boundary& boundary : parameter.values) {
      found.values.push_back({parameter.name, boundary});
    }
  }
  const std::set<Pair> pairs = possible_pairs(axis.boundaries, axis.max_work);
  std::set<Pair> met;
  for (const Case& test : cases) {
    if (test.suite != suite || test.op.op->name != op) continue;
    const std::optional<Choice> choice = choice_of(test, axis.boundaries);
    if (!choice) continue;
    for (std::size_t i = 0; i < choice->size(); ++i) ++found.values[first[i] + (*choice)[i]].cases;
    std::ranges::copy_if(pairs_of(*choice), std::inserter(met, met.end()),
                         [&](const Pair& pair) { return pairs.contains(pair); });
  }
  found.pairs = pairs.size();
  found.pairs_met = met.size();
  return found;
}

}  // namespace

Axis pairwise(Level level, std::vector<Boundaries> parameters, double max_work) {
  Axis axis;
  for (const Boundaries& parameter : parameters) axis.names.push_back(parameter.name);
  std::set<Pair> missing = possible_pairs(parameters, max_work);
  const auto add = [&](const Choice& choice) {
    Point point{level, {}};
    for (std::size_t i = 0; i < choice.size(); ++i) {
      point.values.emplace_back(parameters[i].values[choice[i]].value);
    }
    axis.points.push_back(std::move(point));
  };
  if (parameters.size() == 1) {
    for (std::size_t i = 0; i < parameters[0].values.size(); ++i) add({i});
  }
  while (!missing.empty()) {
    const Choice choice = next_choice(parameters, missing, max_work);
    for (const Pair& pair : pairs_of(choice)) missing.erase(pair);
    add(choice);
  }
  axis.boundaries = std::move(parameters);
  axis.max_work = max_work;
  return axis;
}

std::vector<Coverage> coverage(std::span<const Case> cases) {
  std::vector<Coverage> all;
  for (const Suite& suite : all_suites()) {
    std::set<std::string_view> done;
    for (const Grid& grid : suite.grids) {
      const auto axis =
          std::ranges::find_if(grid.axes, [](const Axis& one) { return !one.boundaries.empty(); });
      if (axis == grid.axes.end()) continue;
      for (const std::string_view op : grid.ops) {
        if (!done.insert(op).second) continue;  // the same boundaries for other dtypes
        all.push_back(coverage_of(*axis, std::string(suite.name), op, cases));
      }
    }
  }
  return all;
}

}  // namespace assay
