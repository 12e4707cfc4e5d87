// All-reduce of the CUDA backend, on emulated GPUs.
#include "kernels/device/communicator.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "tests/unit/kernels/cuda/emulated/support.h"

namespace assay {
namespace {

/// Shared by two threads that stand for processes.
struct Meeting {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<std::byte> message;
};

/// One of two processes.
class Process final : public Bootstrap {
 public:
  Process(int rank, Meeting& meeting) : rank_(rank), meeting_(meeting) {}
  int rank() const override { return rank_; }
  int size() const override { return 2; }
  void broadcast(std::span<std::byte> bytes, int root) override {
    std::unique_lock lock(meeting_.mutex);
    if (rank_ == root) meeting_.message.assign(bytes.begin(), bytes.end());
    meeting_.arrived.notify_all();
    meeting_.arrived.wait(lock, [&] { return !meeting_.message.empty(); });
    std::memcpy(bytes.data(), meeting_.message.data(), bytes.size());
  }

 private:
  int rank_;
  Meeting& meeting_;
};

OpInstance sum_of_two() {
  return instance("allreduce", DType::i32, {{"reduce", "sum"}, {"ranks", "2"}, {"count", "5"}});
}

TEST(EmulatedCommunicators, BetweenProcessesReduceOverAllOfThem) {
  on_gpus(2, [](Backend& backend) {
    Meeting meeting;
    const OpInstance op = sum_of_two();
    const auto run = [&](int rank) {
      const auto gpu = backend.open(rank);
      Process process(rank, meeting);
      Device* devices[] = {gpu.get()};
      const auto communicator = backend.connect(devices, 2, process);
      EXPECT_EQ(communicator->transport(), "nccl between processes");
      const Rank own(*gpu, op);
      communicator->prepare(op, {&own.binding, 1})->launch();
      own.stream->synchronize();
      std::int32_t last = 0;
      gpu->download(&last, static_cast<std::int32_t*>(own.binding.outputs[0]) + 4, sizeof last);
      EXPECT_EQ(last, 0x02020202);
    };
    std::thread other(run, 1);
    run(0);
    other.join();
  });
}

TEST(EmulatedCommunicators, RefuseAnInjectedFault) {
  on_gpus(1,
          [](Backend& backend) {
            const auto gpu = backend.open(0);
            Device* devices[] = {gpu.get()};
            SingleProcess process;
            const auto communicator = backend.connect(devices, 1, process);
            EXPECT_EQ(communicator->transport(), "nccl");
            const OpInstance op = instance("allreduce", DType::i32,
                                           {{"reduce", "sum"}, {"ranks", "1"}, {"count", "5"}});
            const Rank own(*gpu, op);
            expect_has(error_of(Failure::internal,
                                [&] {
                                  communicator->prepare(op, {&own.binding, 1});
                                }),
                       "cannot be given the fault 'trap'");
          },
          {{"ASSAY_CUDA_FAULT", "trap"}});
}

TEST(EmulatedCommunicators, ThatNcclRefusesAreErrorsAndNotKept) {
  on_gpus(1, [](Backend& backend) {
    const auto gpu = backend.open(0);
    Device* twice[] = {gpu.get(), gpu.get()};
    SingleProcess process;
    expect_has(error_of(Failure::internal, [&] { backend.connect(twice, 2, process); }),
               "ncclCommInitAll");
    Device* once[] = {gpu.get()};
    EXPECT_NO_THROW(backend.connect(once, 1, process));
  });
}

}  // namespace
}  // namespace assay
