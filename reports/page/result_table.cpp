#include "reports/page/result_table.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "reports/page/cells.h"
#include "reports/text/rate.h"
#include "reports/text/si.h"

namespace assay::page {
namespace {

/// Column of figures; what stands in for a device has no figures of speed.
struct FigureColumn {
  std::string_view key;
  std::string_view name;
  std::optional<double> (*value)(const Record&);
  std::string (*text)(double);
  bool is_speed = true;
};

constexpr std::array<FigureColumn, 6> figure_columns{
    {{"time_median_s", "Time", [](const Record& row) { return row.time_median_s; },
      [](double value) { return si(value, "s"); }},
     {"flops_per_s", "Arithmetic", [](const Record& row) { return row.flops_per_s; },
      [](double value) { return si(value, "FLOP/s"); }},
     {"bandwidth", "Bandwidth", bandwidth, [](double value) { return si(value, "B/s"); }},
     {"fraction_of_limit", "Of limit", [](const Record& row) { return row.fraction_of_limit; },
      [](double value) { return fmt::format("{:.0f}%", 100 * value); }},
     {"max_bound_ratio", "Error / allowed", [](const Record& row) { return row.max_bound_ratio; },
      [](double value) { return fmt::format("{:.3g}", value); }, false},
     {"noise", "Noise", [](const Record& row) { return row.noise; },
      [](double value) { return fmt::format("{:.1f}%", 100 * value); }}}};

using Rows = std::vector<const Record*>;

template <class Make>
Json list(const Rows& rows, Make make) {
  Json made = Json::array();
  for (const Record* row : rows) made.push_back(make(*row));
  return made;
}

Json column(std::string_view key, std::string_view name, Json texts, Json rows) {
  return {{"key", key},
          {"name", name},
          {"is_number", false},
          {"texts", std::move(texts)},
          {"rows", std::move(rows)}};
}

/// The first row with each text, and for each row which of them has its text.
struct Distinct {
  Rows firsts;
  Json rows = Json::array();
};

template <class TextOf>
Distinct distinct(const Rows& rows, TextOf text_of) {
  Distinct found;
  std::unordered_map<std::string, std::size_t> indices;
  for (const Record* row : rows) {
    const auto [entry, is_new] = indices.try_emplace(text_of(*row), indices.size());
    if (is_new) found.firsts.push_back(row);
    found.rows.push_back(entry->second);
  }
  return found;
}

Json text_column(std::string_view key, std::string_view name, const Rows& rows,
                 const std::string Record::*member) {
  const auto text = [&](const Record& row) { return row.*member; };
  Distinct found = distinct(rows, text);
  return column(key, name, list(found.firsts, text), std::move(found.rows));
}

Json figure_column(const FigureColumn& figure, const Rows& rows) {
  const auto value_of = [&](const Record& row) {
    return figure.is_speed && !row.stand_in.empty() ? std::nullopt : figure.value(row);
  };
  std::map<double, std::size_t> indices;
  for (const Record* row : rows) {
    if (const auto value = value_of(*row)) indices.emplace(*value, 0);
  }
  Json texts = Json::array({""});
  for (auto& [value, index] : indices) {
    index = texts.size();
    texts.push_back(figure.text(value));
  }
  Json made = column(figure.key, figure.name, std::move(texts), list(rows, [&](const Record& row) {
                       const auto value = value_of(row);
                       return value ? indices.at(*value) : 0;
                     }));
  made["is_number"] = true;
  return made;
}

Json status_column(const Rows& rows) {
  const auto text = [](const Record& row) {
    const Json status = status_of(row);
    return status["sign"].get<std::string>() + " " + status["word"].get<std::string>();
  };
  Distinct found = distinct(rows, text);
  Json made = column("status", "Status", list(found.firsts, text), std::move(found.rows));
  made["kinds"] = list(found.firsts, [](const Record& row) { return status_of(row)["kind"]; });
  made["keys"] = list(found.firsts, [](const Record& row) { return name(row.status); });
  made["groups"] = list(found.firsts, [](const Record& row) { return row.is_bad() ? "bad" : ""; });
  made["choices"] = Json::array({Json::array({"bad", "not right"})});
  return made;
}

Json filtering(Json made) {
  made["choices"] = Json::array();
  return made;
}

Json searched(Json made) {
  made["is_searched"] = true;
  return made;
}

Json run_column(const std::vector<RunSource>& runs) {
  Json numbers = Json::array();
  Json rows = Json::array();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    numbers.push_back(std::to_string(r + 1));
    rows.insert(rows.end(), runs[r].records.size(), r);
  }
  Json made = filtering(column("run", "Run", numbers, std::move(rows)));
  made["is_number"] = true;
  made["keys"] = std::move(numbers);
  return made;
}

Json case_column(const Rows& rows) {
  Json made = searched(text_column("case_id", "Case", rows, &Record::case_id));
  made["break_after"] = break_after;
  return made;
}

}  // namespace

Json result_table(const std::vector<RunSource>& runs) {
  Rows rows;
  Json counts = Json::array();
  for (const RunSource& run : runs) {
    counts.push_back(run.records.size());
    for (const Record& row : run.records) rows.push_back(&row);
  }
  Json columns = Json::array({status_column(rows)});
  if (runs.size() > 1) columns.push_back(run_column(runs));
  columns.push_back(case_column(rows));
  columns.push_back(filtering(text_column("suite", "Suite", rows, &Record::suite)));
  columns.back()["is_hidden"] = true;
  columns.push_back(filtering(searched(text_column("device", "Device", rows, &Record::device))));
  columns.push_back(filtering(text_column("timing", "Timing", rows, &Record::timing)));
  for (const FigureColumn& figure : figure_columns) {
    columns.push_back(figure_column(figure, rows));
  }
  columns.push_back(searched(text_column("reason", "Reason", rows, &Record::reason)));
  return {{"counts", std::move(counts)}, {"columns", std::move(columns)}};
}

}  // namespace assay::page
