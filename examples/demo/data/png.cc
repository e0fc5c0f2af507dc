#include "examples/demo/data/png.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>

namespace batchweave::demo {
namespace {

// libpng leaves by longjmp where the file is bad. So between setjmp and the calls that may jump there is no object with
// a destructor: what has one lives in Decoder, beyond the jump. (Its simplified interface, which would spare this,
// returns wrong pixels for interlaced files of 16 bits in the versions after the fix of CVE-2025-65018.)
class Decoder {
 public:
  explicit Decoder(ByteView file) : rest_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, OnError, OnWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  Result<Image> Decode() {
    if (info_ == nullptr) return Error{ErrorCode::kUnavailable, "no memory for a PNG decoder"};
    if (!ReadHeader()) return Failure();
    if (uint64_t{image_.width} * image_.height > kImagePixelsMax) {
      return Error{ErrorCode::kInvalidArgument,
                   fmt::format("picture too large: width={} height={}", image_.width, image_.height)};
    }
    image_.pixels.resize(size_t{image_.width} * image_.height * image_.channels);
    for (size_t offset = 0; offset < image_.pixels.size(); offset += size_t{image_.width} * image_.channels) {
      rows_.push_back(image_.pixels.data() + offset);
    }
    if (!ReadPixels()) return Failure();
    return std::move(image_);
  }

 private:
  [[noreturn]] static void OnError(png_structp png, png_const_charp message) {
    static_cast<Decoder*>(png_get_error_ptr(png))->message_ = message;
    png_longjmp(png, 1);
  }

  // Of things that leave the pixels as they are, such as a bad colour profile.
  static void OnWarning(png_structp, png_const_charp) {}

  static void Read(png_structp png, png_bytep out, size_t size) {
    auto* self = static_cast<Decoder*>(png_get_io_ptr(png));
    if (self->rest_.size() < size) png_error(png, "file ends too early");
    std::memcpy(out, self->rest_.data(), size);
    self->rest_ = self->rest_.subspan(size);
  }

  // All up to the pixels, and how they are to be delivered.
  bool ReadHeader() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, Read);
    png_read_info(png_, info_);
    png_set_expand(png_);  // Palette and grey of few bits to 8 bits, a transparent colour to alpha.
    png_set_scale_16(png_);
    png_set_gray_to_rgb(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    image_.width = png_get_image_width(png_, info_);
    image_.height = png_get_image_height(png_, info_);
    image_.channels = png_get_channels(png_, info_);
    return true;
  }

  bool ReadPixels() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows_.data());
    png_read_end(png_, nullptr);
    return true;
  }

  Error Failure() const { return Error{ErrorCode::kCorrupt, fmt::format("not a whole PNG: {}", message_)}; }

  ByteView rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  Image image_;
  std::vector<png_bytep> rows_;
  std::string message_;
};

}  // namespace

Result<Image> DecodePng(ByteView file) { return Decoder(file).Decode(); }

}  // namespace batchweave::demo
