#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "harness/plan/plan.h"
#include "harness/records/record.h"
#include "kernels/device/backend_problem.h"
#include "kernels/device/device_info.h"
#include "kernels/ops/offers.h"

// Messages between parent and worker: JSON, one object a line, over the worker's standard input and
// output. docs/protocol.md shows a conversation.
namespace assay::protocol {

/// A worker of another version is refused before anything runs.
inline constexpr int version = 7;

/// An invalid line.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Worker to parent.

/// First line of a worker: its build, and the devices that it sees.
struct Hello {
  int protocol = version;
  std::int64_t schema = 1;  // Record's version
  std::string build_id;
  std::vector<DeviceInfo> devices;
  std::vector<BackendTraits> backends;
  std::vector<BackendProblem> problems;
  Offers kernels;               // of others, with --kernels; they alone run
  std::string kernels_refused;  // reason why they cannot be used
};

/// Says that a trial is verified and waits for its turn to be timed: nothing else should run
/// meanwhile.
struct Ready {};

/// Says that a user's reference has a question, or that it has answered: what passes in between is
/// no time of a kernel.
struct ReferenceAsked {
  bool is_open = false;
};

/// The answer to a trial of a case that this build does not have.
struct UnknownCase {
  std::string reason;
};

using FromWorker = std::variant<Hello, Ready, ReferenceAsked, Result, UnknownCase>;

std::string encode(const Hello& hello);
std::string encode(const Ready& ready);
std::string encode(const ReferenceAsked& asked);
std::string encode(const Result& result);
std::string encode(const UnknownCase& unknown);
/// Throws Malformed.
FromWorker decode_from_worker(std::string_view line);

// Parent to worker. The end of its input tells a worker to leave.

/// Request to execute one trial. The answer is one Result, after a Ready if the trial is timed.
std::string encode(const PlannedTrial& trial);
/// The answer to Ready: it is this worker's turn.
struct Turn {};
std::string encode(const Turn& turn);

/// Conduct of all trials to come, in place of the worker's arguments. Comes before the first trial.
struct Conduct {
  double cap_s = 0;        // time limit of a measurement
  std::string references;  // folder in which the workers share references; empty: none
  std::string choices;     // file that hands on choices of times; empty: each decides anew
  bool operator==(const Conduct&) const = default;
};
std::string encode(const Conduct& conduct);

using ToWorker = std::variant<PlannedTrial, Turn, Conduct, UnknownCase>;
/// Throws Malformed.
ToWorker decode_to_worker(std::string_view line);

}  // namespace assay::protocol
