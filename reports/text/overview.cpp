#include "reports/text/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "harness/records/limit.h"
#include "reports/text/largest_case.h"
#include "reports/text/links.h"
#include "reports/text/quality.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"
#include "reports/text/text_table.h"

namespace assay {
namespace {

constexpr std::size_t page_lines = 40;

/// Trials of one op, or of one op and dtype, on one device.
struct Group {
  std::string what;
  std::string device;
  std::int64_t right = 0;
  std::int64_t trials = 0;
  const Record* largest = nullptr;  // among those with a rate
};

std::string what_of(const Record& record, bool by_dtype) {
  std::string what = record.op == record.suite ? record.suite : record.suite + "/" + record.op;
  if (by_dtype) what += "/" + record.dtype;
  return what;
}

Group& group_of(std::vector<Group>& groups, std::string what, const std::string& device) {
  for (Group& group : groups) {
    if (group.what == what && group.device == device) return group;
  }
  return groups.emplace_back(Group{std::move(what), device});
}

std::size_t index_of(const std::vector<std::string>& devices, const std::string& device) {
  return static_cast<std::size_t>(std::ranges::find(devices, device) - devices.begin());
}

std::vector<Group> grouped(std::span<const Record> trials, const std::vector<std::string>& devices,
                           bool by_dtype) {
  std::vector<Group> groups;
  std::map<std::string, LargestCase> cases;
  for (const Record& trial : trials) {
    const std::string what = what_of(trial, by_dtype);
    Group& group = group_of(groups, what, trial.device);
    ++group.trials;
    group.right += class_of(trial.status) == StatusClass::right ? 1 : 0;
    cases.try_emplace(what, devices.size())
        .first->second.add({&trial}, index_of(devices, trial.device));
    if (rate(trial) && (group.largest == nullptr || tells_more(trial, *group.largest))) {
      group.largest = &trial;
    }
  }
  // Shows the same case on all devices, or a device's own largest if it lacks that one.
  for (auto& [what, largest] : cases) {
    const std::vector<TrialRow> shown = largest.trials();
    for (Group& group : groups) {
      if (group.what != what || shown.empty()) continue;
      const Record* const here = shown[index_of(devices, group.device)].trial;
      if (here != nullptr) group.largest = here;
    }
  }
  return groups;
}

std::vector<std::string> line_of(const Group& group, bool by_dtype) {
  std::vector<std::string> line{
      group.device, group.what, fmt::format("{}/{}", group.right, group.trials), "", "", "", ""};
  if (group.largest != nullptr) {
    const Rate own = *rate(*group.largest);
    line[3] = si(own.per_s, unit_of(own.kind));
    if (const auto share = group.largest->fraction_of_limit) {
      line[4] = fmt::format("{:.0f}%", *share * 100);
    }
    if (const auto joules = group.largest->energy_per_launch_j) line[5] = si(*joules, "J");
    line[6] = (by_dtype ? "" : group.largest->dtype + "  ") + group.largest->params;
  }
  return line;
}

std::string disturbances(std::span<const Record> trials) {
  const Quality quality = quality_of(trials);
  std::string text;
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) {
      text += fmt::format("{} of {} figures {}\n", with_commas(count), with_commas(quality.timed),
                          what);
    }
  };
  add(quality.contended, "were taken while others used the cores: 'contended'");
  add(quality.throttled, "were taken while the device slowed itself: 'throttled'");
  add(quality.beyond_limit, "are beyond their measured limit: see 'reason'");
  return text;
}

/// Rows that change their bits with the batch, where that was tried.
std::string batch_bits(std::span<const Record> trials) {
  const auto tried = std::ranges::count_if(
      trials, [](const Record& trial) { return trial.batch_invariant.has_value(); });
  const auto changing =
      std::ranges::count(trials, std::optional<bool>(false), &Record::batch_invariant);
  if (changing == 0) return {};
  return fmt::format("{} of {} cases change the bits of a row with the batch: 'batch_invariant'\n",
                     with_commas(changing), with_commas(tried));
}

}  // namespace

std::string overview(std::span<const Record> trials) {
  std::vector<std::string> devices;  // in the order of the run, where lanes mix
  for (const Record& trial : trials) {
    if (std::ranges::find(devices, trial.device) == devices.end()) devices.push_back(trial.device);
  }
  if (devices.empty()) return {};
  std::vector<Group> groups = grouped(trials, devices, true);
  const bool by_dtype = groups.size() <= page_lines;
  if (!by_dtype) groups = grouped(trials, devices, false);
  std::ranges::stable_sort(groups, {},
                           [&](const Group& group) { return index_of(devices, group.device); });

  std::vector<std::vector<std::string>> lines{
      {"device", "op", "right", "rate", "of limit", "a launch", "at the largest case"}};
  for (const Group& group : groups) lines.push_back(line_of(group, by_dtype));
  std::string alignment = "<<>>>><";
  for (const std::ptrdiff_t column : {5, 4}) {
    const auto has_text = [&](const auto& line) {
      return !line[static_cast<std::size_t>(column)].empty();
    };
    if (std::any_of(lines.begin() + 1, lines.end(), has_text)) continue;
    for (auto& line : lines) line.erase(line.begin() + column);
    alignment.erase(alignment.begin() + column);
  }
  const std::string text = text_table(lines, alignment);
  return text + slowest_links(trials) + batch_bits(trials) + disturbances(trials);
}

}  // namespace assay
