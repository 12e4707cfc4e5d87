#include "reports/files/devices_csv.h"

#include "reports/files/atomic_file.h"
#include "reports/files/csv_rows.h"

namespace assay {

void DevicesCsv::begin(const RunInfo& run) { write_atomically(path_, rows_text(run.devices)); }

}  // namespace assay
