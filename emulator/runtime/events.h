#pragma once

#include "emulator/runtime/capture.h"
#include "emulator/runtime/scheduler.h"

namespace emulator {

struct Event {
  int device;
  bool has_time;
  TicketPointer ticket = nullptr;  // of the last record; null: none outside of a capture
  CaptureFront front = {};         // of the last record, if a capturing stream made it
};

}  // namespace emulator
