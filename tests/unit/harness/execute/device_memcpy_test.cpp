// Copies between a host and its devices, and between devices, on simulated ones.
#include <gtest/gtest.h>

#include "harness/records/replay.h"
#include "kernels/core/status.h"
#include "kernels/device/forwarding.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

const std::string device_copy = "transfers/device_memcpy/u8/";
const std::string peer_copy = "transfers/peer_memcpy/u8/";

OpInstance op_of(const std::string& id) { return parse_case_id(id).op; }

TEST(DeviceMemcpy, OneEndIsADevice) {
  EXPECT_THROW(op_of(device_copy + "from=pinned,to=pageable,bytes=4,by=engine"), UsageError);
  EXPECT_THROW(op_of(device_copy + "from=pageable,to=device,bytes=4,by=kernel"), UsageError);
  EXPECT_THROW(op_of(device_copy + "from=device,to=pinned,bytes=4,by=engine,ways=both"), UsageError)
      << "the same as from=pinned,to=device";
  EXPECT_THROW(op_of(device_copy + "from=device,to=device,bytes=4,by=engine,ways=both"),
               UsageError);
  EXPECT_THROW(op_of(peer_copy + "bytes=4,by=kernel,access=staged"), UsageError);
}

TEST(DeviceMemcpy, OverALinkEachByteCountsOnce) {
  EXPECT_EQ(op_of(device_copy + "from=pinned,to=device,bytes=100,by=engine").signature.bytes, 100);
  EXPECT_EQ(
      op_of(device_copy + "from=pinned,to=device,bytes=100,by=engine,ways=both").signature.bytes,
      200);
  EXPECT_EQ(op_of(device_copy + "from=device,to=device,bytes=100,by=engine").signature.bytes, 200);
  EXPECT_EQ(op_of(peer_copy + "bytes=100,by=engine,access=staged").signature.bytes, 100);
}

TEST(DeviceMemcpy, TheSecondRankOfBothWaysGoesBack) {
  const Signature host =
      op_of(device_copy + "from=pinned,to=device,bytes=4,by=engine,ways=both").signature;
  EXPECT_EQ(host.ranks, 2);
  EXPECT_EQ(tensors_of(host, 0).inputs[0].memory, Memory::pinned);
  EXPECT_EQ(tensors_of(host, 0).outputs[0].memory, Memory::standard);
  EXPECT_EQ(tensors_of(host, 1).inputs[0].memory, Memory::standard);
  EXPECT_EQ(tensors_of(host, 1).outputs[0].memory, Memory::pinned);
  const Signature peers = op_of(peer_copy + "bytes=4,by=kernel,access=direct,ways=both").signature;
  EXPECT_EQ(tensors_of(peers, 0).inputs[0].device, 0);
  EXPECT_EQ(tensors_of(peers, 0).outputs[0].device, 1);
  EXPECT_EQ(tensors_of(peers, 1).inputs[0].device, 1);
  EXPECT_EQ(tensors_of(peers, 1).outputs[0].device, 0);
}

TEST_F(Engines, CopiesOfEveryKindPassOnSimulatedDevices) {
  for (const char* ends :
       {"from=pinned,to=device,bytes=65537,by=kernel", "from=device,to=pinned,bytes=1,by=engine",
        "from=pageable,to=device,bytes=4096,by=engine", "from=device,to=device,bytes=0,by=engine",
        "from=pageable,to=device,bytes=4097,by=engine,ways=both"}) {
    const Record record = execute(planned(device_copy + ends, {{"sim", 1}}));
    EXPECT_EQ(record.status, Status::pass) << ends << ": " << record.reason;
  }
  for (const char* how : {"bytes=65537,by=kernel,access=direct", "bytes=4,by=engine,access=staged",
                          "bytes=65537,by=engine,access=direct,ways=both"}) {
    const Record record = execute(planned(peer_copy + how, {{"sim", 2}, {"sim", 0}}));
    EXPECT_EQ(record.status, Status::pass) << how << ": " << record.reason;
  }
}

TEST_F(Engines, EachWayOfACopyHasItsOwnTimes) {
  for (const auto& [ends, is_both] :
       {std::pair{"from=pinned,to=device,bytes=65537,by=engine,ways=both", true},
        std::pair{"from=pinned,to=device,bytes=65537,by=engine", false}}) {
    PlannedTrial trial = planned(device_copy + ends, {{"sim", 0}});
    trial.timing = batch_timing;
    const Result result = engine_.execute(trial, [] {});
    EXPECT_EQ(result.record.bandwidth_forth_bytes_per_s.has_value(), is_both);
    EXPECT_EQ(result.record.bandwidth_back_bytes_per_s.has_value(), is_both);
    for (const Sample& sample : result.samples) {
      ASSERT_EQ(sample.seconds_forth.has_value(), is_both);
      if (!is_both) continue;
      EXPECT_EQ(sample.seconds, std::max(*sample.seconds_forth, *sample.seconds_back));
    }
    if (!is_both) continue;
    // Neither way takes longer than both, which move twice as much.
    const double half = result.record.bandwidth_bytes_per_s.value() / 2;
    EXPECT_GE(result.record.bandwidth_forth_bytes_per_s.value(), half);
    EXPECT_GE(result.record.bandwidth_back_bytes_per_s.value(), half);
  }
}

/// Replaces one kernel of a backend's devices, number `until_idle` from 0, by an idle one.
class OneIdleKernel final : public ForwardingDevice {
 public:
  OneIdleKernel(std::unique_ptr<Device> real, int& until_idle)
      : ForwardingDevice(std::move(real)), until_idle_(until_idle) {}
  std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
    struct Idle final : Kernel {
      void launch() override {}
      std::string implementation() const override { return "nothing"; }
    };
    if (until_idle_-- == 0) return std::make_unique<Idle>();
    return ForwardingDevice::prepare(op, binding);
  }

 private:
  int& until_idle_;
};

TEST(DeviceMemcpy, EachOfTheTwoWaysIsJudged) {
  for (const int idle : {0, 1}) {
    for (const auto& [id, lane] :
         {std::pair{device_copy + "from=pinned,to=device,bytes=4096,by=engine,ways=both",
                    std::vector<DeviceId>{{"idle", 0}}},
          std::pair{peer_copy + "bytes=4096,by=engine,access=direct,ways=both",
                    std::vector<DeviceId>{{"idle", 0}, {"idle", 1}}}}) {
      int until_idle = idle;
      Backends backends;
      backends.add(std::make_unique<WrappingBackend>("idle", sim::make_backend(2), [&](auto real) {
        return std::make_unique<OneIdleKernel>(std::move(real), until_idle);
      }));
      Engine engine(backends, {});
      const Record record = engine.execute(planned(id, lane), [] {}).record;
      EXPECT_EQ(record.status, Status::fail) << id;
      EXPECT_EQ(record.worst_rank, idle) << record.reason;
    }
  }
}

TEST(DeviceMemcpy, IsReplayedOnTheDevicesOfItsLane) {
  const Record record{.case_id = "x", .device = "cuda:1>cuda:0", .timing = "cold", .seed = 3};
  EXPECT_EQ(replay_command(record, ""),
            "assay run --case x --device cuda:1,cuda:0 --seed 3 --timing cold");
}

}  // namespace
}  // namespace assay
