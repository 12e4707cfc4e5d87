#include "emulator/runtime/reports.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "emulator/runtime/report_file.h"
#include "emulator/runtime/say.h"

namespace emulator {
namespace {

constexpr Check all_checks[] = {Check::memcheck, Check::initcheck, Check::racecheck,
                                Check::synccheck};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

bool is_check(std::string_view name) {
  for (const Check check : all_checks)
    if (name == name_of(check)) return true;
  return false;
}

std::size_t max_reports(const std::string& text) {
  if (text.empty()) return 1;
  if (text == "all") return std::numeric_limits<std::size_t>::max();
  char* end = nullptr;
  const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (*end != '\0' || number == 0)
    give_up("ASSAY_EMULATOR_REPORTS=" + text + " is neither a number from 1 on nor 'all'");
  return number;
}

void append_json(const Fault& fault) {
  nlohmann::ordered_json report = {{"check", name_of(check_of(fault.kind))},
                                   {"kind", name_of(fault.kind)}};
  if (fault.place != nullptr) {
    const FaultPlace& place = *fault.place;
    report["kernel"] = place.kernel;
    report["mangled"] = place.mangled;
    report["block"] = place.block;
    report["thread"] = place.thread;
    report["source"] = nlohmann::ordered_json::array();
    for (const auto& [file, line] : place.source)
      report["source"].push_back({{"file", file}, {"line", line}});
    report["ptx"] = {
        {"file", place.ptx_file}, {"line", place.ptx_line}, {"instruction", place.instruction}};
  }
  report["text"] = fault.what();
  report["process"] = getpid();
  write_report(report);
}

}  // namespace

Check check_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::uninitialised_read:
      return Check::initcheck;
    case FaultKind::race:
      return Check::racecheck;
    case FaultKind::divergent_barrier:
    case FaultKind::endless:
    case FaultKind::undefined:
      return Check::synccheck;
    case FaultKind::illegal_address:
    case FaultKind::misaligned_address:
    case FaultKind::trap:
    case FaultKind::illegal_instruction:
      break;
  }
  return Check::memcheck;
}

const char* name_of(Check check) {
  constexpr const char* names[] = {"memcheck", "initcheck", "racecheck", "synccheck"};
  return names[static_cast<int>(check)];
}

const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::illegal_address:
      return "illegal_address";
    case FaultKind::misaligned_address:
      return "misaligned_address";
    case FaultKind::uninitialised_read:
      return "uninitialised_read";
    case FaultKind::race:
      return "race";
    case FaultKind::divergent_barrier:
      return "divergent_barrier";
    case FaultKind::endless:
      return "endless";
    case FaultKind::undefined:
      return "undefined";
    case FaultKind::trap:
      return "trap";
    case FaultKind::illegal_instruction:
      break;
  }
  return "illegal_instruction";
}

bool fits_kernel(const std::string& pattern, const std::string& demangled,
                 const std::string& mangled) {
  const std::string without_parameters = demangled.substr(0, demangled.find('('));
  const std::string bare = without_parameters.substr(0, without_parameters.find('<'));
  for (const std::string& name : {mangled, demangled, without_parameters, bare})
    if (name == pattern || fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0) return true;
  return false;
}

Reports::Reports(Reports&& other) noexcept
    : max_(other.max_),
      checks_(std::move(other.checks_)),
      suppressions_(std::move(other.suppressions_)) {}

Reports Reports::from_environment() {
  Reports made;
  made.max_ = max_reports(variable("ASSAY_EMULATOR_REPORTS"));
  begin_report_file();
  if (const std::string checks = variable("ASSAY_EMULATOR_CHECKS"); !checks.empty()) {
    made.checks_.assign(std::size(all_checks), false);
    for (const std::string& name : split(checks, ',')) {
      if (!is_check(name)) give_up("ASSAY_EMULATOR_CHECKS: there is no check '" + name + "'");
      for (const Check check : all_checks)
        if (name == name_of(check)) made.checks_[static_cast<std::size_t>(check)] = true;
    }
  }
  for (const std::string& line : split(variable("ASSAY_EMULATOR_SUPPRESS"), '\n')) {
    std::istringstream words(line.substr(0, line.find('#')));
    Suppression suppression;
    if (!(words >> suppression.check)) continue;
    std::getline(words >> std::ws, suppression.kernel);
    while (suppression.kernel.ends_with(' ')) suppression.kernel.pop_back();
    if (!is_check(suppression.check) || suppression.kernel.empty())
      give_up("a suppression is CHECK KERNEL, as 'racecheck scan*', and not '" + line + "'");
    made.suppressions_.push_back(std::move(suppression));
  }
  return made;
}

bool Reports::may_go_on() const {
  return max_ > 1 || !suppressions_.empty() || std::ranges::find(checks_, false) != checks_.end();
}

bool Reports::is_suppressed(const Fault& finding) {
  const Check check = check_of(finding.kind);
  if (!checks_[static_cast<std::size_t>(check)]) return true;
  if (finding.place == nullptr) return false;
  for (Suppression& each : suppressions_) {
    if (each.check != name_of(check) ||
        !fits_kernel(each.kernel, finding.place->kernel, finding.place->mangled))
      continue;
    ++each.uses;
    return true;
  }
  return false;
}

bool Reports::is_known(FaultKind kind, const std::string& mangled, int ptx_line) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find({kind, mangled, ptx_line});
  if (found == known_.end()) return false;
  if (found->second) ++repeats_;
  return true;
}

bool Reports::is_new(const Fault& fault, bool is_told) {
  const FaultPlace* place = fault.place.get();
  return place == nullptr ||
         known_.emplace(std::tuple(fault.kind, place->mangled, place->ptx_line), is_told).second;
}

void Reports::tell(const Fault& fault) {
  ++told_;
  say(fault.what());
  append_json(fault);
}

bool Reports::goes_on(const Fault& finding) {
  const std::lock_guard lock(mutex_);
  const bool is_told = !is_suppressed(finding);
  if (is_told && told_ + 1 >= max_) return false;  // end_launch tells it
  if (is_new(finding, is_told) && is_told) tell(finding);
  return true;
}

bool Reports::end_launch(const Fault& fault) {
  const std::lock_guard lock(mutex_);
  if (is_new(fault, true))
    tell(fault);
  else
    ++repeats_;
  return told_ < max_;
}

void Reports::sum_up() {
  const std::lock_guard lock(mutex_);
  if (max_ > 1 && told_ > 0)
    say(fmt::format("{} report{}, and {} more times at the same lines", told_,
                    told_ == 1 ? "" : "s", repeats_));
  for (const Suppression& each : suppressions_)
    if (each.uses == 0)
      say(fmt::format("the suppression '{} {}' fitted nothing", each.check, each.kernel));
}

}  // namespace emulator
