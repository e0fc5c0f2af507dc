#include "batchweave/stream/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchweave/base/check.h"
#include "batchweave/base/fault_point.h"
#include "batchweave/format/keys.h"
#include "batchweave/format/stream_info.h"
#include "batchweave/lifecycle/quarantine.h"
#include "batchweave/log/change.h"
#include "batchweave/log/deletion.h"
#include "batchweave/log/read_stream_info.h"
#include "batchweave/producer/producer_host.h"
#include "batchweave/producer/write_part.h"
#include "batchweave/store/store_probe.h"

namespace batchweave {
namespace {

// Tries of the one put that gives a stream its identity, each followed by a look at what is there.
constexpr int kCreateTriesMax = 8;
// A commit that is not made after this long is reported.
constexpr Duration kCommitTime = std::chrono::minutes(2);

// Writes stream.json, create-only. Whose it is that lies there then is told by its stream id.
Result<void> WriteStreamInfo(Env env, std::string_view name, const StreamInfo& info) {
  const std::string key = StreamJsonKey(name);
  const Bytes json = EncodeStreamInfo(info);
  Error last{ErrorCode::kUnavailable, "not tried"};
  for (int attempt = 0; attempt < kCreateTriesMax; ++attempt) {
    const Result<void> put = PutBytes(env.store, key, json, PutMode::kCreate);
    if (put.ok()) return {};
    last = put.error();
    if (last.code == ErrorCode::kDenied || last.code == ErrorCode::kInvalidArgument) return last;
    const Result<StoredStreamInfo> found = ReadStreamInfo(env.store, name);
    if (found.ok() && found->info.stream_id == info.stream_id) return {};
    if (found.ok() || found.error().code == ErrorCode::kIncompatible) {
      return Error{
          ErrorCode::kAlreadyExists,
          fmt::format("the stream exists{}: name={}",
                      found.ok() && found->info.deleted ? " no more, and its name is not used again" : "", name)};
    }
    if (found.error().code == ErrorCode::kCorrupt) return found.error();
    env.clock.SleepUntil(After(env.clock.Now(), std::chrono::milliseconds(50) * (attempt + 1)));
  }
  return last;
}

}  // namespace

class Stream::Impl {
 public:
  Impl(Env env, StreamKeys keys, Hash128 stream_json_hash)
      : env_(env), log_(env, std::move(keys), stream_json_hash), producers_(env, log_) {}

  const Env env_;
  ManifestLog log_;
  ProducerHost producers_;
};

Stream::Stream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

Result<Stream> Stream::Create(Env env, std::string_view name) {
  BW_TRY(CheckName("stream", name));
  BW_TRY(ProbeStore(env, ProbePrefix(name, env.random.Next())));
  BW_FAULT_POINT("create.probed");
  const StreamInfo info{.stream_id = {.bits = {.high = env.random.Next(), .low = env.random.Next()}},
                        .created_at_ns = env.clock.WallNow().count()};
  BW_TRY(WriteStreamInfo(env, name, info));
  BW_FAULT_POINT("create.written");
  return Open(env, name);
}

Result<Stream> Stream::Open(Env env, std::string_view name, StreamOptions options) {
  BW_TRY(CheckName("stream", name));
  const Result<StoredStreamInfo> stored = ReadStreamInfo(env.store, name);
  if (FailedWith(stored, ErrorCode::kNotFound) && options.create) {
    Result<Stream> created = Create(env, name);
    // Another creator was first: the stream is there, which is what was asked for.
    if (FailedWith(created, ErrorCode::kAlreadyExists)) return Open(env, name);
    return created;
  }
  if (!stored.ok()) return stored.error();
  if (stored->info.deleted) return Error{ErrorCode::kNotFound, fmt::format("the stream was deleted: name={}", name)};
  return Stream(std::make_unique<Impl>(env, StreamKeys{.name = std::string(name), .stream_id = stored->info.stream_id},
                                       HashOf128(stored->json)));
}

const std::string& Stream::name() const { return impl_->log_.keys().name; }
StreamId Stream::id() const { return impl_->log_.keys().stream_id; }
ManifestLog& Stream::log() { return impl_->log_; }
Env Stream::env() const { return impl_->env_; }

Result<Producer> Stream::OpenProducer(std::string_view producer, ProducerOptions options) {
  return impl_->producers_.Open(producer, options);
}

Result<PartReceipt> Stream::WritePart(const PartTicket& ticket, GridRange range, const GlobalBatch& slices,
                                      ByteView provenance) {
  return batchweave::WritePart(impl_->env_, impl_->log_.keys(), ticket,
                               {.range = range, .slices = slices, .provenance = provenance});
}

Result<Consumer> Stream::OpenConsumer(ConsumerOptions options) {
  if (options.group.empty()) return Consumer::Open(impl_->env_, impl_->log_, std::move(options));
  LoggedManifest newest = BW_TRY(impl_->log_.ReadNewest());
  const Result<GroupRow*> required =
      RequireGroup(newest.manifest, {.group = options.group, .session = options.session});
  if (!required.ok()) return UnlessDeleted(impl_->log_, required.error());
  // A function of the session alone: every rank skips the same, however late it opens (I11).
  options.skipped = SkippedBy(newest.manifest, options.session);
  return Consumer::Open(impl_->env_, impl_->log_, std::move(options), std::move(newest));
}

Result<void> Stream::CreateGroup(std::string_view name, Step start) {
  BW_TRY(batchweave::CreateGroup(impl_->log_, name, start, After(impl_->env_.clock.Now(), kCommitTime)));
  return {};
}

Result<Group> Stream::OpenGroup(std::string_view name, GroupOptions options) {
  const TimePoint deadline = After(impl_->env_.clock.Now(), kCommitTime);
  const Session session = BW_TRY(OpenGroupSession(impl_->log_, name, options.start, deadline));
  BW_FAULT_POINT("session.committed");
  return Group(impl_->log_, {.group = std::string(name), .session = session});
}

Result<Step> Stream::Seal() {
  const auto seal = [](Manifest& next) -> Result<bool> {
    if (next.sealed) return false;
    next.sealed = true;
    return true;
  };
  const Env env = impl_->env_;
  return BW_TRY(CommitChange(impl_->log_, After(env.clock.Now(), kCommitTime), seal)).manifest.next_step;
}

Result<std::vector<std::string>> ListStreams(ObjectStore& store) {
  constexpr std::string_view kSuffix = "/stream.json";
  std::vector<std::string> names;
  BW_TRY(ForEachObject(store, "", [&](const ListedObject& object) -> Result<void> {
    std::string_view key = object.key;
    if (!key.ends_with(kSuffix)) return {};
    key.remove_suffix(kSuffix.size());
    if (CheckName("stream", key).ok()) names.emplace_back(key);
    return {};
  }));
  std::ranges::sort(names);
  return names;
}

}  // namespace batchweave
