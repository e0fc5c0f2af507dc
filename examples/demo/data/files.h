// Whole files in and out, with errors as values.
#pragma once

#include <cstdint>
#include <string>

#include "batchweave/base/bytes.h"
#include "batchweave/base/result.h"

namespace batchweave::demo {

// Part of a file: `size_bytes` from `offset`.
struct FileRange {
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

// Errors: kNotFound, kDenied (permission), kUnavailable (anything else that the system says; the message has it).
Result<Bytes> ReadFile(const std::string& path);

// Shorter than asked where the file ends before. Errors as ReadFile.
Result<Bytes> ReadFileRange(const std::string& path, FileRange range);

// Makes the file hold `bytes`, durably, and at no moment anything but the old content or the new, whatever is killed.
// Two processes may replace one path at once: one of them wins whole. The folder must exist. Errors as ReadFile;
// kDenied also for a full disk.
Result<void> ReplaceFile(const std::string& path, ByteView bytes);

}  // namespace batchweave::demo
