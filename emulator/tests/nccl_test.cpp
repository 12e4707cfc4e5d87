#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "emulator/libraries/nccl/interface.h"
#include "emulator/numbers/number.h"
#include "emulator/tests/libraries_support.h"

using emulator::nccl::Result;
using emulator::nccl::UniqueId;

extern "C" {
Result ncclGetVersion(int* version);
const char* ncclGetErrorString(Result result);
Result ncclGroupStart();
Result ncclGroupEnd();
Result ncclGetUniqueId(UniqueId* id);
Result ncclCommInitAll(void** communicators, int count, const int* devices);
Result ncclCommInitRank(void** communicator, int ranks, UniqueId id, int rank);
Result ncclCommAbort(void* communicator);
Result ncclCommGetAsyncError(void* communicator, Result* error);
Result ncclRedOpCreatePreMulSum(int* operation, void* scalar, int type, int residence,
                                void* communicator);
Result ncclRedOpDestroy(int operation, void* communicator);
Result ncclAllReduce(const void* input, void* output, std::size_t count, int type, int operation,
                     void* communicator, cudaStream_t stream);
Result ncclReduce(const void* input, void* output, std::size_t count, int type, int operation,
                  int root, void* communicator, cudaStream_t stream);
Result ncclReduceScatter(const void* input, void* output, std::size_t chunk, int type,
                         int operation, void* communicator, cudaStream_t stream);
Result ncclAllGather(const void* input, void* output, std::size_t chunk, int type,
                     void* communicator, cudaStream_t stream);
Result ncclBroadcast(const void* input, void* output, std::size_t count, int type, int root,
                     void* communicator, cudaStream_t stream);
Result ncclSend(const void* input, std::size_t count, int type, int to, void* communicator,
                cudaStream_t stream);
Result ncclRecv(void* output, std::size_t count, int type, int from, void* communicator,
                cudaStream_t stream);
}
extern char** environ;

namespace emulator::nccl {
namespace {

const EmulatedGpus gpus("h100", 8);
constexpr auto nan = std::numeric_limits<float>::quiet_NaN();

/// One communicator on the first GPUs, with a stream on each.
class Ranks {
 public:
  explicit Ranks(int count) : communicators(static_cast<std::size_t>(count)) {
    EXPECT_EQ(ncclCommInitAll(communicators.data(), count, nullptr), success);
    for (int rank = 0; rank < count; ++rank) {
      cudaSetDevice(rank);
      cudaStreamCreate(&streams.emplace_back());
    }
  }
  ~Ranks() {
    for (std::size_t rank = 0; rank < size(); ++rank) {
      cudaSetDevice(static_cast<int>(rank));
      ncclCommAbort(communicators[rank]);
      cudaStreamDestroy(streams[rank]);
    }
    cudaSetDevice(0);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  std::size_t size() const { return communicators.size(); }

  std::vector<void*> communicators;
  std::vector<cudaStream_t> streams;
};

/// Reduces one message of each rank, in place or not, and returns each rank's result.
template <class T>
std::vector<std::vector<T>> reduced(Ranks& ranks, const std::vector<std::vector<T>>& messages,
                                    int type, const std::function<int(std::size_t)>& operation,
                                    bool in_place = false) {
  std::vector<std::unique_ptr<OnGpu<T>>> inputs;
  std::vector<std::unique_ptr<OnGpu<T>>> outputs;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    cudaSetDevice(static_cast<int>(rank));
    inputs.push_back(std::make_unique<OnGpu<T>>(messages[rank]));
    outputs.push_back(std::make_unique<OnGpu<T>>(messages[rank].size()));
  }
  EXPECT_EQ(ncclGroupStart(), success);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    EXPECT_EQ(ncclAllReduce(inputs[rank]->data(), (in_place ? inputs : outputs)[rank]->data(),
                            messages[rank].size(), type, operation(rank), ranks.communicators[rank],
                            ranks.streams[rank]),
              success);
  }
  EXPECT_EQ(ncclGroupEnd(), success);
  std::vector<std::vector<T>> results;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    cudaSetDevice(static_cast<int>(rank));
    results.push_back((in_place ? inputs : outputs)[rank]->elements());
  }
  // While their device is current: cudaFree does not need it, but reads more like a program.
  inputs.clear();
  outputs.clear();
  return results;
}
template <class T>
std::vector<std::vector<T>> reduced(Ranks& ranks, const std::vector<std::vector<T>>& messages,
                                    int type, int operation, bool in_place = false) {
  return reduced<T>(
      ranks, messages, type, [=](std::size_t) { return operation; }, in_place);
}

