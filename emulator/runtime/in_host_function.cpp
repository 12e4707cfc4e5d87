#include "emulator/runtime/in_host_function.h"

namespace emulator {
namespace {

thread_local bool is_inside = false;

}  // namespace

bool is_in_host_function() { return is_inside; }

InHostFunction::InHostFunction() { is_inside = true; }
InHostFunction::~InHostFunction() { is_inside = false; }

}  // namespace emulator
