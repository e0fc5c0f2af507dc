#include "batchweave/stream/verify_chain.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "batchweave/stream/verify_manifest.h"

namespace batchweave {
namespace {

// One version's place in the chain. The manifest is whole or a head; a tombstone has none.
struct Link {
  Hash128 hash;
  Hash128 previous_hash;
  std::optional<Manifest> manifest;
};

class ChainWalk {
 public:
  ChainWalk(ManifestLog& log, const Inventory& inventory, const VerifyOptions& options, VerifyReport& report)
      : log_(log), inventory_(inventory), options_(options), report_(report) {}

  Result<void> Run(Hash128 origin) {
    std::optional<Link> before = Link{.hash = origin, .previous_hash = {}, .manifest = {}};
    const Version newest = inventory_.newest();
    for (Version version{1}; version <= newest; version = Next(version)) {
      std::optional<Link> link = BW_TRY(ReadLink(version));
      if (link && before) Compare(*before, *link, version);
      if (link) ++report_.versions;
      before = std::move(link);
      if (options_.on_progress) {
        options_.on_progress({.phase = "versions", .done = version.value, .total = newest.value});
      }
    }
    return {};
  }

 private:
  std::string KeyOf(Version version) const {
    const auto key = inventory_.manifests.find(version);
    return key == inventory_.manifests.end() ? std::string() : key->second;
  }

  void Broken(std::string_view invariant, Version version, std::string message) {
    report_.Add({.invariant = std::string(invariant), .message = std::move(message), .key = KeyOf(version)});
  }

  Result<Link> ReadManifest(Version version) {
    if (options_.deep) {
      LoggedManifest read = BW_TRY(log_.Read(version));
      const Hash128 previous_hash = read.manifest.previous_hash;
      return Link{.hash = read.hash, .previous_hash = previous_hash, .manifest = std::move(read.manifest)};
    }
    ManifestHead head = BW_TRY(log_.ReadHead(version));
    const Hash128 previous_hash = head.manifest.previous_hash;
    return Link{.hash = head.hash, .previous_hash = previous_hash, .manifest = std::move(head.manifest)};
  }

  Result<Link> ReadTombstone(Version version) {
    const Bytes object = BW_TRY(log_.env().store.Read(KeyOf(version)));
    const Tombstone tombstone = BW_TRY(DecodeTombstone(object));
    if (tombstone.version != version) return Error{ErrorCode::kCorrupt, "the tombstone of another version"};
    ++report_.tombstones;
    return Link{.hash = tombstone.hash, .previous_hash = tombstone.previous_hash, .manifest = {}};
  }

  // None where the slot cannot be read, which is then a finding.
  Result<std::optional<Link>> ReadLink(Version version) {
    Result<Link> link = ReadManifest(version);
    if (FailedWith(link, ErrorCode::kTrimmed)) link = ReadTombstone(version);
    if (link.ok()) return std::optional<Link>(std::move(link).value());
    const Error& error = link.error();
    if (error.code == ErrorCode::kNotFound) {
      Broken("I1", version,
             fmt::format("the slot of a version below the newest is empty: version={} newest={}", version.value,
                         inventory_.newest().value));
      return std::optional<Link>();
    }
    if (error.code == ErrorCode::kCorrupt) {
      Broken("I1", version,
             fmt::format("the manifest of version {} is not what was written: {}", version.value, error.message));
      return std::optional<Link>();
    }
    return error;
  }

  void Compare(const Link& before, const Link& link, Version version) {
    if (link.previous_hash != before.hash) {
      Broken("I2", version,
             fmt::format("the hash chain is broken: version={} names={} previous is={}", version.value,
                         ToHex(link.previous_hash), ToHex(before.hash)));
    }
    if (!before.manifest || !link.manifest) return;
    for (Finding& finding : CheckSuccessor(*before.manifest, *link.manifest)) {
      finding.key = KeyOf(version);
      report_.Add(std::move(finding));
    }
  }

  ManifestLog& log_;
  const Inventory& inventory_;
  const VerifyOptions& options_;
  VerifyReport& report_;
};

}  // namespace

Result<void> VerifyChain(ManifestLog& log, const Inventory& inventory, Hash128 origin, const VerifyOptions& options,
                         VerifyReport& report) {
  return ChainWalk(log, inventory, options, report).Run(origin);
}

}  // namespace batchweave
