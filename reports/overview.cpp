#include "reports/overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "reports/rate.h"
#include "reports/si.h"

namespace assay {
namespace {

/// All trials of one op and dtype on one device.
struct Group {
  std::string what;
  std::string device;
  std::int64_t right = 0;
  std::int64_t trials = 0;
  const Record* largest = nullptr;  // of those with a rate
};

Group& group_of(std::vector<Group>& groups, const Record& record) {
  std::string what = record.op == record.suite ? record.suite : record.suite + "/" + record.op;
  what += "/" + record.dtype;
  for (Group& group : groups) {
    if (group.what == what && group.device == record.device) return group;
  }
  return groups.emplace_back(Group{std::move(what), record.device});
}

/// Of equal work the later case counts: more ranks, more fused.
double work(const Record& record) {
  return std::max(record.flops.value_or(0), record.bytes.value_or(0));
}

using Line = std::array<std::string, 5>;

Line line_of(const Group& group) {
  Line line{group.device, group.what, fmt::format("{}/{}", group.right, group.trials), "", ""};
  if (group.largest != nullptr) {
    const Rate own = *rate(*group.largest);
    line[3] = si(own.per_s, own.unit);
    line[4] = group.largest->params;
  }
  return line;
}

}  // namespace

std::string overview(std::span<const Record> trials) {
  std::vector<std::string> devices;  // in the order of the run, in which lanes mix
  std::vector<Group> groups;
  for (const Record& trial : trials) {
    if (std::ranges::find(devices, trial.device) == devices.end()) devices.push_back(trial.device);
    Group& group = group_of(groups, trial);
    ++group.trials;
    group.right += class_of(trial.status) == StatusClass::right ? 1 : 0;
    const bool is_larger = group.largest == nullptr || work(trial) >= work(*group.largest);
    if (rate(trial) && is_larger) group.largest = &trial;
  }
  if (groups.empty()) return {};
  std::ranges::stable_sort(groups, {}, [&](const Group& group) {
    return std::ranges::find(devices, group.device) - devices.begin();
  });

  std::vector<Line> lines{{"device", "op", "right", "rate", "at the largest case"}};
  for (const Group& group : groups) lines.push_back(line_of(group));
  std::array<std::size_t, 5> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    text += fmt::format("{:<{}}  {:<{}}  {:>{}}  {:>{}}  {}\n", line[0], widths[0], line[1],
                        widths[1], line[2], widths[2], line[3], widths[3], line[4]);
  }
  return text;
}

}  // namespace assay
