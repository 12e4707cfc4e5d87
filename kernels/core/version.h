#pragma once

namespace assay::version {

extern const char* const number;
extern const char* const git_revision;
extern const char* const build_type;
extern const char* const compiler;

/// Identifies a build: a module fits a program only where both have the same.
extern const char* const build_id;

}  // namespace assay::version
