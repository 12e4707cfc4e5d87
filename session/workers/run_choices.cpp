#include "session/workers/run_choices.h"

#include <utility>

#include "kernels/core/choice_file.h"
#include "session/process/this_launch.h"

namespace assay {

namespace fs = std::filesystem;

namespace {

/// Adds the choices that count in one file to another, where they count.
void add(const ChoiceFile& from, const ChoiceFile& to) {
  for (const StoredChoice& choice : from.read()) {
    if (from.find(choice) != choice) continue;  // superseded
    const auto before = to.find(choice);
    if (before != choice) to.keep(choice, before);
  }
}

}  // namespace

void share_choices(const fs::path& run_directory, WorkerCommand& command) {
  if (this_launch()) return;  // the other ranks have no such file, and one would choose otherwise
  command.conduct.value().choices = fs::absolute(run_directory / choices_name).string();
}

KeptChoices::KeptChoices(fs::path file, Start start) : file_(std::move(file)), start_(start) {
  std::error_code error;
  if (start_ == Start::resumed && !fs::exists(file_, error)) file_.clear();
  if (!file_.empty()) ChoiceFile(file_).make();
}

void KeptChoices::begin(const RunInfo& run) {
  if (file_.empty() || start_ == Start::resumed) return;
  add(ChoiceFile(file_), ChoiceFile(run.directory / choices_name));
}

void KeptChoices::end(const RunInfo& run) {
  if (!file_.empty()) add(ChoiceFile(run.directory / choices_name), ChoiceFile(file_));
}

}  // namespace assay
