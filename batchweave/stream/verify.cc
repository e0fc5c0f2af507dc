#include "batchweave/stream/verify.h"

#include <fmt/format.h>

#include <utility>

#include "batchweave/format/keys.h"
#include "batchweave/log/history.h"
#include "batchweave/stream/verify_chain.h"
#include "batchweave/stream/verify_data.h"
#include "batchweave/stream/verify_inventory.h"
#include "batchweave/stream/verify_manifest.h"

namespace batchweave {
namespace {

// Between a LIST and the read of the newest version that it showed, 64 newer ones must land before that one may be
// retired: a second try meets it only on a paused machine.
constexpr int kInventoriesMax = 3;

struct Picture {
  Inventory inventory;
  Result<Manifest> newest;
};

// LIST first, then the newest version that it showed: so every object that an entry names was there before the LIST
// ended, or is newer than it.
Result<Picture> TakePicture(Stream& stream, Hash128 origin, const VerifyOptions& options) {
  ManifestLog& log = stream.log();
  for (int attempt = 0; attempt < kInventoriesMax; ++attempt) {
    Inventory inventory = BW_TRY(TakeInventory(stream.env().store, log.keys(), options.on_progress));
    if (inventory.newest() == Version{}) {
      return Picture{.inventory = std::move(inventory), .newest = EmptyManifest(stream.id(), origin)};
    }
    Result<LoggedManifest> read = log.Read(inventory.newest());
    if (FailedWith(read, ErrorCode::kTrimmed)) continue;
    if (read.ok()) return Picture{.inventory = std::move(inventory), .newest = std::move(read->manifest)};
    return Picture{.inventory = std::move(inventory), .newest = read.error()};
  }
  return Error{ErrorCode::kUnavailable, "the newest manifest was retired each time before it could be read: try again"};
}

void AddNotices(const Inventory& inventory, VerifyReport& report) {
  for (const std::string& key : inventory.unknown_keys) {
    report.Add({.kind = Finding::Kind::kNotice, .message = "a key that this software does not write", .key = key});
  }
  for (const auto& [key, size_bytes] : inventory.data) {
    report.unnamed_objects += 1;
    report.unnamed_bytes += size_bytes;
  }
}

// What DataCheck is to report as all: bytes to be read, or entries.
uint64_t TotalOf(const Manifest& manifest, const VerifyOptions& options) {
  if (!options.deep) return manifest.next_step.value - manifest.first_step.value;
  uint64_t bytes = 0;
  for (const ArchiveRef& ref : manifest.archives) bytes += ref.payload_bytes;
  for (const Entry& entry : manifest.tail) {
    for (const Part& part : entry.parts) bytes += part.object_bytes;
  }
  return bytes;
}

// Whether a newer version has let go of archived objects that `manifest` names.
Result<bool> WasReplaced(ManifestLog& log, const Manifest& manifest) {
  const Manifest newest = BW_TRY(log.ReadNewest()).manifest;
  return newest.first_step != manifest.first_step || newest.archived_rows != manifest.archived_rows;
}

Result<void> VerifyManifest(Stream& stream, const Manifest& manifest, const VerifyOptions& options,
                            Inventory& inventory, VerifyReport& report) {
  report.first_step = manifest.first_step;
  report.next_step = manifest.next_step;
  report.sealed = manifest.sealed;
  ProducerCheck producers(manifest.first_step);
  DataCheck data(stream, options, TotalOf(manifest, options), inventory, report);
  const auto check = [&](Step step, const Entry& entry) {
    producers.Add(step, entry);
    return data.Check(step, entry);
  };
  const Result<void> walked =
      ForEachEntry(stream.log(), manifest, {.first = manifest.first_step, .end = manifest.next_step}, check);
  const Result<std::vector<ProducerRow>> rows = ReadRows(stream.log(), manifest);
  const Result<void> read_rows = rows.ok() ? Result<void>() : rows.error();
  for (const Result<void>& read : {walked, read_rows}) {
    if (read.ok()) continue;
    // An archived object that is not there was trimmed meanwhile, or is lost: both hide what follows it.
    const bool gone = FailedWith(read, ErrorCode::kNotFound);
    if (!gone && read.error().code != ErrorCode::kCorrupt) return read.error();
    if (gone && BW_TRY(WasReplaced(stream.log(), manifest))) {
      report.Add({.kind = Finding::Kind::kNotice,
                  .message = "steps were trimmed while they were being verified: run it again"});
      continue;
    }
    report.Add({.invariant = "I4", .message = fmt::format("history cannot be read: {}", read.error().message)});
  }
  if (!walked.ok() || !rows.ok()) return {};
  report.producers = rows->size();
  for (Finding& finding : producers.Finish(*rows)) report.Add(std::move(finding));
  return {};
}

}  // namespace

void VerifyReport::Add(Finding finding) {
  if (finding.kind == Finding::Kind::kBroken) ++broken;
  if (findings.size() < kFindingsMax) {
    findings.push_back(std::move(finding));
  } else {
    ++findings_left_out;
  }
}

Result<VerifyReport> VerifyStream(Stream& stream, const VerifyOptions& options) {
  const Hash128 origin = HashOf128(BW_TRY(stream.env().store.Read(StreamJsonKey(stream.name()))));
  Picture picture = BW_TRY(TakePicture(stream, origin, options));
  const Result<Manifest>& newest = picture.newest;
  // A damaged newest version is a finding of the chain; without it no entry can be believed.
  if (!newest.ok() && newest.error().code != ErrorCode::kCorrupt) return newest.error();

  VerifyReport report{.deep = options.deep, .newest = picture.inventory.newest()};
  BW_TRY(VerifyChain(stream.log(), picture.inventory, origin, options, report));
  if (newest.ok()) BW_TRY(VerifyManifest(stream, *newest, options, picture.inventory, report));
  AddNotices(picture.inventory, report);
  return report;
}

}  // namespace batchweave
