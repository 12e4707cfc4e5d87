// Bounds of a figure: demands on limits, theoretical limits, and the share that is reached.
#include <gtest/gtest.h>

#include <string>

#include "harness/measure/demand.h"
#include "harness/measure/limit_book.h"
#include "harness/measure/theoretical.h"
#include "harness/plan/case.h"

namespace assay::measure {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t cache = 32 * mib;

const LimitKind memory_copy{Resource::memory_copy};
const LimitKind memory_read{Resource::memory_read};
const LimitKind link_to_device{Resource::link_to_device};
const LimitKind launch{Resource::launch};

LimitKind matrix(Format format) { return {Resource::matrix, format}; }

/// Returns the demands' names with their amounts: "memory_copy 134217728".
std::string demands_text(const std::string& id, std::optional<std::int64_t> cache_bytes = cache) {
  std::string text;
  for (const Demand& demand : demands(parse_case_id(id).op, cache_bytes)) {
    text += (text.empty() ? "" : ", ") + name(demand.limit) + " " +
            std::to_string(static_cast<std::int64_t>(demand.amount));
  }
  return text;
}

TEST(Demands, OfMemoryBeginAtFourCaches) {
  EXPECT_EQ(demands_text("tensor_ops/copy/f32/n=16777216"), "memory_copy 134217728");
  EXPECT_EQ(demands_text("tensor_ops/copy/f32/n=16777215"), "");
  EXPECT_EQ(demands_text("tensor_ops/copy/f32/n=16777216", std::nullopt), "");
}

TEST(Demands, GoByTheShareThatIsWritten) {
  EXPECT_EQ(demands_text("tensor_ops/sum/f64/n=16777216"), "memory_read 134217736");
  EXPECT_EQ(demands_text("tensor_ops/fill/f64/n=16777216"), "memory_write 134217736");
  EXPECT_EQ(demands_text("tensor_ops/add/f64/n=16777216"), "memory_triad 402653184");
  EXPECT_EQ(demands_text("tensor_ops/relu/f64/n=16777216"), "memory_copy 268435456");
  EXPECT_EQ(demands_text("tensor_ops/less/f64/n=16777216"), "memory_read 285212672");
}

TEST(Demands, OfProductsAreOperationsAndLargeTensors) {
  EXPECT_EQ(demands_text("linear/bf16/batch=512,in=512,out=512,bias=0,act=none"),
            "matrix_bf16 268435456");
  EXPECT_EQ(demands_text("linear/bf16/batch=64,in=64,out=64,bias=0,act=none"), "");
  EXPECT_EQ(demands_text("linear/f32/batch=1,in=8192,out=8192,bias=0,act=none"),
            "matrix_f32 134217728, memory_read 268500992");
  EXPECT_EQ(demands_text("tensor_ops/batched_matmul/tf32/batch=64,m=128,n=128,k=64"),
            "matrix_tf32 134217728");
  EXPECT_EQ(demands_text("tensor_ops/dot/f32/n=3"), "");
}

TEST(Demands, OfFunctionsAreTheirValuesToo) {
  EXPECT_EQ(demands_text("tensor_ops/pow/f32/n=16777216"),
            "memory_triad 201326592, function_pow_f32 16777216");
  EXPECT_EQ(demands_text("tensor_ops/pow/f32/n=1048573"), "")
      << "in the caches it is its own limit";
}

TEST(Demands, OfAGatherAreTheRowsThatItTouches) {
  const std::string table = "tensor_ops/gather/f32/rows=1000000,cols=1024,count=";
  EXPECT_EQ(demands_text(table + "100"), "");
  EXPECT_EQ(demands_text(table + "100000"), "memory_copy 820000000");
}

TEST(Demands, OfCopiesAreOnTheirLink) {
  const std::string ends = "transfers/device_memcpy/u8/from=";
  EXPECT_EQ(demands_text(ends + "pinned,to=device,bytes=1000,by=engine"), "link_to_device 1000");
  EXPECT_EQ(demands_text(ends + "device,to=pageable,bytes=1000,by=engine"),
            "link_from_device 1000");
  EXPECT_EQ(demands_text(ends + "device,to=device,bytes=100000000,by=kernel"),
            "memory_copy 200000000");
  EXPECT_EQ(demands_text(ends + "pinned,to=device,bytes=1000,by=engine,ways=both"), "");
  EXPECT_EQ(demands_text("transfers/peer_memcpy/u8/bytes=400000000,by=engine,access=direct"), "");
  EXPECT_EQ(demands_text("allreduce/f32/reduce=sum,ranks=2,count=100000000"), "");
}

Limit limit(LimitKind kind, double value) {
  Limit limit{.device = "cpu", .limit = kind, .status = Status::pass};
  limit.unit = unit_of(kind);
  limit.value = value;
  limit.ci_low = 0.99 * value;
  limit.ci_high = 1.01 * value;
  return limit;
}

DeviceInfo cpu_with_cache() {
  DeviceInfo cpu{.device = "cpu", .backend = "cpu"};
  cpu.last_level_cache_bytes = cache;
  return cpu;
}

Record rated(const LimitBook& book, const std::string& id, double median_s) {
  Record record{.status = Status::pass};
  record.time_median_s = median_s;
  record.time_ci_low_s = 0.99 * median_s;
  record.time_ci_high_s = 1.01 * median_s;
  book.rate(parse_case_id(id).op, cpu_with_cache(), record);
  return record;
}

constexpr const char* copy_id = "tensor_ops/copy/f32/n=16777216";  // 2^27 bytes

TEST(LimitBook, TellsTheShareOfTheLimit) {
  LimitBook book;
  book.add(limit(memory_copy, 0x1p30));
  const Record record = rated(book, copy_id, 0.25);
  EXPECT_EQ(record.fraction_of_limit, 0.5);
  EXPECT_EQ(record.limit, "memory_copy 1.074e+09 B/s");
  EXPECT_EQ(record.reason, "");
}

TEST(LimitBook, TakesTheLimitThatTakesLongest) {
  LimitBook book;
  book.add(limit(matrix(DType::f32), 0x1p30));
  book.add(limit(memory_read, 0x1p30));
  const std::string thin = "linear/f32/batch=1,in=8192,out=8192,bias=0,act=none";
  EXPECT_EQ(rated(book, thin, 1).limit, "memory_read 1.074e+09 B/s");
  const std::string thick = "linear/f32/batch=8192,in=8192,out=8192,bias=0,act=none";
  const Record record = rated(book, thick, 2048);
  EXPECT_EQ(record.limit, "matrix_f32 1.074e+09 FLOP/s");
  EXPECT_EQ(record.fraction_of_limit, 0.5);
}

TEST(LimitBook, TellsTheBestOfAll) {
  LimitBook book;
  book.add(limit(memory_copy, 2));
  book.add(limit(memory_copy, 3));
  book.add(limit(memory_copy, 1));
  Limit failed = limit(memory_copy, 9);
  failed.value.reset();
  book.add(failed);
  EXPECT_EQ(book.best("cpu", memory_copy)->value, 3);
  EXPECT_EQ(book.all("cpu", memory_copy).size(), 3U) << "the failed one has no value";
  book.add(limit(launch, 2e-6));
  book.add(limit(launch, 1e-6));
  EXPECT_EQ(book.best("cpu", launch)->value, 1e-6);
  EXPECT_EQ(book.best("cuda:0", launch), nullptr);
}

TEST(LimitBook, SaysOfAFigureBeyondItsLimitThatOneOfThemIsWrong) {
  LimitBook book;
  book.add(limit(memory_copy, 0x1p30));
  const Record touching = rated(book, copy_id, 0.121);  // within intervals and drift
  EXPECT_EQ(touching.reason, "");
  EXPECT_EQ(touching.beyond_limit, false);
  const Record record = rated(book, copy_id, 0.1);
  EXPECT_EQ(record.reason,
            "beyond its limit: 1.25 of memory_copy 1.074e+09 B/s; one of the two figures is wrong");
  EXPECT_EQ(record.beyond_limit, true);
  EXPECT_EQ(record.status, Status::pass);  // its result is right
}

TEST(LimitBook, FailsAStreamThatIsFarBeyondItsLimit) {
  LimitBook book;
  book.add(limit(memory_copy, 0x1p30));
  const Record fast = rated(book, copy_id, 0.125 / 32);  // 32, less the intervals
  EXPECT_EQ(fast.status, Status::pass);
  EXPECT_EQ(fast.beyond_limit, true);
  const Record record = rated(book, copy_id, 0.125 / 34);
  EXPECT_EQ(record.status, Status::fail);
  EXPECT_EQ(record.caught_by, Check::limit);
  EXPECT_EQ(record.caught_on, "timed_launches");
  EXPECT_EQ(record.reason,
            "34 times memory_copy 1.074e+09 B/s, its limit: no doubt about either figure explains "
            "that, so timed launches do not do the work that was verified");
  EXPECT_EQ(record.time_median_s, std::nullopt) << "wrong work has no times";
  EXPECT_EQ(record.fraction_of_limit, std::nullopt);
  EXPECT_EQ(record.limit, "");
}

TEST(LimitBook, FailsAProductOnlyWhereNoOtherUnitsExplainIt) {
  LimitBook book;
  book.add(limit(matrix(DType::i8), 0x1p30));
  const std::string id = "linear/i8/batch=1024,in=1024,out=512,bias=0,act=none";  // 2^30 operations
  EXPECT_EQ(rated(book, id, 1.0 / 640).status, Status::pass) << "AMX, and a machine that was busy";
  EXPECT_EQ(rated(book, id, 1e-4).status, Status::fail);
}

TEST(LimitBook, FailsOnlyWhatIsFarBeyondTheLimitByBothMeasurementsOfIt) {
  LimitBook book;
  book.add(limit(memory_copy, 0x1p30));
  const auto status = [&](double median_s, double share) {
    Record record{.status = Status::pass};
    record.time_median_s = median_s;
    record.fraction_of_limit = record.fraction_ci_low = share;
    book.rate(parse_case_id(copy_id).op, cpu_with_cache(), record);
    return record.status;
  };
  EXPECT_EQ(status(1e-6, 2), Status::pass);
  EXPECT_EQ(status(0.1, 1e5), Status::pass);
  EXPECT_EQ(status(1e-6, 1e5), Status::fail);
}

TEST(LimitBook, FailsAPassOnARetryAndNothingThatHasFailed) {
  LimitBook book;
  book.add(limit(memory_copy, 0x1p30));
  Record record{.status = Status::flaky};
  record.time_median_s = 1e-6;
  book.rate(parse_case_id(copy_id).op, cpu_with_cache(), record);
  EXPECT_EQ(record.status, Status::fail);
  record = {.status = Status::timeout};
  record.time_median_s = 1e-6;
  book.rate(parse_case_id(copy_id).op, cpu_with_cache(), record);
  EXPECT_EQ(record.status, Status::timeout);
}

TEST(LimitBook, KeepsAShareThatWasMeasuredInTurnsWithTheLimit) {
  LimitBook book;
  book.add(limit(memory_copy, 0x1p30));
  const DeviceInfo cpu = cpu_with_cache();
  Record record{.status = Status::pass};
  record.time_median_s = 0.1;  // 1.25 of the limit as it was measured before
  record.fraction_of_limit = 0.9;
  record.fraction_ci_low = 0.8;
  book.rate(parse_case_id(copy_id).op, cpu, record);
  EXPECT_EQ(record.fraction_of_limit, 0.9);
  EXPECT_EQ(record.limit, "memory_copy 1.074e+09 B/s");
  EXPECT_EQ(record.beyond_limit, false);
  record.fraction_ci_low = 1.06;
  book.rate(parse_case_id(copy_id).op, cpu, record);
  EXPECT_EQ(record.beyond_limit, true);
  record.fraction_ci_low.reset();  // too few turns to be sure: the limit measured before decides
  record.time_median_s = 0.25;
  book.rate(parse_case_id(copy_id).op, cpu, record);
  EXPECT_EQ(record.beyond_limit, false);
}

TEST(LimitBook, SaysNothingWhereNothingWasMeasured) {
  LimitBook book;
  Limit failed = limit(memory_copy, 1);
  failed.value.reset();
  book.add(failed);
  EXPECT_EQ(rated(book, copy_id, 1).limit, "");
  EXPECT_EQ(rated(book, copy_id, 1).fraction_of_limit, std::nullopt);
}

DeviceInfo h100() {
  DeviceInfo gpu{.device = "cuda:0", .backend = "cuda"};
  gpu.architecture = "sm_90";
  gpu.compute_units = 132;
  gpu.clock_max_hz = 1.83e9;
  gpu.link = "PCIe 5.0 x16; 18 NVLinks";
  gpu.memory_peak_bytes_per_s = 3.35e12;
  return gpu;
}

// The data sheet of the H100 SXM: 989 TFLOP/s of bf16, 495 of tf32, 1979 of fp8, dense.
TEST(Theory, AgreesWithADataSheet) {
  EXPECT_NEAR(*theoretical(h100(), matrix(DType::bf16)), 989e12, 2e12);
  EXPECT_NEAR(*theoretical(h100(), matrix(ProductFormat::tf32)), 495e12, 1e12);
  EXPECT_NEAR(*theoretical(h100(), matrix(DType::e4m3)), 1979e12, 4e12);
  EXPECT_EQ(theoretical(h100(), memory_copy), 3.35e12);
  EXPECT_NEAR(*theoretical(h100(), link_to_device), 63.0e9, 0.1e9);
  EXPECT_EQ(theoretical(h100(), launch), std::nullopt);
}

// The data sheets of the GB300 (dense: 2.5 PFLOPS of f16, 1.25 of tf32, 5 of fp8, 165 TOPS of int8,
// 80 TFLOPS of f32) and of the Jetson T5000 (258 TFLOPS of f16).
TEST(Theory, KnowsTheLaterBlackwells) {
  DeviceInfo gpu = h100();
  gpu.architecture = "sm_103";
  gpu.compute_units = 160;
  gpu.clock_max_hz = 1.95e9;
  EXPECT_NEAR(*theoretical(gpu, matrix(DType::f16)), 2.5e15, 0.1e15);
  EXPECT_NEAR(*theoretical(gpu, matrix(ProductFormat::tf32)), 1.25e15, 0.05e15);
  EXPECT_NEAR(*theoretical(gpu, matrix(DType::e4m3)), 5e15, 0.2e15);
  EXPECT_NEAR(*theoretical(gpu, matrix(DType::i8)), 165e12, 6e12);
  EXPECT_NEAR(*theoretical(gpu, matrix(DType::f32)), 80e12, 1e12);
  EXPECT_NEAR(*theoretical(gpu, matrix(DType::f64)), 1.25e12, 0.05e12);
  gpu.architecture = "sm_110";
  gpu.compute_units = 20;
  gpu.clock_max_hz = 1.575e9;
  EXPECT_NEAR(*theoretical(gpu, matrix(DType::f16)), 258e12, 1e12);
  EXPECT_EQ(theoretical(gpu, matrix(DType::i8)), std::nullopt);
  gpu.architecture = "sm_120";
  const auto f16 = theoretical(gpu, matrix(DType::f16));
  gpu.architecture = "sm_121";
  EXPECT_EQ(theoretical(gpu, matrix(DType::f16)), f16);
}

TEST(Theory, SaysNothingOfWhatItDoesNotKnow) {
  DeviceInfo gpu = h100();
  gpu.architecture = "sm_70";
  EXPECT_EQ(theoretical(gpu, matrix(DType::f16)), std::nullopt);
  gpu = h100();
  gpu.clock_max_hz.reset();
  EXPECT_EQ(theoretical(gpu, matrix(DType::f16)), std::nullopt);
  gpu.link = "NVLink-C2C";
  EXPECT_EQ(theoretical(gpu, link_to_device), std::nullopt);
  gpu.architecture = "sm_75";
  EXPECT_EQ(theoretical(gpu, matrix(DType::bf16)), std::nullopt);  // no bf16 on sm_75
}

// A CPU's processors may share a core, and its clock is not known.
TEST(Theory, SaysNothingOfACpu) {
  DeviceInfo cpu{.device = "cpu", .backend = "cpu"};
  cpu.architecture = "x86-64 avx2 fma";
  cpu.compute_units = 2;
  cpu.clock_max_hz = 3e9;
  EXPECT_EQ(theoretical(cpu, matrix(DType::f32)), std::nullopt);
}

}  // namespace
}  // namespace assay::measure
