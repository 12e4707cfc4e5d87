#include "reports/compare/environment_differences.h"

#include <gtest/gtest.h>

#include "harness/records/fields_text.h"
#include "kernels/core/status.h"
#include "reports/files/devices_csv.h"
#include "reports/files/run_json.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

DeviceInfo gpu(const std::string& id, const std::string& name) {
  DeviceInfo info;
  info.device = id;
  info.backend = "cuda";
  info.name = name;
  info.driver = "555.1";
  info.power_limit_w = 300;
  info.temperature_c = 41;
  info.memory_free_bytes = 1 << 20;
  return info;
}

/// Writes a run on these devices, and reads it back.
EndedRun ended_run(const RunInfo& run, const TemporaryDirectory& folder, bool ended = true) {
  write_file(folder / "run.json", run_json(run, ended));
  write_file(folder / "results.csv", "");
  DevicesCsv(folder / "devices.csv").begin(run);
  return read_ended_run(folder.path());
}

std::vector<std::string> texts(const std::vector<Difference>& differences) {
  std::vector<std::string> lines;
  for (const Difference& d : differences) lines.push_back(d.what + ": " + d.base + " -> " + d.cand);
  return lines;
}

class Environment : public ::testing::Test {
 protected:
  Environment() {
    a.command_line = {"bin/assay", "run", "--out", "a", "--threads", "2", "--quiet"};
    a.devices = {gpu("cuda:0", "H100")};
    b = a;
  }
  std::vector<std::string> differences(bool by_backend = false) {
    base = ended_run(a, base_folder);
    cand = ended_run(b, cand_folder);
    pairs = pair_devices(base, cand, by_backend);
    return texts(environment_differences(base, cand, pairs));
  }

  RunInfo a = sample_run(1, 0);
  RunInfo b;
  TemporaryDirectory base_folder;
  TemporaryDirectory cand_folder;
  EndedRun base;
  EndedRun cand;
  std::vector<DevicePair> pairs;
};

TEST_F(Environment, EqualRunsDifferInNothing) {
  b.command_line = {"/elsewhere/assay", "run", "--threads", "2", "--out=b"};
  b.started_at = "2025-01-01T00:00:00Z";
  EXPECT_EQ(differences(), std::vector<std::string>());
}

TEST_F(Environment, ColumnsOfOneFileAloneTellOfNoDifference) {
  a.devices[0].l2_cache_bytes = 1 << 20;
  differences();
  base.devices[0].erase("l2_cache_bytes");  // an older version wrote it
  EXPECT_EQ(texts(environment_differences(base, cand, pair_devices(base, cand, false))),
            std::vector<std::string>());
}

TEST_F(Environment, AFileOfKernelsThatChangedIsOne) {
  a.kernels = {"mine.so", "00001234"};
  b.kernels = {"mine.so", "0000abcd"};
  EXPECT_EQ(differences(), std::vector<std::string>{
                               "kernels: mine.so, crc32 00001234 -> mine.so, crc32 0000abcd"});
}

TEST_F(Environment, NamesWhatOfTheBuildTheCallAndTheVariablesDiffers) {
  b.git_revision = "abc";
  b.seed = 2;
  b.command_line[5] = "4";
  a.environment = {{"OMP_NUM_THREADS", "2"}};
  b.environment = {{"OMP_PROC_BIND", "true"}};
  EXPECT_EQ(differences(),
            (std::vector<std::string>{"options: run --threads 2 -> run --threads 4",
                                      "git_revision:  -> abc", "seed: 1 -> 2",
                                      "OMP_NUM_THREADS: 2 -> ", "OMP_PROC_BIND:  -> true"}));
}

