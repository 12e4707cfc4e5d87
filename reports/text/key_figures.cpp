#include "reports/text/key_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay {
namespace {

constexpr std::string_view theory = "theory";

constexpr KeyFigure product(std::string_view name, std::string_view dtype) {
  return {.name = name, .op = "linear", .dtype = dtype, .rate = RateKind::arithmetic, .best = true};
}

constexpr KeyFigure copy(std::string_view name, std::string_view from, std::string_view to) {
  return {
      .name = name, .op = "device_memcpy", .dtype = "u8", .params = {{{"from", from}, {"to", to}}}};
}

constexpr std::array figures{
    KeyFigure{.name = "memory copy", .limit = "memory_copy"},
    KeyFigure{.name = "memory read", .limit = "memory_read"},
    product("f64 products", "f64"),
    product("f32 products", "f32"),
    product("tf32 products", "tf32"),
    product("bf16 products", "bf16"),
    product("f16 products", "f16"),
    product("i8 products", "i8"),
    product("e4m3 products", "e4m3"),
    KeyFigure{.name = "launch", .limit = "launch"},
    copy("copy to device", "pinned", "device"),
    copy("copy from device", "device", "pinned"),
    copy("copy in device", "device", "device"),
    KeyFigure{.name = "device to device",
              .op = "peer_memcpy",
              .dtype = "u8",
              .params = {{{"ways", "one"}}}},
    KeyFigure{.name = "copy in host",
              .op = "memcpy",
              .dtype = "u8",
              .params = {{{"from", "host"}, {"to", "host"}}}},
    KeyFigure{.name = "all-reduce bus",
              .op = "allreduce",
              .dtype = "f32",
              .params = {{{"reduce", "sum"}, {.name = "ranks", .at_least = 2}}}},
    KeyFigure{.name = "softmax", .op = "softmax", .dtype = "f32"},
    KeyFigure{.name = "layernorm", .op = "layernorm", .dtype = "f32"},
    KeyFigure{.name = "sort", .op = "sort", .dtype = "f32"},
    KeyFigure{.name = "slow-axis sum",
              .op = "sum_axis",
              .dtype = "f32",
              .params = {{{.name = "inner", .at_least = 2}}}},
};

/// Returns the value of a parameter in "n=1024;ld=1032"; empty if there is none of that name.
std::string_view value_in(std::string_view params, std::string_view name) {
  while (!params.empty()) {
    const std::size_t end = std::min(params.find(';'), params.size());
    const std::string_view one = params.substr(0, end);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=') {
      return one.substr(name.size() + 1);
    }
    params.remove_prefix(std::min(end + 1, params.size()));
  }
  return {};
}

bool fits(const ParamRule& rule, std::string_view params) {
  if (rule.name.empty()) return true;
  const std::string_view value = value_in(params, rule.name);
  if (!rule.value.empty()) return value == rule.value;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && stop == value.data() + value.size() && number >= rule.at_least;
}

bool is_of(const KeyFigure& figure, const Record& record) {
  return record.op == figure.op && record.dtype == figure.dtype && record.timing == batch_timing &&
         std::ranges::all_of(figure.params,
                             [&](const ParamRule& rule) { return fits(rule, record.params); });
}

}  // namespace

std::span<const KeyFigure> key_figures() { return figures; }

std::optional<KeyMeasure> measure_of(const KeyFigure& figure, const Record& record) {
  if (figure.op.empty() || !is_of(figure, record)) return std::nullopt;
  const std::optional<Rate> own = rate(record);
  if (!own || own->kind != figure.rate) return std::nullopt;
  KeyMeasure measure{.value = own->per_s,
                     .share = record.fraction_of_limit,
                     .share_of = record.limit,
                     .case_id = record.case_id,
                     .device = record.device,
                     .work = std::max(record.flops.value_or(0), record.bytes.value_or(0))};
  if (record.time_median_s && record.time_ci_low_s && record.time_ci_high_s) {
    measure.low = own->per_s * *record.time_median_s / *record.time_ci_high_s;
    measure.high = own->per_s * *record.time_median_s / *record.time_ci_low_s;
  }
  return measure;
}

std::optional<KeyMeasure> measure_of(const KeyFigure& figure, const Limit& limit) {
  const bool is_it = !figure.limit.empty() && name(limit.limit) == figure.limit;
  if (!is_it || limit.status != Status::pass || !limit.value) return std::nullopt;
  KeyMeasure measure{
      .value = *limit.value, .share_of = "", .case_id = limit.case_id, .device = limit.device};
  if (limit.ci_low && limit.ci_high) {
    measure.low = *limit.ci_low;
    measure.high = *limit.ci_high;
  }
  if (limit.theoretical && *limit.theoretical > 0 && !is_time(figure)) {
    measure.share = *limit.value / *limit.theoretical;
    measure.share_of = theory;
  }
  return measure;
}

bool stands_before(const KeyFigure& figure, const KeyMeasure& one, const KeyMeasure& other) {
  const bool is_best_of_all = figure.best || !figure.limit.empty();
  if (!is_best_of_all && one.work != other.work) return one.work > other.work;
  return is_time(figure) ? one.value < other.value : one.value > other.value;
}

std::string_view unit_of(const KeyFigure& figure) {
  if (is_time(figure)) return "s";
  return unit_of(figure.rate);
}

bool is_time(const KeyFigure& figure) { return figure.limit == name(LimitKind{Resource::launch}); }

std::string measure_text(const KeyFigure& figure, const KeyMeasure& measure) {
  std::string text = measure.low > 0 ? si(measure.value, measure.low, measure.high, unit_of(figure))
                                     : si(measure.value, unit_of(figure));
  const std::string share = share_text(measure);
  return share.empty() ? text : text + ", " + share;
}

std::string share_text(const KeyMeasure& measure) {
  if (!measure.share) return "";
  return fmt::format("{:.0f}% of {}", 100 * *measure.share,
                     measure.share_of == theory ? theory : "limit");
}

}  // namespace assay
