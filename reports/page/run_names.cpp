#include "reports/page/run_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include "reports/page/stand_ins.h"

namespace assay::page {
namespace {

/// The one product of a run's devices; empty if there are several, or none that is real.
std::string product_of(const RunSource& run) {
  std::set<std::string> names;
  for (const DeviceCells& device : run.devices) {
    const auto name = device.find("name");
    names.insert(name == device.end() || !stand_in_of(device).empty() ? "" : name->second);
  }
  return names.size() == 1 ? *names.begin() : "";
}

/// The folder, unless it has a name like 20261122T130000Z-node7.
std::string chosen_folder_of(const RunSource& run) {
  const std::string folder = folder_of(run);
  constexpr std::string_view form = "ddddddddTddddddZ-";
  const auto is_like = [](char expected, char c) {
    return expected == 'd' ? c >= '0' && c <= '9' : c == expected;
  };
  const bool is_given =
      folder.size() > form.size() && std::equal(form.begin(), form.end(), folder.begin(), is_like);
  return is_given ? "" : folder;
}

bool tell_apart(const std::vector<std::string>& names) {
  const std::set<std::string> different(names.begin(), names.end());
  return different.size() == names.size() && !different.contains("");
}

}  // namespace

std::string folder_of(const RunSource& run) {
  return run.results.name.substr(0, run.results.name.rfind('/'));
}

std::vector<std::string> names_of_runs(std::span<const RunSource> runs) {
  const auto host_of = [](const RunSource& run) { return run.run.host; };
  for (const auto& name_of :
       {std::function<std::string(const RunSource&)>(product_of), {host_of}, {chosen_folder_of}}) {
    std::vector<std::string> names;
    std::ranges::transform(runs, std::back_inserter(names), name_of);
    if (tell_apart(names)) return names;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < runs.size(); ++i) names.push_back(fmt::format("run {}", i + 1));
  return names;
}

}  // namespace assay::page
