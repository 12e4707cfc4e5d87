// Tests what a process that serves a device keeps between the trials of the one that drives it.
#include "kernels/remote/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/cpu/backend.h"
#include "kernels/device/forwarding.h"

namespace assay::remote {
namespace {

/// Streams of a device that counts those that there are.
struct Streams {
  int created = 0;
  int alive = 0;
};

class CountedStream final : public ForwardingStream {
 public:
  CountedStream(std::unique_ptr<Stream> real, Streams& streams)
      : ForwardingStream(std::move(real)), streams_(streams) {
    ++streams_.created;
    ++streams_.alive;
  }
  ~CountedStream() override { --streams_.alive; }
  CountedStream(const CountedStream&) = delete;
  CountedStream& operator=(const CountedStream&) = delete;

 private:
  Streams& streams_;
};

class CountingDevice final : public ForwardingDevice {
 public:
  CountingDevice(std::unique_ptr<Device> real, Streams& streams)
      : ForwardingDevice(std::move(real)), streams_(streams) {}
  std::unique_ptr<Stream> create_stream() override {
    return std::make_unique<CountedStream>(ForwardingDevice::create_stream(), streams_);
  }

 private:
  Streams& streams_;
};

/// A job without messages.
class NoJob final : public ProcessGroup {
 public:
  int rank() const override { return 1; }
  int size() const override { return 2; }
  std::string library() const override { return ""; }
  std::string transport() const override { return ""; }
  void send(int /*to*/, std::span<const std::byte> /*bytes*/) override {}
  std::vector<std::byte> receive(int /*from*/) override { return {}; }
  void broadcast(std::span<const int> /*members*/, std::span<std::byte> /*bytes*/) override {}
  void run(std::span<const int> /*members*/, const CollectiveCall& /*call*/) override {}
};

class Served : public testing::Test {
 protected:
  std::uint64_t create() {
    const auto answer = server_.handle(Writer(Command::create_stream).bytes());
    Reader reader(*answer);
    EXPECT_FALSE(reader.get<bool>()) << "no error";
    return reader.get<std::uint64_t>();
  }
  void end(std::uint64_t stream) {
    Writer message(Command::end_stream);
    server_.handle(message.put(stream).bytes());
  }

  Streams streams_;
  WrappingBackend backend_{"cpu", cpu::make_backend(), [this](std::unique_ptr<Device> real) {
                             return std::make_unique<CountingDevice>(std::move(real), streams_);
                           }};
  NoJob job_;
  Server server_{job_,
                 {.backend = backend_,
                  .prepare = [](Device& device, const OpInstance& op, const Binding& binding) {
                    return device.prepare(op, binding);
                  }}};
};

// A framework's current stream may be one of an earlier trial: PyTorch allocates on it, by then an
// "invalid device context" or a crash.
TEST_F(Served, StreamsOutliveTheirTrial) {
  const std::uint64_t first = create();
  end(first);
  EXPECT_EQ(streams_.alive, 1);
  const std::uint64_t second = create();
  EXPECT_NE(second, first);
  EXPECT_EQ(streams_.created, 1) << "the same one again: memory that a framework keeps for each";
  create();
  EXPECT_EQ(streams_.created, 2) << "one that is in use is no other's";
}

TEST_F(Served, AnUnknownCommandIsAnError) {
  const auto answer = server_.handle(Writer(static_cast<Command>(200)).bytes());
  Reader reader(*answer);
  EXPECT_TRUE(reader.get<bool>());
  EXPECT_EQ(reader.get<Failure>(), Failure::internal);
  EXPECT_EQ(reader.text(), "remote: there is no command 200");
}

TEST_F(Served, PiecesGoByOneMessage) {
  const auto answer_to = [&](const Writer& message) {
    auto answer = server_.handle(message.bytes()).value();
    EXPECT_EQ(answer.front(), std::byte{0}) << "no error";
    answer.erase(answer.begin());
    return answer;
  };
  const auto memory =
      Reader(answer_to(Writer(Command::allocate).put(std::size_t{8}).put(Memory::standard)))
          .get<std::uint64_t>();
  server_.handle(Writer(Command::fill).put(memory).put(std::byte{9}).put(std::size_t{8}).bytes());
  const std::array content{std::byte{1}, std::byte{2}, std::byte{3}};
  const std::vector<Place> places{{.offset = 1, .bytes = 2}, {.offset = 6, .bytes = 1}};
  const auto none = server_.handle(Writer(Command::upload_pieces)
                                       .put(memory)
                                       .put(places)
                                       .put(std::span<const std::byte>(content))
                                       .bytes());
  EXPECT_FALSE(none) << "an upload has no answer";
  const auto whole = answer_to(Writer(Command::download).put(memory).put(std::size_t{8}));
  const std::vector<std::byte> expected{std::byte{9}, std::byte{1}, std::byte{2}, std::byte{9},
                                        std::byte{9}, std::byte{9}, std::byte{3}, std::byte{9}};
  EXPECT_EQ(whole, expected);
  const auto read = answer_to(Writer(Command::download_pieces).put(memory).put(places));
  EXPECT_TRUE(std::ranges::equal(read, content));
  server_.handle(Writer(Command::release).put(memory).bytes());
}

}  // namespace
}  // namespace assay::remote
