#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "reports/compare/comparison.h"
#include "reports/page/content.h"

namespace assay::page {

/// Timed trials of each column that passed, for comparison.
class Times {
 public:
  explicit Times(const Content& content);

  /// Key of a trial: case and timing, and the devices if several work together.
  using Key = std::tuple<std::string, std::string, std::string>;
  const std::map<Key, TrialRow>& of(std::size_t column) const { return columns_[column]; }

  /// Returns the time of a trial over that of the same case in another column; nothing if there is
  /// none.
  std::optional<Ratio> ratio(std::size_t column, const Record& trial, std::size_t base) const;

 private:
  Key key(std::size_t column, const Record& trial) const;

  const Content& content_;
  std::vector<std::map<Key, TrialRow>> columns_;
};

}  // namespace assay::page
