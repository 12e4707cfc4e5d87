#include "session/kernels/own_ops.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/execute/part_of_problem.h"
#include "harness/input/given_data.h"
#include "kernels/core/status.h"
#include "kernels/ops/defined.h"
#include "kernels/providers/definitions.h"
#include "kernels/providers/reference_process.h"
#include "kernels/reference/defined.h"
#include "session/kernels/given_file.h"
#include "session/kernels/python_program.h"
#include "session/kernels/socket_child.h"
#include "suites/own_ops.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// The file that may define ops, or the folder of problems.
struct Source {
  std::string file;
  std::string_view option;  // that names it
  /// For the process that reads it.
  std::string_view how = "";

  bool is_required() const { return option != "--kernels"; }
};

/// True for a library that names the function of assay_op.h. Others are left to those who need no
/// Python.
bool may_define_ops(const fs::path& library) {
  if (!fs::is_regular_file(library)) return false;
  std::ifstream file(library, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  return bytes.starts_with(
             "\x7f"
             "ELF") &&
         bytes.find(std::string_view("\0assay_ops\0", 11)) != std::string::npos;
}

Source source_of(const TrialOptions& options) {
  if (!options.problem.empty()) return {options.problem, "--problem", "--problem"};
  if (!options.own_ops.empty()) return {options.own_ops, "--own-ops"};
  if (fs::path(options.kernels).extension() == ".py" || may_define_ops(options.kernels)) {
    return {options.kernels, "--kernels", "--if-any"};
  }
  return {};
}

/// A running process of references.
class Running {
  /// Lets the process go on for an answer.
  template <class Question>
  auto ask(const Question& question) {
    go_on();
    try {
      auto answer = question();
      stop();
      return answer;
    } catch (...) {
      process_->has_ended() ? end() : stop();
      throw;
    }
  }

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
    return ask([&] { return process_->measure(problem.op, problem.ranks.front(), effort); });
  }
  std::vector<HostTensor> draw(const OpInstance& op, std::uint64_t seed) {
    return ask([&] { return process_->draw(op, seed); });
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

/// Tells of a question while it lives.
class Question {
 public:
  explicit Question(const std::function<void(bool)>& asked) : asked_(asked) { asked_(true); }
  ~Question() { asked_(false); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

 private:
  const std::function<void(bool)>& asked_;
};

Running start(const TrialOptions& options, const Source& source) {
  check_python(options);
  auto [child, socket] = start_with_socket([&](int end) {
    ChildCommand command{.streams = {end, STDERR_FILENO, STDERR_FILENO}};
    command.arguments = {find_in_path(python_of(options)).string(),
                         (python_folder() / "assay" / "_reference_host.py").string(), source.file,
                         "0"};
    if (!source.how.empty()) command.arguments.emplace_back(source.how);
    return command;
  });
  try {
    auto process = std::make_unique<providers::ReferenceProcess>(
        std::move(socket), own_ops_limit_s(options),
        [child = child] { return child->how_it_ended(); });
    return Running(std::move(child), std::move(process));
  } catch (const UsageError& refusal) {
    throw UsageError(fmt::format("{} {}: {}", source.option, source.file, refusal.what()));
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
  if (ops.empty() && source.is_required()) {
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
  const bool may_be_folder = !options.problem.empty();
  if (!fs::is_regular_file(source.file) && !(may_be_folder && fs::is_directory(source.file))) {
    if (!source.is_required()) return;  // who checks the kernels says it
    throw UsageError(fmt::format("{}: there is no file '{}'", source.option, source.file));
  }
  define(source, start(options, source).definitions());
}

void answer_for_own_ops(const TrialOptions& options, const std::function<void(bool)>& asked) {
  const Source source = source_of(options);
  if (source.file.empty()) return;
  auto running = std::make_shared<Running>(start(options, source));
  const char* wanted = std::getenv(own_ops_digest_name);
  if (wanted != nullptr && providers::digest_of(running->definitions()) != wanted) {
    throw UsageError(fmt::format("{} has changed since the run began", source.file));
  }
  define(source, running->definitions());
  if (every_defined_op().empty()) return;
  const auto started = [=]() -> Running& {
    if (!running->is_running()) {
      *running = start(options, source);
      if (running->definitions() != announced()) {
        throw std::runtime_error("the file of the op has changed since the run began");
      }
    }
    return *running;
  };
  reference::measure_with([=](const reference::Problem& problem, const Effort& effort) {
    const Question open(asked);
    if (problem.panel.rows == 0) return started().measure(problem, effort);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(problem.panel.rows));
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    const PartOfProblem first = part_of(problem.op, problem.ranks.front(), std::move(rows), {});
    return started().measure({first.op, first.inputs}, effort);
  });
  input::draw_given_with([=](const OpInstance& op, std::uint64_t seed) {
    const Question open(asked);
    return started().draw(op, seed);
  });
}

double own_ops_limit_s(const TrialOptions& options) {
  if (!fs::is_directory(options.problem)) return python_limit_s;
  return python_limit_s * static_cast<double>(1 + python_files_of(options.problem).size());
}

const std::vector<std::byte>& own_definitions() { return announced(); }

std::string own_ops_digest() {
  return announced().empty() ? "" : providers::digest_of(announced());
}

}  // namespace assay
