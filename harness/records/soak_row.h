#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "harness/records/record.h"

namespace assay {

/// One row of soak.csv: a device, an interval, and what was done in it.
struct SoakRow {
  std::string device;
  std::int64_t interval = 0;  // from 1 on; with the device it is the key
  std::string started_at;     // UTC, ISO 8601
  double elapsed_s = 0;       // of the soak when the interval ended, earlier sessions included
  std::string case_id;
  Status status = Status::error;
  std::string reason;
  std::optional<double> products_per_s;      // of the time in launches
  std::optional<double> copied_bytes_per_s;  // likewise
  SoakWork work;
  std::string implementation;
  std::string device_name;
  std::string device_uuid;
  std::string stand_in;
};

template <class R, class Visitor>
void visit_fields(R& row, Visitor&& visit) requires std::same_as<std::remove_const_t<R>, SoakRow> {
  visit("device", row.device);
  visit("interval", row.interval);
  visit("started_at", row.started_at);
  visit("elapsed_s", row.elapsed_s);
  visit("case_id", row.case_id);
  visit("status", row.status);
  visit("reason", row.reason);
  visit("products_per_s", row.products_per_s);
  visit("copied_bytes_per_s", row.copied_bytes_per_s);
  visit_fields(row.work, visit);
  visit("implementation", row.implementation);
  visit("device_name", row.device_name);
  visit("device_uuid", row.device_uuid);
  visit("stand_in", row.stand_in);
}

SoakRow soak_row(const Result& result, double elapsed_s);

}  // namespace assay
