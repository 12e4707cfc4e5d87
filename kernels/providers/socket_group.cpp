#include "kernels/providers/socket_group.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "kernels/core/clock.h"
#include "kernels/core/status.h"

namespace assay::providers {
namespace {

/// A longer message is garbage, which something has written into the socket.
constexpr std::uint64_t max_message_bytes = std::uint64_t{1} << 40;

}  // namespace

void SocketGroup::end() {
  lost_();
  throw DeviceError(Failure::internal, "the other process is gone");
}

void SocketGroup::send_all(const void* bytes, std::size_t count) {
  const auto* next = static_cast<const std::byte*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::send(socket_.get(), next, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) end();
    next += sent;
    count -= static_cast<std::size_t>(sent);
  }
}

void SocketGroup::receive_all(void* bytes, std::size_t count) {
  auto* next = static_cast<std::byte*>(bytes);
  while (count > 0) {
    const ssize_t received = ::recv(socket_.get(), next, count, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) end();
    next += received;
    count -= static_cast<std::size_t>(received);
  }
}

void SocketGroup::send(int /*to*/, std::span<const std::byte> bytes) {
  const std::uint64_t count = bytes.size();
  send_all(&count, sizeof count);
  send_all(bytes.data(), bytes.size());
}

std::vector<std::byte> SocketGroup::receive(int /*from*/) {
  std::uint64_t count = 0;
  receive_all(&count, sizeof count);
  if (count > max_message_bytes) {
    throw DeviceError(Failure::internal, "what the other process sent is no message");
  }
  std::vector<std::byte> bytes(count);
  receive_all(bytes.data(), bytes.size());
  return bytes;
}

bool SocketGroup::wait_for_message(double seconds) const {
  for (const Deadline deadline = after(seconds);;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (left_ms < 0) return false;
    pollfd polled{socket_.get(), POLLIN, 0};
    if (poll(&polled, 1, static_cast<int>(left_ms)) > 0) return true;
  }
}

void SocketGroup::broadcast(std::span<const int> /*members*/, std::span<std::byte> /*bytes*/) {
  throw std::logic_error("no broadcast between two processes of a provider");
}

void SocketGroup::run(std::span<const int> /*members*/, const CollectiveCall& /*call*/) {
  throw std::logic_error("no collectives between two processes of a provider");
}

}  // namespace assay::providers
