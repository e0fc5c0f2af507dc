// The sequence of manifests of one stream: each version is one object, and creating that object is the commit.
// docs/protocol.md says why this is enough. Committing is in pending_commit.h and change.h.
//
// Holds no state but a hint of the newest version, so it may be dropped and opened again at any time. Safe for
// concurrent use.
#pragma once

#include <atomic>
#include <cstdint>

#include "batchweave/base/result.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/manifest.h"
#include "batchweave/format/manifest_glimpse.h"
#include "batchweave/format/manifest_steps.h"
#include "batchweave/store/env.h"

namespace batchweave {

// A version as read whole: its content, and the link by which the next one is chained to it.
struct LoggedManifest {
  Manifest manifest;
  Hash128 hash;
};

class ManifestLog {
 public:
  // Does no I/O. The parts of `env` must outlive the log. `stream_json_hash` is version 0's link of the chain.
  ManifestLog(Env env, StreamKeys keys, Hash128 stream_json_hash);

  const StreamKeys& keys() const { return keys_; }
  Env env() const { return env_; }

  // The newest version whole; version 0 (empty) where nothing was committed.
  // Errors: kNotFound (the stream was deleted), kIncompatible, kCorrupt, kUnavailable, kDenied.
  Result<LoggedManifest> ReadNewest();

  // What the newest version says of `producers`, and no more. Errors: as ReadNewest.
  Result<ManifestGlimpse> GlimpseNewest(std::span<const std::string> producers);

  // What the newest version, or one version, says of `count` steps from `first` on. Errors: as ReadNewest; as Read.
  Result<ManifestSteps> ReadNewestSteps(Step first, size_t count);
  Result<ManifestSteps> ReadSteps(Version version, Step first, size_t count);

  // `known` itself, in one request, where nothing follows it; else as ReadNewest.
  Result<LoggedManifest> Refresh(LoggedManifest known);

  // One version whole. Errors: kNotFound (not yet committed), kTrimmed (long past: find the newest), kIncompatible,
  // kCorrupt, kUnavailable, kDenied.
  Result<LoggedManifest> Read(Version version);

  // The head of one version, in one ranged read nearly always. Errors: as Read.
  Result<ManifestHead> ReadHead(Version version);

  // The same, for who follows and asks again: what another process of this host was told a moment ago will do.
  Result<ManifestHead> PollHead(Version version);

  // The number of the newest version. Errors: kUnavailable, kDenied.
  Result<Version> FindNewest();

  // Whether the slot of `version` is occupied. Errors: kUnavailable, kDenied.
  Result<bool> Exists(Version version);

 private:
  friend class PendingCommit;  // It alone writes slots, and learns of versions as it does.

  template <typename Decoded, typename Decode>
  Result<Decoded> Newest(Decode decode);
  template <typename Decoded, typename Decode>
  Result<Decoded> Read(Version version, Decode decode);
  Result<ManifestHead> ReadHead(Version version, bool asks_again);
  Result<Version> FindNewestByList();
  Result<Version> FindNewestByProbing();
  // Of slots: those up to `occupied` are, `absent` is not.
  struct Bounds {
    uint64_t occupied = 0;
    uint64_t absent = 0;
  };
  Result<Bounds> FindOrder();
  Result<Bounds> Gallop(uint64_t occupied);
  Error EverySlotIsTaken() const;
  Error Deleted() const;
  Result<void> CheckIdentity(const Manifest& manifest, Version version) const;
  void Learn(Version version);

  const Env env_;
  const StreamKeys keys_;
  const Hash128 stream_json_hash_;
  std::atomic<uint64_t> newest_hint_{0};  // A version known to exist: versions are never deleted, so it stays true.
};

}  // namespace batchweave