class NcclRanks : public testing::TestWithParam<int> {};

TEST_P(NcclRanks, AllGetTheSumInPlaceAndOutOfPlace) {
  Ranks ranks(GetParam());
  std::vector<std::vector<std::int32_t>> messages;
  std::vector<std::int32_t> expected(1001, 0);
  for (int rank = 0; rank < GetParam(); ++rank) {
    auto& message = messages.emplace_back();
    for (int i = 0; i < 1001; ++i) {
      message.push_back(i * (rank + 1));
      expected[static_cast<std::size_t>(i)] += message.back();
    }
  }
  for (const bool in_place : {false, true}) {
    for (const auto& result : reduced(ranks, messages, int32, sum, in_place)) {
      EXPECT_EQ(result, expected);
    }
  }
}

TEST_P(NcclRanks, ReduceByEveryOperation) {
  Ranks ranks(GetParam());
  std::vector<std::vector<double>> messages;
  for (int rank = 0; rank < GetParam(); ++rank) messages.push_back({double(rank + 1), -2.0});
  const int n = GetParam();
  const auto of = [&](int operation) { return reduced(ranks, messages, float64, operation)[0]; };
  EXPECT_EQ(of(sum)[0], n * (n + 1) / 2);
  EXPECT_EQ(of(prod)[0], std::tgamma(n + 1));
  EXPECT_EQ(of(max)[0], n);
  EXPECT_EQ(of(min)[0], 1);
  EXPECT_NEAR(of(avg)[0], (n + 1) / 2.0, 1e-12);
  EXPECT_NEAR(of(avg)[1], -2, 1e-12);
}

TEST_P(NcclRanks, GetTheSameBitsOfFloatsWithinTheBound) {
  Ranks ranks(GetParam());
  Numbers numbers(7);
  std::vector<std::vector<std::uint16_t>> messages;
  std::vector<double> exact(99, 0);
  for (int rank = 0; rank < GetParam(); ++rank) {
    auto& message = messages.emplace_back();
    for (double& total : exact) {
      message.push_back(static_cast<std::uint16_t>(encode(numbers.real(), emulator::binary16)));
      total += decode(message.back(), emulator::binary16);
    }
  }
  const auto results = reduced(ranks, messages, float16, sum);
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(decode(results[0][i], emulator::binary16), exact[i],
                GetParam() * GetParam() * 0x1p-11);
  }
}

INSTANTIATE_TEST_SUITE_P(OneProcess, NcclRanks, testing::Values(1, 2, 3, 8));

using Numbers = std::vector<std::int32_t>;

/// Gives rank r the numbers 100 r, 100 r + 1, ... and room for as many, calls in a group, and
/// returns what each rank has then.
std::vector<Numbers> after(
    Ranks& ranks, std::size_t inputs, std::size_t outputs,
    const std::function<void(std::size_t rank, std::int32_t* x, std::int32_t* y)>& call) {
  std::vector<std::unique_ptr<OnGpu<std::int32_t>>> x;
  std::vector<std::unique_ptr<OnGpu<std::int32_t>>> y;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    cudaSetDevice(static_cast<int>(rank));
    Numbers numbers(inputs);
    for (std::size_t i = 0; i < inputs; ++i) numbers[i] = static_cast<std::int32_t>(100 * rank + i);
    x.push_back(std::make_unique<OnGpu<std::int32_t>>(numbers));
    y.push_back(std::make_unique<OnGpu<std::int32_t>>(Numbers(outputs, -1)));
  }
  EXPECT_EQ(ncclGroupStart(), success);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    call(rank, x[rank]->data(), y[rank]->data());
  }
  EXPECT_EQ(ncclGroupEnd(), success);
  std::vector<Numbers> all;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    cudaSetDevice(static_cast<int>(rank));
    all.push_back(y[rank]->elements());
  }
  x.clear();
  y.clear();
  return all;
}

