// All-reduce on the CPU and on simulated devices, and by communicators that do one thing wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "kernels/core/status.h"
#include "kernels/cpu/reduce_functions.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

const std::vector<std::string> reductions{"sum", "prod", "min", "max", "avg", "premul_sum"};
const std::vector<std::string> dtypes{"f64", "f32", "bf16", "f16", "i64", "i32"};

std::string id(const std::string& dtype, const std::string& reduce, int ranks,
               const std::string& place = "out") {
  return "allreduce/" + dtype + "/reduce=" + reduce + ",ranks=" + std::to_string(ranks) +
         ",count=1003,place=" + place;
}

TEST_F(Engines, EveryReductionPassesInEveryDtypeAndPlace) {
  const std::vector<DeviceId> three{{"sim", 0}, {"sim", 1}, {"sim", 2}};
  for (const std::string& reduce : reductions) {
    for (const std::string& dtype : dtypes) {
      for (const char* place : {"out", "in"}) {
        const std::string three_ranks = id(dtype, reduce, 3, place);
        const Record on_cpu = execute(planned(three_ranks, {{"cpu", 0}}));
        EXPECT_EQ(on_cpu.status, Status::pass) << three_ranks << ": " << on_cpu.reason;
        const auto launches = std::ssize(passes(parse_case_id(three_ranks).op));
        EXPECT_EQ(on_cpu.elements, launches * 3 * 1003) << "each pass, every rank";
        EXPECT_EQ(on_cpu.repeatable, true);
      }
      const std::string three_ranks = id(dtype, reduce, 3);
      const Record on_sim = execute(planned(three_ranks, three));
      EXPECT_EQ(on_sim.status, Status::pass) << three_ranks << ": " << on_sim.reason;
    }
  }
}

TEST_F(Engines, ARankAloneKeepsWhatItHas) {
  for (const std::string& dtype : dtypes) {
    for (const char* place : {"out", "in"}) {
      const std::string alone = id(dtype, "avg", 1, place);
      const Record record = execute(planned(alone, {{"cpu", 0}}));
      EXPECT_EQ(record.status, Status::pass) << alone << ": " << record.reason;
    }
  }
}

TEST(Allreduce, RanksWithoutTestDataAreNotApplicable) {
  EXPECT_EQ(parse_case_id(id("bf16", "sum", 128)).op.signature.ranks, 128);
  EXPECT_THROW(parse_case_id(id("bf16", "sum", 129)), UsageError);
  EXPECT_EQ(parse_case_id(id("f16", "avg", 1024)).op.signature.ranks, 1024);
}

// --- Reduce functions ----------------------------------------------------------------------------

template <class T>
std::vector<T> reduced(const char* reduce, DType dtype, std::vector<T> a, const std::vector<T>& b) {
  cpu::reduce_function(reduce, dtype)(a.data(), a.data(), b.data(), a.size());
  return a;
}

TEST(ReduceFunctions, IntegersWrap) {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  using Numbers = std::vector<std::int32_t>;
  EXPECT_EQ(reduced<std::int32_t>("sum", DType::i32, {most, 1}, {1, 2}), (Numbers{least, 3}));
  EXPECT_EQ(reduced<std::int32_t>("prod", DType::i32, {most, 3}, {2, 2}), (Numbers{-2, 6}));
  Numbers sums{7, -7, least};
  cpu::divide_function(DType::i32)(sums.data(), sums.size(), 2);
  EXPECT_EQ(sums, (Numbers{3, -3, least / 2})) << "towards zero";
}

TEST(ReduceFunctions, ANaNOnEitherSideStays) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* reduce : {"min", "max", "sum", "prod"}) {
    const auto y = reduced<float>(reduce, DType::f32, {nan, 1, nan, 2}, {1, nan, nan, 2});
    for (const std::size_t i : {0U, 1U, 2U}) EXPECT_TRUE(std::isnan(y[i])) << reduce << i;
    EXPECT_FALSE(std::isnan(y[3]));
  }
}

TEST(ReduceFunctions, SixteenBitSumsAreRoundedToNearestEvenByEachCall) {
  const auto y = reduced<BFloat16>("sum", DType::bf16, {BFloat16(256.0F), BFloat16(258.0F)},
                                   {BFloat16(1.0F), BFloat16(1.0F)});
  EXPECT_EQ(static_cast<float>(y[0]), 256) << "257 is between 256 and 258";
  EXPECT_EQ(static_cast<float>(y[1]), 260) << "259 is between 258 and 260";
}

TEST(ReduceFunctions, BytesAreRefused) {
  EXPECT_THROW(cpu::reduce_function("sum", DType::u8), DeviceError);
}

// --- A communicator that does one thing wrong ----------------------------------------------------

