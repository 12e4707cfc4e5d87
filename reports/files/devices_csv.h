#pragma once

#include <filesystem>
#include <utility>

#include "harness/records/record.h"

namespace assay {

/// devices.csv: one row for each device of the run, written when it begins.
class DevicesCsv : public Sink {
 public:
  explicit DevicesCsv(std::filesystem::path path) : path_(std::move(path)) {}
  void begin(const RunInfo& run) override;
  void result(const Result& /*result*/) override {}

 private:
  std::filesystem::path path_;
};

}  // namespace assay
