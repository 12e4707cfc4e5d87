#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "reports/compare/comparison.h"
#include "reports/page/sections.h"

namespace assay::page {

/// The timed trials of each column that passed, to be held against each other.
class Times {
 public:
  explicit Times(const Content& content);

  /// Of one device a case and its timing; of several together also which ones.
  using Key = std::tuple<std::string, std::string, std::string>;
  const std::map<Key, TrialRow>& of(std::size_t column) const { return columns_[column]; }

  /// The time of a trial over that of the same case in another column; nothing where it has none
  /// there.
  std::optional<Ratio> ratio(std::size_t column, const Record& trial, std::size_t base) const;

 private:
  Key key(std::size_t column, const Record& trial) const;

  const Content& content_;
  std::vector<std::map<Key, TrialRow>> columns_;
};

}  // namespace assay::page
