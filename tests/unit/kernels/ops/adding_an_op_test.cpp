// The example of docs/adding-an-op.md, in one file: what its code blocks add to the tree is
// compiled here word for word, run on the CPU, judged, and broken once.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "harness/input/generate.h"
#include "harness/oracle/compare.h"
#include "harness/plan/case.h"
#include "kernels/cpu/map.h"
#include "kernels/device/backend_traits.h"
#include "kernels/device/element_rows.h"
#include "kernels/ops/elementwise.h"
#include "kernels/ops/passes.h"
#include "kernels/reference/elementwise.h"
#include "kernels/reference/families.h"

namespace assay {
namespace {

Op row_of_the_table() {
  constexpr Declared two_products{.ulps = 2};
  // clang-format off
  return
      elementwise({"cube", "y[i] = x[i]^3", floats()}, Operands::one, function(two_products, any_exponent(), uniform({-2, 2})));
  // clang-format on
}

}  // namespace

namespace reference {
namespace {

struct Cube {
  template <class Real>
  Real operator()(Real x) const {
    return x * x * x;
  }
};

constexpr ReferenceRow reference_row =
    // clang-format off
    {"cube", approximately<Cube, 1>};
// clang-format on

}  // namespace
}  // namespace reference

namespace {

struct Cube {
  template <class T>
  ASSAY_ELEMENT_FUNCTION T operator()(T x) const {
    return x * x * x;
  }
};

template <class Backend>
constexpr KernelRow kernel_row =
    // clang-format off
    {"cube", Backend::template map<Cube, Floats, 1>};
// clang-format on

using Cpu = Mapped<cpu::Mapper>;

/// Both passes of `op`, computed by `make` and judged as a run judges them.
oracle::Verdict judge(const OpInstance& op, Factory make) {
  oracle::Verdict verdict;
  for (int pass = 0; pass < 2; ++pass) {
    const Pass rules = passes(op).at(static_cast<std::size_t>(pass));
    std::vector<std::vector<HostTensor>> inputs(1);
    const input::TensorKey key{.pass = pass};
    input::generate(op, rules, key, inputs[0].emplace_back(op.signature.inputs[0]));
    HostTensor y(op.signature.outputs[0]);
    Binding binding;
    binding.inputs = {inputs[0][0].bytes().data()};
    binding.outputs = {y.bytes().data()};
    make(op, binding)->launch();

    const reference::Reference expected = reference::reference_row.choose(op);
    const reference::Problem problem{op, inputs};
    verdict.merge(oracle::compare(expected, problem, reference::solve(expected, problem),
                                  oracle::tolerance(rules.rule, op), y.bytes(), 0));
  }
  return verdict;
}

TEST(AddingAnOp, TheExamplePassesInEveryDtype) {
  const Op op = row_of_the_table();
  for (const Format format : op.formats) {
    Params params;
    params.set("n", std::int64_t{70001});
    const oracle::Verdict verdict = judge(instantiate(op, format, params), kernel_row<Cpu>.make);
    EXPECT_EQ(verdict.elements, 2 * 70001);
    EXPECT_TRUE(verdict.passed()) << name(format) << ": " << verdict.text();
  }
}

TEST(AddingAnOp, AMistakeInTheExampleIsCaught) {
  const Op op = row_of_the_table();
  Params params;
  params.set("n", std::int64_t{1003});
  EXPECT_FALSE(judge(instantiate(op, DType::f32, params), Cpu::map<Square, Floats, 1>).passed());
}

TEST(AddingABackend, ItsTraitsDecideWhatIsPlanned) {
  const BackendTraits traits{
      .kind = "toy",
      .memory = MemorySpace::device,
      .limits = {.array_bytes = 1 << 20, .matrix_extents = {128}},
  };
  const auto applies = [&](const char* id) { return applies_to(parse_case_id(id).op, traits); };
  EXPECT_TRUE(applies("transfers/device_memcpy/u8/from=pinned,to=device,bytes=8,by=engine"));
  EXPECT_FALSE(applies("transfers/memcpy/u8/from=host,to=host,bytes=8,threads=one"));
  EXPECT_FALSE(applies("linear/tf32/batch=1,in=1,out=1,bias=0,act=none"));
}

std::string text_of(const std::string& path) {
  std::ifstream file(std::filesystem::path(ASSAY_SOURCE_DIR) / path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Words and signs, one space between them: layouts may differ.
std::string words(const std::string& text) {
  std::istringstream stream(text);
  std::string all;
  std::string word;
  while (stream >> word) all += word + " ";
  return all;
}

TEST(AddingAnOp, TheDocumentShowsWhatIsCompiledHere) {
  if (!std::filesystem::exists(ASSAY_SOURCE_DIR)) GTEST_SKIP() << "the source tree is not here";
  const std::string document = text_of("docs/adding-an-op.md");
  const std::string compiled = words(text_of("tests/unit/kernels/ops/adding_an_op_test.cpp"));
  int blocks = 0;
  std::size_t at = 0;
  while ((at = document.find("```cpp\n", at)) != std::string::npos) {
    const std::size_t begin = at + 7;
    const std::size_t end = document.find("```", begin);
    std::string block = words(document.substr(begin, end - begin));
    block.pop_back();  // the last space: a comma or a semicolon may follow
    EXPECT_NE(compiled.find(block), std::string::npos) << "not compiled: " << block;
    ++blocks;
    at = end + 3;
  }
  EXPECT_EQ(blocks, 7);
}

}  // namespace
}  // namespace assay
