#pragma once

#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace emulator {

using Environment = std::map<std::string, std::string>;

struct Outcome {
  int status;          // of waitpid
  std::string errors;  // what it wrote to stderr
};

/// Writes the calls of the thread that met a signal, as program and offset, and dies of it.
inline void tell_where(int signal) {
  std::array<void*, 64> calls{};
  backtrace_symbols_fd(calls.data(), backtrace(calls.data(), calls.size()), STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Runs `body` in a process of its own: the runtime reads the environment once, and its errors
/// stick. A failed expectation in `body` fails the test.
inline Outcome run_process(const Environment& environment, const std::function<void()>& body) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
#ifndef __SANITIZE_ADDRESS__  // which tells more
    std::signal(SIGSEGV, tell_where);
#endif
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    body();
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(ends[1]);
  Outcome outcome{};
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    outcome.errors.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

/// Does so with `gpus` T4s, for a process that ends as it should.
inline std::string on_gpus(int gpus, const std::function<void()>& body,
                           Environment environment = {}) {
  environment.emplace("ASSAY_EMULATED_GPUS", std::to_string(gpus));
  const Outcome outcome = run_process(environment, body);
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  return outcome.errors;
}

}  // namespace emulator

#define EXPECT_CUDA(call) EXPECT_EQ(cudaSuccess, call)
#define EXPECT_REFUSED(error, call) EXPECT_EQ(error, call)
