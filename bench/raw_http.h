// Plain requests by libcurl: what must be done at the least to move bytes from and to a store that speaks as S3 does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/bytes.h"
#include "batchweave/base/clock.h"
#include "batchweave/base/result.h"

namespace batchweave::bench {

struct RawRange {
  std::string key;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

class RawHttp {
 public:
  // Of the bucket at `bucket_url`, signed with a key and its secret.
  RawHttp(std::string bucket_url, std::string region, std::string key_id, std::string secret);

  // GETs all of `ranges`, so many at once, each thread over one connection into one buffer. How long it took.
  // Errors: kUnavailable (a request failed: which, and how).
  Result<Duration> Get(Clock& clock, const std::vector<RawRange>& ranges, size_t at_once) const;

  // PUTs `bytes` under each of `keys`, so many at once. How long it took. Errors: as Get.
  Result<Duration> Put(Clock& clock, const std::vector<std::string>& keys, ByteView bytes, size_t at_once) const;

 private:
  class Connection;

  std::string bucket_url_;
  std::string signing_;
  std::string user_;
};

}  // namespace batchweave::bench
