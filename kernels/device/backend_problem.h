#pragma once

#include <string>

namespace assay {

/// A module that was not loaded, or a library that a backend lacks.
struct BackendProblem {
  std::string backend;  // kind of the backend
  std::string text;     // one line that names the file or the library

  bool operator==(const BackendProblem&) const = default;
};

/// "cuda: no driver".
inline std::string to_text(const BackendProblem& problem) {
  return problem.backend + ": " + problem.text;
}

}  // namespace assay