TEST(NcclCollectives, GiveEachRankItsPart) {
  Ranks ranks(3);
  const auto& c = ranks.communicators;
  const auto& s = ranks.streams;
  using All = std::vector<Numbers>;
  const Numbers untouched(2, -1);
  EXPECT_EQ(after(ranks, 2, 2,
                  [&](std::size_t r, auto* x, auto* y) {
                    EXPECT_EQ(ncclReduce(x, y, 2, int32, sum, 1, c[r], s[r]), success);
                  }),
            (All{untouched, {300, 303}, untouched}));
  EXPECT_EQ(after(ranks, 6, 2,
                  [&](std::size_t r, auto* x, auto* y) {
                    EXPECT_EQ(ncclReduceScatter(x, y, 2, int32, sum, c[r], s[r]), success);
                  }),
            (All{{300, 303}, {306, 309}, {312, 315}}));
  EXPECT_EQ(after(ranks, 2, 6,
                  [&](std::size_t r, auto* x, auto* y) {
                    EXPECT_EQ(ncclAllGather(x, y, 2, int32, c[r], s[r]), success);
                  }),
            All(3, {0, 1, 100, 101, 200, 201}));
  EXPECT_EQ(after(ranks, 2, 6,
                  [&](std::size_t r, auto*, auto* y) {
                    EXPECT_EQ(ncclAllGather(y + 2 * r, y, 2, int32, c[r], s[r]), success);
                  }),
            All(3, Numbers(6, -1)))
      << "in place";
  EXPECT_EQ(after(ranks, 2, 2,
                  [&](std::size_t r, auto* x, auto* y) {
                    EXPECT_EQ(ncclBroadcast(x, y, 2, int32, 2, c[r], s[r]), success);
                  }),
            All(3, {200, 201}));
}

TEST(NcclMessages, GoAroundTheRingInAnyOrderOfCalls) {
  Ranks ranks(3);
  for (const bool receives_first : {false, true}) {
    const auto got = after(ranks, 2, 2, [&](std::size_t r, auto* x, auto* y) {
      const int to = static_cast<int>((r + 1) % 3);
      const int from = static_cast<int>((r + 2) % 3);
      void* const c = ranks.communicators[r];
      const cudaStream_t s = ranks.streams[r];
      if (receives_first) {
        EXPECT_EQ(ncclRecv(y, 2, int32, from, c, s), success);
      }
      EXPECT_EQ(ncclSend(x, 2, int32, to, c, s), success);
      if (!receives_first) {
        EXPECT_EQ(ncclRecv(y, 2, int32, from, c, s), success);
      }
    });
    EXPECT_EQ(got, (std::vector<Numbers>{{200, 201}, {0, 1}, {100, 101}}));
  }
}

TEST(NcclMessages, GoFromEachRankToEachAndToItself) {
  Ranks ranks(3);
  for (int launch = 0; launch < 2; ++launch) {
    const auto got = after(ranks, 3, 3, [&](std::size_t r, auto* x, auto* y) {
      for (int other = 0; other < 3; ++other) {
        ncclSend(x + other, 1, int32, other, ranks.communicators[r], ranks.streams[r]);
        ncclRecv(y + other, 1, int32, other, ranks.communicators[r], ranks.streams[r]);
      }
    });
    EXPECT_EQ(got, (std::vector<Numbers>{{0, 100, 200}, {1, 101, 201}, {2, 102, 202}}));
  }
}

TEST(NcclMessages, ConcernTwoRanksAlone) {
  Ranks ranks(3);
  for (int launch = 0; launch < 3; ++launch) {
    const auto got = after(ranks, 2, 2, [&](std::size_t r, auto* x, auto* y) {
      if (r == 2) ncclSend(x, 2, int32, 0, ranks.communicators[r], ranks.streams[r]);
      if (r == 0) ncclRecv(y, 2, int32, 2, ranks.communicators[r], ranks.streams[r]);
    });
    EXPECT_EQ(got, (std::vector<Numbers>{{200, 201}, {-1, -1}, {-1, -1}}));
  }
}

TEST(NcclReductions, OfIntegersWrapAndDivide) {
  Ranks ranks(2);
  EXPECT_EQ(reduced<std::int8_t>(ranks, {{100}, {100}}, int8, sum)[1][0], -56);
  EXPECT_EQ(reduced<std::uint8_t>(ranks, {{200}, {100}}, uint8, sum)[1][0], 44);
  EXPECT_EQ(reduced<std::int32_t>(ranks, {{3}, {4}}, int32, avg)[0][0], 3);
  EXPECT_EQ(reduced<std::int64_t>(ranks, {{-3}, {-4}}, int64, avg)[0][0], -3);
  EXPECT_EQ(reduced<std::uint64_t>(ranks, {{~0ULL}, {3}}, uint64, max)[0][0], ~0ULL);
}

