#include <cuda_runtime_api.h>

#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

TEST(RuntimeStreams, WorkIsDeferredUntilTheHostWaits) {
  on_gpus(1, [] {
    RecordedWork work;
    cudaStream_t stream = new_stream();
    work.enqueue('a', stream);
    work.enqueue('b', stream);
    EXPECT_EQ(work.done(), "");
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(work.done(), "ab");
  });
}

/// Runs two streams with two pieces of work each, and returns what a wait for the first of them has
/// run.
std::string order_with_seed(int seed) {
  return on_gpus(1,
                 [] {
                   RecordedWork work;
                   cudaStream_t one = new_stream(), other = new_stream();
                   work.enqueue('a', one);
                   work.enqueue('b', one);
                   work.enqueue('x', other);
                   work.enqueue('y', other);
                   EXPECT_CUDA(cudaStreamSynchronize(one));
                   EXPECT_TRUE(work.has_order('a', 'b'));
                   EXPECT_FALSE(work.has_order('y', 'x'));
                   std::fputs(work.done().c_str(), stderr);
                 },
                 {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
}

TEST(RuntimeStreams, TheSeedDrawsTheOrderOfStreams) {
  std::set<std::string> orders;
  for (int seed = 0; seed < 40; ++seed) orders.insert(order_with_seed(seed));
  EXPECT_TRUE(orders.contains("ab"));    // nothing of the other stream
  EXPECT_TRUE(orders.contains("xyab"));  // all of it, before
  EXPECT_TRUE(orders.contains("abxy"));  // and after
  EXPECT_GE(orders.size(), 8U);
  EXPECT_EQ(order_with_seed(3), order_with_seed(3));
}

TEST(RuntimeStreams, TheDefaultStreamWaitsForBlockingStreamsOnly) {
  for (int seed = 0; seed < 20; ++seed) {
    on_gpus(1,
            [] {
              RecordedWork work;
              const std::atomic<bool> never = false;
              cudaStream_t blocking = new_stream(cudaStreamDefault), free = new_stream();
              RecordedWork::enqueue_gate(never, free);
              work.enqueue('a', blocking);
              work.enqueue('b', nullptr);
              work.enqueue('c', blocking);
              EXPECT_CUDA(cudaStreamSynchronize(blocking));
              EXPECT_EQ(work.done(), "abc");
              std::quick_exit(testing::Test::HasFailure() ? 1 : 0);
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

TEST(RuntimeStreams, DestroyedBlockingStreamsStillPrecedeTheDefaultStream) {
  for (int seed = 0; seed < 10; ++seed) {
    on_gpus(1,
            [] {
              RecordedWork work;
              cudaStream_t blocking = new_stream(cudaStreamDefault);
              work.enqueue('a', blocking);
              EXPECT_CUDA(cudaStreamDestroy(blocking));
              EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(blocking));
              work.enqueue('b', nullptr);
              EXPECT_CUDA(cudaStreamSynchronize(nullptr));
              EXPECT_EQ(work.done(), "ab");
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

TEST(RuntimeStreams, QueriesGetTheWorkDoneInTheEnd) {
  on_gpus(1, [] {
    RecordedWork work;
    cudaStream_t stream = new_stream();
    for (int i = 0; i < 10; ++i) work.enqueue('a', stream);
    int queries = 1;
    while (cudaStreamQuery(stream) == cudaErrorNotReady) ++queries;
    EXPECT_EQ(work.done().size(), 10U);
    EXPECT_GT(queries, 2);
    EXPECT_REFUSED(cudaErrorNotReady, cudaGetLastError());
  });
}

TEST(RuntimeStreams, WorkThatWaitsLetsOthersGoOn) {
  on_gpus(1, [] {
    std::atomic<bool> gate = false;
    RecordedWork work;
    cudaStream_t one = new_stream(), other = new_stream();
    RecordedWork::enqueue_gate(gate, one);
    work.enqueue('a', one);
    EXPECT_CUDA(emulator::enqueue(other, "opens", [&gate] {
      gate = true;
      return Step::done;
    }));
    EXPECT_CUDA(cudaStreamSynchronize(one));
    EXPECT_TRUE(gate);
    EXPECT_EQ(work.done(), "a");
  });
}

TEST(RuntimeStreams, AnotherThreadCanCallWhileWorkRuns) {
  on_gpus(1, [] {
    std::atomic<bool> runs = false, released = false;
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(emulator::enqueue(stream, "spins", [&] {
      runs = true;
      while (!released) std::this_thread::yield();
      return Step::done;
    }));
    std::thread waiting([&] { EXPECT_CUDA(cudaStreamSynchronize(stream)); });
    while (!runs) std::this_thread::yield();
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 100));
    RecordedWork work;
    cudaStream_t other = new_stream();
    work.enqueue('a', other);
    EXPECT_CUDA(cudaStreamSynchronize(other));
    EXPECT_EQ(work.done(), "a");
    released = true;
    waiting.join();
    EXPECT_CUDA(cudaFree(memory));
  });
}

/// Threads with two streams each, of which the second waits for the first.
TEST(RuntimeStreams, ServeManyThreads) {
  on_gpus(2, [] {
    constexpr int rounds = 100;
    std::vector<std::thread> threads;
    std::atomic<int> done = 0;
    for (int device = 0; device < 4; ++device) {
      threads.emplace_back([device, &done] {
        EXPECT_CUDA(cudaSetDevice(device % 2));
        cudaStream_t one = new_stream(), other = new_stream(cudaStreamDefault);
        cudaEvent_t event = new_event();
        int order = 0;
        for (int round = 0; round < rounds; ++round) {
          EXPECT_CUDA(emulator::enqueue(one, "first", [&order] {
            ++order;
            return Step::done;
          }));
          EXPECT_CUDA(cudaEventRecord(event, one));
          EXPECT_CUDA(cudaStreamWaitEvent(other, event, 0));
          EXPECT_CUDA(emulator::enqueue(other, "second", [&order, &done] {
            order *= 2;
            ++done;
            return Step::done;
          }));
          EXPECT_CUDA(cudaStreamSynchronize(other));
          EXPECT_EQ(order, 2);
          order = 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(done, 4 * rounds);
  });
}

TEST(RuntimeStreams, WorkStartsWithoutTheHostToo) {
  on_gpus(1, [] {
    std::atomic<bool> ran = false;
    EXPECT_CUDA(emulator::enqueue(new_stream(), "runs", [&ran] {
      ran = true;
      return Step::done;
    }));
    for (int i = 0; i < 500 && !ran; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(ran);
  });
}

TEST(RuntimeStreams, BelongToTheDeviceThatWasCurrent) {
  on_gpus(2, [] {
    EXPECT_CUDA(cudaSetDevice(1));
    cudaStream_t stream = new_stream();
    EXPECT_CUDA(cudaSetDevice(0));
    int device = -1;
    EXPECT_CUDA(cudaStreamGetDevice(stream, &device));
    EXPECT_EQ(device, 1);
    EXPECT_CUDA(cudaStreamGetDevice(nullptr, &device));
    EXPECT_EQ(device, 0);
    void* memory = nullptr;
    EXPECT_CUDA(cudaMalloc(&memory, 16));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaMemsetAsync(memory, 0, 16, stream));
    char mine[16] = {};
    EXPECT_CUDA(cudaMemcpyAsync(memory, mine, 16, cudaMemcpyDefault, stream));
    EXPECT_CUDA(cudaStreamSynchronize(stream));  // of a device that is not current
    EXPECT_CUDA(cudaFree(memory));
  });
}

TEST(RuntimeStreams, OlderDriversDoNotTellTheirDevice) {
  on_gpus(1,
          [] {
            int version = 0;
            EXPECT_CUDA(cudaDriverGetVersion(&version));
            EXPECT_EQ(version, 12020);
            int device = -1;
            EXPECT_REFUSED(cudaErrorCallRequiresNewerDriver,
                           cudaStreamGetDevice(new_stream(), &device));
            EXPECT_CUDA(cudaDeviceSynchronize());
          },
          {{"ASSAY_EMULATOR_DRIVER", "12020"}});
}

TEST(RuntimeStreams, TellWhatTheyWereGiven) {
  on_gpus(1, [] {
    cudaStream_t high = nullptr, low = nullptr;
    int priority = 99, least = 99, greatest = 99;
    unsigned flags = 99;
    unsigned long long id = 0, other_id = 0;
    EXPECT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT_LT(greatest, least);
    EXPECT_CUDA(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest - 7));
    EXPECT_CUDA(cudaStreamCreate(&low));
    EXPECT_CUDA(cudaStreamGetPriority(high, &priority));
    EXPECT_EQ(priority, greatest);
    EXPECT_CUDA(cudaStreamGetPriority(low, &priority));
    EXPECT_EQ(priority, least);
    EXPECT_CUDA(cudaStreamGetFlags(high, &flags));
    EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
    EXPECT_CUDA(cudaStreamGetFlags(low, &flags));
    EXPECT_EQ(flags, unsigned{cudaStreamDefault});
    EXPECT_CUDA(cudaStreamGetId(high, &id));
    EXPECT_CUDA(cudaStreamGetId(low, &other_id));
    EXPECT_NE(id, other_id);
    cudaLaunchAttributeValue value{};
    value.syncPolicy = cudaSyncPolicyYield;
    EXPECT_CUDA(cudaStreamSetAttribute(high, cudaLaunchAttributeSynchronizationPolicy, &value));
    EXPECT_CUDA(cudaStreamCopyAttributes(low, high));
    value = {};
    EXPECT_CUDA(cudaStreamGetAttribute(low, cudaLaunchAttributeSynchronizationPolicy, &value));
    EXPECT_EQ(value.syncPolicy, cudaSyncPolicyYield);
    EXPECT_CUDA(cudaStreamGetAttribute(low, cudaLaunchAttributePriority, &value));
    EXPECT_EQ(value.priority, greatest);
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaStreamGetAttribute(low, cudaLaunchAttributeCooperative, &value));
    EXPECT_CUDA(cudaStreamDestroy(low));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaStreamGetPriority(low, &priority));
  });
}

TEST(RuntimeStreams, UnknownFlagsAndHandlesAreRefused) {
  on_gpus(1, [] {
    cudaStream_t stream = nullptr;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 8));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle,
                   cudaStreamQuery(reinterpret_cast<cudaStream_t>(0x1234)));
  });
}

}  // namespace
}  // namespace emulator
