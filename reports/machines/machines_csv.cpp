#include "reports/machines/machines_csv.h"

#include <fmt/format.h>

#include <optional>

#include "harness/records/fields_text.h"
#include "kernels/core/names.h"
#include "reports/text/csv_columns.h"

namespace assay {
namespace {

struct SpeedRow {
  const MachinesFacts& facts;
  const FleetSpeed& speed;

  const FleetColumn& column() const { return facts.columns[speed.column]; }
  const FleetCase& test(std::uint32_t index) const { return facts.fleet.cases[index]; }
  std::optional<double> end(double statistics::Interval::*which) const {
    if (!speed.interval) return std::nullopt;
    return (*speed.interval).*which;
  }
};

std::vector<CsvColumn<SpeedRow>> speed_columns() {
  return {
      {"machine", [](const SpeedRow& r) { return to_cell(r.column().name); }},
      {"hosts", [](const SpeedRow& r) { return to_cell(r.column().machines.size()); }},
      {"baseline",
       [](const SpeedRow& r) { return to_cell(r.facts.columns[r.facts.speeds.baseline].name); }},
      {"suite", [](const SpeedRow& r) { return to_cell(r.speed.suite); }},
      {"dtype", [](const SpeedRow& r) { return to_cell(r.speed.dtype); }},
      {"cases", [](const SpeedRow& r) { return to_cell(r.speed.cases); }},
      {"rank", [](const SpeedRow& r) { return to_cell(r.speed.rank); }},
      {"speed", [](const SpeedRow& r) { return to_cell(r.speed.speed); }},
      {"speed_low", [](const SpeedRow& r) { return to_cell(r.end(&statistics::Interval::low)); }},
      {"speed_high", [](const SpeedRow& r) { return to_cell(r.end(&statistics::Interval::high)); }},
      {"slower", [](const SpeedRow& r) { return to_cell(r.speed.slower); }},
      {"faster", [](const SpeedRow& r) { return to_cell(r.speed.faster); }},
      {"least_speed", [](const SpeedRow& r) { return to_cell(r.speed.least); }},
      {"least_case_id",
       [](const SpeedRow& r) { return to_cell(r.test(r.speed.slowest_case).case_id); }},
      {"most_speed", [](const SpeedRow& r) { return to_cell(r.speed.most); }},
      {"most_case_id",
       [](const SpeedRow& r) { return to_cell(r.test(r.speed.fastest_case).case_id); }},
  };
}

struct OutlierRow {
  const Fleet& fleet;
  const std::string& product;
  const OutlierTest& test;

  std::string shown(std::string FleetCase::*field) const {
    return test.is_outlier ? to_cell(fleet.cases[test.shown_by].*field) : std::string();
  }
};

std::vector<CsvColumn<OutlierRow>> outlier_columns() {
  return {
      {"product", [](const OutlierRow& r) { return to_cell(r.product); }},
      {"host", [](const OutlierRow& r) { return to_cell(r.fleet.machines[r.test.machine].host); }},
      {"device", [](const OutlierRow& r) { return to_cell(r.test.lane); }},
      {"suite", [](const OutlierRow& r) { return to_cell(r.test.suite); }},
      {"dtype", [](const OutlierRow& r) { return to_cell(r.test.dtype); }},
      {"cases", [](const OutlierRow& r) { return to_cell(r.test.cases); }},
      {"time_ratio", [](const OutlierRow& r) { return to_cell(r.test.time_ratio); }},
      {"z", [](const OutlierRow& r) { return to_cell(r.test.z); }},
      {"p", [](const OutlierRow& r) { return to_cell(r.test.p); }},
      {"p_holm", [](const OutlierRow& r) { return to_cell(r.test.p_holm); }},
      {"outlier", [](const OutlierRow& r) { return to_cell(r.test.is_outlier); }},
      {"shown_by_case_id", [](const OutlierRow& r) { return r.shown(&FleetCase::case_id); }},
      {"shown_by_timing", [](const OutlierRow& r) { return r.shown(&FleetCase::timing); }},
      {"shown_by_time_ratio",
       [](const OutlierRow& r) {
         return r.test.is_outlier ? to_cell(r.test.shown_ratio) : std::string();
       }},
  };
}

struct BitsRow {
  const BitDifference& difference;
  const OutputBits& bits;
};

std::vector<CsvColumn<BitsRow>> bits_columns() {
  return {
      {"case_id", [](const BitsRow& r) { return to_cell(r.difference.case_id); }},
      {"suite", [](const BitsRow& r) { return to_cell(r.difference.suite); }},
      {"op", [](const BitsRow& r) { return to_cell(r.difference.op); }},
      {"dtype", [](const BitsRow& r) { return to_cell(r.difference.dtype); }},
      {"seed", [](const BitsRow& r) { return to_cell(r.difference.seed); }},
      {"within_product", [](const BitsRow& r) { return to_cell(r.difference.within_product); }},
      {"product", [](const BitsRow& r) { return to_cell(r.bits.product); }},
      {"implementation", [](const BitsRow& r) { return to_cell(r.bits.implementation); }},
      {"output_hash", [](const BitsRow& r) { return fmt::format("{:016x}", r.bits.hash); }},
      {"trials", [](const BitsRow& r) { return to_cell(r.bits.trials); }},
      {"devices", [](const BitsRow& r) { return to_cell(join(r.bits.examples, "; ")); }},
      {"more", [](const BitsRow& r) { return to_cell(r.difference.many); }},
  };
}

template <class Row>
std::string header(const std::vector<CsvColumn<Row>>& columns) {
  return csv_line(column_names(columns)) + "\n";
}

}  // namespace

std::vector<std::string> machines_columns() { return column_names(speed_columns()); }

std::string machines_csv(const MachinesFacts& facts) {
  const auto columns = speed_columns();
  std::string text = header(columns);
  for (const auto* speeds : {&facts.speeds.all, &facts.speeds.of_each_group}) {
    for (const FleetSpeed& speed : *speeds) text += csv_row(columns, SpeedRow{facts, speed});
  }
  return text;
}

std::vector<std::string> machines_outliers_columns() { return column_names(outlier_columns()); }

std::string machines_outliers_csv(const MachinesFacts& facts) {
  const auto columns = outlier_columns();
  std::string text = header(columns);
  for (const ProductOutliers& product : facts.outliers) {
    for (const OutlierTest& test : product.tests) {
      text += csv_row(columns, OutlierRow{facts.fleet, product.product, test});
    }
  }
  return text;
}

std::vector<std::string> machines_bits_columns() { return column_names(bits_columns()); }

std::string machines_bits_csv(const MachinesFacts& facts) {
  const auto columns = bits_columns();
  std::string text = header(columns);
  for (const BitDifference& difference : facts.fleet.differences) {
    for (const OutputBits& bits : difference.outputs) {
      text += csv_row(columns, BitsRow{difference, bits});
    }
  }
  return text;
}

}  // namespace assay