TEST(NcclReductions, DropNanBesideANumberAlone) {
  Ranks ranks(2);
  const std::vector<std::vector<float>> messages{{nan, 1, nan}, {2, nan, nan}};
  for (const int operation : {min, max}) {
    const auto result = reduced(ranks, messages, float32, operation)[0];
    EXPECT_EQ(result[0], 2);
    EXPECT_EQ(result[1], 1);
    EXPECT_TRUE(std::isnan(result[2]));
  }
  EXPECT_TRUE(std::isnan(reduced(ranks, messages, float32, sum)[0][0]));
  const WithFault fault("minmax_keeps_nan");
  const auto result = reduced(ranks, messages, float32, max)[0];
  EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
}

TEST(NcclReductions, OfPreMulSumMultiplyEachRankByItsOwnScalar) {
  Ranks ranks(2);
  int operations[2] = {};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    float scalar = rank == 0 ? 2 : 10;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&operations[rank], &scalar, float32, host_immediate,
                                       ranks.communicators[rank]),
              success);
    scalar = 0;  // read at once
  }
  const auto results = reduced<float>(ranks, {{1, 2}, {3, 4}}, float32,
                                      [&](std::size_t rank) { return operations[rank]; });
  EXPECT_EQ(results[0], (std::vector<float>{32, 44}));
  EXPECT_EQ(results[1], results[0]);

  void* const c = ranks.communicators[0];
  const OnGpu<float> data(std::vector<float>(4, 1));
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 4, float64, operations[0], c, nullptr),
            invalid_argument)
      << "created for another type";
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 4, float32, operations[0],
                          ranks.communicators[1], nullptr),
            invalid_argument)
      << "of another communicator";
  EXPECT_EQ(ncclRedOpDestroy(operations[0], c), success);
  EXPECT_EQ(ncclRedOpDestroy(operations[0], c), invalid_argument) << "a second time";
  EXPECT_EQ(ncclRedOpDestroy(sum, c), invalid_argument);
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 4, float32, operations[0], c, nullptr),
            invalid_argument);
}

TEST(NcclReductions, InAnotherOrderDifferFromLaunchToLaunch) {
  Ranks ranks(3);
  const std::vector<std::vector<float>> messages{{1}, {0x1p-24F}, {0x1p-24F}};
  const auto run = [&] { return reduced(ranks, messages, float32, sum)[0][0]; };
  EXPECT_EQ(run(), run());
  const WithFault fault("reordered_sums");
  const std::set<float> seen{run(), run(), run()};
  EXPECT_GT(seen.size(), 1U);
}

