#include "batchweave/testing/format_builders.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave {
namespace {

constexpr uint32_t kFooterBytes = 208;  // About what a footer takes.

uint64_t Below(Random& random, uint64_t bound) { return random.Next() % bound; }
bool Coin(Random& random) { return Below(random, 2) == 0; }
uint64_t Between(Random& random, uint64_t first, uint64_t last) { return first + Below(random, last - first + 1); }
Hash128 ArbitraryHash(Random& random) {
  const uint64_t high = random.Next();
  return {.high = high, .low = random.Next()};
}

// Cuts the grid into rows along dp of arbitrary height.
std::vector<GridRange> ArbitraryTiling(Random& random, Grid grid) {
  if (Coin(random)) return {WholeOf(grid)};
  std::vector<GridRange> ranges;
  for (uint32_t dp = 0; dp < grid.dp;) {
    const auto count = static_cast<uint32_t>(Between(random, 1, grid.dp - dp));
    ranges.push_back({.dp_begin = dp, .dp_count = count, .cp_begin = 0, .cp_count = grid.cp});
    dp += count;
  }
  return ranges;
}

std::vector<uint64_t> ArbitraryLengths(Random& random, uint64_t slices) {
  std::vector<uint64_t> lengths = {Below(random, uint64_t{1} << Between(random, 0, 34))};
  if (slices == 1 || Coin(random)) return lengths;
  while (lengths.size() < slices) {
    lengths.push_back(Coin(random) ? Below(random, uint64_t{1} << 34) : lengths.back() + Below(random, 64));
  }
  return lengths;
}

std::vector<GroupRow> ArbitraryGroups(Random& random, const Manifest& manifest, size_t size) {
  std::map<std::string, GroupRow> groups;
  for (size_t i = Below(random, std::min(size, kGroupsMax) + 1); i > 0; --i) {
    GroupRow group{.name = ArbitraryName(random),
                   .session = {Below(random, manifest.version.value + 1)},
                   .start = {Between(random, manifest.first_step.value, manifest.next_step.value)}};
    groups.insert_or_assign(group.name, std::move(group));
  }
  std::vector<GroupRow> ordered;
  for (auto& [name, group] : groups) ordered.push_back(std::move(group));
  return ordered;
}

std::vector<Checkpoint> ArbitraryCheckpoints(Random& random, const Manifest& manifest, size_t size) {
  std::vector<Checkpoint> checkpoints;
  if (manifest.groups.empty()) return checkpoints;
  for (size_t i = 0; i < Below(random, size + 1); ++i) {
    checkpoints.push_back({.group = manifest.groups[Below(random, manifest.groups.size())].name,
                           .name = fmt::format("{}.{}", ArbitraryName(random).substr(0, 80), i),
                           .position = {Between(random, manifest.first_step.value, manifest.next_step.value)},
                           .pinned = Coin(random),
                           .order = i * 3 + Below(random, 3)});
  }
  return checkpoints;
}

std::vector<Quarantine> ArbitraryQuarantines(Random& random, Version version, size_t size) {
  std::vector<Quarantine> quarantines;
  for (size_t i = Below(random, size + 1); i > 0; --i) {
    const Version set_at{Between(random, 1, version.value)};
    const bool lifted = set_at < version && Coin(random);
    quarantines.push_back({.first = {i * 10},
                           .end = {i * 10 + Between(random, 1, 20)},
                           .reason = std::string(Below(random, kReasonBytesMax + 1), '?'),
                           .set_at = set_at,
                           .lifted_at = {lifted ? Between(random, set_at.value + 1, version.value) : 0}});
  }
  std::ranges::sort(quarantines, {}, &Quarantine::set_at);
  return quarantines;
}

std::vector<ArchiveRef> ArbitraryArchives(Random& random, Step end, size_t size) {
  std::vector<ArchiveRef> refs;
  for (size_t i = Below(random, size + 1); i > 0 && end.value > 0; --i) {
    const Step first{Below(random, end.value)};
    refs.push_back(
        ArbitraryRef(random, Coin(random) ? ArchiveRef::Kind::kEntries : ArchiveRef::Kind::kIndex, first, end));
    end = first;
  }
  std::ranges::reverse(refs);
  return refs;
}

}  // namespace

