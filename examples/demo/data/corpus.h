// Everything that the demo trains on, in the order in which it does: pictures with captions, a dictionary in pieces of
// a few pages, and a manual with a sample a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "examples/demo/data/image_caption_source.h"
#include "examples/demo/data/sample_ref.h"
#include "examples/demo/data/text_source.h"

namespace batchweave::demo {

struct CorpusOptions {
  std::string directory;     // As fetch.sh was given it.
  uint32_t keep_one_in = 1;  // 1: everything. 20: each twentieth sample, for a quick look and for tests.
};

// A sample as it lies in the source, decoded but not yet tokenized.
struct Document {
  std::optional<Image> image;
  std::string text;  // UTF-8. Of a picture: a line "LANGUAGE: CAPTION" for each language.
};

// A listing; holds no content. Safe for concurrent use.
class Corpus {
 public:
  // Lists all sources. The samples come shuffled, by a hash of their ids, so the order is the same in every process
  // and any part of it holds something of each source.
  // Errors: as the sources' List (kNotFound: run fetch.sh first); kInvalidArgument for keep_one_in = 0.
  static Result<Corpus> Open(const CorpusOptions& options);

  const std::vector<SampleRef>& samples() const { return samples_; }

  // Equal exactly for corpora of the same samples (ids and sizes) in the same order. A cursor carries it.
  uint64_t fingerprint() const { return fingerprint_; }

  // Errors: as the sources' Read.
  Result<Document> Read(const SampleRef& ref) const;

 private:
  Corpus(ImageCaptionSource pictures, TextSource dictionary, TextSource manual);

  ImageCaptionSource pictures_;
  TextSource dictionary_;
  TextSource manual_;
  std::vector<SampleRef> samples_;
  uint64_t fingerprint_ = 0;
};

}  // namespace batchweave::demo