TEST_F(Environment, NamesConfigurationOfDevicesAndNoMomentaryReading) {
  b.devices[0].driver = "560.2";
  b.devices[0].power_limit_w = 250;
  b.devices[0].temperature_c = 80;
  b.devices[0].memory_free_bytes = 7;
  b.devices[0].processes = "1 other";
  b.devices[0].link_now = "PCIe 1.0 x16";
  EXPECT_EQ(differences(), (std::vector<std::string>{"cuda:0 driver: 555.1 -> 560.2",
                                                     "cuda:0 power_limit_w: 300 -> 250"}));
  EXPECT_TRUE(hardware_differences(pairs).empty());
}

TEST_F(Environment, EveryColumnIsEitherConfigurationOrAReading) {
  DeviceInfo& other = b.devices[0];
  std::size_t columns = 0;
  visit_fields(other, [&]<class T>(std::string_view name, T& field) {
    if (name == "device" || name == "backend") return;
    ++columns;
    if constexpr (std::same_as<T, std::string>) {
      field = "other";
    } else {
      field = 12345;
    }
  });
  EXPECT_EQ(differences().size(),
            columns - 6);  // free memory, clock, temperature, power, processes, current link
}

TEST_F(Environment, AnotherProductIsOtherHardware) {
  b.devices[0].name = "A100";
  differences();
  EXPECT_EQ(texts(hardware_differences(pairs)),
            (std::vector<std::string>{"cuda:0 name: H100 -> A100"}));
}

TEST_F(Environment, OtherCoresAreOtherHardware) {
  a.devices[0].compute_units = 2;
  b.devices[0].compute_units = 64;
  differences();
  EXPECT_EQ(texts(hardware_differences(pairs)),
            (std::vector<std::string>{"cuda:0 compute_units: 2 -> 64"}));
}

TEST_F(Environment, TheOnlyDevicesOfABackendArePairedBetweenMachines) {
  b.devices[0].device = "cuda:3";
  EXPECT_EQ(differences(), (std::vector<std::string>{"cuda:0: H100 -> ", "cuda:3:  -> H100"}));
  EXPECT_TRUE(pairs.empty());
  EXPECT_TRUE(differences(true).empty());
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].base_id() + pairs[0].cand_id(), "cuda:0cuda:3");
  b.devices.push_back(gpu("cuda:0", "H100"));
  differences(true);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].cand_id(), "cuda:0") << "of several the one with the same id";
}

TEST_F(Environment, ARunThatHasNotEndedIsRefused) {
  const auto goes_on = message_of<UsageError>([&] { ended_run(a, base_folder, /*ended=*/false); });
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "has not ended", goes_on);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "assay run --resume ", goes_on);
  a.interrupted = true;
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "was interrupted; complete it: assay run --resume ",
                      message_of<UsageError>([&] { ended_run(a, base_folder); }));
}

TEST_F(Environment, WhatIsNoRunDirectoryIsRefused) {
  const auto refusal = [&] {
    return message_of<UsageError>([&] { read_ended_run(base_folder.path()); });
  };
  const auto expect = [&](const std::string& why) {
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, why, refusal());
  };
  expect("is not a run directory: it has no run.json");
  differences();
  std::filesystem::remove(base_folder / "results.csv");
  expect("it has no results.csv");
  write_file(base_folder / "results.csv", "");
  write_file(base_folder / "devices.csv", "");
  expect("devices.csv:1:1: no header");
  write_file(base_folder / "devices.csv", "device,backend,name\n");
  expect("devices.csv: no device");
  write_file(base_folder / "devices.csv", "device,backend\ncpu,cpu\n");
  expect("devices.csv:1:1: the header needs a column 'name'");
  write_file(base_folder / "devices.csv", "device,backend,name\ncpu,cpu\n");
  expect("devices.csv:2:5: 2 fields where the header has 3");
  write_file(base_folder / "run.json", R"({"schema": 2})");
  expect("schema 2, and this build of assay reads up to 1; read it with a newer one");
  write_file(base_folder / "run.json", "{");
  expect("run.json: ");
}

}  // namespace
}  // namespace assay
