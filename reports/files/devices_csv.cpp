#include "reports/files/devices_csv.h"

#include "harness/records/csv_table.h"
#include "reports/files/atomic_file.h"

namespace assay {

void DevicesCsv::begin(const RunInfo& run) { write_atomically(path_, write_table(run.devices)); }

}  // namespace assay
