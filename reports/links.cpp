#include "reports/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <system_error>
#include <utility>

#include "harness/statistics/order_statistics.h"
#include "kernels/core/names.h"
#include "reports/rate.h"
#include "reports/si.h"

namespace assay {
namespace {

constexpr std::size_t fewest_pairs = 3;

struct Link {
  std::string what;
  std::string name;
};

/// Names the ranks of a pair by their devices, or by their numbers if they share one. Rows of a
/// resumed run come from a file: a number that is none stays text.
Link link_of_ranks(const Record& trial) {
  const std::vector<std::string> devices = split(trial.device, '+');
  const auto device_of = [&](const std::string& rank) {
    std::size_t number = 0;
    const auto read = std::from_chars(rank.data(), rank.data() + rank.size(), number);
    const bool has_device = read.ec == std::errc() && devices.size() > 1 && number < devices.size();
    return has_device ? devices[number] : "rank " + rank;
  };
  std::string from;
  std::string to;
  std::vector<std::string> others;
  for (const std::string& parameter : split(trial.params, ';')) {
    if (parameter.starts_with("from=")) {
      from = parameter.substr(5);
    } else if (parameter.starts_with("to=")) {
      to = parameter.substr(3);
    } else {
      others.push_back(parameter);
    }
  }
  return {fmt::format("{}/{}/{} {}", trial.suite, trial.op, trial.dtype, join(others, ";")),
          device_of(from) + ">" + device_of(to)};
}

/// Nothing for a trial that is no transfer between two.
Link link_of(const Record& trial) {
  if (trial.op == "send_recv_pair") return link_of_ranks(trial);
  const bool is_between_two = trial.device.find_first_of("<>") != std::string::npos;
  if (!is_between_two) return {};
  return {fmt::format("{}/{}/{} {}", trial.suite, trial.op, trial.dtype, trial.params),
          trial.device};
}

}  // namespace

std::vector<Links> links_of(std::span<const Record> trials) {
  std::map<std::string, std::vector<std::pair<double, std::string>>> pairs;
  for (const Record& trial : trials) {
    const auto speed = rate(trial);
    if (!speed) continue;
    const Link link = link_of(trial);
    if (link.what.empty()) continue;
    pairs[link.what + " " + trial.timing].emplace_back(speed->per_s, link.name);
  }
  std::vector<Links> found;
  for (const auto& [key, all] : pairs) {
    if (all.size() < fewest_pairs) continue;
    std::vector<double> speeds;
    for (const auto& [speed, name] : all) speeds.push_back(speed);
    const auto slowest = std::ranges::min_element(all);
    found.push_back({.what = key,
                     .count = all.size(),
                     .median_bytes_per_s = statistics::median(speeds),
                     .slowest = slowest->second,
                     .slowest_bytes_per_s = slowest->first});
  }
  return found;
}

std::string slowest_links(std::span<const Record> trials) {
  std::string text;
  for (const Links& links : links_of(trials)) {
    text += fmt::format("slowest of {} links, {}: {}, {}, {:.2f} of the median\n", links.count,
                        links.what, links.slowest, si(links.slowest_bytes_per_s, "B/s"),
                        links.slowest_bytes_per_s / links.median_bytes_per_s);
  }
  return text;
}

}  // namespace assay
