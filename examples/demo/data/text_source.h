// Plain text: one sample a file, or a piece of a file that is too long for one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "examples/demo/data/sample_ref.h"

namespace batchweave::demo {

struct TextSourceOptions {
  std::string root;               // The folder of raw data.
  std::string folder;             // Below `root`: the files ending in .txt, or a single file of any name.
  uint64_t sample_bytes_max = 0;  // A longer file is cut; at least kLongestUtf8Bytes.
};

// A cut must be able to move back over a whole character.
inline constexpr uint64_t kLongestUtf8Bytes = 4;

// Holds nothing but its options. Safe for concurrent use.
class TextSource {
 public:
  explicit TextSource(TextSourceOptions options);

  // Every sample, by path and offset. A file is cut behind the last line end that leaves at most `sample_bytes_max`,
  // so the pieces of a file, in order, are the file. A line longer than that is cut between two characters. An empty
  // file gives no sample. Reads a file only where it has to be cut. Errors: as ListFiles and ReadFile.
  Result<std::vector<SampleRef>> List() const;

  // The text of one sample, as valid UTF-8 (ReplaceInvalidUtf8). Errors: as ReadFile, and kCorrupt where the file is
  // shorter than when it was listed.
  Result<std::string> Read(const SampleRef& ref) const;

 private:
  Result<void> AppendPieces(const SourceFile& file, std::vector<SampleRef>& refs) const;

  const TextSourceOptions options_;
};

}  // namespace batchweave::demo
