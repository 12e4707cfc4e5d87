#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/records/record.h"
#include "harness/records/soak_row.h"

namespace assay {

/// Least share of the time that a soak should spend in launches.
inline constexpr double min_share_in_launches = 0.9;

/// Soak of one device, or of one of its cases.
struct SoakTotal {
  std::int64_t intervals = 0;  // with a row
  std::int64_t launches = 0;
  double products = 0;
  double copied_bytes = 0;
  std::int64_t wrong_in_products = 0;  // elements
  std::int64_t wrong_in_copies = 0;
  double launch_s = 0;
  double wall_s = 0;

  void add(const SoakRow& row);
  std::int64_t wrong() const { return wrong_in_products + wrong_in_copies; }
};

struct SoakCase {
  std::string case_id;
  SoakTotal total;
  // Rates of the time in launches, multiply-adds or bytes a second; empty for fewer than two
  // intervals.
  std::optional<double> first_tenth_per_s;
  std::optional<double> last_tenth_per_s;
  std::string skip_reason;
};

struct SoakDevice {
  std::string device;
  std::string name;
  std::string stand_in;
  std::int64_t planned = 0;  // intervals
  std::int64_t skipped = 0;  // of them, as the device lacks their case: they took no time
  SoakTotal total;
  std::vector<SoakCase> cases;  // in the order of their first rows
  std::optional<double> temperature_min_c;
  std::optional<double> temperature_max_c;
  std::optional<double> clock_min_hz;
  std::optional<double> power_max_w;
  bool throttled = false;
  std::optional<std::int64_t> ecc_corrected;
  std::optional<std::int64_t> ecc_uncorrected;
  std::optional<std::int64_t> nvlink_errors;
  std::optional<std::int64_t> xid_errors;
  std::optional<std::int64_t> last_xid;
  std::string first_bad;  // status and reason of the first row that is neither right nor skipped
  bool has_wrong = false;
  bool has_broken = false;

  /// Right only if every planned interval has a row, none is wrong or broken, the device launched,
  /// and the driver counted neither an uncorrected ECC error nor an XID. Skipped if it launched
  /// nothing.
  StatusClass verdict() const;
};

/// Folds the rows of a device with `planned` intervals.
SoakDevice soak_device(const DeviceInfo& device, std::int64_t planned,
                       std::span<const SoakRow> rows);

/// "no wrong bit in 3.1e15 products: fewer than 9.7e-16 wrong results per product at 95%". `wrong`
/// results among `compared` things, which are called `one` and `many`. Empty if nothing was
/// compared.
std::string soak_statement(std::int64_t wrong, double compared, std::string_view one,
                           std::string_view many);

/// Table of the cases, then some lines for each device: its statements, time in launches,
/// temperatures, counters and verdict.
std::string soak_report(std::span<const SoakDevice> devices);

}  // namespace assay
