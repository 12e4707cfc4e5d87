#include "reports/devices_csv.h"

#include <string>

#include "harness/csv.h"
#include "harness/fields_text.h"
#include "reports/atomic_file.h"

namespace assay {

void DevicesCsv::begin(const RunInfo& run) {
  std::string text = csv_line(field_names<DeviceInfo>()) + "\n";
  for (const DeviceInfo& device : run.devices) text += csv_line(field_cells(device)) + "\n";
  write_atomically(path_, text);
}

}  // namespace assay
