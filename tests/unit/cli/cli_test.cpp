// Device lists and exit codes; the commands themselves are tested as a user calls them, in e2e.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "harness/records/replay.h"
#include "kernels/core/clock.h"
#include "kernels/core/status.h"
#include "kernels/cpu/traits.h"
#include "kernels/cuda/faults.h"
#include "kernels/cuda/traits.h"
#include "kernels/sim/fault.h"
#include "kernels/sim/traits.h"
#include "session/ab/shown_variables.h"
#include "session/machine/device_list.h"
#include "session/process/exit_code.h"
#include "session/selftest/fault_catalogue.h"

namespace assay::cli {
namespace {

protocol::Hello machine() {
  protocol::Hello hello;
  const auto add = [&](const char* id, const char* backend, const char* uuid, std::int64_t free) {
    DeviceInfo info;
    info.device = id;
    info.backend = backend;
    info.uuid = uuid;
    info.memory_free_bytes = free;
    hello.devices.push_back(info);
  };
  add("cpu", "cpu", "", 100);
  add("cuda:0", "cuda", "GPU-aa", 10);
  add("cuda:1", "cuda", "GPU-bb", 30);
  add("cuda:2", "cuda", "GPU-cc", 20);
  add("sim:0", "sim", "SIM-0", 50);
  hello.backends = {cpu::traits(), cuda::traits(), sim::traits()};
  return hello;
}

std::string resolved(const std::vector<std::string>& items) {
  return to_text(resolve_devices(items, machine()));
}

TEST(ToldVariables, ArePathsAndWhatRunsRecord) {
  EXPECT_EQ(shown_value("LD_LIBRARY_PATH", "/a:/b"), "/a:/b");
  EXPECT_EQ(shown_value("OMP_WAIT_POLICY", "passive"), "passive");
  EXPECT_EQ(shown_value("TOKEN", "secret"), "(not told)");
  const std::vector<std::string> words{
      "assay",      "ab",        "--base-env", "TOKEN=a=b", "--cand-env=K=x",
      "--base-env", "PATH=/bin", "--filter",   "N=1",       "--cand-env",
      "--cand-env", "X=y",       "--cand-env"};
  const std::vector<std::string> shown{"assay",
                                       "ab",
                                       "--base-env",
                                       "TOKEN=(not told)",
                                       "--cand-env=K=(not told)",
                                       "--base-env",
                                       "PATH=/bin",
                                       "--filter",
                                       "N=1",
                                       "--cand-env",
                                       "--cand-env",
                                       "X=(not told)",
                                       "--cand-env"};
  EXPECT_EQ(shown_words(words), shown);
}

TEST(DeviceLists, NameDevicesInEveryWay) {
  EXPECT_EQ(resolved({"all"}), "cpu+cuda:0+cuda:1+cuda:2") << "never simulated ones";
  EXPECT_EQ(resolved({"cuda"}), "cuda:0+cuda:1+cuda:2");
  EXPECT_EQ(resolved({"cuda:2", "cpu"}), "cuda:2+cpu");
  EXPECT_EQ(resolved({"cuda:1", "cuda"}), "cuda:1+cuda:0+cuda:2") << "each once";
  EXPECT_EQ(resolved({"GPU-bb"}), "cuda:1");
  EXPECT_EQ(resolved({"cuda:most-free"}), "cuda:1");
  EXPECT_EQ(resolved({"sim"}), "sim:0");
}

TEST(DeviceLists, WhatIsNotHereIsAbsentAndWhatIsMalformedIsUsage) {
  EXPECT_THROW(resolved({"cuda:3"}), AbsentDevice);
  EXPECT_THROW(resolved({"GPU-zz"}), AbsentDevice);
  EXPECT_THROW(resolved({"sim:1"}), AbsentDevice);
  for (const char* item : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:1", "CUDA", "cuda:0:1"}) {
    EXPECT_THROW(resolved({item}), UsageError) << item;
  }
}

TEST(DeviceLists, NameTheDevicesOfABackendThatOnlyTheMachineKnows) {
  protocol::Hello hello = machine();
  EXPECT_THROW(resolve_devices({"toy"}, hello), UsageError);
  hello.backends.push_back({.kind = "toy", .uuid_prefixes = {"TOY-"}});
  EXPECT_THROW(resolve_devices({"toy"}, hello), AbsentDevice);
  DeviceInfo toy;
  toy.device = "toy:0";
  toy.backend = "toy";
  toy.uuid = "TOY-1";
  hello.devices.push_back(toy);
  for (const char* item : {"toy", "toy:0", "toy:most-free", "TOY-1"}) {
    EXPECT_EQ(to_text(resolve_devices({item}, hello)), "toy:0") << item;
  }
  EXPECT_EQ(to_text(resolve_devices({"all"}, hello)), "cpu+cuda:0+cuda:1+cuda:2+toy:0");
  hello.backends.back().other_names = {"plaything"};
  for (const char* item : {"plaything:1", "PLAYTHING:1", "TOY:1"}) {
    try {
      resolve_devices({item}, hello);
      ADD_FAILURE() << item << " is no device";
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                fmt::format("--device: unknown device '{}'; did you mean 'toy:1'?", item));
    }
  }
  check_requirements({"toy"}, hello);
}

TEST(Requirements, AreCounted) {
  check_requirements({"cuda:3", "cpu"}, machine());
  EXPECT_THROW(check_requirements({"cuda:4"}, machine()), AbsentDevice);
  for (const char* item : {"cuda:0", "cuda:x", "gpu", "cuda:", ""}) {
    EXPECT_THROW(check_requirements({item}, machine()), UsageError) << item;
  }
}

ExitCode code_of(const std::vector<Status>& statuses, bool completed, bool allow_flaky = false) {
  Tally tally;
  for (const Status status : statuses) {
    Record record;
    record.status = status;
    tally.add(record);
  }
  return exit_code_of(tally, completed, allow_flaky);
}

TEST(ExitCodes, WrongComesBeforeInfrastructureAndAnEmptyRunIsNeverGreen) {
  using enum Status;
  EXPECT_EQ(code_of({pass, pass}, true), ok);
  EXPECT_EQ(code_of({pass, skip}, true), ok);
  EXPECT_EQ(code_of({skip, skip}, true), absent);
  EXPECT_EQ(code_of({}, true), absent);
  EXPECT_EQ(code_of({pass}, false), infrastructure) << "cut short";
  EXPECT_EQ(code_of({pass, crash, fail}, false), wrong);
  for (const Status status : {crash, timeout, oom, device_lost, error}) {
    EXPECT_EQ(code_of({pass, status}, true), infrastructure) << name(status);
  }
  for (const Status status : {fail, flaky, vacuous}) {
    EXPECT_EQ(code_of({pass, status}, true), wrong) << name(status);
  }
}

TEST(ExitCodes, FlakyIsGreenOnlyWhereAllowedAndHidesNothing) {
  using enum Status;
  EXPECT_EQ(code_of({flaky}, true, true), ok);
  EXPECT_EQ(code_of({flaky, fail}, true, true), wrong);
  EXPECT_EQ(code_of({flaky, vacuous}, true, true), wrong);
  EXPECT_EQ(code_of({flaky, crash}, true, true), infrastructure);
  EXPECT_EQ(code_of({flaky}, false, true), infrastructure);
}

TEST(ExitCodes, AKnownFailureIsAcceptedAndASecondOneIsNot) {
  Tally tally;
  Record known;
  known.status = Status::fail;
  known.expected_failure = "known";
  tally.add(known);
  EXPECT_EQ(exit_code_of(tally, true, false), ok);
  known.expected_failure.clear();
  tally.add(known);
  EXPECT_EQ(exit_code_of(tally, true, false), wrong);
}

TEST(ExitCodes, AnOpAndDtypeThatALibraryRefusedAltogetherIsNotGreen) {
  Outcomes outcomes;
  const auto add = [&](std::string op, std::optional<SkipCategory> skip = {}) {
    Record record;
    record.case_id = std::to_string(outcomes.tally().total);
    record.op = std::move(op);
    record.status = skip ? Status::skip : Status::pass;
    record.skip_category = skip;
    outcomes.add(record);
  };
  const auto code = [&](Part part = Part::whole) {
    return exit_code_of(outcomes.tally(), true, false, part);
  };
  add("add");
  add("linear", SkipCategory::too_little_memory);
  add("allreduce", SkipCategory::too_few_devices);
  add("matmul", SkipCategory::not_here);
  EXPECT_EQ(code(), ok) << "a right machine skips these too";
  add("linear", SkipCategory::unsupported);
  EXPECT_EQ(code(), absent);
  EXPECT_EQ(code(Part::shard), ok) << "another shard may have run it";
  add("linear");
  EXPECT_EQ(code(), ok) << "another shape passed";
}

TEST(Replay, IsQuotedForTheShellWhereItMust) {
  EXPECT_EQ(shell_word("a/b=1,c"), "a/b=1,c");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  Record record;
  record.case_id = "allreduce/f32/reduce=sum,ranks=2,count=1";
  record.device = "sim:0+sim:1";
  record.seed = 7;
  EXPECT_EQ(
      replay_command(record, "--sim-devices 2"),
      "assay run --case allreduce/f32/reduce=sum,ranks=2,count=1 --device sim:0,sim:1 --seed 7 "
      "--check-only --sim-devices 2");
}

TEST(Clock, IsIso8601InUtc) {
  EXPECT_EQ(utc_text(std::chrono::system_clock::time_point(std::chrono::milliseconds(86400123))),
            "1970-01-02T00:00:00.123Z");
}

TEST(FaultCatalogue, HasEveryFaultOfTheSimulator) {
  std::set<std::string> paired;
  for (const Pairing& pairing : fault_catalogue()) {
    if (!pairing.is_cheat) paired.emplace(pairing.fault);
  }
  paired.insert("slow");          // no oracle sees it: that is for `assay ab`
  paired.insert("ignores_mask");  // shows where there is a mask: tests/e2e/test_placement.py
  const std::vector<std::string> names = sim::fault_names();
  EXPECT_EQ(paired, std::set<std::string>(names.begin(), names.end()));
}

TEST(FaultCatalogue, HasEveryFaultThatAGpuCanBeGiven) {
  std::set<std::string_view> paired;
  for (const Pairing& pairing : gpu_fault_catalogue()) paired.insert(pairing.fault);
  EXPECT_EQ(paired, std::set<std::string_view>(cuda::fault_names.begin(), cuda::fault_names.end()));
}

TEST(ExitCode, OfAReportThatCannotBeWrittenIsThatOfTheMachineryUnlessAResultIsWrong) {
  EXPECT_EQ(with_infrastructure_failure(ok), infrastructure);
  EXPECT_EQ(with_infrastructure_failure(absent), infrastructure);
  EXPECT_EQ(with_infrastructure_failure(infrastructure), infrastructure);
  EXPECT_EQ(with_infrastructure_failure(wrong), wrong);
}

}  // namespace
}  // namespace assay::cli
