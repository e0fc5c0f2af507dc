// The pictures with their captions: one sample a PNG file, with the caption file of the same name beside it.
#pragma once

#include <string>
#include <vector>

#include "batchweave/base/result.h"
#include "examples/demo/data/caption.h"
#include "examples/demo/data/png.h"
#include "examples/demo/data/sample_ref.h"

namespace batchweave::demo {

struct CaptionedImage {
  Image image;
  std::vector<Caption> captions;  // Empty where a picture has no caption file, as 11 of the demo's 796 have not.
};

// Holds nothing but two paths. Safe for concurrent use.
class ImageCaptionSource {
 public:
  // Pictures below `root`/`folder`. Does no I/O.
  ImageCaptionSource(std::string root, std::string folder);

  // Every PNG, by path. Errors: as ListFiles.
  Result<std::vector<SampleRef>> List() const;

  // Decodes one picture and parses its captions. Errors: as ReadFile, DecodePng and ParseCaptions, with the path in
  // the message.
  Result<CaptionedImage> Read(const SampleRef& ref) const;

 private:
  const std::string root_;
  const std::string folder_;
};

}  // namespace batchweave::demo
