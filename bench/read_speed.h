// How fast one rank reads a local store whose files are in the page cache, compared with the least that must be done.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/stream/open_env.h"
#include "batchweave/stream/stream.h"
#include "bench/measure.h"
#include "bench/workspace.h"

namespace batchweave::bench {

// A stream of batches of one slice each, which one rank reads again and again.
class ReadSpeed {
 public:
  // Writes about `data_bytes` in steps of `slice_bytes` into a fresh folder of `workspace`.
  // Errors: of the store and the stream.
  static Result<ReadSpeed> Make(const Workspace& workspace, uint64_t slice_bytes, uint64_t data_bytes);

  ReadSpeed(ReadSpeed&&) noexcept;
  ~ReadSpeed();

  // A consumer of `prefetch_threads` (0: none, Next() reads) over a loop that opens each file, preads the slice into one
  // buffer, and hashes that. Errors: of the stream; kUnavailable (the loop).
  Result<Comparison> Measure(uint32_t prefetch_threads, RoundLimits limits);

  // Bytes that count in one round.
  uint64_t counted_bytes() const { return counted_steps_ * slice_bytes_; }

 private:
  ReadSpeed(std::unique_ptr<OwnedEnv> env, Stream stream, uint64_t slice_bytes, uint64_t counted_steps);
  Result<void> FindFiles(const std::string& root);
  Result<Duration> Consume(uint32_t prefetch_threads);
  Result<Duration> ReadPlainly();

  std::unique_ptr<OwnedEnv> env_;
  Stream stream_;
  const uint64_t slice_bytes_;
  const uint64_t counted_steps_;
  std::vector<std::string> files_;  // Of the steps that count.
  Bytes buffer_;                    // Of the plain loop.
};

}  // namespace batchweave::bench
