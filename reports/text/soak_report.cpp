#include "reports/text/soak_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/statistics/poisson_bound.h"
#include "reports/text/si.h"
#include "reports/text/text_table.h"

namespace assay {
namespace {

constexpr double confidence = 0.95;

double amount(const SoakRow& row) {
  return row.work.products > 0 ? row.work.products : row.work.copied_bytes;
}

std::optional<double> rate_of(std::span<const SoakRow* const> rows) {
  double done = 0;
  double seconds = 0;
  for (const SoakRow* row : rows) {
    done += amount(*row);
    seconds += row->work.launch_s;
  }
  return seconds > 0 ? std::optional(done / seconds) : std::nullopt;
}

void fill_tenths(const std::vector<const SoakRow*>& rows, SoakCase& one) {
  if (rows.size() < 2) return;
  const std::size_t tenth = std::max<std::size_t>(1, rows.size() / 10);
  one.first_tenth_per_s = rate_of(std::span(rows).first(tenth));
  one.last_tenth_per_s = rate_of(std::span(rows).last(tenth));
}

template <class T>
void add_to(std::optional<T>& sum, const std::optional<T>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

void take_extreme(std::optional<double>& extreme, const std::optional<double>& now, bool greatest) {
  if (!now) return;
  if (!extreme || (greatest ? *now > *extreme : *now < *extreme)) extreme = now;
}

/// A product is two floating-point operations.
std::string rate_text(const SoakCase& one) {
  const SoakTotal& total = one.total;
  if (total.launch_s <= 0) return "";
  return total.products > 0 ? si(2 * total.products / total.launch_s, "FLOP/s")
                            : si(total.copied_bytes / total.launch_s, "B/s copied");
}

std::string drift_text(const SoakCase& one) {
  if (!one.first_tenth_per_s || !one.last_tenth_per_s || *one.first_tenth_per_s <= 0) return "";
  return fmt::format("{:+.1f}%", 100 * (*one.last_tenth_per_s / *one.first_tenth_per_s - 1));
}

/// Two significant digits: "3.1e15".
std::string power_text(double value) {
  const std::string text = fmt::format("{:.1e}", value);
  const std::size_t power = text.find('e');
  return fmt::format("{}e{}", text.substr(0, power), std::stoi(text.substr(power + 1)));
}

double share(const SoakTotal& total) {
  return total.wall_s > 0 ? total.launch_s / total.wall_s : 0;
}

std::string table_of_cases(std::span<const SoakDevice> devices) {
  std::vector<std::vector<std::string>> lines{
      {"device", "launches", "wrong", "rate", "last tenth", "in launches", "case"}};
  for (const SoakDevice& device : devices) {
    const bool is_real = device.stand_in.empty();  // or else its speed is no hardware's
    for (const SoakCase& one : device.cases) {
      const std::string case_text =
          one.case_id + (one.skip_reason.empty() ? "" : "  skipped: " + one.skip_reason);
      lines.push_back({device.device, with_commas(one.total.launches),
                       with_commas(one.total.wrong()), is_real ? rate_text(one) : "",
                       is_real ? drift_text(one) : "",
                       fmt::format("{:.1f}%", 100 * share(one.total)), case_text});
    }
  }
  return text_table(lines, "<>>>>><");
}

std::string state_text(const SoakDevice& device) {
  std::string text = fmt::format("{:.1f}% of {} in launches", 100 * share(device.total),
                                 duration_text(device.total.wall_s));
  if (share(device.total) < min_share_in_launches && device.total.launches > 0) {
    text += fmt::format(", less than {:.0f}%", 100 * min_share_in_launches);
  }
  if (device.skipped > 0) {
    text += fmt::format("; {} of {} intervals were skipped", device.skipped, device.planned);
  }
  if (device.temperature_min_c) {
    text +=
        fmt::format("; {:.0f} to {:.0f} °C", *device.temperature_min_c, *device.temperature_max_c);
  }
  if (device.clock_min_hz) text += "; clock down to " + si(*device.clock_min_hz, "Hz");
  if (device.power_max_w) text += fmt::format("; up to {:.0f} W", *device.power_max_w);
  if (device.throttled) text += "; throttled";
  const auto errors = [&](const std::optional<std::int64_t>& count, std::string_view what) {
    if (count) text += fmt::format("; {} {}", *count, what);
  };
  errors(device.ecc_corrected, "corrected ECC errors");
  errors(device.ecc_uncorrected, "uncorrected ECC errors");
  errors(device.nvlink_errors, "NVLink errors");
  errors(device.xid_errors, "XID errors");
  return text;
}

std::string verdict_text(const SoakDevice& device) {
  if (device.verdict() == StatusClass::right) return "PASSED";
  std::string why = device.first_bad;
  const auto add = [&](const std::string& text) { why += (why.empty() ? "" : "; ") + text; };
  if (device.total.launches == 0) add("nothing was launched");
  if (device.ecc_uncorrected.value_or(0) > 0) add("uncorrected ECC errors");
  if (device.last_xid) add(fmt::format("XID {}", *device.last_xid));
  if (device.total.intervals < device.planned) {
    add(fmt::format("{} of {} intervals have rows", device.total.intervals, device.planned));
  }
  return (device.verdict() == StatusClass::wrong ? "FAILED: " : "INCOMPLETE: ") + why;
}

}  // namespace

void SoakTotal::add(const SoakRow& row) {
  const SoakWork& work = row.work;
  ++intervals;
  launches += work.launches;
  products += work.products;
  copied_bytes += work.copied_bytes;
  (work.copied_bytes > 0 ? wrong_in_copies : wrong_in_products) += work.wrong_elements;
  launch_s += work.launch_s;
  wall_s += work.wall_s;
}

StatusClass SoakDevice::verdict() const {
  const bool has_errors = ecc_uncorrected.value_or(0) > 0 || xid_errors.value_or(0) > 0;
  if (has_wrong || total.wrong() > 0 || has_errors) return StatusClass::wrong;
  if (has_broken || total.intervals < planned) return StatusClass::broken;
  const bool compared = total.launches > 0 && (total.products > 0 || total.copied_bytes > 0);
  return compared ? StatusClass::right : StatusClass::skipped;
}

SoakDevice soak_device(const DeviceInfo& info, std::int64_t planned,
                       std::span<const SoakRow> rows) {
  SoakDevice device{
      .device = info.device, .name = info.name, .stand_in = info.stand_in, .planned = planned};
  std::vector<std::vector<const SoakRow*>> rows_of_cases;
  for (const SoakRow& row : rows) {
    if (row.device != info.device) continue;
    device.total.add(row);
    auto one = std::ranges::find(device.cases, row.case_id, &SoakCase::case_id);
    if (one == device.cases.end()) {
      one = device.cases.insert(one, SoakCase{.case_id = row.case_id});
      rows_of_cases.emplace_back();
    }
    one->total.add(row);
    if (row.work.launches > 0) {
      rows_of_cases[static_cast<std::size_t>(one - device.cases.begin())].push_back(&row);
    }
    const StatusClass how = class_of(row.status);
    device.has_wrong |= how == StatusClass::wrong;
    device.has_broken |= how == StatusClass::broken;
    if (how == StatusClass::skipped) {
      one->skip_reason = row.reason;
      ++device.skipped;
    }
    if (device.first_bad.empty() && (how == StatusClass::wrong || how == StatusClass::broken)) {
      device.first_bad =
          fmt::format("{} in interval {}: {}", name(row.status), row.interval, row.reason);
    }
    take_extreme(device.temperature_min_c, row.work.temperature_c, false);
    take_extreme(device.temperature_max_c, row.work.temperature_c, true);
    take_extreme(device.clock_min_hz, row.work.clock_hz, false);
    take_extreme(device.power_max_w, row.work.power_w, true);
    device.throttled |= row.work.throttled.value_or(false);
    add_to(device.ecc_corrected, row.work.ecc_corrected);
    add_to(device.ecc_uncorrected, row.work.ecc_uncorrected);
    add_to(device.nvlink_errors, row.work.nvlink_errors);
    add_to(device.xid_errors, row.work.xid_errors);
    if (row.work.last_xid) device.last_xid = row.work.last_xid;
  }
  for (std::size_t i = 0; i < device.cases.size(); ++i) {
    fill_tenths(rows_of_cases[i], device.cases[i]);
  }
  return device;
}

std::string soak_statement(std::int64_t wrong, double compared, std::string_view one,
                           std::string_view many) {
  if (compared <= 0) return "";
  const double bound = statistics::poisson_upper_bound(wrong, confidence) / compared;
  return fmt::format("{} in {} {}: fewer than {} wrong results per {} at {:.0f}%",
                     wrong == 0 ? "no wrong bit" : counted(wrong, "wrong result"),
                     power_text(compared), many, power_text(bound), one, 100 * confidence);
}

std::string soak_report(std::span<const SoakDevice> devices) {
  std::string text = table_of_cases(devices);
  for (const SoakDevice& device : devices) {
    const SoakTotal& total = device.total;
    text += fmt::format("\n{} ({})\n", device.device, device.name);
    for (const std::string& statement :
         {soak_statement(total.wrong_in_products, total.products, "product", "products"),
          soak_statement(total.wrong_in_copies, total.copied_bytes, "copied byte",
                         "copied bytes")}) {
      if (!statement.empty()) text += "  " + statement + "\n";
    }
    if (total.launches > 0) text += "  " + state_text(device) + "\n";
    text += "  " + verdict_text(device) + "\n";
  }
  return text;
}

}  // namespace assay
