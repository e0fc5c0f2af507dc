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
  // It would hurt most if this process were stopped just now: chance has it, by a share of the usual.
  const std::function<void(Process&, double)>& at_worst_moment;
};

}  // namespace batchweave::sim
