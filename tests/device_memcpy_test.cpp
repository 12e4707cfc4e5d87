// Copies between a host and its devices, and between devices, on simulated ones.
#include <gtest/gtest.h>

#include "harness/replay.h"
#include "kernels/base/status.h"
#include "tests/engine_support.h"

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

/// Simulated devices of which one kernel, counted from 0 in the order of their making, does
/// nothing.
class IdleKernel final : public Backend {
 public:
  explicit IdleKernel(int idle) : idle_(idle) {}
  std::string kind() const override { return "idle"; }
  std::vector<DeviceInfo> describe() const override { return sim_->describe(); }
  std::unique_ptr<Device> open(int index) override {
    return std::make_unique<Opened>(sim_->open(index), *this);
  }
  bool ranks_share_device() const override { return false; }
  std::unique_ptr<Communicator> connect(std::span<Device* const>, int, Bootstrap&) override {
    return nullptr;
  }

 private:
  struct Idle final : Kernel {
    void launch() override {}
    std::string implementation() const override { return "nothing"; }
  };
  class Opened final : public Device {
   public:
    Opened(std::unique_ptr<Device> sim, IdleKernel& backend)
        : sim_(std::move(sim)), backend_(backend) {}
    const DeviceInfo& info() const override { return sim_->info(); }
    void* allocate(std::size_t n, Memory kind) override { return sim_->allocate(n, kind); }
    void release(void* memory) noexcept override { sim_->release(memory); }
    void upload(void* to, const void* from, std::size_t n) override { sim_->upload(to, from, n); }
    void download(void* to, const void* from, std::size_t n) override {
      sim_->download(to, from, n);
    }
    void fill(void* to, std::byte value, std::size_t n) override { sim_->fill(to, value, n); }
    std::unique_ptr<Stream> create_stream() override { return sim_->create_stream(); }
    std::unique_ptr<Kernel> prepare(const OpInstance& op, const Binding& binding) override {
      if (backend_.made_++ == backend_.idle_) return std::make_unique<Idle>();
      return sim_->prepare(op, binding);
    }

   private:
    std::unique_ptr<Device> sim_;
    IdleKernel& backend_;
  };

  int idle_;
  int made_ = 0;
  std::unique_ptr<Backend> sim_ = sim::make_backend(2);
};

TEST(DeviceMemcpy, EachOfTheTwoWaysIsJudged) {
  for (const int idle : {0, 1}) {
    for (const auto& [id, lane] :
         {std::pair{device_copy + "from=pinned,to=device,bytes=4096,by=engine,ways=both",
                    std::vector<DeviceId>{{"idle", 0}}},
          std::pair{peer_copy + "bytes=4096,by=engine,access=direct,ways=both",
                    std::vector<DeviceId>{{"idle", 0}, {"idle", 1}}}}) {
      Backends backends;
      backends.add(std::make_unique<IdleKernel>(idle));
      Engine engine(backends, {.seed = 1});
      const Record record = engine.execute(planned(id, lane), [] {}).record;
      EXPECT_EQ(record.status, Status::fail) << id;
      EXPECT_EQ(record.worst_rank, idle) << record.reason;
    }
  }
}

TEST(DeviceMemcpy, IsReplayedOnTheDevicesOfItsLane) {
  const Record record{.case_id = "x", .device = "cuda:1>cuda:0", .timing = "batch", .seed = 3};
  EXPECT_EQ(replay_command(record, ""), "assay run --case x --device cuda:1,cuda:0 --seed 3");
}

}  // namespace
}  // namespace assay
