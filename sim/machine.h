// What all processes of a simulation share, and know nothing of.
#pragma once

#include "sim/network.h"
#include "sim/scheduler.h"
#include "sim/server.h"
#include "sim/trace.h"

namespace batchweave::sim {

struct Machine {
  Scheduler& scheduler;
  Server& server;
  Network& network;
  Trace& trace;
};

}  // namespace batchweave::sim
