// Structs of the format as tests need them: small ones to start from, and arbitrary valid ones for properties.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/random.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/tgb.h"

namespace batchweave {

// A part of the whole `grid` with slices of `slice_bytes` each; its object is as long as it must be.
Part WholePart(Grid grid, uint64_t slice_bytes, uint64_t nonce = 1);

// Makes `object_bytes` of `part` what its slices, provenance and footer come to. For lengths in the footer: as if 0.
void FillObjectBytes(Part& part);

// A batch of one part, with a cursor that names its seq.
Entry MakeEntry(std::string producer, uint64_t seq, Incarnation incarnation = {1});

// Version 1 of a stream with id {1, 2}: nothing but `tail`, and the rows that go with it. The version is as high as the
// newest incarnation in it asks.
Manifest MakeManifest(std::vector<Entry> tail = {});

// The rows that `manifest` must have for its tail, where nothing was archived: sets them.
void SetRows(Manifest& manifest);

// Any valid entry, manifest: every field may have any value that the rules allow. `size` (0 and up) says how much there
// may be of what there can be many of. The same numbers from `random` give the same.
Entry ArbitraryEntry(Random& random, size_t size);
Manifest ArbitraryManifest(Random& random, size_t size);
ProducerRow ArbitraryRow(Random& random);
ArchiveRef ArbitraryRef(Random& random, ArchiveRef::Kind kind, Step first, Step end);
TgbFooter ArbitraryFooter(Random& random, size_t size);
Bytes ArbitraryBytes(Random& random, size_t size_bytes_max);
std::string ArbitraryName(Random& random);

}  // namespace batchweave
