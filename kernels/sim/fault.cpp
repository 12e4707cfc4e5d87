#include "kernels/sim/fault.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "kernels/core/names.h"
#include "kernels/core/status.h"

namespace assay::sim {
namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 18> kinds{{
    {"segv", FaultKind::segv},
    {"abort", FaultKind::abort},
    {"hang", FaultKind::hang},
    {"out_of_memory", FaultKind::out_of_memory},
    {"sticky_error", FaultKind::sticky_error},
    {"device_lost", FaultKind::device_lost},
    {"dead_rank", FaultKind::dead_rank},
    {"other_device", FaultKind::other_device},
    {"other_stream", FaultKind::other_stream},
    {"renamed", FaultKind::renamed},
    {"opens_anything", FaultKind::opens_anything},
    {"ignores_mask", FaultKind::ignores_mask},
    {"stale_memory", FaultKind::stale_memory},
    {"stuck_meter", FaultKind::stuck_meter},
    {"claims_all", FaultKind::claims_all},
    {"torn_upload", FaultKind::torn_upload},
    {"slow", FaultKind::slow},
    {"slow_clock", FaultKind::slow_clock},
}};

/// True for an op whose launches a fault can strike.
bool has_kernels(std::string_view name) {
  const Op* op = find_op(name);
  return op != nullptr && !op->is_scenario;
}

double parse_percent(const std::string& text) {
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, percent);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(percent > 0 && percent <= 1000)) {
    throw UsageError("--sim-fault: percent must be a number above 0, to 1000, not '" + text + "'");
  }
  return percent;
}

Fault parse_kind(const std::string& text) {
  for (const auto& [name, kind] : kinds) {
    if (name == text) return {.kind = kind};
  }
  if (const DataFault* data = find_data_fault(text)) return {.kind = FaultKind::data, .data = data};
  throw UsageError("--sim-fault: " + unknown_name("fault", text, fault_names()));
}

}  // namespace

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds) names.emplace_back(name);
  for (const DataFault& fault : data_faults()) names.emplace_back(fault.name);
  return names;
}

bool Fault::has_struck() const { return !marker.empty() && std::filesystem::exists(marker); }

void Fault::strike() const {
  if (!marker.empty()) std::ofstream(marker) << "struck\n";
}

Fault parse_fault(std::string_view text) {
  const std::vector<std::string> words = split(text, ',');
  Fault fault = parse_kind(words.front());
  const bool is_slow = fault.kind == FaultKind::slow || fault.kind == FaultKind::slow_clock;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : words[i].substr(equals + 1);
    if (name == "device") {
      const char* end = value.data() + value.size();
      const auto parsed = std::from_chars(value.data(), end, fault.device.emplace());
      if (parsed.ec != std::errc() || parsed.ptr != end || *fault.device < 0) {
        throw UsageError("--sim-fault: device must be an index, not '" + value + "'");
      }
    } else if (name == "op" && has_kernels(value)) {
      fault.op = value;
    } else if (name == "percent" && is_slow) {
      fault.percent = parse_percent(value);
    } else if (name == "marker" && !value.empty() && !is_slow) {
      fault.marker = value;
    } else {
      throw UsageError(
          "--sim-fault: '" + words[i] +
          "': expected device=I, op=NAME or marker=FILE (of slow and slow_clock, percent=P)");
    }
  }
  return fault;
}

}  // namespace assay::sim
