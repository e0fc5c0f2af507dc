#include "examples/demo/data/image_caption_source.h"

#include <string_view>
#include <utility>

#include "examples/demo/data/files.h"
#include "examples/demo/data/utf8.h"

namespace batchweave::demo {
namespace {

constexpr std::string_view kPictureSuffix = ".png";
constexpr std::string_view kCaptionSuffix = ".txt";

}  // namespace

ImageCaptionSource::ImageCaptionSource(std::string root, std::string folder)
    : root_(std::move(root)), folder_(std::move(folder)) {}

Result<std::vector<SampleRef>> ImageCaptionSource::List() const {
  std::vector<SampleRef> refs;
  for (SourceFile& file : BW_TRY(ListFiles(root_, folder_, kPictureSuffix))) {
    refs.push_back(
        {.kind = SampleKind::kImageCaption, .path = std::move(file.path), .offset = 0, .size_bytes = file.size_bytes});
  }
  return refs;
}

Result<CaptionedImage> ImageCaptionSource::Read(const SampleRef& ref) const {
  const std::string path = root_ + "/" + ref.path;
  const Bytes file = BW_TRY(ReadFile(path));
  Result<Image> image = DecodePng(file);
  if (!image.ok()) return WithContext(std::move(image).error(), path);

  const std::string caption_path = path.substr(0, path.size() - kPictureSuffix.size()) + std::string(kCaptionSuffix);
  const Result<Bytes> caption_file = ReadFile(caption_path);
  if (FailedWith(caption_file, ErrorCode::kNotFound)) return CaptionedImage{std::move(*image), {}};
  if (!caption_file.ok()) return caption_file.error();
  Result<std::vector<Caption>> captions = ParseCaptions(ReplaceInvalidUtf8(AsText(*caption_file)));
  if (!captions.ok()) return WithContext(std::move(captions).error(), caption_path);
  return CaptionedImage{std::move(*image), std::move(*captions)};
}

}  // namespace batchweave::demo
