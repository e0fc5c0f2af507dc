// What can be told of a stream, and of one step of it, without reading slices: for people and for tools.
//
// A description is a picture of the newest version at the time of the call; nothing here writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/log/manifest_log.h"
#include "batchweave/stream/stream.h"

namespace batchweave {

struct ProducerDescription {
  ProducerRow row;
  std::optional<Bytes> cursor;             // Where its source stands; none: nothing was ever committed.
  std::optional<int64_t> committed_at_ns;  // Of its newest batch, where that is in the manifest's tail.
};

struct StreamDescription {
  std::string name;
  StreamInfo info;
  LoggedManifest newest;
  uint64_t payload_bytes = 0;                  // Of every step that is not trimmed.
  std::optional<uint64_t> samples;             // Of those steps; none where entries of them are archived.
  std::vector<ProducerDescription> producers;  // Ordered by name.

  uint64_t steps() const { return newest.manifest.next_step.value - newest.manifest.first_step.value; }
  const Entry* newest_entry() const { return newest.manifest.tail.empty() ? nullptr : &newest.manifest.tail.back(); }
};

// Errors: those of ManifestLog::ReadNewest, of DecodeStreamInfo, of ReadRows and of CommittedCursor.
Result<StreamDescription> DescribeStream(Stream& stream);

struct SliceDescription {
  Coordinate at;
  size_t part = 0;      // Which of the entry's parts holds it.
  uint64_t offset = 0;  // In that part's object.
  uint64_t size_bytes = 0;
};

struct StepDescription {
  Step step;
  Entry entry;
  std::vector<std::string> keys;         // Of the objects: one a part, in the order of the entry.
  std::vector<SliceDescription> slices;  // In layout order of the whole grid: cp outermost, dp innermost.
  std::vector<Bytes> provenance;         // One a part; empty where the part has none.
};

// The entry of `step`. Errors: kTrimmed (and where the stream begins), kNotFound (not committed yet, and which step is
// the newest), and those of ForEachEntry.
Result<Entry> FindEntry(ManifestLog& log, const Manifest& manifest, Step step);

// Reads the newest version and, where the slices' lengths or provenance are only there, the ends of the step's objects.
// Errors: those of FindEntry and ManifestLog::ReadNewest; kTrimmed, kCorrupt (an object is missing or damaged: named).
Result<StepDescription> DescribeStep(Stream& stream, Step step);

// What it means that an object of `step` is not there, asked of the newest version: kTrimmed where the step is gone by
// now, else kCorrupt (I4 of docs/protocol.md does not hold).
Error ExplainMissing(Stream& stream, Step step, const std::string& key);

}  // namespace batchweave
