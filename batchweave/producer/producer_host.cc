#include "batchweave/producer/producer_host.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "batchweave/producer/open_producer.h"
#include "batchweave/producer/producer_impl.h"
#include "batchweave/store/store_probe.h"

namespace batchweave {
namespace {

// An opening that is still undecided or outrun after this long is reported: whoever waits for it can look why.
constexpr Duration kOpenTime = std::chrono::minutes(2);

// More threads upload no faster, and cost memory each.
constexpr uint32_t kUploadThreadsMax = 64;

Result<void> CheckOptions(const ProducerOptions& options) {
  if (options.upload_threads == 0 || options.upload_threads > kUploadThreadsMax) {
    return Error{ErrorCode::kInvalidArgument,
                 fmt::format("upload_threads is from 1 to {}: found={}", kUploadThreadsMax, options.upload_threads)};
  }
  if (options.max_staleness < Duration{}) {
    return Error{ErrorCode::kInvalidArgument, "max_staleness is above 0, or 0: as soon as may be"};
  }
  if (options.stall_after <= Duration{}) return Error{ErrorCode::kInvalidArgument, "stall_after is above 0"};
  return {};
}

}  // namespace

ProducerHost::ProducerHost(Env env, ManifestLog& log, std::unique_ptr<CommitLaw> law)
    : env_(env), log_(log), pipeline_(env), law_(std::move(law)), uploader_(env, log, pipeline_, *law_) {}

Result<Producer> ProducerHost::Open(std::string_view producer, ProducerOptions options) {
  BW_TRY(CheckOptions(options));
  BW_TRY(ProbeOnce());
  OpenedProducer opened = BW_TRY(CommitOpening(log_, producer, options.reopen, After(env_.clock.Now(), kOpenTime)));
  // Shared: see ProducerRef.
  auto state = std::make_shared<ProducerState>(std::string(producer), std::move(opened), options);
  pipeline_.Add(state);
  return Producer(std::make_unique<Producer::Impl>(log_, pipeline_, uploader_, std::move(state)));
}

// The rules that the protocol stands on are the store's to keep as this process reaches it, mount and proxies included.
Result<void> ProducerHost::ProbeOnce() {
  if (probed_) return {};
  BW_TRY(ProbeStore(env_, ProbePrefix(log_.keys().name, env_.random.Next())));
  probed_ = true;
  return {};
}

}  // namespace batchweave
