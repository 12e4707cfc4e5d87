#include <cuda_runtime_api.h>

#include <string>

#include "emulator/tests/recorded_work.h"

extern "C" {
int cuStreamGetCtx(cudaStream_t stream, void** context);
int cuCtxRecordEvent(void* context, cudaEvent_t event);
}

namespace emulator {
namespace {

TEST(RuntimeEvents, OrderStreams) {
  for (int seed = 0; seed < 20; ++seed) {
    on_gpus(2,
            [] {
              RecordedWork work;
              cudaStream_t first = new_stream();
              cudaEvent_t event = new_event(cudaEventDisableTiming);
              EXPECT_CUDA(cudaSetDevice(1));
              cudaStream_t second = new_stream();
              work.enqueue('a', first);
              EXPECT_CUDA(cudaEventRecord(event, first));
              EXPECT_CUDA(cudaStreamWaitEvent(second, event, 0));
              work.enqueue('b', second);
              EXPECT_CUDA(cudaStreamSynchronize(second));
              EXPECT_EQ(work.done(), "ab");
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

TEST(RuntimeEvents, StandForAllWorkOfAContext) {
  for (int seed = 0; seed < 20; ++seed) {
    on_gpus(1,
            [] {
              RecordedWork work;
              cudaStream_t first = new_stream();
              cudaStream_t second = new_stream();
              cudaStream_t third = new_stream();
              cudaEvent_t event = new_event(cudaEventDisableTiming);
              work.enqueue('a', first);
              work.enqueue('a', second);
              void* context = nullptr;
              EXPECT_EQ(cuStreamGetCtx(first, &context), 0);
              EXPECT_EQ(cuCtxRecordEvent(context, event), 0);
              EXPECT_CUDA(cudaStreamWaitEvent(third, event, 0));
              work.enqueue('b', third);
              EXPECT_CUDA(cudaStreamSynchronize(third));
              EXPECT_EQ(work.done(), "aab");
              EXPECT_NE(cuCtxRecordEvent(nullptr, event), 0);
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

TEST(RuntimeEvents, StandForTheirLastRecord) {
  on_gpus(1, [] {
    RecordedWork work;
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    EXPECT_CUDA(cudaEventQuery(event));  // never recorded: an empty set of work
    EXPECT_CUDA(cudaEventSynchronize(event));
    EXPECT_CUDA(cudaEventRecord(event, stream));
    work.enqueue('a', stream);
    EXPECT_CUDA(cudaEventRecord(event, stream));
    EXPECT_CUDA(cudaEventSynchronize(event));
    EXPECT_EQ(work.done(), "a");
  });
}

TEST(RuntimeEvents, TellTheTimeBetweenThem) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    cudaEvent_t begin = new_event(), end = new_event(), never = new_event();
    cudaEvent_t without_time = new_event(cudaEventDisableTiming);
    float ms = -1;
    EXPECT_CUDA(cudaEventRecord(begin, stream));
    EXPECT_CUDA(cudaEventRecord(end, stream));
    EXPECT_CUDA(cudaEventRecord(without_time, stream));
    EXPECT_REFUSED(cudaErrorNotReady, cudaEventElapsedTime(&ms, begin, end));
    EXPECT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_CUDA(cudaEventElapsedTime(&ms, begin, end));
    EXPECT_GE(ms, 0);
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, begin, never));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, without_time, end));
  });
}

const Environment strict_times{{"ASSAY_EMULATOR_STRICT_TIMES", "1"}};

/// Records one event on each stream around work on a third, and asks for the time between them.
std::string times_apart(bool is_start_apart, bool is_end_apart) {
  return on_gpus(
      1,
      [=] {
        RecordedWork work;
        cudaStream_t stream = new_stream(), other = new_stream();
        cudaEvent_t begin = new_event(), end = new_event();
        EXPECT_CUDA(cudaEventRecord(begin, is_start_apart ? other : stream));
        work.enqueue('a', stream);
        EXPECT_CUDA(cudaEventRecord(end, is_end_apart ? other : stream));
        EXPECT_CUDA(cudaDeviceSynchronize());
        float ms = 0;
        const bool is_right = !is_start_apart && !is_end_apart;
        EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess, is_right);
      },
      strict_times);
}

TEST(RuntimeEvents, OfOtherStreamsThanTheWorkTellNoTimeOfIt) {
  EXPECT_EQ(times_apart(false, false), "");
  const std::string call = "emulator: cudaEventElapsedTime: ";
  const std::string apart = call + "the events were recorded on different streams\n";
  EXPECT_EQ(times_apart(true, false), apart);
  EXPECT_EQ(times_apart(false, true), apart);
  EXPECT_EQ(times_apart(true, true),
            call + "the work between the events is on other streams than theirs\n");
}

/// Records events of the default stream around work on a stream with these flags.
std::string times_from_the_default_stream(unsigned flags, bool is_right) {
  return on_gpus(
      1,
      [=] {
        RecordedWork work;
        cudaStream_t stream = nullptr;
        EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, flags));
        cudaEvent_t begin = new_event(), end = new_event();
        EXPECT_CUDA(cudaEventRecord(begin, nullptr));
        work.enqueue('a', stream);
        EXPECT_CUDA(cudaEventRecord(end, nullptr));
        EXPECT_CUDA(cudaEventSynchronize(end));
        float ms = 0;
        EXPECT_EQ(cudaEventElapsedTime(&ms, begin, end) == cudaSuccess, is_right);
      },
      strict_times);
}