Part WholePart(Grid grid, uint64_t slice_bytes, uint64_t nonce) {
  Part part{.nonce = nonce, .range = WholeOf(grid), .slice_bytes = {slice_bytes}, .footer_bytes = kFooterBytes};
  FillObjectBytes(part);
  return part;
}

void FillObjectBytes(Part& part) {
  const std::vector<uint64_t> lengths = part.slice_bytes.empty() ? std::vector<uint64_t>{0} : part.slice_bytes;
  part.object_bytes = *PartLayout::PayloadEnd(part.range, lengths) + part.provenance_bytes + part.footer_bytes;
}

Entry MakeEntry(std::string producer, uint64_t seq, Incarnation incarnation) {
  constexpr Grid kGrid{.dp = 4, .cp = 2};
  return {.producer = std::move(producer),
          .incarnation = incarnation,
          .seq = seq,
          .grid = kGrid,
          .parts = {WholePart(kGrid, 1000, seq)},
          .digest = {.high = seq, .low = 7},
          .content_type = "application/octet-stream",
          .samples = 32,
          .cursor = ToBytes(fmt::format("after {}", seq)),
          .committed_at_ns = 1'700'000'000'000'000'000};
}

Manifest MakeManifest(std::vector<Entry> tail) {
  Manifest manifest{.stream_id = {{.high = 1, .low = 2}},
                    .version = {1},
                    .commit_id = {{.high = 3, .low = 4}},
                    .previous_hash = {.high = 5, .low = 6},
                    .next_step = {tail.size()},
                    .tail = std::move(tail)};
  for (const Entry& entry : manifest.tail) {
    manifest.version.value = std::max(manifest.version.value, entry.incarnation.value);
  }
  SetRows(manifest);
  return manifest;
}

void SetRows(Manifest& manifest) {
  std::map<std::string, ProducerRow> rows;
  for (size_t i = 0; i < manifest.tail.size(); ++i) {
    const Entry& entry = manifest.tail[i];
    rows.insert_or_assign(entry.producer, ProducerRow{.producer = entry.producer,
                                                      .incarnation = entry.incarnation,
                                                      .seq = entry.seq,
                                                      .step = manifest.tail_first() + i});
  }
  manifest.rows.clear();
  for (auto& [producer, row] : rows) manifest.rows.push_back(std::move(row));
}

Bytes ArbitraryBytes(Random& random, size_t size_bytes_max) {
  Bytes bytes(Below(random, size_bytes_max + 1));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.Next());
  return bytes;
}

std::string ArbitraryName(Random& random) {
  constexpr std::string_view kAlphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::string_view kAny = "abcXYZ0189._-";
  std::string name(1, kAlphanumeric[Below(random, kAlphanumeric.size())]);
  for (uint64_t more = Below(random, Coin(random) ? 10 : 100); more > 0; --more) {
    name.push_back(kAny[Below(random, kAny.size())]);
  }
  return name;
}

Entry ArbitraryEntry(Random& random, size_t size) {
  const auto side_max = static_cast<uint32_t>(std::min<size_t>(size + 1, 256));
  Entry entry{.producer = ArbitraryName(random),
              .incarnation = {Between(random, 1, 1000)},
              .seq = Between(random, 1, uint64_t{1} << 40),
              .grid = {.dp = static_cast<uint32_t>(Between(random, 1, side_max)),
                       .cp = static_cast<uint32_t>(Between(random, 1, side_max))},
              .digest = ArbitraryHash(random),
              .content_type = std::string(Below(random, kContentTypeBytesMax + 1), 'x'),
              .schema_hash = random.Next(),
              .samples = random.Next(),
              .cursor = ArbitraryBytes(random, Coin(random) ? 16 : kCursorBytesMax),
              .committed_at_ns = static_cast<int64_t>(random.Next()),
              .metadata = ArbitraryBytes(random, Coin(random) ? 0 : kMetadataBytesMax)};
  for (const GridRange& range : ArbitraryTiling(random, entry.grid)) {
    entry.parts.push_back({.nonce = random.Next(),
                           .range = range,
                           .slice_bytes = ArbitraryLengths(random, range.slices()),
                           .footer_bytes = static_cast<uint32_t>(Between(random, kFooterTailBytes + 1, 1 << 20)),
                           .provenance_bytes = static_cast<uint32_t>(Below(random, kProvenanceBytesMax + 1))});
    FillObjectBytes(entry.parts.back());
  }
  if (!LengthsFitEntry(entry.parts)) {
    for (Part& part : entry.parts) part.slice_bytes.resize(part.slice_bytes.size() > 1 ? 0 : 1);
  }
  return entry;
}

