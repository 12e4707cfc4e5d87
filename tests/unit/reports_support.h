#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/records/limit.h"
#include "harness/records/record.h"

namespace assay::testing_support {

/// A directory of its own for each test, gone when the test ends.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category());
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Returns the message of the exception of type E that `action` throws. Fails the test, and returns
/// "", if it does not.
template <class E, class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// A record of suite "copy" on the CPU, told apart by its size.
inline Record sample_record(int n, Status status = Status::pass) {
  Record record;
  record.suite = "copy";
  record.case_id = fmt::format("copy/f32/n={}", n);
  record.device = "cpu";
  record.timing = "batch";
  record.status = status;
  record.replay = "assay run --case " + record.case_id + " --device cpu";
  return record;
}

inline RunInfo sample_run(std::int64_t planned, int exit_code) {
  RunInfo run;
  run.run_id = "r1";
  run.host = "node7";
  run.started_at = "2024-01-31T12:00:00Z";
  run.ended_at = "2024-01-31T12:01:00Z";
  run.version = "1.0.0";
  run.planned = planned;
  run.exit_code = exit_code;
  return run;
}

/// Counts the places where `part` stands in the text.
inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

/// Returns why the text is no well-formed XML, or "". Checks that tags balance, every "&" begins a
/// reference, and attribute values are quoted.
inline std::string xml_fault(std::string_view xml) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = 0; at < xml.size();) {
    if (xml[at] == '&') {
      const std::size_t end = xml.find(';', at);
      const std::string_view reference = xml.substr(at + 1, end - at - 1);
      const bool known = reference == "amp" || reference == "lt" || reference == "gt" ||
                         reference == "quot" || reference.starts_with("#");
      if (end == std::string_view::npos || !known) return fmt::format("bare & at {}", at);
    }
    if (xml[at] != '<') {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    for (bool quoted = false; end < xml.size() && (quoted || xml[end] != '>'); ++end) {
      if (xml[end] == '"') quoted = !quoted;
      if (xml[end] == '<') return fmt::format("< inside a tag at {}", end);
    }
    if (end >= xml.size()) return fmt::format("tag at {} never ends", at);
    const std::string_view tag = xml.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.starts_with("?")) continue;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return fmt::format("unexpected <{}>", tag);
      open.pop_back();
      continue;
    }
    if (open.empty()) ++roots;
    if (!tag.ends_with("/")) open.emplace_back(tag.substr(0, tag.find(' ')));
  }
  if (!open.empty()) return "never closed: " + open.back();
  return roots == 1 ? "" : fmt::format("{} root elements", roots);
}

/// Limit that was measured.
inline Limit copy_limit() {
  Limit limit{.device = "cpu", .limit = LimitKind{Resource::memory_copy}, .status = Status::pass};
  limit.unit = "B/s";
  limit.value = 31.25e9;
  limit.ci_low = 31e9;
  limit.ci_high = 31.5e9;
  limit.theoretical = 62.5e9;
  limit.case_id = "limits/stream_copy/f64/n=16777216";
  limit.implementation = "OpenMP loop, streaming stores";
  limit.samples = 41;
  limit.contended = true;
  return limit;
}

/// Limit that could not be.
inline Limit failed_limit() {
  Limit limit{
      .device = "cuda:0", .limit = LimitKind{Resource::matrix, DType::bf16}, .status = Status::oom};
  limit.reason = "no memory, \"none\"";
  return limit;
}

}  // namespace assay::testing_support