TEST(RuntimeEvents, OfTheDefaultStreamTimeWorkOfBlockingOnes) {
  EXPECT_EQ(times_from_the_default_stream(cudaStreamDefault, true), "");
  EXPECT_EQ(times_from_the_default_stream(cudaStreamNonBlocking, false),
            "emulator: cudaEventElapsedTime: the work between the events is on other streams than "
            "theirs\n");
}

TEST(RuntimeEvents, MayTimeWorkOfOtherStreamsThatTheHostWaitedFor) {
  EXPECT_EQ(on_gpus(1,
                    [] {
                      RecordedWork work;
                      cudaStream_t stream = new_stream(), other = new_stream();
                      cudaEvent_t begin = new_event(), end = new_event();
                      EXPECT_CUDA(cudaEventRecord(begin, stream));
                      work.enqueue('a', other);
                      EXPECT_CUDA(cudaStreamSynchronize(other));
                      EXPECT_CUDA(cudaEventRecord(end, stream));
                      EXPECT_CUDA(cudaEventSynchronize(end));
                      float ms = 0;
                      EXPECT_CUDA(cudaEventElapsedTime(&ms, begin, end));
                    }),
            "");
}

TEST(RuntimeEvents, AreRecordedOnStreamsOfTheirDeviceOnly) {
  on_gpus(2, [] {
    cudaEvent_t event = new_event();
    EXPECT_CUDA(cudaSetDevice(1));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecord(event, new_stream()));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaEventRecord(event, nullptr));
    EXPECT_CUDA(cudaSetDevice(0));
    EXPECT_CUDA(cudaEventRecord(event, nullptr));
  });
}

TEST(RuntimeEvents, AreGoneWhenDestroyed) {
  on_gpus(1, [] {
    RecordedWork work;
    cudaStream_t first = new_stream(), second = new_stream();
    cudaEvent_t event = new_event();
    work.enqueue('a', first);
    EXPECT_CUDA(cudaEventRecord(event, first));
    EXPECT_CUDA(cudaStreamWaitEvent(second, event, 0));
    EXPECT_CUDA(cudaEventDestroy(event));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaEventDestroy(event));
    EXPECT_REFUSED(cudaErrorInvalidResourceHandle, cudaEventQuery(event));
    EXPECT_CUDA(cudaStreamSynchronize(second));  // waits for it all the same
    EXPECT_EQ(work.done(), "a");
  });
}

TEST(RuntimeEvents, TimeGoesOnWhileWorkRuns) {
  on_gpus(1, [] {
    cudaStream_t stream = new_stream();
    cudaEvent_t begin = new_event(), end = new_event();
    EXPECT_CUDA(cudaEventRecord(begin, stream));
    EXPECT_CUDA(emulator::enqueue(stream, "sleeps", [] {
      usleep(20000);
      return Step::done;
    }));
    EXPECT_CUDA(cudaEventRecord(end, stream));
    EXPECT_CUDA(cudaEventSynchronize(end));
    float ms = 0;
    EXPECT_CUDA(cudaEventElapsedTime(&ms, begin, end));
    EXPECT_GE(ms, 19);
  });
}

}  // namespace
}  // namespace emulator