TEST(NcclCalls, RefuseWhatTheManualForbids) {
  void* two[2] = {};
  const int twice[] = {1, 1};
  const int missing[] = {0, 8};
  EXPECT_EQ(ncclCommInitAll(nullptr, 1, nullptr), invalid_argument);
  EXPECT_EQ(ncclCommInitAll(two, 0, nullptr), invalid_argument);
  EXPECT_EQ(ncclCommInitAll(two, 2, twice), invalid_usage) << "one communicator a device";
  EXPECT_EQ(ncclCommInitAll(two, 2, missing), unhandled_cuda_error);
  EXPECT_EQ(ncclGroupEnd(), invalid_usage) << "no group";
  UniqueId id{};
  EXPECT_EQ(ncclGetUniqueId(nullptr), invalid_argument);
  EXPECT_EQ(ncclCommInitRank(two, 1, id, 0), invalid_argument) << "an id of nobody";
  EXPECT_EQ(ncclGetUniqueId(&id), success);
  EXPECT_EQ(ncclCommInitRank(two, 2, id, 2), invalid_argument);
  EXPECT_EQ(ncclCommInitRank(two, 0, id, 0), invalid_argument);

  Ranks ranks(1);
  void* const c = ranks.communicators[0];
  const OnGpu<float> data(std::vector<float>(8, 1));
  const auto reduce = [&](const void* input, void* output, int type, int operation) {
    return ncclAllReduce(input, output, 4, type, operation, c, nullptr);
  };
  EXPECT_EQ(reduce(data.data(), data.data(), 12, sum), invalid_argument);
  EXPECT_EQ(reduce(data.data(), data.data(), -1, sum), invalid_argument);
  EXPECT_EQ(reduce(data.data(), data.data(), float32, 5), invalid_argument);
  EXPECT_EQ(reduce(nullptr, data.data(), float32, sum), invalid_argument);
  EXPECT_EQ(reduce(data.data(), data.data() + 1, float32, sum), invalid_argument) << "overlap";
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 4, float32, sum, &id, nullptr),
            invalid_argument);
  EXPECT_EQ(ncclBroadcast(data.data(), data.data(), 4, float32, 1, c, nullptr), invalid_argument)
      << "no such root";
  EXPECT_EQ(ncclReduce(data.data(), nullptr, 4, float32, sum, 0, c, nullptr), invalid_argument);
  EXPECT_EQ(ncclAllGather(data.data() + 1, data.data(), 4, float32, c, nullptr), invalid_argument)
      << "in place the input is the rank's own chunk";
  EXPECT_EQ(ncclSend(data.data(), 4, float32, 1, c, nullptr), invalid_argument) << "no such peer";
  EXPECT_EQ(ncclRecv(nullptr, 4, float32, 0, c, nullptr), invalid_argument);
  cudaSetDevice(1);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 4, float32, sum, c, stream),
            unhandled_cuda_error)
      << "a stream of another device";
  cudaStreamDestroy(stream);
  cudaSetDevice(0);
  Result error = internal_error;
  EXPECT_EQ(ncclCommGetAsyncError(c, &error), success);
  EXPECT_EQ(error, success);
  EXPECT_EQ(ncclCommGetAsyncError(nullptr, &error), invalid_argument);
}

TEST(NcclCalls, AnErrorInAGroupEndsIt) {
  Ranks ranks(1);
  const OnGpu<float> data(std::vector<float>(8, 1));
  EXPECT_EQ(ncclGroupStart(), success);
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 4, 99, sum, ranks.communicators[0], nullptr),
            invalid_argument);
  EXPECT_EQ(ncclGroupEnd(), invalid_argument);
  EXPECT_EQ(ncclGroupStart(), success);
  EXPECT_EQ(ncclGroupEnd(), success) << "the next group begins clean";
}

TEST(NcclCalls, TellTheirVersionAndErrors) {
  int told = 0;
  EXPECT_EQ(ncclGetVersion(&told), success);
  EXPECT_EQ(told, 22809);
  EXPECT_STREQ(ncclGetErrorString(invalid_usage), "invalid usage");
}

/// Runs a scene that hangs, aborts the communicators, and returns whether streams were stuck.
bool hangs(Ranks& ranks, const std::function<void(std::size_t, const OnGpu<float>&)>& call) {
  std::vector<std::unique_ptr<OnGpu<float>>> data;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    cudaSetDevice(static_cast<int>(rank));
    data.push_back(std::make_unique<OnGpu<float>>(std::vector<float>(8, 1)));
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) call(rank, *data[rank]);
  bool is_stuck = false;
  for (int tries = 0; tries < 100; ++tries) {
    is_stuck = false;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      is_stuck |= cudaStreamQuery(ranks.streams[rank]) == cudaErrorNotReady;
    }
    if (!is_stuck) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (void* const communicator : ranks.communicators) ncclCommAbort(communicator);
  for (const cudaStream_t stream : ranks.streams) {
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess) << "an abort ends the work";
  }
  return is_stuck;
}

TEST(NcclHangs, AGroupDoesNot) {
  Ranks ranks(2);
  EXPECT_FALSE(hangs(ranks, [&](std::size_t rank, const OnGpu<float>& data) {
    if (rank == 0) ncclGroupStart();
    ncclAllReduce(data.data(), data.data(), 8, float32, sum, ranks.communicators[rank],
                  ranks.streams[rank]);
    if (rank == 1) ncclGroupEnd();
  }));
}

TEST(NcclHangs, OneThreadWithoutAGroup) {
  Ranks ranks(2);
  EXPECT_TRUE(hangs(ranks, [&](std::size_t rank, const OnGpu<float>& data) {
    ncclAllReduce(data.data(), data.data(), 8, float32, sum, ranks.communicators[rank],
                  ranks.streams[rank]);
  }));
}

