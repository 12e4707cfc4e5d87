#include "reports/files/devices_csv.h"

#include <string>

#include "harness/records/csv.h"
#include "harness/records/fields_text.h"
#include "reports/files/atomic_file.h"

namespace assay {

void DevicesCsv::begin(const RunInfo& run) {
  std::string text = csv_line(field_names<DeviceInfo>()) + "\n";
  for (const DeviceInfo& device : run.devices) text += csv_line(field_cells(device)) + "\n";
  write_atomically(path_, text);
}

}  // namespace assay
