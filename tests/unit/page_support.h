#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reports/files/devices_csv.h"
#include "reports/files/results_csv.h"
#include "reports/files/run_json.h"
#include "reports/page/page.h"
#include "tests/unit/reports_support.h"

namespace assay::page {

using namespace testing_support;

/// Returns `stand_in` of a lane: the tests' simulated devices are called sim.
inline std::string stand_in_of(const std::string& lane) {
  return lane.starts_with("sim") ? "simulated" : "";
}

inline DeviceInfo device(const std::string& id, const std::string& name) {
  DeviceInfo info;
  info.device = id;
  info.backend = id.substr(0, id.find(':'));
  info.name = name;
  info.stand_in = stand_in_of(id);
  return info;
}

inline Record record(const std::string& op, const std::string& of, Status status = Status::pass) {
  Record record = sample_record(1, status);
  record.suite = "tensor_ops";
  record.op = op;
  record.dtype = "f32";
  record.case_id = "tensor_ops/" + op + "/f32/n=1";
  record.device = of;
  record.stand_in = stand_in_of(of);
  return record;
}

inline Record timed(const std::string& op, const std::string& of, double time_s, double n = 1e6) {
  Record timed = record(op, of);
  timed.case_id = fmt::format("tensor_ops/{}/f32/n={}", op, n);
  timed.time_median_s = time_s;
  timed.time_ci_low_s = 0.99 * time_s;
  timed.time_ci_high_s = 1.01 * time_s;
  timed.bytes = 8 * n;
  timed.bandwidth_bytes_per_s = 8 * n / time_s;
  return timed;
}

/// A run directory with these rows.
class Stored {
 public:
  explicit Stored(std::vector<Record> records, RunInfo run = sample_run(1, 0),
                  std::vector<std::string> devices = {"cpu"}, bool ended = true) {
    for (const std::string& id : devices) run.devices.push_back(device(id, "a " + id));
    run.planned = std::ssize(records);
    write_file(folder_ / "run.json", run_json(run, ended));
    DevicesCsv(folder_ / "devices.csv").begin(run);
    ResultsCsv results(folder_ / "results.csv");
    for (const Record& record : records) results.result({.record = record});
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  RunSource read() const { return read_run_source(path()); }

 private:
  TemporaryDirectory folder_;
};

inline std::string html_of(std::vector<RunSource> runs, const std::string& baseline = "") {
  PageInput input{.runs = std::move(runs), .baseline = baseline};
  input.made_by = "assay 1.0.0";
  return page_html(input);
}

inline Json data_of(std::vector<RunSource> runs) { return page_data({.runs = std::move(runs)}); }

inline std::string part(const std::string& html, const std::string& id) {
  const std::size_t begin = html.find("<section id=\"" + id + "\"");
  if (begin == std::string::npos) return {};
  return html.substr(begin, html.find("</section>", begin) - begin);
}

inline bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

/// Expects that all tags of a page end, and that no text became markup.
inline void expect_sound(const std::string& html) {
  const std::size_t begin = html.find("<main");
  const std::size_t end = html.find("</main>") + 7;
  EXPECT_EQ(xml_fault(html.substr(begin, end - begin)), "");
  EXPECT_EQ(count(html, "<script"), 1U);
}

}  // namespace assay::page
