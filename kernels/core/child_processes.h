#pragma once

#include <sys/types.h>

#include <vector>

namespace assay {

/// Children of all threads of a process, which are those of the thread that made them. Empty where
/// /proc does not tell.
std::vector<pid_t> children_of(pid_t process);

/// Names a child of this process that runs nothing of kernels of others: the one with the
/// references of ops, for a time.
void trust_child(pid_t child);
void distrust_child(pid_t child);
/// Children of this process that are not trusted: those of kernels of others, or theirs that have
/// asked to become children of this process.
std::vector<pid_t> untrusted_children();

/// `found`, and all that these processes have started, and so on.
std::vector<pid_t> with_descendants(std::vector<pid_t> found);

}  // namespace assay
