#include "bench/sample_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave::bench {
namespace {

// A pseudo-random filling of one seed: the operating system's generator would take longer than what is measured.
Bytes Filling(uint64_t seed, uint64_t size_bytes) {
  Bytes bytes(size_bytes);
  uint64_t state = seed | 1;
  for (size_t at = 0; at < bytes.size(); at += sizeof(state)) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::memcpy(bytes.data() + at, &state, std::min(sizeof(state), bytes.size() - at));
  }
  return bytes;
}

}  // namespace

SamplePayload::SamplePayload(Random& random, BatchShape shape)
    // Shared: see bytes_.
    : shape_(shape), bytes_(std::make_shared<const Bytes>(Filling(random.Next(), shape.bytes()))) {}

ByteView SamplePayload::SliceAt(Coordinate at) const {
  return ByteView(*bytes_).subspan((uint64_t{at.cp} * shape_.grid.dp + at.dp) * shape_.slice_bytes, shape_.slice_bytes);
}

GlobalBatch SamplePayload::MakeBatch() const {
  GlobalBatch batch(shape_.grid);
  for (uint32_t cp = 0; cp < shape_.grid.cp; ++cp) {
    for (uint32_t dp = 0; dp < shape_.grid.dp; ++dp) {
      const Coordinate at{.dp = dp, .cp = cp};
      BW_CHECK(batch.SetReference(at, SliceAt(at), bytes_).ok());
    }
  }
  return batch;
}

Result<void> PublishSteps(Producer& producer, const SamplePayload& payload, uint64_t steps) {
  for (uint64_t i = 0; i < steps; ++i) BW_TRY(producer.Publish(payload.MakeBatch(), {}));
  return producer.Flush();
}

Result<void> PublishAndCommit(Producer& producer, GlobalBatch batch) {
  BW_TRY(producer.Publish(std::move(batch), {}));
  return producer.Flush();
}

}  // namespace batchweave::bench
