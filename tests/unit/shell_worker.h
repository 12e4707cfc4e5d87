#pragma once

#include <string>
#include <vector>

#include "harness/supervise/supervisor.h"
#include "kernels/core/version.h"

// Workers that are shell scripts, and plans for them.
namespace assay::testing_support {

class Collect final : public Sink {
 public:
  void result(const Result& result) override { records.push_back(result.record); }
  void held(const Record& first_take) override { held_cases.push_back(first_take.case_id); }
  std::vector<Status> statuses() const {
    std::vector<Status> all;
    for (const Record& record : records) all.push_back(record.status);
    return all;
  }
  std::vector<Record> records;
  std::vector<std::string> held_cases;
};

inline std::vector<BackendTraits> test_backends() {
  return {{.kind = "cpu"}, {.kind = "sim"}, {.kind = "cuda"}};
}

inline std::string hello_line() {
  protocol::Hello hello;
  hello.build_id = version::build_id;
  for (const char* device : {"cpu", "sim:0", "sim:1", "sim:2", "sim:3"}) {
    DeviceInfo info;
    info.device = device;
    hello.devices.push_back(info);
  }
  return protocol::encode(hello);
}

inline std::string pass_line(int n) {
  Result result;
  result.record.case_id = "tensor_ops/add/f32/n=" + std::to_string(n);
  result.record.device = "cpu";
  result.record.elements = 2 * n;  // both passes
  result.record.status = Status::pass;
  result.phases.input = n;
  result.phases.sampling = 0.5;
  return protocol::encode(result);
}

/// Returns a worker that says hello and then runs `script`. There `answer` answers the trial of
/// $line, of n = 1 to 3, correctly.
inline WorkerCommand shell(const std::string& script) {
  const std::string answer =
      R"(answer() { n=${line##*n=}; n=${n%%[!0-9]*}; eval "printf '%s\n' \"\$PASS$n\""; }; )";
  return {{"/bin/sh", "-c", "printf '%s\n' \"$HELLO\"; " + answer + script},
          {{"HELLO", hello_line()},
           {"PASS1", pass_line(1)},
           {"PASS2", pass_line(2)},
           {"PASS3", pass_line(3)}}};
}

inline constexpr const char* answer_all = "while read -r line; do answer; done";

inline std::vector<PlannedTrial> trials(int count) {
  std::vector<PlannedTrial> plan;
  for (int n = 1; n <= count; ++n) {
    plan.push_back({.test = parse_case_id("tensor_ops/add/f32/n=" + std::to_string(n)),
                    .lane = {{"cpu", 0}},
                    .timing = "batch"});
  }
  return plan;
}

}  // namespace assay::testing_support
