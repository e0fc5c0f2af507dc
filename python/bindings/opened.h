// What is opened on a stream, each with what it stands on: so that whoever holds it, holds all of it.
#pragma once

#include <memory>

#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"

namespace batchweave::python {

struct OpenedStream {
  std::unique_ptr<OwnedEnv> env;
  Stream stream;
};

// In each the last member goes first. Shared: a stream lives as long as what was opened on it.
struct OpenedProducer {
  std::shared_ptr<OpenedStream> on;
  Producer producer;
};

struct OpenedGroup {
  std::shared_ptr<OpenedStream> on;
  Group group;
};

struct OpenedConsumer {
  std::shared_ptr<OpenedStream> on;
  Consumer consumer;
  Duration stall_after;
};

}  // namespace batchweave::python
