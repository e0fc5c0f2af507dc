// Raw data laid out as fetch.sh does, in a folder of its own, small enough for tests.
#pragma once

#include <string>
#include <string_view>

#include "batchweave/base/bytes.h"
#include "examples/demo/data/corpus.h"
#include "examples/demo/data/tokenizer.h"

namespace batchweave::demo {

// A folder that is removed with its content when the object goes.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

  // Writes a file, and the folders above it. `name` is relative.
  void Write(const std::string& name, ByteView content) const;
  void Write(const std::string& name, std::string_view content) const { Write(name, AsBytes(content)); }

 private:
  std::string path_;
};

// Six pictures of different sizes and kinds (one without captions, two of one base name), a dictionary of 50 KB in
// pieces, one of which is not UTF-8, and three pages of a manual. The tokenizer is trained on it: about a second, so
// the tests of a binary share one, by Instance().
class SmallCorpus {
 public:
  static const SmallCorpus& Instance();

  const std::string& directory() const { return folder_.path(); }
  const Corpus& corpus() const { return corpus_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  SmallCorpus();
  static void Fill(const TemporaryFolder& folder);

  TemporaryFolder folder_;
  Corpus corpus_;
  Tokenizer tokenizer_;
};

}  // namespace batchweave::demo
