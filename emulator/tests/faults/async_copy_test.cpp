#include <cstdint>
#include <numeric>
#include <vector>

#include "emulator/tests/faults/support.h"

// Mistakes with asynchronous copies must be found whatever the order, and their mended twins pass.
namespace emulator::test {
namespace {

constexpr std::uint64_t seeds = 12;
constexpr unsigned threads = 128;
constexpr Shape one_block{.grid = {1}, .block = {threads}};

Report of(FaultKind kind) { return {kind, std::nullopt, 0, std::nullopt}; }

struct Case {
  int mistake;
  FaultKind kind;
};

std::vector<int> numbers(std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1000);
  return values;
}

// `name(in, out, mistake)` and, without `in`, `name(out, mistake)`.
void check(const char* name, bool reads, const std::vector<Case>& cases) {
  FaultTest test("async_copies_sm90");
  const auto in = test.device.upload(numbers(2 * threads + 4)),
             out = test.device.allocate(threads * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    const auto run = [&](const Case* each) {
      const int mistake = each == nullptr ? 0 : each->mistake;
      SCOPED_TRACE(mistake);
      if (each == nullptr && reads) return test.expect_none(name, one_block, in, out, mistake);
      if (each == nullptr) return test.expect_none(name, one_block, out, mistake);
      if (reads) return test.expect_fault(of(each->kind), name, one_block, in, out, mistake);
      test.expect_fault(of(each->kind), name, one_block, out, mistake);
    };
    run(nullptr);
    for (const Case& each : cases) run(&each);
  });
}

TEST(AsyncCopyFault, ReadBeforeTheWait) { check("own_element", true, {{1, FaultKind::race}}); }

TEST(AsyncCopyFault, NoBarrierBehindTheWait) {
  check("other_element", true, {{1, FaultKind::race}, {2, FaultKind::race}});
}

TEST(AsyncCopyFault, TheWrongGroup) { check("two_groups", true, {{1, FaultKind::race}}); }

TEST(AsyncCopyFault, Overwritten) { check("overwritten", true, {{1, FaultKind::race}}); }

TEST(AsyncCopyFault, TwoCopiesToOnePlace) { check("copied_twice", true, {{1, FaultKind::race}}); }

TEST(AsyncCopyFault, NoWaitBeforeTheEnd) {
  check("without_wait", true, {{1, FaultKind::undefined}});
}

TEST(AsyncCopyFault, Misaligned) {
  check("misaligned_element", true, {{1, FaultKind::misaligned_address}});
}

TEST(AsyncCopyFault, BulkLoad) {
  check("bulk_load", true,
        {{1, FaultKind::race},
         {2, FaultKind::race},
         {3, FaultKind::endless},
         {4, FaultKind::endless},
         {5, FaultKind::undefined},
         {6, FaultKind::misaligned_address}});
}

TEST(AsyncCopyFault, BulkStore) {
  check("bulk_store", false,
        {{1, FaultKind::race}, {2, FaultKind::undefined}, {3, FaultKind::race}});
}

// The source may change behind a wait for its reads, whenever the writes come.
TEST(AsyncCopyFault, BulkStoreWritesWhatItRead) {
  FaultTest test("async_copies_sm90");
  const auto out = test.device.allocate(threads * sizeof(int));
  std::vector<int> indices(threads);
  std::iota(indices.begin(), indices.end(), 0);
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("bulk_store", one_block, out, 0);
    EXPECT_EQ(test.device.download<int>(out, threads), indices);
  });
}

TEST(AsyncCopyFault, BulkStoreOfOthers) {
  check("bulk_store_of_others", false,
        {{1, FaultKind::race}, {2, FaultKind::race}, {3, FaultKind::race}, {4, FaultKind::race}});
}

TEST(AsyncCopyFault, FencesAnywhereBetweenWriteAndBulkStore) {
  FaultTest test("async_copies_sm90");
  const auto out = test.device.allocate(threads * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    for (const int place : {-1, -2}) {
      test.expect_none("bulk_store_of_others", one_block, out, place);
      EXPECT_EQ(test.device.download<int>(out, threads)[5], 5);
    }
  });
}

TEST(AsyncCopyFault, NoFenceBetweenBulkCopies) {
  FaultTest test("async_copies_sm90");
  const auto in = test.device.upload(numbers(threads)),
             out = test.device.allocate(threads * sizeof(int));
  for_seeds(test.kernels, seeds, [&] {
    test.expect_none("bulk_through", one_block, in, out);
    EXPECT_EQ(test.device.download<int>(out, threads), numbers(threads));
  });
}

TEST(AsyncCopyFault, MessageThroughAnMbarrier) {
  check("message", false, {{1, FaultKind::race}, {2, FaultKind::race}});
}

TEST(AsyncCopyFault, UseOfAnMbarrier) {
  std::vector<Case> cases{{2, FaultKind::endless}};
  for (const int mistake : {1, 3, 4, 5, 6, 7, 8, 9})
    cases.push_back({mistake, FaultKind::undefined});
  check("object", false, cases);
}

TEST(AsyncCopyFault, NoOrderBehindTheWait) {
  check("announced_copy", true, {{1, FaultKind::race}});
}

TEST(AsyncCopyFault, AnMbarrierInitialisedWithoutOrder) {
  check("announced_object", false, {{1, FaultKind::race}});
}

TEST(AsyncCopyFault, NamesAddressAndThreads) {
  FaultTest test("async_copies_sm90");
  const auto in = test.device.upload(numbers(1)), out = test.device.allocate(sizeof(int));
  const Report report{FaultKind::race, 0, 0, 0};
  test.expect_fault(report, "own_element", {.grid = {1}, .block = {1}}, in, out, 1);
}

TEST(AsyncCopyFault, PastTheEndOfTheSource) {
  FaultTest test("async_copies_sm90");
  const auto in = test.device.upload(numbers(threads - 1)),
             out = test.device.allocate(threads * sizeof(int));
  const Report report{FaultKind::illegal_address, in + (threads - 1) * sizeof(int), 0, threads - 1};
  test.expect_fault(report, "own_element", one_block, in, out, 0);
}

// A copy carries the marks of its source: it may copy what nothing has written, but not use it.
TEST(AsyncCopyFault, UseOfUninitialisedBytes) {
  FaultTest test("async_copies_sm90");
  const auto in = test.device.allocate(threads * sizeof(int)),
             out = test.device.allocate(threads * sizeof(int));
  test.expect_none("without_wait", one_block, in, out, 0);
  test.expect_fault(of(FaultKind::uninitialised_read), "own_element", one_block, in, out, 0);
}

}  // namespace
}  // namespace emulator::test
