#include "suites/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "kernels/core/status.h"
#include "kernels/ops/defined.h"
#include "suites/axes.h"
#include "suites/case_file.h"

namespace assay {
namespace {

std::vector<std::string> ids(const Selection& selection) {
  std::vector<std::string> ids;
  for (const Case& test : select_cases(selection)) ids.push_back(test.id());
  return ids;
}

std::string refusal(const Selection& selection) {
  try {
    select_cases(selection);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string refusal_of_file(const std::string& text) {
  std::istringstream stream(text);
  try {
    read_case_file(stream, "cases.csv");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

TEST(Selecting, EveryIdOfEveryProfileIsReadBackAsTheSameCase) {
  for (const Profile& profile : all_profiles()) {
    for (const Case& test : select_cases({.profile = std::string(profile.name)})) {
      EXPECT_EQ(parse_case_id(test.id()).id(), test.id());
    }
  }
}

TEST(Selecting, EachProfileContainsTheOneBefore) {
  std::set<std::string> before;
  for (const Profile& profile : all_profiles()) {
    const auto list = ids({.profile = std::string(profile.name)});
    const std::set<std::string> now(list.begin(), list.end());
    EXPECT_EQ(now.size(), list.size()) << "no case twice";
    if (profile.level == Level::edges) continue;  // cases of its own
    EXPECT_TRUE(std::ranges::includes(now, before)) << profile.name;
    EXPECT_GT(now.size(), before.size()) << profile.name;
    before = now;
  }
}

/// Formats of each op, or point of it, in cases of a profile.
std::map<std::string, std::set<std::string>> formats_of(const Selection& selection, bool by_point) {
  std::map<std::string, std::set<std::string>> formats;
  for (const Case& test : select_cases(selection)) {
    const std::string point = by_point ? " " + test.op.params.text() : "";
    formats[std::string(test.op.op->name) + point].emplace(name(test.op.format));
  }
  return formats;
}

// In the suite of views, where of each op and pair of a view and this shape smoke has one format.
TEST(Selecting, SmokeTakesFormatsInTurnsForCostlyCases) {
  const Selection smoke{
      .suites = {"views"}, .filter = "batch=66,in=130,out=257", .profile = "smoke"};
  Selection later = smoke;
  later.profile = "default";
  const auto points = formats_of(smoke, true);
  const auto all = formats_of(later, true);
  ASSERT_GT(points.size(), 20U);
  EXPECT_EQ(all.size(), points.size()) << "smoke has each point";
  for (const auto& [point, formats] : points) {
    EXPECT_EQ(formats.size(), 1U) << point;
    EXPECT_EQ(all.at(point).size(), 5U) << point;
  }
  for (const auto& [op, formats] : formats_of(smoke, false)) EXPECT_EQ(formats.size(), 5U) << op;
  Selection of_user = smoke;
  of_user.axes = {"dtype=f32,f64"};
  for (const auto& [point, formats] : formats_of(of_user, true)) {
    EXPECT_EQ(formats.size(), 2U) << "the user's own dtypes: " << point;
  }
}

TEST(Selecting, ATurnGoesToTheNextFormatThatAnOpHasWithItsParameters) {
  const std::string points = "^collectives/.*ranks=3";
  const auto turns = formats_of({.filter = points, .profile = "smoke"}, true);
  const auto all = formats_of({.filter = points, .profile = "default"}, true);
  for (const auto& [point, formats] : all) EXPECT_TRUE(turns.contains(point)) << point;
}

TEST(Selecting, TheDefaultTakesOneCopyOnEachPairOfDevicesAndFullAll) {
  const std::string copies = "peer_memcpy";
  const auto on_each_pair = [&](const Selection& selection) {
    std::vector<std::string> found;
    for (const Case& test : select_cases(selection)) {
      if (test.on_each_pair) found.push_back(test.id());
    }
    return found;
  };
  for (const char* profile : {"smoke", "default"}) {
    EXPECT_EQ(on_each_pair({.filter = copies, .profile = profile}).size(), 1U) << profile;
  }
  const Selection full{.filter = copies, .profile = "full"};
  EXPECT_EQ(on_each_pair(full), ids(full));
  const Selection by_axis{.filter = copies, .axes = {"bytes=12,4096"}};
  EXPECT_EQ(on_each_pair(by_axis), ids(by_axis)) << "the user's own sizes";
  const std::string one = "transfers/peer_memcpy/u8/bytes=4,by=engine,access=direct,ways=one";
  EXPECT_EQ(on_each_pair({.cases = {one}}).size(), 1U) << "a replay";
}

TEST(Selecting, EdgesAreOnlyCheckedAndPassWhat19BitsCount) {
  std::set<std::string> suites;
  for (const Case& test : select_cases({.profile = "edges"})) {
    EXPECT_FALSE(test.timed) << test.id();
    suites.insert(test.suite);
    std::int64_t largest = 0;  // elements from the first to the last of a tensor, or bytes
    for (const auto* tensors : {&test.op.signature.inputs, &test.op.signature.outputs}) {
      for (const TensorSpec& spec : *tensors) {
        largest =
            std::max({largest, spec.elements(), static_cast<std::int64_t>(spec.span_bytes())});
      }
    }
    EXPECT_GT(largest, std::int64_t{1} << 19) << test.id();
  }
  EXPECT_EQ(suites, (std::set<std::string>{"collectives", "linear", "tensor_ops", "transfers"}));
}

TEST(Selecting, SeedsTouchEverySuiteOpAndDtype) {
  std::set<std::string> touched, declared;
  for (const Case& test : select_cases({.profile = "seeds"})) {
    touched.insert(std::string(test.op.op->name) + "/" + std::string(name(test.op.format)));
  }
  for (const Op& op : op_table()) {
    if (is_defined(op.name)) continue;  // by another test of this program
    for (const Format format : op.formats) {
      declared.insert(std::string(op.name) + "/" + std::string(name(format)));
    }
  }
  EXPECT_EQ(touched, declared);
}

TEST(Selecting, TheTutorialsShapesAreThere) {
  const auto all = ids({.profile = "seeds"});
  for (const char* id :
       {"tensor_ops/square/i64/n=3", "linear/f32/batch=2,in=3,out=1,bias=1,act=none",
        "linear/f32/batch=2,in=3,out=3,bias=1,act=none"}) {
    EXPECT_EQ(std::ranges::count(all, id), 1) << id;
  }
}

/// Keeps runs of right GPUs green: without such layers a GPU's library refuses all of them.
TEST(Selecting, SeedsHaveLayersOf8BitsThatMatrixUnitsTake) {
  std::set<Format> taken;
  for (const Case& test : select_cases({.suites = {"linear"}, .profile = "seeds"})) {
    const bool fits =
        test.op.params.integer("in") % 16 == 0 && test.op.params.integer_or("out", 16) % 16 == 0;
    if (fits && test.op.op->name == "linear") taken.insert(test.op.format);
  }
  EXPECT_TRUE(taken.contains(DType::i8) && taken.contains(DType::e4m3));
}

TEST(Selecting, FiltersAreSearchedAndSuitesAreExact) {
  for (const std::string& id : ids({.suites = {"linear"}, .filter = "bf16/.*relu"})) {
    EXPECT_TRUE(starts_with(id, "linear/bf16/") || starts_with(id, "linear/linear_stack/bf16/"))
        << id;
    EXPECT_NE(id.find("act=relu"), std::string::npos) << id;
  }
}

TEST(Selecting, AFilterThatBacktracksElsewhereEndsHere) {
  refusal({.filter = "(.*)*(.*)*(.*)*(.*)*(.*)*(.*)*X"});  // must end, with any message
}

TEST(Selecting, AnAxisReplacesItsValuesAlsoWithinAShape) {
  EXPECT_EQ(
      ids({.suites = {"tensor_ops"}, .filter = "/add/f32", .profile = "seeds", .axes = {"n=7,9"}}),
      (std::vector<std::string>{"tensor_ops/add/f32/n=7", "tensor_ops/add/f32/n=9"}));
  const auto linear = ids({.suites = {"linear"},
                           .filter = "^linear/bf16",
                           .profile = "seeds",
                           .axes = {"batch=5", "dtype=bf16", "bias=1", "act=none"}});
  EXPECT_EQ(linear, (std::vector<std::string>{"linear/bf16/batch=5,in=3,out=1,bias=1,act=none",
                                              "linear/bf16/batch=5,in=3,out=3,bias=1,act=none",
                                              "linear/bf16/batch=5,in=64,out=33,bias=1,act=none",
                                              "linear/bf16/batch=5,in=67,out=29,bias=1,act=none",
                                              "linear/bf16/batch=5,in=64,out=32,bias=1,act=none"}));
}

TEST(Selecting, AnAxisReplacesManyValuesOnce) {
  std::multiset<std::string> ids;
  for (const Case& test : select_cases({.suites = {"tensor_ops", "linear"},
                          .profile = "full",
                          .axes = {"dtype=f32", "n=7,9", "in=1,2", "out=4", "batch=1", "bias=0",
                                   "act=none", "rows=3"}})) {
    ids.insert(test.id());
  }
  EXPECT_EQ(ids.count("tensor_ops/add/f32/n=7"), 1U) << "not once for each value replaced";
  EXPECT_EQ(ids.count("linear/f32/batch=1,in=2,out=4,bias=0,act=none"), 1U);
  EXPECT_EQ(ids.count("tensor_ops/softmax/f32/rows=3,cols=1003"), 1U);
  EXPECT_EQ(ids.size(), std::set(ids.begin(), ids.end()).size());
}

/// Returns "NAME=1,2,...,COUNT".
std::string axis_to(const std::string& name, int count) {
  std::string text = name + "=1";
  for (int value = 2; value <= count; ++value) text += "," + std::to_string(value);
  return text;
}

TEST(Selecting, AProductBeyondReasonIsRefusedBeforeItIsMade) {
  const auto refused = [](const std::vector<std::string>& axes) {
    const std::string text = refusal({.profile = "seeds", .axes = axes});
    EXPECT_NE(text.find("more than 100000 cases; give fewer values"), std::string::npos) << text;
  };
  refused({axis_to("batch", 300), axis_to("in", 300), axis_to("out", 300)});
  refused({axis_to("rows", 1000), axis_to("cols", 1000)});
  refused({axis_to("ranks", 1000), axis_to("count", 1000)});
  refused({axis_to("n", 10000)});
  EXPECT_EQ(ids({.suites = {"tensor_ops"},
                 .filter = "/sum/f64",
                 .axes = {"dtype=f64", axis_to("n", 500)}})
                .size(),
            500U);
}

TEST(Selecting, ParametersThatDoNotGoTogetherAreLeftOut) {
  const auto linear = ids({.suites = {"linear"}, .profile = "seeds", .axes = {"act=gelu"}});
  EXPECT_TRUE(std::ranges::any_of(
      linear, [](const std::string& id) { return starts_with(id, "linear/f32/"); }));
  EXPECT_TRUE(std::ranges::none_of(
      linear, [](const std::string& id) { return starts_with(id, "linear/i8/"); }));
  const std::string refused =
      refusal({.suites = {"linear"}, .profile = "seeds", .axes = {"dtype=i8", "act=gelu"}});
  EXPECT_NE(refused.find("act=gelu needs a dtype of floats"), std::string::npos) << refused;
  EXPECT_NE(refusal({.cases = {"linear/i8/batch=1,in=1,out=1,bias=0,act=gelu"}}).find("floats"),
            std::string::npos);
}

TEST(Selecting, SmallCasesAreOnlyCheckedUnlessTheUserNamesThem) {
  const auto timed = [](const Selection& selection) {
    std::vector<std::string> timed_ids;
    for (const Case& test : select_cases(selection)) {
      if (test.timed) timed_ids.push_back(test.id());
    }
    return timed_ids;
  };
  const auto seeds = timed({.suites = {"tensor_ops"}, .profile = "seeds"});
  EXPECT_EQ(seeds,
            (std::vector<std::string>{"tensor_ops/add/f32/n=1003", "tensor_ops/exp/f32/n=1003",
                                      "tensor_ops/sum/f32/n=1003"}));
  const std::string id = "tensor_ops/mul/u8/n=3";
  EXPECT_EQ(timed({.cases = {id}}), std::vector<std::string>{id});
  EXPECT_EQ(timed({.filter = "mul/u8", .profile = "seeds"}), std::vector<std::string>{});
  EXPECT_EQ(timed({.filter = "mul/u8", .profile = "seeds", .axes = {"n=3"}}),
            std::vector<std::string>{id});
}

TEST(Selecting, ShardsPartTheCases) {
  std::multiset<std::string> together;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const auto part = ids({.profile = "smoke", .shard = shard});
    EXPECT_GT(part.size(), 10U);
    together.insert(part.begin(), part.end());
  }
  const auto whole = ids({.profile = "smoke"});
  EXPECT_EQ(together, std::multiset<std::string>(whole.begin(), whole.end()));
}

TEST(Selecting, ALiteralCaseNeedsNoProfile) {
  const std::string id = "linear/f32/batch=17,in=19,out=23,bias=1,act=relu";
  EXPECT_EQ(ids({.cases = {id, id}}), std::vector<std::string>{id});
}

TEST(Selecting, MistakesAreNamedWithTheWayOut) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal({.suites = {"lineer"}}), "did you mean 'linear'");
  has(refusal({.profile = "smok"}), "did you mean 'smoke'");
  has(refusal({.filter = "["}), "not a regular expression");
  has(refusal({.filter = "no such case"}), "selection is empty");
  has(refusal({.axes = {"n"}}), "--axis 'n', column 2");
  has(refusal({.axes = {"=1"}}), "column 1");
  has(refusal({.axes = {"n=1", "n=2"}}), "given twice");
  has(refusal({.filter = std::string(20000, '(')}), "longer than");
  has(refusal({.case_file = "/"}), "/: cannot be read: it is a directory");
  has(refusal({.axes = {"n=1,,2"}}), "--axis 'n=1,,2', column 5: an empty value");
  has(refusal({.axes = {"n=1,x"}}), "column 5: fill: n must be a whole number");
  has(refusal({.axes = {"n=-1"}}), "not '-1'");
  has(refusal({.axes = {"batsh=1"}}), "did you mean 'batch'");
  has(refusal({.axes = {"dtype=f23"}}), "unknown dtype 'f23'");
  has(refusal({.cases = {"nonsense"}}), "expected suite/op/dtype");
  has(refusal({.cases = {"linear/add/f32/n=1"}}), "suite linear has no op 'add'");
  has(refusal({.cases = {"tensor_ops/add/f32/n=1,n=2"}}), "given twice");
  has(refusal({.cases = {"tensor_ops/add/f32/n=1"}, .axes = {"n=2"}}), "--axis");
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "1/2x", "-1/2", "1/0"}) {
    has(refusal({.shard = shard}), "expected I/N");
  }
  has(refusal({.case_file = "/nowhere/cases.csv"}),
      "/nowhere/cases.csv: cannot be read: No such file");
}

TEST(CaseFiles, GiveTheirCases) {
  std::istringstream text(
      "suite,op,dtype,n,batch,in,out,bias,act\n"
      "tensor_ops,add,f32,12,,,,,\n"
      "linear,,bf16,,2,3,4,0,relu\n");
  const auto cases = read_case_file(text, "cases.csv");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].id(), "tensor_ops/add/f32/n=12");
  EXPECT_EQ(cases[1].id(), "linear/bf16/batch=2,in=3,out=4,bias=0,act=relu");
}

