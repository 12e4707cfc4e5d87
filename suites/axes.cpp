#include "suites/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay {
namespace {

UsageError axis_error(const AxisOverride& axis, std::size_t value, const std::string& why) {
  std::size_t column = axis.name.size() + 2;
  for (std::size_t i = 0; i < value; ++i) column += axis.values[i].size() + 1;
  return UsageError("--axis '" + axis.text + "', column " + std::to_string(column) + ": " + why);
}

/// Called before cases are made: a few long axes multiply to more than the memory holds. The cases
/// of one op are counted before the filter sees them.
void check_count(std::size_t count, std::string_view remedy = "give fewer values") {
  if (count <= max_cases) return;
  throw UsageError(fmt::format("--axis: more than {} cases; {}", max_cases, remedy));
}

const AxisOverride* find_override(std::span<const AxisOverride> overrides, std::string_view name) {
  const auto found = std::ranges::find(overrides, name, &AxisOverride::name);
  return found == overrides.end() ? nullptr : &*found;
}

std::vector<Format> formats_of(const Grid& grid, std::span<const AxisOverride> overrides) {
  const AxisOverride* axis = find_override(overrides, "dtype");
  if (axis == nullptr) return grid.formats;
  std::vector<Format> formats;
  for (std::size_t i = 0; i < axis->values.size(); ++i) {
    const auto format = parse_format(axis->values[i]);
    if (!format) {
      std::vector<std::string> valid;
      for (const Format known : all_formats()) valid.emplace_back(name(known));
      throw axis_error(*axis, i, unknown_name("dtype", axis->values[i], valid));
    }
    formats.push_back(*format);
  }
  return formats;
}

std::vector<ParamValue> values_for(const Op& op, const AxisOverride& axis) {
  std::vector<ParamValue> values;
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    try {
      values.push_back(parse_parameter(op, axis.name, axis.values[i]));
    } catch (const UsageError& error) {
      throw axis_error(axis, i, error.what());
    }
  }
  return values;
}

/// Some parameters of a case, and the first level that runs them.
struct Tuple {
  Params params;
  Level level = Level::seeds;
  std::string_view grows{};  // a parameter
  bool is_swept = false;     // keeps the sizes on the way
};

/// Returns the tuples that differ in parameters other than `name`, whose values are to be replaced.
std::vector<Tuple> without(std::string_view name, const std::vector<Tuple>& tuples) {
  std::vector<Tuple> different;
  std::set<std::string> seen;
  for (const Tuple& tuple : tuples) {
    Tuple rest = tuple;
    rest.params.set(name, std::string());
    if (seen.insert(rest.params.text()).second) different.push_back(std::move(rest));
  }
  return different;
}

/// Returns the tuples of the axis up to `level`. Overrides replace the values of their parameters.
std::vector<Tuple> tuples_of(const Op& op, const Axis& axis, Level level,
                             std::span<const AxisOverride> overrides) {
  std::vector<Tuple> tuples;
  for (const Point& point : axis.points) {
    if (point.level > level) continue;
    Tuple& tuple = tuples.emplace_back();
    tuple.level = point.level;
    tuple.grows = point.grows;
    tuple.is_swept = point.is_swept;
    for (std::size_t i = 0; i < axis.names.size(); ++i) {
      tuple.params.set(axis.names[i], point.values[i]);
    }
  }
  for (const std::string_view name : axis.names) {
    const AxisOverride* override = find_override(overrides, name);
    if (override == nullptr) continue;
    const std::vector<ParamValue> values = values_for(op, *override);
    tuples = without(name, tuples);
    check_count(tuples.size() * values.size());
    std::vector<Tuple> replaced;
    for (const Tuple& tuple : tuples) {
      for (const ParamValue& value : values) {
        replaced.push_back(tuple);
        replaced.back().params.set(name, value);
        replaced.back().level = Level::never;  // above every level that runs
        if (tuple.grows == name) replaced.back().grows = {};
      }
    }
    tuples = std::move(replaced);
  }
  return tuples;
}

std::vector<Tuple> product_of(const Op& op, const Grid& grid, Level level,
                              std::span<const AxisOverride> overrides) {
  std::vector<Tuple> product{Tuple{}};
  for (const Axis& axis : grid.axes) {
    const std::vector<Tuple> tuples = tuples_of(op, axis, level, overrides);
    check_count(product.size() * tuples.size());
    std::vector<Tuple> longer;
    for (const Tuple& so_far : product) {
      for (const Tuple& tuple : tuples) {
        longer.push_back(so_far);
        longer.back().level = std::max(so_far.level, tuple.level);
        if (!tuple.grows.empty()) {
          longer.back().grows = tuple.grows;
          longer.back().is_swept = tuple.is_swept;
        }
        for (const auto& [name, value] : tuple.params.entries()) {
          longer.back().params.set(name, value);
        }
      }
    }
    product = std::move(longer);
  }
  return product;
}