ProducerRow ArbitraryRow(Random& random) {
  ProducerRow row{.producer = ArbitraryName(random),
                  .incarnation = {Between(random, 1, 1000)},
                  .opening_nonce = random.Next(),
                  .state = static_cast<ProducerRow::State>(Below(random, 4))};
  if (Coin(random)) row.cursor = ArbitraryBytes(random, kCursorBytesMax);
  return row;
}

ArchiveRef ArbitraryRef(Random& random, ArchiveRef::Kind kind, Step first, Step end) {
  return {.kind = kind,
          .version = {Between(random, 1, 1000)},
          .nonce = random.Next(),
          .first = first,
          .end = end,
          .object_bytes = random.Next(),
          .hash = ArbitraryHash(random),
          .level = static_cast<uint8_t>(kind == ArchiveRef::Kind::kIndex ? Between(random, 1, 255) : 0),
          .payload_bytes = random.Next()};
}

Manifest ArbitraryManifest(Random& random, size_t size) {
  Manifest manifest{.stream_id = {ArbitraryHash(random)},
                    .version = {Between(random, 1000, 2000)},
                    .commit_id = {ArbitraryHash(random)},
                    .previous_hash = ArbitraryHash(random),
                    .writer_features = random.Next(),
                    .sealed = Coin(random),
                    .deleted = Coin(random)};
  for (size_t i = Below(random, size + 1); i > 0; --i) manifest.tail.push_back(ArbitraryEntry(random, size));
  const Step tail_first{Coin(random) ? 0 : Below(random, uint64_t{1} << 50)};
  manifest.next_step = tail_first + manifest.tail.size();
  manifest.archives = ArbitraryArchives(random, tail_first, size);
  const Step oldest = manifest.archives.empty() ? tail_first : manifest.archives.front().first;
  manifest.first_step = {Between(random, oldest.value, manifest.next_step.value)};
  manifest.groups = ArbitraryGroups(random, manifest, size);
  manifest.checkpoints = ArbitraryCheckpoints(random, manifest, size);
  for (GroupRow& group : manifest.groups) {
    if (Coin(random)) group.start_held = false;
    if (SmallestHeld(manifest, group) == kNothingHeld) group.start_held = true;
    group.smallest_held = SmallestHeld(manifest, group);
  }
  manifest.quarantines = ArbitraryQuarantines(random, manifest.version, size);
  SetRows(manifest);
  for (size_t i = Below(random, size + 1); i > 0; --i) {
    ProducerRow row = ArbitraryRow(random);
    if (std::ranges::find(manifest.rows, row.producer, &ProducerRow::producer) != manifest.rows.end()) continue;
    manifest.rows.push_back(std::move(row));
  }
  std::ranges::sort(manifest.rows, {}, &ProducerRow::producer);
  if (Coin(random)) manifest.archived_rows = ArbitraryRef(random, ArchiveRef::Kind::kRows, {}, {});
  return manifest;
}

TgbFooter ArbitraryFooter(Random& random, size_t size) {
  const Entry entry = ArbitraryEntry(random, size);
  const Part& part = entry.parts[Below(random, entry.parts.size())];
  return {.identity = {.stream_id = {ArbitraryHash(random)},
                       .producer = entry.producer,
                       .incarnation = entry.incarnation,
                       .seq = entry.seq},
          .grid = entry.grid,
          .range = part.range,
          .slice_bytes = ArbitraryLengths(random, part.range.slices()),
          .digest = entry.digest,
          .content_type = entry.content_type,
          .schema_hash = entry.schema_hash,
          .provenance_bytes = part.provenance_bytes,
          .provenance_hash = part.provenance_bytes == 0 ? 0 : random.Next()};
}

}  // namespace batchweave
