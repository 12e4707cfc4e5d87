// Devices that a provider drives itself, in a table made by the test.
#include "kernels/providers/own_devices.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/core/status.h"

namespace assay::providers {
namespace {

constexpr std::array two{assay_device{"mine:npu", 0, "NPU 1"},
                         assay_device{"mine:npu", 1, "NPU 2"}};
std::vector<std::string> calls;

assay_devices working() {
  return {.list = two.data(),
          .count = two.size(),
          .allocate = [](std::int32_t device, std::int64_t bytes, void** memory) -> std::int32_t {
            calls.push_back("allocate on " + std::to_string(device));
            if (bytes > 1 << 20) return ASSAY_OUT_OF_MEMORY;
            *memory = std::aligned_alloc(64, static_cast<std::size_t>(bytes + 63) / 64 * 64);
            return ASSAY_OK;
          },
          .release = [](void* memory) { std::free(memory); },
          .upload = [](void* to, const void* from, std::int64_t bytes) -> std::int32_t {
            std::memcpy(to, from, static_cast<std::size_t>(bytes));
            return ASSAY_OK;
          },
          .download = [](void* to, const void* from, std::int64_t bytes) -> std::int32_t {
            std::memcpy(to, from, static_cast<std::size_t>(bytes));
            return ASSAY_OK;
          },
          .fill = [](void* to, std::int32_t byte, std::int64_t bytes) -> std::int32_t {
            std::memset(to, byte, static_cast<std::size_t>(bytes));
            return ASSAY_OK;
          },
          .synchronize = [](std::int32_t device, std::int32_t all) -> std::int32_t {
            calls.push_back((all != 0 ? "all of " : "stream of ") + std::to_string(device));
            return device == 0 ? ASSAY_OK : ASSAY_FAILED;
          }};
}

class OwnDevices : public testing::Test {
 protected:
  std::string refusal() const {
    try {
      read_own_devices(table_);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  assay_devices devices_ = working();
  assay_kernel_table table_{
      .name = "mine 1.0", .last_error = [] { return "so it is"; }, .devices = &devices_};
};

TEST_F(OwnDevices, AreListedByKind) {
  const auto listed = own_backend(table_, "mine:npu")->describe();
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_EQ(listed[1].device, "mine:npu:1");
  EXPECT_EQ(listed[1].name, "NPU 2");
  table_.devices = nullptr;
  EXPECT_TRUE(read_own_devices(table_).empty());
}

TEST_F(OwnDevices, HoldMemoryAndWaitForTheirStream) {
  calls.clear();
  const auto device = own_backend(table_, "mine:npu")->open(0);
  std::array<char, 4> content{'a', 'b', 'c', 'd'};
  const Buffer buffer(*device, 64);
  device->upload(buffer.data(), content.data(), 4);
  device->fill(buffer.data() + 1, std::byte('x'), 2);
  device->download(content.data(), buffer.data(), 4);
  EXPECT_EQ(std::string(content.data(), 4), "axxd");
  const auto stream = device->create_stream();
  const auto begin = stream->create_event();
  const auto end = stream->create_event();
  stream->record(*begin);
  stream->record(*end);
  EXPECT_GE(stream->elapsed_s(*begin, *end), 0);
  device->wait_for_all();
  EXPECT_EQ(calls,
            (std::vector<std::string>{"allocate on 0", "stream of 0", "stream of 0", "all of 0"}));
}

TEST_F(OwnDevices, TellTheirErrors) {
  const auto backend = own_backend(table_, "mine:npu");
  const auto device = backend->open(1);
  const auto failure_of = [](const auto& call) {
    try {
      call();
    } catch (const DeviceError& error) {
      return error.failure();
    }
    ADD_FAILURE() << "no error";
    return Failure::internal;
  };
  EXPECT_EQ(failure_of([&] { device->allocate(2 << 20, Memory::standard); }),
            Failure::out_of_memory);
  EXPECT_EQ(failure_of([&] { device->allocate(64, Memory::pinned); }), Failure::not_here);
  EXPECT_EQ(failure_of([&] { device->wait_for_all(); }), Failure::internal);
  EXPECT_EQ(failure_of([&] { backend->open(2); }), Failure::device_lost);
}

TEST_F(OwnDevices, AreRefusedIfTheyCannotBeUsed) {
  EXPECT_EQ(refusal(), "");
  devices_.fill = nullptr;
  EXPECT_NE(refusal().find("six functions"), std::string::npos) << refusal();
  devices_ = working();
  for (const assay_device wrong : {assay_device{"npu", 0, "x"}, assay_device{"Mine:npu", 0, "x"},
                                   assay_device{"mine:", 0, "x"}, assay_device{"mine:npu", 1, "x"},
                                   assay_device{nullptr, 0, "x"}}) {
    devices_.list = &wrong;
    devices_.count = 1;
    EXPECT_NE(refusal().find("mine:npu:0"), std::string::npos) << refusal();
  }
}

}  // namespace
}  // namespace assay::providers
