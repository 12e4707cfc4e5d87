#include "harness/plan/protocol.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

namespace assay::protocol {
namespace {

std::string result_line(const std::string& record, const std::string& samples = "[]") {
  return R"({"type":"result","leave_worker":false,"references_computed":0,"references_shared":0,)"
         R"("phases_s":{},"record":)" +
         record + R"(,"samples":)" + samples + "}";
}

TEST(Protocol, AHelloSurvives) {
  Hello hello;
  hello.build_id = "1.2 abc";
  hello.devices.emplace_back().device = "cuda:0";
  hello.devices[0].memory_total_bytes = std::int64_t{80} << 30;
  hello.backends = {{.kind = "toy",
                     .memory = MemorySpace::remote,
                     .ranks_share_device = true,
                     .single_worker = true,
                     .has_matrix_units = true,
                     .only_on_request = true,
                     .limits = {7, {8, 9}, false},
                     .uuid_prefixes = {"A-", "B-"},
                     .fault_variable = "FAULT",
                     .when_absent = "not here"}};
  hello.problems = {{"cuda", "no NCCL"}};
  const auto back = std::get<Hello>(decode_from_worker(encode(hello)));
  EXPECT_EQ(back.build_id, "1.2 abc");
  EXPECT_EQ(back.devices.at(0).device, "cuda:0");
  EXPECT_EQ(back.devices[0].memory_total_bytes, std::int64_t{80} << 30);
  EXPECT_EQ(back.devices[0].clock_hz, std::nullopt);
  EXPECT_EQ(back.backends, hello.backends);
  EXPECT_EQ(back.problems, hello.problems);
}

TEST(Protocol, EveryFieldOfARecordSurvives) {
  Result result;
  Record& record = result.record;
  // Each field gets a value that names its place, so that a swap shows.
  int place = 1;
  visit_fields(record, [&]<class T>(const char*, T& field) {
    if constexpr (std::is_same_v<T, std::string>) {
      field = "text " + std::to_string(place);
    } else if constexpr (std::is_same_v<T, Status>) {
      field = Status::flaky;
    } else if constexpr (std::is_same_v<T, std::optional<Check>>) {
      field = Check::guard_bands;
    } else if constexpr (std::is_same_v<T, std::optional<SkipCategory>>) {
      field = SkipCategory::not_here;
    } else if constexpr (std::is_same_v<T, std::optional<bool>>) {
      field = false;
    } else {
      field = place;
    }
    ++place;
  });
  result.samples = {{.seconds = 0.1, .launches = 7, .clock_hz = {}, .throttled = {}}};
  const std::string line = encode(result);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = std::get<Result>(decode_from_worker(line));
  EXPECT_EQ(encode(back), line);
  EXPECT_EQ(back.samples.at(0).seconds, 0.1);
  EXPECT_EQ(back.samples[0].launches, 7);
  EXPECT_EQ(back.record.status, Status::flaky);
  EXPECT_EQ(back.record.repeatable, false);
  EXPECT_EQ(back.record.caught_by, Check::guard_bands);
  EXPECT_EQ(back.record.skip_category, SkipCategory::not_here);
}

TEST(Protocol, EveryCheckSurvivesByItsName) {
  for (const Check check : all_checks()) {
    Result result;
    result.record.caught_by = check;
    const std::string line = encode(result);
    EXPECT_NE(line.find(fmt::format(R"("caught_by":"{}")", name(check))), std::string::npos);
    EXPECT_EQ(std::get<Result>(decode_from_worker(line)).record.caught_by, check);
  }
  EXPECT_EQ(encode(Result{}).find("caught_by"), std::string::npos) << "of a pass there is none";
}

TEST(Protocol, TheStateOfTheDeviceSurvivesWithEachSample) {
  Result result;
  result.samples = {{.seconds = 0.1, .launches = 1, .clock_hz = 1.98e9, .throttled = true},
                    {.seconds = 0.2, .launches = 2, .clock_hz = {}, .throttled = false},
                    {.seconds = 0.3, .launches = 3, .clock_hz = 1.5e9, .throttled = {}},
                    {.seconds = 0.4, .launches = 4, .clock_hz = {}, .throttled = {}},
                    {.seconds = 0.5,
                     .launches = 5,
                     .clock_hz = {},
                     .throttled = {},
                     .seconds_forth = 0.25,
                     .seconds_back = 0.5}};
  const auto back = std::get<Result>(decode_from_worker(encode(result)));
  ASSERT_EQ(back.samples.size(), result.samples.size());
  for (std::size_t i = 0; i < back.samples.size(); ++i) {
    EXPECT_EQ(back.samples[i].seconds, result.samples[i].seconds) << i;
    EXPECT_EQ(back.samples[i].launches, result.samples[i].launches) << i;
    EXPECT_EQ(back.samples[i].clock_hz, result.samples[i].clock_hz) << i;
    EXPECT_EQ(back.samples[i].throttled, result.samples[i].throttled) << i;
    EXPECT_EQ(back.samples[i].seconds_forth, result.samples[i].seconds_forth) << i;
    EXPECT_EQ(back.samples[i].seconds_back, result.samples[i].seconds_back) << i;
  }
}

TEST(Protocol, TheWorkOfASoakSurvives) {
  PlannedTrial trial{.test = parse_case_id("limits/stream_copy/f64/n=8"), .lane = {{"cpu", 0}}};
  EXPECT_EQ(encode(trial).find("soak_s"), std::string::npos) << "a plain trial";
  trial.soak_s = 2.5;
  EXPECT_EQ(std::get<PlannedTrial>(decode_to_worker(encode(trial))).soak_s, 2.5);

  Result result;
  EXPECT_FALSE(std::get<Result>(decode_from_worker(encode(result))).soak);
  SoakWork& work = result.soak.emplace();
  work.launches = 7;
  work.products = 3e15;
  work.wrong_elements = 2;
  work.first_wrong = "launch 7";
  work.throttled = true;
  work.ecc_corrected = 0;
  const auto back = std::get<Result>(decode_from_worker(encode(result)));
  EXPECT_EQ(encode(back), encode(result));
  EXPECT_EQ(back.soak.value().products, 3e15);
  EXPECT_EQ(back.soak->ecc_corrected, 0) << "none is not unknown";
  EXPECT_EQ(back.soak->ecc_uncorrected, std::nullopt);
}

TEST(Protocol, AHelloTellsOfKernelsOfOthers) {
  Hello hello;
  EXPECT_TRUE(std::get<Hello>(decode_from_worker(encode(hello))).kernels.ops.empty());
  hello.kernels = {"mine 1.0", {{"add", {DType::f32, DType::bf16}}, {"sort", {DType::i64}}}};
  hello.kernels_refused = "no";
  const auto back = std::get<Hello>(decode_from_worker(encode(hello)));
  EXPECT_EQ(back.kernels, hello.kernels);
  EXPECT_EQ(back.kernels_refused, "no");
  EXPECT_THROW(decode_from_worker(R"({"type":"hello","protocol":7,"schema":1,"build_id":"",)"
                                  R"("devices":[],"backends":[],"problems":[],)"
                                  R"("kernels":{"name":"x","ops":{"add":["f33"]},"of_views":[]}})"),
               Malformed);
}

TEST(Protocol, AQuestionToAReferenceBeginsAndEnds) {
  for (const bool is_open : {true, false}) {
    const auto back = decode_from_worker(encode(ReferenceAsked{is_open}));
    EXPECT_EQ(std::get<ReferenceAsked>(back).is_open, is_open);
  }
  EXPECT_THROW(decode_from_worker(R"({"type":"reference_asked"})"), Malformed);
}

TEST(Protocol, ATrialOfACaseThatThisBuildLacksIsUnderstoodAsThat) {
  const std::string line =
      R"({"type":"trial","case":"tensor_ops/nothing/f32/n=1","devices":["cpu"],)"
      R"("timing":"batch","attempt":1,"repeat":1})";
  const auto unknown = std::get<UnknownCase>(decode_to_worker(line));
  EXPECT_NE(unknown.reason.find("nothing"), std::string::npos);
  const auto back = std::get<UnknownCase>(decode_from_worker(encode(unknown)));
  EXPECT_EQ(back.reason, unknown.reason);
}

TEST(Protocol, OddTextAndOddNumbersDoNotBreakTheLine) {
  Result result;
  result.record.reason = "line\nbreak, \"quotes\", \xff\xfe not UTF-8";
  result.record.max_ulp = std::numeric_limits<double>::infinity();
  const std::string line = encode(result);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto back = std::get<Result>(decode_from_worker(line));
  EXPECT_NE(back.record.reason.find("line\nbreak, \"quotes\""), std::string::npos);
  EXPECT_EQ(back.record.max_ulp, std::nullopt) << "JSON has no infinity";
}

TEST(Protocol, ATrialSurvives) {
  PlannedTrial trial{.test = parse_case_id("allreduce/f32/reduce=sum,ranks=2,count=1"),
                     .lane = {{"sim", 0}, {"sim", 1}},
                     .timing = "batch",
                     .attempt = 2,
                     .repeat = 3};
  const auto back = std::get<PlannedTrial>(decode_to_worker(encode(trial)));
  EXPECT_EQ(back.test.id(), trial.test.id());
  EXPECT_EQ(back.lane, trial.lane);
  EXPECT_EQ(back.timing, "batch");
  EXPECT_EQ(back.attempt, 2);
  EXPECT_EQ(back.repeat, 3);
  EXPECT_EQ(back.yardstick.case_id, "");
  trial.yardstick = {.case_id = "limits/stream_copy/f64/n=1024", .launches = 0.375};
  const auto paired = std::get<PlannedTrial>(decode_to_worker(encode(trial)));
  EXPECT_EQ(paired.yardstick.case_id, trial.yardstick.case_id);
  EXPECT_EQ(paired.yardstick.launches, 0.375);
}

TEST(Protocol, AMalformedLineIsRefused) {
  for (const std::string& line : std::vector<std::string>{
           "", "{", "[]", "null", "{}", R"({"type":7})", R"({"type":"noise"})",
           R"({"type":"hello"})", R"({"type":"result"})",
           result_line(R"({"status":"great"})", "[]"), result_line(R"({"caught_by":"luck"})", "[]"),
           result_line(R"({"elements":"many"})", "[]"), result_line(R"({})", "[[1]]"),
           result_line(R"({})", R"([[1,2,"fast"]])"), result_line(R"({})", "[[1,2,1e9,1]]")}) {
    EXPECT_THROW(decode_from_worker(line), Malformed) << line;
  }
  for (
      const char* line :
      {"", R"({"type":"trial"})",
       R"({"type":"trial","case":7,"devices":["cpu"],"timing":"","attempt":1,"repeat":1})",
       R"({"type":"trial","case":"tensor_ops/add/f32/n=1","devices":["gpu!"],"timing":"","attempt":1,"repeat":1})",
       R"({"type":"trial","case":"tensor_ops/add/f32/n=1","devices":[],"timing":"","attempt":1,"repeat":1})"}) {
    EXPECT_THROW(decode_to_worker(line), Malformed) << line;
  }
}

TEST(Protocol, ANumberThatTheFieldCannotHoldIsRefused) {
  for (const char* number :
       {"1e300", "1.5", "1.0", "-1e300", "9223372036854775808", "-9223372036854775809", "true"}) {
    const std::string n = number;
    for (const std::string& line :
         {result_line(R"({"attempt":)" + n + "}"), result_line(R"({"elements":)" + n + "}"),
          result_line("{}", "[[1," + n + "]]"), R"({"type":"hello","protocol":)" + n + "}"}) {
      EXPECT_THROW(decode_from_worker(line), Malformed) << line;
    }
    EXPECT_THROW(
        decode_to_worker(R"({"type":"trial","case":"tensor_ops/add/f32/n=1","devices":["cpu"],)"
                         R"("timing":"","attempt":1,"repeat":)" +
                         n + "}"),
        Malformed)
        << n;
  }
  EXPECT_THROW(decode_from_worker(result_line(R"({"seed":-1})", "[]")), Malformed);
  EXPECT_THROW(decode_from_worker(R"({"type":"hello","protocol":4294967297})"), Malformed)
      << "it is not version 1";
}

TEST(Protocol, AnotherVersionIsReadNoFurtherThanItsNumber) {
  const auto hello = std::get<Hello>(decode_from_worker(R"({"type":"hello","protocol":99})"));
  EXPECT_EQ(hello.protocol, 99);
}

TEST(Protocol, AWholeResultIsTakenSoThatTheRefusalsAboveAreOfTheirNumbers) {
  EXPECT_NO_THROW(decode_from_worker(result_line(R"({"attempt":1,"elements":4})", "[[1,2]]")));
}

TEST(Protocol, ResultsCarryWhatTheSupervisorMustKnow) {
  Result result;
  result.leave_worker = true;
  result.references = {.computed = 2, .shared = 1};
  double place = 1;
  visit_fields(result.phases, [&](const char*, double& seconds) { seconds = place++ / 3; });
  const auto back = std::get<Result>(decode_from_worker(encode(result)));
  EXPECT_TRUE(back.leave_worker);
  EXPECT_EQ(back.references.computed, 2);
  EXPECT_EQ(back.references.shared, 1);
  for (const Phase& phase : all_phases) {
    EXPECT_EQ(back.phases.*phase.seconds, result.phases.*phase.seconds) << phase.name;
  }
}

TEST(Protocol, TimeThatWasSpentIsSaidAndNotNegative) {
  const std::string line = encode(Result());
  for (const char* wrong :
       {R"("phases_s":{"input":-1})", R"("phases_s":{"input":"long"})", R"("phases":{})"}) {
    std::string changed = line;
    const auto begin = changed.find(R"("phases_s":{)");
    ASSERT_NE(begin, std::string::npos);
    changed.replace(begin, changed.find('}', begin) + 1 - begin, wrong);
    EXPECT_THROW(decode_from_worker(changed), Malformed) << changed;
  }
}

TEST(Protocol, AConductKeepsItsValues) {
  const Conduct conduct{.cap_s = 0.1, .references = "a folder", .choices = "a file"};
  EXPECT_EQ(std::get<Conduct>(decode_to_worker(encode(conduct))), conduct);
  EXPECT_THROW(decode_to_worker(R"({"type":"conduct","cap_s":"1"})"), Malformed);
}

TEST(Protocol, TurnsAreAskedForAndGranted) {
  EXPECT_TRUE(std::holds_alternative<Ready>(decode_from_worker(encode(Ready{}))));
  EXPECT_TRUE(std::holds_alternative<Turn>(decode_to_worker(encode(Turn{}))));
  EXPECT_THROW(decode_to_worker(encode(Ready{})), Malformed);
  EXPECT_THROW(decode_from_worker(encode(Turn{})), Malformed);
}

}  // namespace
}  // namespace assay::protocol