TEST(NcclHangs, AThreadForEachRankDoesNot) {
  Ranks ranks(2);
  EXPECT_FALSE(hangs(ranks, [&](std::size_t rank, const OnGpu<float>& data) {
    std::thread([&] {
      cudaSetDevice(static_cast<int>(rank));
      ncclAllReduce(data.data(), data.data(), 8, float32, sum, ranks.communicators[rank],
                    ranks.streams[rank]);
    }).join();
  }));
}

TEST(NcclHangs, RanksThatDoNotAgree) {
  const auto differ = [](std::size_t count, int type, int operation) {
    Ranks ranks(2);
    return hangs(ranks, [&](std::size_t rank, const OnGpu<float>& data) {
      if (rank == 0) ncclGroupStart();
      ncclAllReduce(data.data(), data.data(), rank == 0 ? 8 : count, rank == 0 ? float32 : type,
                    rank == 0 ? sum : operation, ranks.communicators[rank], ranks.streams[rank]);
      if (rank == 1) ncclGroupEnd();
    });
  };
  EXPECT_FALSE(differ(8, float32, sum));
  EXPECT_TRUE(differ(7, float32, sum));
  EXPECT_TRUE(differ(8, int32, sum));
  EXPECT_TRUE(differ(8, float32, prod));
}

TEST(NcclHangs, AnotherCollectiveOrRoot) {
  const auto differ = [](bool other_call, int other_root) {
    Ranks ranks(2);
    return hangs(ranks, [&](std::size_t rank, const OnGpu<float>& data) {
      void* const c = ranks.communicators[rank];
      if (rank == 0) ncclGroupStart();
      if (rank == 1 && other_call) {
        ncclReduce(data.data(), data.data(), 8, float32, sum, 0, c, ranks.streams[rank]);
      } else {
        ncclBroadcast(data.data(), data.data(), 8, float32, rank == 0 ? 0 : other_root, c,
                      ranks.streams[rank]);
      }
      if (rank == 1) ncclGroupEnd();
    });
  };
  EXPECT_FALSE(differ(false, 0));
  EXPECT_TRUE(differ(true, 0));
  EXPECT_TRUE(differ(false, 1));
}

TEST(NcclHangs, AMessageThatNobodySendsOrOfAnotherLength) {
  const auto receive = [](std::size_t sent) {
    Ranks ranks(2);
    return hangs(ranks, [&](std::size_t rank, const OnGpu<float>& data) {
      void* const c = ranks.communicators[rank];
      if (rank == 0) ncclGroupStart();
      if (rank == 0 && sent > 0) ncclSend(data.data(), sent, float32, 1, c, ranks.streams[rank]);
      if (rank == 1) {
        ncclRecv(data.data(), 8, float32, 0, c, ranks.streams[rank]);
        ncclGroupEnd();
      }
    });
  };
  EXPECT_FALSE(receive(8));
  EXPECT_TRUE(receive(7));
  EXPECT_TRUE(receive(0));
}

TEST(NcclHangs, ARankThatNeverArrives) {
  Ranks ranks(2);
  const WithFault fault("hanging_rank");
  EXPECT_TRUE(hangs(ranks, [&](std::size_t rank, const OnGpu<float>& data) {
    if (rank == 0) ncclGroupStart();
    ncclAllReduce(data.data(), data.data(), 8, float32, sum, ranks.communicators[rank],
                  ranks.streams[rank]);
    if (rank == 1) ncclGroupEnd();
  }));
}

constexpr const char* scene_variable = "ASSAY_TEST_NCCL_SCENE";

