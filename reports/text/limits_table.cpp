#include "reports/text/limits_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/text/few_samples.h"
#include "reports/text/si.h"
#include "reports/text/text_table.h"

namespace assay {
namespace {

std::string interval(const Limit& limit) {
  if (limit.value && has_too_few_samples(limit.samples)) return std::string(too_few_samples);
  if (!limit.ci_low || !limit.ci_high) return "";
  return fmt::format("{} to {}", si(*limit.ci_low, ""), si(*limit.ci_high, limit.unit));
}

std::string disturbance(const Limit& limit) {
  std::string text;
  if (limit.contended.value_or(false)) text += ", contended";
  if (limit.throttled.value_or(false)) text += ", throttled";
  return text;
}

std::string method(const Limit& limit) {
  if (limit.status != Status::pass) {
    return fmt::format("{}: {}", name(limit.status), limit.reason);
  }
  const std::string launched = limit.launched_by == "graph" ? ", launched as a graph" : "";
  return limit.case_id + " by " + limit.implementation + launched + disturbance(limit);
}

std::vector<std::string> line_of(const Limit& limit) {
  std::vector<std::string> line{limit.device, name(limit.limit), "", interval(limit), "",
                                "",           method(limit)};
  if (limit.value) line[2] = si(*limit.value, limit.unit);
  if (limit.theoretical) {
    line[4] = si(*limit.theoretical, limit.unit);
    if (limit.value) line[5] = fmt::format("{:.0f}%", *limit.value / *limit.theoretical * 100);
  }
  return line;
}

}  // namespace

std::string limits_table(std::span<const Limit> limits) {
  std::vector<std::vector<std::string>> lines{
      {"device", "limit", "measured", "95% interval", "in theory", "of it", "by"}};
  for (const Limit& limit : limits) lines.push_back(line_of(limit));
  return text_table(lines, "<<>><><");
}

}  // namespace assay
