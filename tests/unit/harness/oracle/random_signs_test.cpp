// Products of real data that are judged as a whole by random signs.
#include "harness/oracle/random_signs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/execute/verify_launch.h"
#include "harness/oracle/number.h"
#include "harness/plan/case.h"

namespace assay::oracle {
namespace {

/// A product of real data, correctly rounded.
class Product {
 public:
  explicit Product(const std::string& id)
      : op(parse_case_id(id).op),
        inputs_(generate_inputs(op, static_cast<int>(std::ssize(passes(op))) - 1, 7, 1)),
        tolerance_(tolerance(passes(op).back().rule, op)),
        y_(op.signature.outputs[0]) {
    const reference::Reference expected = reference::find(op);
    const reference::State state = reference::solve(expected, {op, inputs_});
    std::vector<double> value(static_cast<std::size_t>(op.signature.outputs[0].elements()));
    std::vector<double> rest(value.size());
    std::vector<double> scale(value.size());
    expected.values({op, inputs_}, state, 0, {value, rest, scale});
    set_all([&](std::size_t i) { return std::pair(value[i], rest[i]); });
  }

  void set_all(const auto& value_of) {
    visit_computed(output_dtype(op), [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_integral_v<T>) {
        auto y = y_.as<T>();
        for (std::size_t i = 0; i < y.size(); ++i) {
          const auto [value, rest] = value_of(i);
          y[i] = correctly_rounded<T>(value, rest);
        }
      }
    });
  }
  double at(std::size_t i) const {
    double value = 0;
    visit_computed(output_dtype(op), [&]<class T>(std::type_identity<T>) {
      value = static_cast<double>(widen(y_.as<T>()[i]));
    });
    return value;
  }
  void set(std::size_t i, double value) {
    visit_computed(output_dtype(op), [&]<class T>(std::type_identity<T>) {
      if constexpr (!std::is_integral_v<T>) y_.as<T>()[i] = correctly_rounded<T>(value, 0);
    });
  }
  std::size_t size() const { return static_cast<std::size_t>(op.signature.outputs[0].elements()); }
  RowResidual judged(std::uint64_t seed = 1) const {
    return random_signs({op, inputs_}, tolerance_, y_.bytes(), seed);
  }

  OpInstance op;

 private:
  RankInputs inputs_;
  Tolerance tolerance_;
  HostTensor y_;
};

constexpr std::array dtypes{"f64", "f32", "bf16", "f16", "e4m3", "tf32"};

std::string layer(const char* dtype, const char* bias) {
  return fmt::format("linear/{}/batch=24,in=384,out=512,bias={},act=none", dtype, bias);
}

TEST(RandomSigns, PassRightGradientsAndFindWhatIsWrongInThem) {
  for (const char* op : {"linear_dx", "linear_dw"}) {
    Product product(fmt::format("linear/{}/f32/batch=24,in=384,out=512", op));
    ASSERT_TRUE(has_random_signs(product.op)) << op;
    EXPECT_TRUE(product.judged().passed()) << op;
    product.set(400, product.at(400) + 1);
    EXPECT_EQ(product.judged().row, 400 / 384) << op;
    EXPECT_FALSE(product.judged().passed()) << op;
  }
}

TEST(RandomSigns, PassARightProductOfEachDtype) {
  for (const char* dtype : dtypes) {
    for (const char* bias : {"0", "1"}) {
      const Product product(layer(dtype, bias));
      ASSERT_TRUE(has_random_signs(product.op)) << dtype;
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const RowResidual worst = product.judged(seed);
        EXPECT_TRUE(worst.passed()) << dtype << " " << worst.residual << " > " << worst.allowed;
        EXPECT_GT(worst.allowed, 0);
      }
    }
  }
}

TEST(RandomSigns, FindAnElementThatIsOffByItsOwnMagnitude) {
  for (const char* dtype : dtypes) {
    for (const char* bias : {"0", "1"}) {
      Product product(layer(dtype, bias));
      double squares = 0;
      for (std::size_t i = 0; i < product.size(); ++i) squares += product.at(i) * product.at(i);
      const double usual = std::sqrt(squares / static_cast<double>(product.size()));
      int tried = 0;
      for (std::size_t i = 3; i < product.size(); i += 251) {
        const double right = product.at(i);
        if (std::abs(right) < usual) continue;
        // A row of tf32, whose factors may be cut, errs by more.
        product.set(i, (std::string_view(dtype) == "tf32" ? 16 : 2) * right);
        const RowResidual worst = product.judged(i);
        EXPECT_FALSE(worst.passed()) << dtype << " " << worst.residual << " of " << worst.allowed;
        EXPECT_EQ(worst.row, static_cast<std::int64_t>(i / 512)) << dtype;
        product.set(i, right);
        ++tried;
      }
      EXPECT_GE(tried, 5) << dtype;
      EXPECT_TRUE(product.judged().passed());
    }
  }
}

