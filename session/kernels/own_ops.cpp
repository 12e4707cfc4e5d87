#include "session/kernels/own_ops.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

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
  bool is_required = false;
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
    stop();
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

  bool is_running() const { return process_ != nullptr; }
  const std::vector<std::byte>& definitions() const { return process_->definitions(); }
  std::vector<MeasuredOutput> measure(const reference::Problem& problem, const Effort& effort) {
    go_on();
    try {
      auto outputs = process_->measure(problem.op, problem.ranks.front(), effort);
      stop();
      return outputs;
    } catch (...) {
      process_->has_ended() ? end() : stop();
      throw;
    }
  }
  void end() {
    if (child_ == nullptr) return;
    go_on();
    process_.reset();  // closes the socket, which ends the other
    child_->wait_for_end();
    child_.reset();
  }

 private:
  // It stands still but while it is asked: its file may be that of the kernels, whose threads must
  // not go on when these stand still.
  void stop() const { kill(child_->pid(), SIGSTOP); }
  void go_on() const { kill(child_->pid(), SIGCONT); }

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
    if (!source.is_required) command.arguments.emplace_back("--if-any");
    return command;
  });
  try {
    auto process = std::make_unique<providers::ReferenceProcess>(
        std::move(socket), python_limit_s, [child = child] { return child->how_it_ended(); });
    return Running(std::move(child), std::move(process));
  } catch (const UsageError& refusal) {
    throw UsageError(fmt::format("{} {}: {}", source.is_required ? "--own-ops" : "--kernels",
                                 source.file, refusal.what()));
  }
}

std::vector<std::byte>& announced() {
  static std::vector<std::byte> message;
  return message;
}

/// The files that this process has asked for ops.
std::set<std::string>& asked_files() {
  static std::set<std::string> files;
  return files;
}

void define(const Source& source, const std::vector<std::byte>& message) {
  if (!asked_files().insert(source.file).second) return;
  std::vector<DefinedOp> ops = providers::read_definitions(message);
  if (ops.empty() && source.is_required) {
    throw UsageError(fmt::format(
        "--own-ops: {} defines no op: put @assay.op(INPUTS) before a reference", source.file));
  }
  if (ops.empty()) return;
  if (!announced().empty()) {
    throw UsageError(fmt::format(
        "{} is not the only file that defines ops: put them into one, and name it by --own-ops",
        source.file));
  }
  define_ops(std::move(ops));
  add_suite_of_defined_ops();
  announced() = message;
}

}  // namespace

void define_own_ops(const TrialOptions& options) {
  const Source source = source_of(options);
  if (source.file.empty() || asked_files().contains(source.file)) return;
  if (!fs::is_regular_file(source.file)) {
    if (!source.is_required) return;  // who checks the kernels says it
    throw UsageError(fmt::format("--own-ops: there is no file '{}'", source.file));
  }
  define(source, start(options, source).definitions());
}

void answer_for_own_ops(const TrialOptions& options) {
  const Source source = source_of(options);
  if (source.file.empty()) return;
  auto running = std::make_shared<Running>(start(options, source));
  const char* wanted = std::getenv(own_ops_digest_name);
  if (wanted != nullptr && providers::digest_of(running->definitions()) != wanted) {
    throw UsageError(fmt::format("{} has changed since the run began", source.file));
  }
  define(source, running->definitions());
  if (every_defined_op().empty()) return;
  reference::measure_with([=](const reference::Problem& problem, const Effort& effort) {
    if (!running->is_running()) {
      *running = start(options, source);
      if (running->definitions() != announced()) {
        throw std::runtime_error("the file of the op has changed since the run began");
      }
    }
    return running->measure(problem, effort);
  });
}

const std::vector<std::byte>& own_definitions() { return announced(); }

std::string own_ops_digest() {
  return announced().empty() ? "" : providers::digest_of(announced());
}

GivenFile given_own_ops(const TrialOptions& options) {
  if (options.own_ops.empty()) return {};
  const fs::path path = fs::absolute(options.own_ops).lexically_normal();
  return {.path = path, .crc32 = crc32_text(read_text(path))};
}

}  // namespace assay
