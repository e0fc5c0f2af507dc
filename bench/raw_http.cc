#include "bench/raw_http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "batchweave/base/check.h"

namespace batchweave::bench {
namespace {

// Of the payload no sum is taken.
constexpr const char* kUnsigned = "x-amz-content-sha256: UNSIGNED-PAYLOAD";

struct Window {
  MutableByteView into;
  ByteView from;
  size_t at = 0;
};

size_t Receive(char* data, size_t /*one*/, size_t size, void* context) {
  auto& window = *static_cast<Window*>(context);
  if (size > window.into.size() - window.at) return 0;  // libcurl calls that an error.
  std::memcpy(window.into.data() + window.at, data, size);
  window.at += size;
  return size;
}

size_t Send(char* data, size_t /*one*/, size_t room, void* context) {
  auto& window = *static_cast<Window*>(context);
  const size_t size = std::min(room, window.from.size() - window.at);
  std::memcpy(data, window.from.data() + window.at, size);
  window.at += size;
  return size;
}

// `work(thread, index)` for each of `count`, by `at_once` threads. The first error, if any.
Result<void> Share(size_t count, size_t at_once, const std::function<Result<void>(size_t thread, size_t index)>& work) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::optional<Error> first_error;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < at_once; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t index = next++; index < count; index = next++) {
        const Result<void> done = work(thread, index);
        if (done.ok()) continue;
        const std::lock_guard lock(mutex);
        first_error = done.error();
        return;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first_error) return *first_error;
  return {};
}

}  // namespace

// One connection, kept from request to request.
class RawHttp::Connection {
 public:
  explicit Connection(const RawHttp& raw) : raw_(raw), handle_(curl_easy_init()) { BW_CHECK(handle_ != nullptr); }
  ~Connection() { curl_easy_cleanup(handle_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<void> Get(const RawRange& range, MutableByteView buffer) {
    Window window{.into = buffer.first(range.size_bytes), .from = {}};
    Prepare(range.key);
    const std::string header = fmt::format("Range: bytes={}-{}", range.offset, range.offset + range.size_bytes - 1);
    curl_slist* const headers = curl_slist_append(curl_slist_append(nullptr, kUnsigned), header.c_str());
    curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle_, CURLOPT_WRITEFUNCTION, Receive);
    curl_easy_setopt(handle_, CURLOPT_WRITEDATA, &window);
    curl_easy_setopt(handle_, CURLOPT_BUFFERSIZE, 512L << 10);
    const Result<void> done = Perform(range.key, 206);
    curl_slist_free_all(headers);
    if (done.ok()) BW_CHECK(window.at == range.size_bytes);
    return done;
  }

  Result<void> Put(const std::string& key, ByteView bytes) {
    Window window{.into = {}, .from = bytes};
    Prepare(key);
    // Or the server is asked first whether it will take it.
    curl_slist* const headers = curl_slist_append(curl_slist_append(nullptr, kUnsigned), "Expect:");
    curl_easy_setopt(handle_, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(handle_, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle_, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
    curl_easy_setopt(handle_, CURLOPT_READFUNCTION, Send);
    curl_easy_setopt(handle_, CURLOPT_READDATA, &window);
    curl_easy_setopt(handle_, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(bytes.size()));
    const Result<void> done = Perform(key, 200);
    curl_slist_free_all(headers);
    return done;
  }

 private:
  void Prepare(const std::string& key) {
    curl_easy_reset(handle_);
    curl_easy_setopt(handle_, CURLOPT_URL, fmt::format("{}/{}", raw_.bucket_url_, key).c_str());
    curl_easy_setopt(handle_, CURLOPT_AWS_SIGV4, raw_.signing_.c_str());
    curl_easy_setopt(handle_, CURLOPT_USERPWD, raw_.user_.c_str());
  }

  Result<void> Perform(const std::string& key, long wanted) {
    const CURLcode code = curl_easy_perform(handle_);
    long status = 0;
    curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status == wanted) return {};
    return Error{ErrorCode::kUnavailable,
                 fmt::format("a plain request failed: {}: status={} key={}", curl_easy_strerror(code), status, key)};
  }

  const RawHttp& raw_;
  CURL* const handle_;
};

RawHttp::RawHttp(std::string bucket_url, std::string region, std::string key_id, std::string secret)
    : bucket_url_(std::move(bucket_url)), signing_("aws:amz:" + region + ":s3"), user_(key_id + ":" + secret) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
}

Result<Duration> RawHttp::Get(Clock& clock, const std::vector<RawRange>& ranges, size_t at_once) const {
  uint64_t largest = 0;
  for (const RawRange& range : ranges) largest = std::max(largest, range.size_bytes);
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<Bytes> buffers(at_once, Bytes(largest));
  for (size_t i = 0; i < at_once; ++i) connections.push_back(std::make_unique<Connection>(*this));
  const TimePoint began = clock.Now();
  BW_TRY(Share(ranges.size(), at_once,
               [&](size_t thread, size_t index) { return connections[thread]->Get(ranges[index], buffers[thread]); }));
  return clock.Now() - began;
}

Result<Duration> RawHttp::Put(Clock& clock, const std::vector<std::string>& keys, ByteView bytes,
                              size_t at_once) const {
  std::vector<std::unique_ptr<Connection>> connections;
  for (size_t i = 0; i < at_once; ++i) connections.push_back(std::make_unique<Connection>(*this));
  const TimePoint began = clock.Now();
  BW_TRY(Share(keys.size(), at_once,
               [&](size_t thread, size_t index) { return connections[thread]->Put(keys[index], bytes); }));
  return clock.Now() - began;
}

}  // namespace batchweave::bench