/// The part of one process: "IDHEX FIRST LOCAL RANKS FIRST_DEVICE".
TEST(NcclProcess, Part) {
  const char* scene = std::getenv(scene_variable);
  if (scene == nullptr) GTEST_SKIP() << "a part of the tests below";
  char hex[257] = {};
  int first = 0;
  int local = 0;
  int all = 0;
  int device = 0;
  ASSERT_EQ(std::sscanf(scene, "%256s %d %d %d %d", hex, &first, &local, &all, &device), 5);
  UniqueId id{};
  for (std::size_t i = 0; i < sizeof id.internal; ++i) {
    unsigned byte = 0;
    std::sscanf(hex + 2 * i, "%2x", &byte);
    id.internal[i] = static_cast<char>(byte);
  }
  std::vector<void*> communicators(static_cast<std::size_t>(local));
  std::vector<cudaStream_t> streams(communicators.size());
  std::vector<std::unique_ptr<OnGpu<float>>> data;
  ncclGroupStart();
  for (int i = 0; i < local; ++i) {
    const auto at = static_cast<std::size_t>(i);
    cudaSetDevice(device + i);
    cudaStreamCreate(&streams[at]);
    EXPECT_EQ(ncclCommInitRank(&communicators[at], all, id, first + i), success);
  }
  const int sum_of_ranks = all * (all + 1) / 2;
  const auto total = static_cast<float>(sum_of_ranks);
  if (const Result joined = ncclGroupEnd(); joined != success) std::_Exit(10 + joined);
  for (std::size_t size : {std::size_t{5}, std::size_t{100000}, std::size_t{1}}) {
    data.clear();
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      cudaSetDevice(device + static_cast<int>(i));
      data.push_back(std::make_unique<OnGpu<float>>(
          std::vector<float>(size, float(first + static_cast<int>(i) + 1))));
    }
    ncclGroupStart();
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      EXPECT_EQ(ncclAllReduce(data[i]->data(), data[i]->data(), size, float32, sum,
                              communicators[i], streams[i]),
                success);
    }
    EXPECT_EQ(ncclGroupEnd(), success);
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      cudaSetDevice(device + static_cast<int>(i));
      EXPECT_EQ(data[i]->elements(), std::vector<float>(size, total));
    }
  }
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<OnGpu<float>>> received;
    ncclGroupStart();
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      const int own = first + static_cast<int>(i);
      cudaSetDevice(device + static_cast<int>(i));
      received.push_back(std::make_unique<OnGpu<float>>(std::size_t{1}));
      EXPECT_EQ(
          ncclSend(data[i]->data(), 1, float32, (own + 1) % all, communicators[i], streams[i]),
          success);
      EXPECT_EQ(ncclRecv(received[i]->data(), 1, float32, (own + all - 1) % all, communicators[i],
                         streams[i]),
                success);
    }
    EXPECT_EQ(ncclGroupEnd(), success);
    for (std::size_t i = 0; i < communicators.size(); ++i) {
      cudaSetDevice(device + static_cast<int>(i));
      EXPECT_EQ(received[i]->elements(), std::vector<float>(1, total));
    }
  }
  for (void* const communicator : communicators) ncclCommAbort(communicator);
}

/// Starts a process for each first device, with `local` ranks each; returns their exit codes.
std::vector<int> codes_of_processes(const std::vector<int>& first_devices, int local) {
  UniqueId id{};
  EXPECT_EQ(ncclGetUniqueId(&id), success);
  std::string hex;
  for (const char byte : id.internal) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
    hex += two;
  }
  std::vector<pid_t> pids;
  const int processes = static_cast<int>(first_devices.size());
  for (int process = 0; process < processes; ++process) {
    const std::string scene = hex + " " + std::to_string(process * local) + " " +
                              std::to_string(local) + " " + std::to_string(processes * local) +
                              " " +
                              std::to_string(first_devices[static_cast<std::size_t>(process)]);
    setenv(scene_variable, scene.c_str(), 1);
    std::string program = "/proc/self/exe";
    std::string filter = "--gtest_filter=NcclProcess.Part";
    char* const arguments[] = {program.data(), filter.data(), nullptr};
    pid_t pid = 0;
    EXPECT_EQ(posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ), 0);
    pids.push_back(pid);
  }
  unsetenv(scene_variable);
  std::vector<int> codes;
  for (const pid_t pid : pids) {
    int status = 0;
    waitpid(pid, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  return codes;
}

TEST(NcclProcesses, ReduceTogether) {
  EXPECT_EQ(codes_of_processes({0, 1}, 1), (std::vector{0, 0}));
  EXPECT_EQ(codes_of_processes({0, 1, 2}, 1), (std::vector{0, 0, 0}));
  EXPECT_EQ(codes_of_processes({0, 4}, 4), (std::vector{0, 0})) << "four ranks in each";
}

TEST(NcclProcesses, WithTheSameGpuAreRefused) {
  EXPECT_EQ(codes_of_processes({2, 2}, 1), (std::vector(2, 10 + invalid_usage)));
}

}  // namespace
}  // namespace emulator::nccl
