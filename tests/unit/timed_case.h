#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/execute/rotation.h"
#include "harness/execute/timed_judge.h"
#include "harness/execute/trial.h"
#include "harness/execute/verify_launch.h"
#include "harness/plan/case.h"
#include "kernels/cpu/backend.h"
#include "kernels/device/backend.h"

namespace assay {

/// A case whose timed launches a test drives as the engine does: verified on the data of each pass,
/// with its sets of tensors and their judge.
class TimedCase {
 public:
  struct Options {
    std::uint64_t secret = 1;
    bool own_inputs = true;
    Checks checks = {};
  };
  TimedCase(const std::string& id, const Options& options,
            std::unique_ptr<Backend> backend = cpu::make_backend())
      : op(parse_case_id(id).op),
        backend_(std::move(backend)),
        devices_(open_devices(op, *backend_)),
        references_({}),
        checks_(options.checks),
        judge_(op, checks_, references_, id, clock_),
        trial(op, *backend_, pointers_to(devices_)) {
    Findings findings;
    for (int pass = 0; pass < std::ssize(passes(op)); ++pass) {
      contents.front() = generate_inputs(op, pass, 1, trial.ranks());
      judge_.launch(trial, pass, contents.front(), findings, verified);
    }
    rotation = std::make_unique<Rotation>(trial, op, options.secret, contents, options.own_inputs);
    arm_for_timing(trial);
    timed = std::make_unique<TimedJudge>(trial, *rotation, judge_, checks_, verified,
                                         ~options.secret, Findings{});
  }

  /// A sample of `launches`, each set once if 0. `reported_s` decides how much its judge may spend.
  void sample(std::int64_t launches = 0, double reported_s = 1e-3) {
    timed->before_sample();
    const Turns& turns =
        rotation->next(launches > 0 ? launches : static_cast<std::int64_t>(trial.sets()));
    timed->lay_decoys(turns);
    trial.time_s(turns.launches, false, turns.first);
    timed->after_sample(turns, reported_s);
    rotation->count_sample(reported_s);
  }
  void finish() { timed->finish(rotation->last()); }

  /// Judges all elements of a set. Throws WrongResult.
  void judge_whole(std::size_t set) {
    Findings findings;
    judge_.timed(trial, set, rotation->pass_of(set), rotation->content(set), "whole", findings);
  }

  /// Elements that the device holds in the output of a set.
  HostTensor output(std::size_t set, int rank = 0) const {
    HostTensor all(op.signature.outputs[0]);
    trial.tensors(set).output(rank).download(all);
    return all;
  }

  OpInstance op;

 private:
  static std::vector<std::unique_ptr<Device>> open_devices(const OpInstance& op, Backend& backend) {
    const auto known = static_cast<int>(backend.describe().size());
    std::vector<std::unique_ptr<Device>> devices;
    for (int i = 0; i < std::min(known, op.signature.ranks); ++i) {
      devices.push_back(backend.open(i));
    }
    return devices;
  }
  static std::vector<Device*> pointers_to(const std::vector<std::unique_ptr<Device>>& devices) {
    std::vector<Device*> all;
    for (const auto& device : devices) all.push_back(device.get());
    return all;
  }

  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<Device>> devices_;
  ReferenceStore references_;
  Checks checks_;
  PhaseClock clock_;
  Judge judge_;

 public:
  Trial trial;
  std::vector<RankInputs> contents{1};
  std::vector<HostTensor> verified;
  std::unique_ptr<Rotation> rotation;
  std::unique_ptr<TimedJudge> timed;
};

/// The reason of the wrong result that `call` throws; empty if it throws none.
template <class Call>
std::string wrong_by(const Call& call, std::optional<Check> check = {}) {
  try {
    call();
  } catch (const WrongResult& wrong) {
    if (check) {
      EXPECT_EQ(wrong.check, *check) << wrong.reason;
    }
    return wrong.reason;
  }
  return {};
}

inline std::vector<std::byte> bytes_of(const HostTensor& tensor) {
  return {tensor.bytes().begin(), tensor.bytes().end()};
}

}  // namespace assay
