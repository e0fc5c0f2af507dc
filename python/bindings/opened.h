// What is opened on a stream, each with what it stands on: so that whoever holds it, holds all of it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

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
  ConsumerOptions options;
  Step position = consumer.position();  // After the last batch that Python has got.

  // Without prefetch a call may be left to end alone: who calls next waits for it, and gets what it has read.
  std::mutex reading{};
  std::optional<Result<std::optional<RankBatch>>> read{};
};

}  // namespace batchweave::python
