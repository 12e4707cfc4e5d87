// Use of its libraries by the CUDA backend, on stand-ins for them, which need no GPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "kernels/core/status.h"
#include "kernels/cuda/communicator_cache.h"
#include "kernels/cuda/library.h"
#include "kernels/cuda/nccl_ranks.h"
#include "kernels/cuda/nvml.h"

namespace assay::cuda {
namespace {

TEST(Links, AreTheFastestWithTheCurrentOneBeside) {
  ASSERT_EQ(Nvml::instance().problem(), "");
  const GpuState state = Nvml::instance().state("0000:01:00.0");
  EXPECT_EQ(link_text(state), "PCIe 5.0 x16") << "not what an idle GPU rests at";
  EXPECT_EQ(pcie_text(state.pcie_now), "PCIe 1.0 x8");
  EXPECT_EQ(link_text(Nvml::instance().state("0000:02:00.0")), "") << "no such GPU";
}

TEST(Nvmls, ThatLackFunctionsLeaveTheFieldsEmpty) {
  EXPECT_EQ(Nvml::instance().driver_version(), "");
  EXPECT_TRUE(Nvml::instance().uuids().empty()) << "counted, and not one has a handle";
  const GpuState state = Nvml::instance().state("0000:01:00.0");
  EXPECT_EQ(state.temperature_c, std::nullopt);
  EXPECT_EQ(process_text(state), "1234") << "without a name";
  EXPECT_EQ(Nvml::instance().condition("0000:01:00.0").throttled, std::nullopt);
  EXPECT_EQ(Nvml::instance().errors("0000:01:00.0").ecc_uncorrected, std::nullopt);
  EXPECT_EQ(Nvml::instance().errors("0000:01:00.0").nvlink, std::nullopt);
}

class Communicators : public testing::Test {
 protected:
  std::shared_ptr<NcclRanks> get(const std::vector<int>& ordinals) {
    return cache_.get(
        {.ordinals = ordinals, .processes = {}}, [](bool is_sound) { return is_sound; },
        [&] { return std::make_shared<NcclRanks>(ordinals, process_); });
  }
  static int made() { return nccl().find<int (*)()>("stand_in_made")(); }
  static int aborted() { return nccl().find<int (*)()>("stand_in_aborted")(); }
  static void break_all() { nccl().find<void (*)()>("stand_in_break")(); }

  CommunicatorCache<NcclRanks> cache_;
  const int made_before_ = made();
  const int aborted_before_ = aborted();

 private:
  static const Library& nccl() {
    static const Library opened("libnccl.so.2", {});
    return opened;
  }
  SingleProcess process_;
};

TEST_F(Communicators, AreMadeOnceForEachSetOfGpus) {
  const auto first = get({0, 1});
  EXPECT_EQ(first->size(), 2U);
  EXPECT_EQ(get({0, 1}), first);
  EXPECT_EQ(made() - made_before_, 1);
  EXPECT_NE(get({0, 1, 2}), first);
  EXPECT_NE(get({1, 0}), first) << "the order is that of the ranks";
  EXPECT_EQ(made() - made_before_, 3);
  EXPECT_EQ(aborted(), aborted_before_) << "they stay for the next trial";
}

TEST_F(Communicators, ThatBrokeAreMadeAnew) {
  const auto first = get({0, 1});
  const auto other = get({2, 3});
  break_all();
  EXPECT_THROW(first->demand_no_earlier_error(), DeviceError);
  EXPECT_TRUE(first->is_broken());
  EXPECT_EQ(aborted() - aborted_before_, 2) << "before buffers are released";
  const auto second = get({0, 1});
  EXPECT_NE(second, first);
  EXPECT_NO_THROW(second->demand_no_earlier_error());
  EXPECT_EQ(get({0, 1}), second);
  EXPECT_NE(get({2, 3}), other) << "which is asked before it is used again";
  EXPECT_EQ(aborted() - aborted_before_, 4);

  EXPECT_THROW(second->demand(ncclInternalError, "ncclGroupEnd"), DeviceError);
  EXPECT_NE(get({0, 1}), second);
}

TEST_F(Communicators, ThatCannotBeMadeAreNotKept) {
  EXPECT_THROW(get({0, 8}), DeviceError);
  EXPECT_THROW(get({0, 8}), DeviceError);
  EXPECT_EQ(made(), made_before_);
}

TEST_F(Communicators, AreAbortedWithTheirCache) {
  {
    CommunicatorCache<NcclRanks> own;
    own.get(
        {.ordinals = {4, 5}, .processes = {}}, [](bool is_sound) { return is_sound; },
        [] {
          SingleProcess process;
          return std::make_shared<NcclRanks>(std::vector{4, 5}, process);
        });
    EXPECT_EQ(aborted(), aborted_before_);
  }
  EXPECT_EQ(aborted() - aborted_before_, 2);
}

TEST_F(Communicators, AreMadeAnewWhenAnotherProcessHasNone) {
  const CommunicatorCache<NcclRanks>::Key key{.ordinals = {0, 1}, .processes = {7, 8}};
  const auto make = [] {
    SingleProcess process;
    return std::make_shared<NcclRanks>(std::vector{0, 1}, process);
  };
  std::vector<bool> own;
  const auto agree = [&](bool is_sound) {
    own.push_back(is_sound);
    return own.size() == 2;
  };
  const auto first = cache_.get(key, agree, make);
  EXPECT_EQ(cache_.get(key, agree, make), first);
  EXPECT_NE(cache_.get(key, agree, make), first);
  EXPECT_EQ(own, (std::vector{false, true, true}));
  EXPECT_NE(cache_.get({.ordinals = {0, 1}, .processes = {8, 7}}, agree, make), first);
}

}  // namespace
}  // namespace assay::cuda
