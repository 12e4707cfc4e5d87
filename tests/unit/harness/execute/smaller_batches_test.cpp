#include "harness/execute/smaller_batches.h"

#include <gtest/gtest.h>

#include "kernels/sim/fault.h"
#include "tests/unit/engine_support.h"

namespace assay {
namespace {

using Rows = std::vector<std::int64_t>;

TEST(SmallerBatches, AreOneFewHalfAndAllButOne) {
  EXPECT_EQ(smaller_batches(1), Rows{});
  EXPECT_EQ(smaller_batches(2), Rows{1});
  EXPECT_EQ(smaller_batches(3), (Rows{1, 2}));
  EXPECT_EQ(smaller_batches(17), (Rows{1, 9, 16}));
  EXPECT_EQ(smaller_batches(64), (Rows{1, 16, 32, 63}));
}

/// Runs a case on a simulated device on which a row that is alone has another bit.
Record on_odd_device(const std::string& case_id, bool must_be_invariant,
                     const std::string& timing = "") {
  Backends backends;
  backends.add(sim::make_backend(1, {sim::parse_fault("one_row_differs")}));
  Engine engine(backends, {{.batch_invariant = must_be_invariant}, 0.01});
  PlannedTrial trial = planned(case_id, {{"sim", 0}});
  trial.timing = timing;
  return engine.execute(trial, [] {}).record;
}

/// The library below the fault may itself compute other parts otherwise, by kind of processor.
bool names_one_row(const Record& record) {
  return record.other_bits_at_rows == "1" || record.other_bits_at_rows.starts_with("1;");
}

TEST(SmallerBatches, AreFoundToHaveOtherBitsAndFailIfTheyMustNot) {
  for (const std::string id :
       {"linear/f32/batch=16,in=64,out=33,bias=1,act=relu",
        "linear/linear_stack/f32/batch=4,in=8,width=8,layers=2,bias=0,act=none",
        "tensor_ops/batched_matmul/f64/batch=3,m=4,n=5,k=6",
        "tensor_ops/softmax/f32/rows=5,cols=17,ld=20", "tensor_ops/layernorm/f32/rows=5,cols=17"}) {
    const Record record = on_odd_device(id, true);
    EXPECT_EQ(record.status, Status::fail) << id;
    EXPECT_EQ(record.caught_by, Check::batch_invariance) << id << ": " << record.reason;
    EXPECT_EQ(record.batch_invariant, false) << id;
    EXPECT_TRUE(names_one_row(record)) << id << ": " << record.other_bits_at_rows;
  }
}

TEST(SmallerBatches, OfATimedCaseAreAFinding) {
  const Record record =
      on_odd_device("linear/f32/batch=16,in=64,out=33,bias=1,act=none", false, "batch");
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_EQ(record.batch_invariant, false);
  EXPECT_TRUE(names_one_row(record)) << record.other_bits_at_rows;
}

TEST(SmallerBatches, AreNotTriedUnlessAskedForOrTimedNorWithoutIndependentRows) {
  EXPECT_FALSE(
      on_odd_device("linear/f32/batch=16,in=64,out=33,bias=1,act=none", false).batch_invariant);
  for (const std::string id : {"tensor_ops/transpose/f32/rows=16,cols=3",
                               "linear/f32/batch=1,in=64,out=33,bias=1,act=none"}) {
    EXPECT_FALSE(on_odd_device(id, true).batch_invariant) << id;
  }
}

TEST(SmallerBatches, OfIntegersKeepTheirBits) {
  Backends backends;
  backends.add(cpu::make_backend());
  Engine engine(backends, {{.batch_invariant = true}});
  const Record record =
      engine.execute(planned("linear/i8/batch=33,in=67,out=9,bias=1,act=none", {{"cpu", 0}}), [] {})
          .record;
  EXPECT_EQ(record.status, Status::pass) << record.reason;
  EXPECT_EQ(record.batch_invariant, true);
}

}  // namespace
}  // namespace assay
