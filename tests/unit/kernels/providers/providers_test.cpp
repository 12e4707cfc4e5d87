// Kernels of a table, made by the test: as kernels of a device, and through a socket before the
// engine.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <thread>

#include "harness/execute/engine.h"
#include "kernels/core/status.h"
#include "kernels/cpu/backend.h"
#include "kernels/providers/backend.h"
#include "kernels/providers/host.h"
#include "kernels/providers/provided_kernels.h"
#include "kernels/providers/socket_group.h"
#include "kernels/providers/table.h"
#include "tests/unit/engine_support.h"

namespace assay::providers {
namespace {

/// What a test's kernel saw and does, in C.
struct Seen {
  std::int32_t create_result = ASSAY_OK;
  std::int32_t launch_result = ASSAY_OK;
  float error = 0;  // added to each element
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::string parameters;
  int created = 0;
  int destroyed = 0;
} seen;

constexpr assay_offer add_f32[] = {{"add", "f32", 0}};

assay_kernel_table table() {
  seen = {};
  return {.version = ASSAY_KERNEL_VERSION,
          .name = "mine 1.0",
          .offers = add_f32,
          .offer_count = 1,
          .create = [](const assay_problem* problem, void** kernel) -> std::int32_t {
            const assay_tensor& y = problem->outputs[0];
            seen.shape.assign(y.shape, y.shape + y.dimensions);
            seen.strides.assign(y.strides, y.strides + y.dimensions);
            for (int i = 0; i < problem->parameter_count; ++i) {
              seen.parameters += std::string(problem->parameters[i].name) + "=" +
                                 problem->parameters[i].text + " ";
            }
            if (seen.create_result != ASSAY_OK) return seen.create_result;
            ++seen.created;
            *kernel = &seen;
            return ASSAY_OK;
          },
          .launch = [](void* kernel, const void* const* inputs, void* const* outputs,
                       void* stream) -> std::int32_t {
            EXPECT_EQ(kernel, &seen);
            EXPECT_EQ(stream, nullptr);
            std::int64_t n = 1;
            for (const std::int64_t extent : seen.shape) n *= extent;
            for (std::int64_t i = 0; i < n; ++i) {
              static_cast<float*>(outputs[0])[i] = static_cast<const float*>(inputs[0])[i] +
                                                   static_cast<const float*>(inputs[1])[i] +
                                                   seen.error;
            }
            return seen.launch_result;
          },
          .destroy = [](void* /*kernel*/) { ++seen.destroyed; },
          .last_error = [] { return "so it is"; },
          .describe = [](void* /*kernel*/) { return "by a loop"; }};
}

std::string refusal(const assay_kernel_table& broken) {
  try {
    read_offers(broken);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Table, OffersOpsInDtypes) {
  assay_kernel_table mine = table();
  EXPECT_EQ(read_offers(mine), (Offers{"mine 1.0", {{"add", {DType::f32}}}}));
  constexpr assay_offer all[] = {{"add", nullptr, 1}};
  mine.offers = all;
  EXPECT_EQ(read_offers(mine).ops.front().formats, find_op("add")->formats);
  EXPECT_TRUE(read_offers(mine).ops.front().takes_views);
}

TEST(Table, IsRefusedIfItCannotBeUsed) {
  assay_kernel_table mine = table();
  mine.version = 7;
  EXPECT_NE(refusal(mine).find("version 7"), std::string::npos);
  mine = table();
  mine.launch = nullptr;
  EXPECT_NE(refusal(mine).find("lacks"), std::string::npos);
  mine = table();
  mine.offer_count = 0;
  EXPECT_EQ(refusal(mine), "it offers no op");
  mine = table();
  constexpr assay_offer typo[] = {{"sofmax", "f32", 0}};
  mine.offers = typo;
  EXPECT_NE(refusal(mine).find("did you mean 'softmax'"), std::string::npos) << refusal(mine);
  constexpr assay_offer no_dtype[] = {{"softmax", "f32,i8", 0}};
  mine.offers = no_dtype;
  EXPECT_NE(refusal(mine).find("'i8'"), std::string::npos) << refusal(mine);
  constexpr assay_offer collective[] = {{"allreduce", nullptr}};
  mine.offers = collective;
  EXPECT_NE(refusal(mine).find("'allreduce'"), std::string::npos) << refusal(mine);
}

class Provided : public testing::Test {
 protected:
  std::unique_ptr<Kernel> prepare(const std::string& id) {
    const OpInstance op = parse_case_id(id).op;
    stream_ = device_->create_stream();
    return kernels_.prepare(*device_, op, {stream_.get(), {a_, b_}, {y_}});
  }

  assay_kernel_table table_ = table();
  ProvidedKernels kernels_{table_};
  std::unique_ptr<Backend> cpu_ = cpu::make_backend();
  std::unique_ptr<Device> device_ = cpu_->open(0);
  std::unique_ptr<Stream> stream_;
  float a_[4] = {1, 2, 3, 4};
  float b_[4] = {10, 20, 30, 40};
  float y_[4] = {};
};

TEST_F(Provided, ComputeOnTheAddressesOfTheirTensors) {
  const auto kernel = prepare("tensor_ops/add/f32/n=4");
  kernel->launch();
  EXPECT_EQ(y_[3], 44);
  EXPECT_EQ(kernel->implementation(), "mine 1.0 by a loop");
  EXPECT_EQ(seen.parameters, "n=4 ");
}

TEST_F(Provided, OfOneProblemShareWhatWasMadeForIt) {
  auto first = prepare("tensor_ops/add/f32/n=4");
  auto second = prepare("tensor_ops/add/f32/n=4");
  EXPECT_EQ(seen.created, 1);
  first.reset();
  EXPECT_EQ(seen.destroyed, 0);
  second.reset();
  EXPECT_EQ(seen.destroyed, 1);
}

TEST_F(Provided, AreToldOfRowsThatLieApart) {
  prepare("tensor_ops/add/f32/n=610,cols=61,ld=64");
  EXPECT_EQ(seen.shape, (std::vector<std::int64_t>{10, 61}));
  EXPECT_EQ(seen.strides, (std::vector<std::int64_t>{64, 1}));
}

TEST_F(Provided, FailAsTheyTell) {
  const auto failure_of = [&](std::int32_t result) {
    seen.create_result = result;
    try {
      prepare("tensor_ops/add/f32/n=4");
    } catch (const DeviceError& error) {
      EXPECT_STREQ(error.what(), "mine 1.0: so it is");
      return error.failure();
    }
    return Failure::device_lost;
  };
  EXPECT_EQ(failure_of(ASSAY_NOT_MINE), Failure::not_here);
  EXPECT_EQ(failure_of(ASSAY_OUT_OF_MEMORY), Failure::out_of_memory);
  EXPECT_EQ(failure_of(ASSAY_FAILED), Failure::internal);
  EXPECT_EQ(failure_of(77), Failure::internal);
  EXPECT_EQ(seen.destroyed, 0) << "nothing was made";
  seen.create_result = ASSAY_OK;
  const auto kernel = prepare("tensor_ops/add/f32/n=4");
  seen.launch_result = ASSAY_NOT_MINE;
  EXPECT_THROW(kernel->launch(), DeviceError);
}

struct Ends {
  FileDescriptor judge;
  FileDescriptor host;
};

Ends make_ends() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

TEST(SocketGroup, CarriesMessagesWhole) {
  Ends ends = make_ends();
  SocketGroup judge(std::move(ends.judge), 0, [] { throw std::runtime_error("lost"); });
  SocketGroup host(std::move(ends.host), 1, [] {});
  std::vector<std::byte> large(3'000'000, std::byte{7});
  std::thread sender([&] {
    judge.send(1, large);
    judge.send(1, {});
  });
  EXPECT_EQ(host.receive(0), large);
  EXPECT_TRUE(host.receive(0).empty());
  sender.join();
}

TEST(SocketGroup, TellsThatTheOtherIsGone) {
  Ends ends = make_ends();
  SocketGroup judge(std::move(ends.judge), 0, [] { throw std::runtime_error("lost"); });
  ends.host.reset();
  EXPECT_THROW(judge.receive(1), std::runtime_error);
  EXPECT_THROW(judge.send(1, std::vector<std::byte>(8)), std::runtime_error);
}

TEST(SocketGroup, TakesGarbageForNoMessage) {
  Ends ends = make_ends();
  SocketGroup judge(std::move(ends.judge), 0, [] {});
  EXPECT_EQ(write(ends.host.get(), "{\"type\":\"result\"}", 17), 17);
  EXPECT_THROW(judge.receive(1), DeviceError);
}

/// Devices whose kernels are those of the table, each served by a thread.
class ThroughASocket : public testing::Test {
 protected:
  ThroughASocket() { real_.add(cpu::make_backend()); }
  ~ThroughASocket() override {
    provided_.reset();
    for (std::thread& host : hosts_) host.join();
  }

  std::unique_ptr<KernelProcess> start() {
    Ends ends = make_ends();
    hosts_.emplace_back([this, socket = std::move(ends.host)]() mutable {
      const auto end = [] { throw std::runtime_error("the judge has left"); };
      try {
        announce(socket);
        serve(
            std::move(socket), table_,
            [] {
              auto backends = std::make_unique<Backends>();
              backends->add(cpu::make_backend());
              return backends;
            },
            end);
      } catch (const std::exception&) {
        return;  // the judge has left, or was told why nothing is served
      }
    });
    return std::make_unique<KernelProcess>(std::move(ends.judge),
                                           [] { throw std::runtime_error("lost"); });
  }
  Record execute(const std::string& id, std::string_view timing) {
    provided_.emplace(real_, [this] { return start(); });
    Engine engine(provided_->backends(), {{.kernels = "mine"}, 0.05});
    PlannedTrial trial = planned(id, {{"cpu", 0}});
    trial.timing = timing;
    return engine.execute(trial, [] {}).record;
  }

  assay_kernel_table table_ = table();
  Backends real_;
  std::vector<std::thread> hosts_;
  std::optional<ProvidedBackends> provided_;
};

TEST_F(ThroughASocket, RightKernelsPassAndAreTimed) {
  const Record record = execute("tensor_ops/add/f32/n=1003", batch_timing);
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_EQ(record.implementation, "mine 1.0 by a loop");
  EXPECT_EQ(record.device_name, real_.describe().front().name);
  EXPECT_GT(record.time_median_s, 0);
  EXPECT_GE(record.input_sets, 3);
}

TEST_F(ThroughASocket, WrongKernelsFail) {
  seen.error = 1;
  const Record record = execute("tensor_ops/add/f32/n=1003", "");
  EXPECT_EQ(record.status, Status::fail);
  EXPECT_EQ(record.caught_by, Check::exact);
}

TEST_F(ThroughASocket, ProblemsThatAreNotTheirsAreSkipped) {
  seen.create_result = ASSAY_NOT_MINE;
  const Record record = execute("tensor_ops/add/f32/n=1003", "");
  EXPECT_EQ(record.status, Status::skip);
  EXPECT_NE(record.reason.find("mine 1.0: so it is"), std::string::npos) << record.reason;
}

TEST_F(ThroughASocket, ABadTableIsRefusedWithItsReason) {
  table_.version = 7;
  EXPECT_THROW(start(), UsageError);
}

}  // namespace
}  // namespace assay::providers