TEST(RandomSigns, FindRowsThatArePermutedZeroOrAlike) {
  for (const char* dtype : {"f64", "f32", "bf16", "f16", "e4m3"}) {
    Product product(layer(dtype, "0"));
    std::vector<double> row;
    for (std::size_t j = 0; j < 512; ++j) row.push_back(product.at(7 * 512 + j));
    const auto judge_with = [&](const auto& value) {
      for (std::size_t j = 0; j < 512; ++j) product.set(7 * 512 + j, value(j));
      const RowResidual worst = product.judged(5);
      EXPECT_FALSE(worst.passed()) << dtype;
      EXPECT_EQ(worst.row, 7) << dtype;
    };
    judge_with([&](std::size_t) { return 0.0; });
    judge_with([&](std::size_t j) { return row[(j + 1) % 512]; });
    judge_with([&](std::size_t j) { return product.at(8 * 512 + j); });
  }
}

TEST(RandomSigns, FindAMissedBias) {
  for (const char* dtype : {"f32", "f64", "f16"}) {
    Product product(layer(dtype, "1"));
    const Product bare(layer(dtype, "0"));
    product.set_all([&](std::size_t i) { return std::pair(bare.at(i), 0.0); });
    EXPECT_FALSE(product.judged().passed()) << dtype;
  }
}

TEST(RandomSigns, FailWhatIsNoNumber) {
  for (const char* dtype : dtypes) {
    Product product(layer(dtype, "1"));
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (const std::size_t i : {std::size_t{0}, std::size_t{5000}, product.size() - 1}) {
        const double right = product.at(i);
        product.set(i, bad);
        const RowResidual worst = product.judged();
        EXPECT_FALSE(worst.passed()) << dtype << " " << bad;
        EXPECT_EQ(worst.row, static_cast<std::int64_t>(i / 512)) << dtype;
        product.set(i, right);
      }
    }
  }
}

TEST(RandomSigns, NameTheRowThatErrsMost) {
  Product product(layer("f32", "0"));
  for (const std::size_t row : {3U, 9U, 20U}) {
    product.set(row * 512 + 4, product.at(row * 512 + 4) + (row == 9 ? 1e6 : 1e3));
  }
  EXPECT_EQ(product.judged().row, 9);
}

TEST(RandomSigns, DependOnTheSeed) {
  const Product product(layer("f32", "0"));
  EXPECT_NE(product.judged(1).residual, product.judged(2).residual);
  EXPECT_EQ(product.judged(1).residual, product.judged(1).residual);
}

TEST(RandomSigns, AreForProductsOfFloatsAlone) {
  for (const char* id :
       {"linear/i8/batch=4,in=32,out=8,bias=0,act=none",
        "linear/f32/batch=4,in=32,out=8,bias=0,act=relu",
        "linear/mxfp8/batch=4,in=32,out=8,bias=0,act=none",
        "linear/nvfp4/batch=4,in=32,out=8,bias=0,act=none", "tensor_ops/add/f32/n=32",
        "linear/linear_stack/f32/batch=4,in=32,width=8,layers=2,bias=0,act=none"}) {
    const OpInstance op = parse_case_id(id).op;
    EXPECT_FALSE(has_random_signs(op)) << id;
    const RankInputs inputs = generate_inputs(op, 0, 1, 1);
    const HostTensor y(op.signature.outputs[0]);
    EXPECT_THROW(random_signs({op, inputs}, {}, y.bytes(), 1), std::logic_error) << id;
  }
  const OpInstance op = parse_case_id(layer("f32", "0")).op;
  const RankInputs inputs = generate_inputs(op, 0, 1, 1);
  const HostTensor y(op.signature.outputs[0]);
  EXPECT_THROW(random_signs({op, inputs}, {}, y.bytes().first(4), 1), std::logic_error)
      << "not the whole output";
}

TEST(RandomSigns, SayHowSureTheyAre) { EXPECT_EQ(random_signs_text(), "random_signs(t=9)"); }

}  // namespace
}  // namespace assay::oracle