/// Doubles the parameter that grows. Returns the last size, or all of them for a sweep.
std::vector<OpInstance> grown(const Op& op, Format format, const Tuple& tuple,
                              const Growth& growth) {
  std::vector<OpInstance> sizes{instantiate(op, format, tuple.params)};
  while (!tuple.grows.empty() && sizes.back().signature.bytes < growth.min_bytes) {
    Params params = sizes.back().params;
    params.set(tuple.grows, 2 * params.integer(tuple.grows));
    OpInstance larger = instantiate(op, format, params);
    if (larger.signature.bytes > growth.max_bytes) break;
    if (!tuple.is_swept) sizes.clear();
    sizes.push_back(std::move(larger));
  }
  return sizes;
}

/// Formats of the grid that the op has.
std::vector<Format> formats_of(const Op& op, const std::vector<Format>& of_grid) {
  std::vector<Format> formats;
  std::ranges::copy_if(of_grid, std::back_inserter(formats), [&](Format format) {
    return std::ranges::find(op.formats, format) != op.formats.end();
  });
  return formats;
}

/// Returns the format whose turn it is, or the next one that the op has with these parameters.
Format in_turn(const Op& op, const std::vector<Format>& formats, const Params& params,
               std::size_t turn) {
  for (std::size_t i = 0; i < formats.size(); ++i) {
    const Format format = formats[(turn + i) % formats.size()];
    try {
      instantiate(op, format, params);
      return format;
    } catch (const NotApplicable&) {
      continue;
    }
  }
  return formats[turn % formats.size()];
}

/// The one format of each tuple in turns, and none for other tuples: all of them. Each op takes
/// another format than the op before, and for each tuple another one than for the tuple before.
std::vector<std::optional<Format>> turns_of(const Op& op, std::size_t place_of_op,
                                            const std::vector<Format>& formats,
                                            const std::vector<Tuple>& tuples) {
  std::vector<std::optional<Format>> turns(tuples.size());
  for (std::size_t i = 0; !formats.empty() && i < tuples.size(); ++i) {
    if (tuples[i].level != Level::in_turns) continue;
    turns[i] = in_turn(op, formats, tuples[i].params, place_of_op + i);
  }
  return turns;
}

void check_names(std::span<const Suite* const> suites, std::span<const AxisOverride> overrides) {
  std::set<std::string> names{"dtype"};
  for (const Suite* suite : suites) {
    for (const Grid& grid : suite->grids) {
      for (const Axis& axis : grid.axes) names.insert(axis.names.begin(), axis.names.end());
    }
  }
  const std::vector<std::string> valid(names.begin(), names.end());
  std::set<std::string> given;
  for (const AxisOverride& axis : overrides) {
    if (!given.insert(axis.name).second) {
      throw UsageError("--axis '" + axis.text + "': '" + axis.name +
                       "' is given twice; list all of its values in one --axis");
    }
    if (!names.contains(axis.name)) {
      throw UsageError("--axis '" + axis.text +
                       "', column 1: " + unknown_name("axis", axis.name, valid));
    }
  }
}

}  // namespace

AxisOverride parse_axis(std::string_view text) {
  const auto refuse = [&](std::size_t column, const std::string& why) {
    return UsageError("--axis '" + std::string(text) + "', column " + std::to_string(column) +
                      ": " + why + "; expected NAME=V1,V2,...");
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) throw refuse(text.size() + 1, "no '='");
  if (equals == 0) throw refuse(1, "no name");
  AxisOverride axis{std::string(text), std::string(text.substr(0, equals)),
                    split(text.substr(equals + 1), ',')};
  std::size_t column = equals + 2;
  for (const std::string& value : axis.values) {
    if (value.empty()) throw refuse(column, "an empty value");
    column += value.size() + 1;
  }
  return axis;
}

std::vector<Case> expand(std::span<const Suite* const> suites, Level level,
                         std::span<const AxisOverride> overrides, const Growth& growth,
                         const std::function<bool(const std::string&)>& wanted) {
  check_names(suites, overrides);
  std::vector<Case> cases;
  std::optional<NotApplicable> refused;
  bool any = false;
  const bool any_turns = level < Level::standard && find_override(overrides, "dtype") == nullptr;
  for (const Suite* suite : suites) {
    for (const Grid& grid : suite->grids) {
      if (grid.of_edges != (level == Level::edges)) continue;
      const std::vector<Format> of_grid = formats_of(grid, overrides);
      for (std::size_t i = 0; i < grid.ops.size(); ++i) {
        const Op& op = *find_op(grid.ops[i]);
        const std::vector<Tuple> product = product_of(op, grid, level, overrides);
        const std::vector<Format> formats = formats_of(op, of_grid);
        std::vector<std::optional<Format>> turns(product.size());
        if (any_turns) turns = turns_of(op, i, formats, product);
        for (const Format format : formats) {
          for (std::size_t place = 0; place < product.size(); ++place) {
            if (turns[place].value_or(format) != format) continue;
            const Tuple& tuple = product[place];
            try {
              for (OpInstance& size : grown(op, format, tuple, growth)) {
                Case test{std::string(suite->name), std::move(size), tuple.level >= grid.timed_from,
                          grid.of_each_pair};
                any = true;
                if (!wanted(test.id())) continue;
                cases.push_back(std::move(test));
                check_count(cases.size(), "give fewer values, or a narrower --filter");
              }
            } catch (const NotApplicable& why) {
              refused = why;
            }
          }
        }
      }
    }
  }
  if (!any && refused) throw UsageError("--axis: no case is left: " + std::string(refused->what()));
  return cases;
}

}  // namespace assay