TEST(CaseFiles, MistakesAreNamedByLineAndColumn) {
  const auto expect = [](const std::string& text, const std::string& prefix) {
    EXPECT_TRUE(starts_with(refusal_of_file(text), prefix)) << refusal_of_file(text);
  };
  expect("", "cases.csv:1:1: no header");
  expect("suite,dtype,n\n", "cases.csv: a header, but no cases");
  expect("suite,n\nlinear,1\n", "cases.csv:1:1: the header needs a column 'dtype'");
  expect("suite,dtype,zz\nlinear,f32,1\n", "cases.csv:1:13: unknown column 'zz'");
  expect("suite,dtype,n,n\nlinear,f32,1,1\n", "cases.csv:1:15: column 'n' is there twice");
  expect("suite,op,dtype,n\ntensor_ops,add,f32,-3\n", "cases.csv:2:20: add: n must be");
  expect("suite,op,dtype,n\ntensor_ops,add,f99,3\n", "cases.csv:2:16: unknown dtype");
  expect("suite,op,dtype,n\n\ntensor_ops,mul_,f32,3\n",
         "cases.csv:3:12: suite tensor_ops has no op");
  expect("suite,dtype,n\nlinaer,f32,3\n", "cases.csv:2:1: unknown suite");
  expect("suite,op,dtype,n\ntensor_ops,add,f32\n",
         "cases.csv:2:16: 3 fields where the header has 4");
  expect("suite,op,dtype,n\ntensor_ops,add,f32,\n", "cases.csv:2:1: op add needs a value for 'n'");
}

}  // namespace
}  // namespace assay
