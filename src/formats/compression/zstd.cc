#include <zstd.h>

#include <string>

#include "core/check.h"
#include "formats/compression/decompressors.h"

namespace aaco::formats {
namespace {

constexpr int kLargestWindowLog = 27;  // 128 MiB: what zstd itself accepts without being told otherwise

class ZstdDecompressor final : public Decompressor {
 public:
  ZstdDecompressor() : stream_(ZSTD_createDStream()) {
    AACO_CHECK(stream_ != nullptr);
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kLargestWindowLog);
  }
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;
  ~ZstdDecompressor() override { ZSTD_freeDStream(stream_); }

  core::Result<DecodeStep> step(std::span<const char> input, std::span<char> output) override {
    ZSTD_inBuffer in = {input.data(), input.size(), 0};
    ZSTD_outBuffer out = {output.data(), output.size(), 0};
    const std::size_t code = ZSTD_decompressStream(stream_, &out, &in);
    if (ZSTD_isError(code) != 0)
      return core::fail(core::ErrorCode::invalid_input, std::string("damaged zstd data (") + ZSTD_getErrorName(code) + ")");
    return DecodeStep{in.pos, out.pos, code == 0};
  }

 private:
  ZSTD_DStream* stream_;
};

}  // namespace

std::unique_ptr<Decompressor> make_zstd_decompressor() { return std::make_unique<ZstdDecompressor>(); }

}  // namespace aaco::formats
