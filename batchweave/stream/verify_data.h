// The data objects that entries name: they are there, whole, and (deep) hold what their entries say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "batchweave/base/result.h"
#include "batchweave/stream/stream.h"
#include "batchweave/stream/verify.h"
#include "batchweave/stream/verify_inventory.h"
#include "batchweave/stream/verify_part.h"

namespace batchweave {

// Checks I4 and, where options.deep asks for it, I10 of docs/protocol.md, one entry after the other. Not safe for
// concurrent use; the references must outlive it.
class DataCheck {
 public:
  // `total` is what on_progress is told to be all: bytes of data objects where deep, else entries. What the check meets
  // is taken out of `inventory.data`, so that what is left there is named by no entry. Findings and counts go to
  // `report`.
  DataCheck(Stream& stream, const VerifyOptions& options, uint64_t total, Inventory& inventory, VerifyReport& report);

  // Errors: as VerifyStream.
  Result<void> Check(Step step, const Entry& entry);

 private:
  using Trailers = std::vector<std::vector<uint64_t>>;  // Of each part that could be read.
  Result<bool> CheckObject(Step step, const Part& part, const std::string& key);
  Result<bool> ReportMissing(Step step, const std::string& key);
  Result<void> ReadObject(Step step, const PartToVerify& wanted, Trailers& trailers);
  void Advance(uint64_t by);
  void Broken(std::string_view invariant, Step step, std::string key, std::string message);

  Stream& stream_;
  const VerifyOptions& options_;
  const uint64_t total_;
  Inventory& inventory_;
  VerifyReport& report_;
  Bytes buffer_;
  uint64_t done_ = 0;
};

}  // namespace batchweave
