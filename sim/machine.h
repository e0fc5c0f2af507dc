// What all processes of a simulation share, and know nothing of.
#pragma once

#include <functional>

#include "sim/network.h"
#include "sim/scheduler.h"
#include "sim/server.h"
#include "sim/trace.h"

namespace batchweave::sim {

class Process;

struct Machine {
  Scheduler& scheduler;
  Server& server;
  Network& network;
  Trace& trace;
  const std::function<void(Process&)>& on_unknown;  // A create of this process has an unknown outcome.
};

}  // namespace batchweave::sim
