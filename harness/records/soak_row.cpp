#include "harness/records/soak_row.h"

namespace assay {

SoakRow soak_row(const Result& result, double elapsed_s) {
  const Record& record = result.record;
  SoakRow row{.device = record.device,
              .interval = record.repeat,
              .started_at = record.started_at,
              .elapsed_s = elapsed_s,
              .case_id = record.case_id,
              .status = record.status,
              .reason = record.reason};
  row.work = result.soak.value_or(SoakWork());
  row.implementation = record.implementation;
  row.device_name = record.device_name;
  row.device_uuid = record.device_uuid;
  row.stand_in = record.stand_in;
  const SoakWork& work = row.work;
  if (work.launch_s > 0 && work.products > 0) row.products_per_s = work.products / work.launch_s;
  if (work.launch_s > 0 && work.copied_bytes > 0) {
    row.copied_bytes_per_s = work.copied_bytes / work.launch_s;
  }
  return row;
}

}  // namespace assay