/// The kernel of the CPU's communicator, with an action behind each launch.
class Altered final : public Kernel {
 public:
  Altered(std::unique_ptr<Kernel> real, std::function<void(int launch)> behind)
      : real_(std::move(real)), behind_(std::move(behind)) {}
  void launch() override {
    real_->launch();
    behind_(++launches_);
  }
  std::string implementation() const override { return "faulty"; }

 private:
  std::unique_ptr<Kernel> real_;
  std::function<void(int)> behind_;
  int launches_ = 0;
};

enum class Fault { none, rank_left_out, rank_differs, not_divided };

class FaultyCommunicator final : public Communicator {
 public:
  FaultyCommunicator(Backend& cpu, Fault fault, int ranks, Bootstrap& bootstrap)
      : fault_(fault),
        real_(cpu.connect({}, fault == Fault::rank_left_out ? ranks - 1 : ranks, bootstrap)) {}
  std::string transport() const override { return real_->transport(); }
  std::unique_ptr<Kernel> prepare(const OpInstance& op,
                                  std::span<const Binding> bindings) override {
    const std::size_t bytes = op.signature.outputs[0].bytes();
    void* first = bindings.front().outputs[0];
    auto* last = static_cast<std::byte*>(bindings.back().outputs[0]);
    switch (fault_) {
      case Fault::none:
        break;
      case Fault::rank_left_out:
        return std::make_unique<Altered>(real_->prepare(op, bindings.first(bindings.size() - 1)),
                                         [=](int) { std::memcpy(last, first, bytes); });
      case Fault::rank_differs:
        // Flips a bit, which the bound allows, but not on exact data: the oracle sees that.
        return std::make_unique<Altered>(real_->prepare(op, bindings), [=](int launch) {
          if (launch > 1) last[bytes - size_bytes(op.dtype())] ^= std::byte{1};
        });
      case Fault::not_divided: {
        Params params = op.params;
        params.set("reduce", std::string("sum"));
        return real_->prepare(instantiate(*op.op, op.format, params), bindings);
      }
    }
    return real_->prepare(op, bindings);
  }

 private:
  Fault fault_;
  std::unique_ptr<Communicator> real_;
};

class FaultyBackend final : public Backend {
 public:
  explicit FaultyBackend(Fault fault) : fault_(fault), cpu_(cpu::make_backend()) {}
  const BackendTraits& traits() const override {
    static const BackendTraits traits{.kind = "faulty", .ranks_share_device = true};
    return traits;
  }
  std::vector<DeviceInfo> describe() const override { return cpu_->describe(); }
  std::unique_ptr<Device> open(int index) override { return cpu_->open(index); }
  std::unique_ptr<Communicator> connect(std::span<Device* const>, int ranks,
                                        Bootstrap& bootstrap) override {
    return std::make_unique<FaultyCommunicator>(*cpu_, fault_, ranks, bootstrap);
  }

 private:
  Fault fault_;
  std::unique_ptr<Backend> cpu_;
};

Record with_fault(Fault fault, const std::string& case_id) {
  Backends backends;
  backends.add(std::make_unique<FaultyBackend>(fault));
  Engine engine(backends, {});
  return engine.execute(planned(case_id, {{"faulty", 0}}), [] {}).record;
}

TEST(AllreduceFaults, NoFaultIsNeverFlagged) {
  EXPECT_EQ(with_fault(Fault::none, id("f32", "avg", 3)).status, Status::pass);
}

TEST(AllreduceFaults, ARankThatIsLeftOut) {
  for (const std::string& reduce : reductions) {
    for (const std::string& dtype : dtypes) {
      for (const std::string& case_id :
           {id(dtype, reduce, 2), id(dtype, reduce, 3, "in"), id(dtype, reduce, 8)}) {
        const Record record = with_fault(Fault::rank_left_out, case_id);
        EXPECT_EQ(record.status, Status::fail) << case_id;
        EXPECT_NE(record.reason.find("elements wrong"), std::string::npos) << record.reason;
      }
    }
  }
}

TEST(AllreduceFaults, ARankWhoseResultIsWithinTheBoundAndNotThatOfTheOthers) {
  for (const char* dtype : {"f64", "f32", "bf16", "f16"}) {
    const Record record = with_fault(Fault::rank_differs, id(dtype, "sum", 3));
    EXPECT_EQ(record.status, Status::fail) << dtype;
    EXPECT_EQ(record.reason, "ranks disagree: rank 2 differs from rank 0 at [1002]");
  }
}

TEST(AllreduceFaults, AnAverageThatIsNotDivided) {
  for (const std::string& dtype : dtypes) {
    const Record record = with_fault(Fault::not_divided, id(dtype, "avg", 3));
    EXPECT_EQ(record.status, Status::fail) << dtype;
    EXPECT_NE(record.reason.find("elements wrong"), std::string::npos) << record.reason;
  }
}

}  // namespace
}  // namespace assay
