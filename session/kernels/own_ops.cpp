#include "session/kernels/own_ops.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "kernels/core/child_processes.h"
#include "kernels/core/status.h"
#include "kernels/ops/defined.h"
#include "kernels/providers/definitions.h"
#include "kernels/providers/reference_process.h"
#include "kernels/reference/defined.h"
#include "reports/files/checksum.h"
#include "reports/files/csv_file.h"
#include "session/kernels/python_program.h"
#include "session/kernels/socket_child.h"
#include "suites/own_ops.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// The file that may define ops, and whether it must.
struct Source {
  std::string file;
  bool must = false;
};

Source source_of(const TrialOptions& options) {
  if (!options.own_ops.empty()) return {options.own_ops, true};
  if (fs::path(options.kernels).extension() == ".py") return {options.kernels, false};
  return {};
}

/// A running process of references.
class Running {
 public:
  Running() = default;
  Running(std::shared_ptr<SocketChild> child, std::unique_ptr<providers::ReferenceProcess> process)
      : child_(std::move(child)), process_(std::move(process)) {
    trust_child(child_->pid());  // or it would stand still with the kernels'
  }
  ~Running() { end(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Running(Running&&) = default;
  Running& operator=(Running&& other) noexcept {
    end();
    child_ = std::move(other.child_);
    process_ = std::move(other.process_);
    return *this;
  }

  /// Null for one that has ended.
  providers::ReferenceProcess* process() const { return process_.get(); }
  void end() {
    process_.reset();  // closes the socket, which ends the other
    if (child_ == nullptr) return;
    child_->wait_for_end();
    distrust_child(child_->pid());
    child_.reset();
  }

 private:
  std::shared_ptr<SocketChild> child_;
  std::unique_ptr<providers::ReferenceProcess> process_;
};

Running start(const TrialOptions& options, const Source& source) {
  check_python(options);
  auto [child, socket] = start_with_socket([&](int end) {
    ChildCommand command{.streams = {end, STDERR_FILENO, STDERR_FILENO}};
    command.arguments = {find_in_path(python_of(options)).string(),
                         (python_folder() / "assay" / "_reference_host.py").string(), source.file,
                         "0"};
    if (!source.must) command.arguments.emplace_back("--if-any");
    return command;
  });
  try {
    auto process = std::make_unique<providers::ReferenceProcess>(
        std::move(socket), python_limit_s, [child = child] { return child->how_it_ended(); });
    return Running(std::move(child), std::move(process));
  } catch (const UsageError& refusal) {
    throw UsageError(fmt::format("{} {}: {}", source.must ? "--own-ops" : "--kernels", source.file,
                                 refusal.what()));
  }
}

std::vector<std::byte>& announced() {
  static std::vector<std::byte> message;
  return message;
}

/// The file whose ops this process knows.
std::string& known_file() {
  static std::string file;
  return file;
}

void define(const Source& source, const std::vector<std::byte>& message) {
  if (!known_file().empty()) {
    if (known_file() == source.file) return;
    throw UsageError(
        fmt::format("ops of two files, {} and {}: put them into one", known_file(), source.file));
  }
  std::vector<DefinedOp> ops = providers::read_definitions(message);
  if (ops.empty()) return;
  define_ops(std::move(ops));
  add_suite_of_defined_ops();
  announced() = message;
  known_file() = source.file;
}

}  // namespace

void define_own_ops(const TrialOptions& options) {
  const Source source = source_of(options);
  if (source.file.empty() || source.file == known_file()) return;
  if (!fs::is_regular_file(source.file)) {
    if (!source.must) return;  // who checks the kernels says it
    throw UsageError(fmt::format("--own-ops: there is no file '{}'", source.file));
  }
  define(source, start(options, source).process()->definitions());
}

void answer_for_own_ops(const TrialOptions& options) {
  const Source source = source_of(options);
  if (source.file.empty()) return;
  auto running = std::make_shared<Running>(start(options, source));
  define(source, running->process()->definitions());
  if (every_defined_op().empty()) return;
  reference::measure_with([=](const reference::Problem& problem, int draws) {
    if (running->process() == nullptr) *running = start(options, source);
    try {
      return running->process()->measure(problem.op, problem.ranks.front(), draws);
    } catch (...) {
      running->end();  // it may have ended itself; the next trial gets another
      throw;
    }
  });
}

const std::vector<std::byte>& own_definitions() { return announced(); }

GivenFile given_own_ops(const TrialOptions& options) {
  if (options.own_ops.empty()) return {};
  const fs::path path = fs::absolute(options.own_ops).lexically_normal();
  return {.path = path, .crc32 = crc32_text(read_text(path))};
}

}  // namespace assay
