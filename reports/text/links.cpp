#include "reports/text/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <system_error>
#include <utility>

#include "harness/statistics/order_statistics.h"
#include "kernels/core/names.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay {
namespace {

constexpr std::size_t min_pairs = 3;

/// A link, and what is transferred over it; empty: nothing between two.
struct Found {
  std::string what;
  Link link;
};

/// Names the ranks of a pair by their devices, or by their numbers if they share one. Rows of a
/// resumed run come from a file: a number that is none stays text.
Found link_of_ranks(const Record& trial) {
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
          {.from = device_of(from), .to = device_of(to)}};
}

Found link_of(const Record& trial) {
  if (trial.op == "send_recv_pair") return link_of_ranks(trial);
  const std::string& lane = trial.device;  // "cuda:0>cuda:1", "cuda:0<>cuda:1"
  const std::size_t sign = lane.find_first_of("<>");
  if (sign == std::string::npos) return {};
  const std::size_t after = lane.find_first_not_of("<>", sign);
  if (after == std::string::npos) return {};
  return {fmt::format("{}/{}/{} {}", trial.suite, trial.op, trial.dtype, trial.params),
          {.from = lane.substr(0, sign), .to = lane.substr(after), .both_ways = after - sign > 1}};
}

}  // namespace

const Link& Links::slowest() const {
  return *std::ranges::min_element(all, {}, &Link::bytes_per_s);
}

std::vector<Links> links_of(std::span<const Record> trials) {
  std::map<std::string, Links> groups;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto speed = rate(trials[i]);
    if (!speed) continue;
    Found found = link_of(trials[i]);
    if (found.what.empty()) continue;
    found.link.bytes_per_s = speed->per_s;
    found.link.trial = i;
    groups[found.what + " " + trials[i].timing].all.push_back(std::move(found.link));
  }
  std::vector<Links> found;
  for (auto& [what, links] : groups) {
    if (links.all.size() < min_pairs) continue;
    links.what = what;
    std::vector<double> speeds;
    for (const Link& link : links.all) speeds.push_back(link.bytes_per_s);
    links.median_bytes_per_s = statistics::median(speeds);
    found.push_back(std::move(links));
  }
  return found;
}

std::string slowest_links(std::span<const Record> trials) {
  std::string text;
  for (const Links& links : links_of(trials)) {
    const Link& slowest = links.slowest();
    text += fmt::format("slowest of {} links, {}: {}, {}, {:.2f} of the median\n", links.all.size(),
                        links.what, slowest.name(), si(slowest.bytes_per_s, "B/s"),
                        slowest.bytes_per_s / links.median_bytes_per_s);
  }
  return text;
}

}  // namespace assay
