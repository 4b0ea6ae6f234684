#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>

#include "core/check.h"
#include "formats/compression/decompressors.h"

namespace aaco::formats {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib.h, inflateInit2: adding 16 decodes the gzip format only

class GzipDecompressor final : public Decompressor {
 public:
  GzipDecompressor() { AACO_CHECK(inflateInit2(&stream_, kGzipOnly) == Z_OK); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;
  ~GzipDecompressor() override { inflateEnd(&stream_); }

  core::Result<DecodeStep> step(std::span<const char> input, std::span<char> output) override {
    DecodeStep done;
    if (between_members_) {
      while (done.consumed < input.size() && input[done.consumed] == '\0') ++done.consumed;
      if (done.consumed == input.size()) {
        done.at_boundary = true;
        return done;
      }
      inflateReset(&stream_);
      between_members_ = false;
      input = input.subspan(done.consumed);
    }
    const auto take = static_cast<uInt>(std::min<std::size_t>(input.size(), std::numeric_limits<uInt>::max()));
    const auto room = static_cast<uInt>(std::min<std::size_t>(output.size(), std::numeric_limits<uInt>::max()));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));  // zlib reads it only
    stream_.avail_in = take;
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = room;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    done.consumed += take - stream_.avail_in;
    done.produced = room - stream_.avail_out;
    between_members_ = code == Z_STREAM_END;
    done.at_boundary = between_members_;
    if (code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR) return done;
    if (done.produced > 0) return done;  // the damage is met again by the next step
    return core::fail(
        core::ErrorCode::invalid_input,
        std::string("damaged gzip data (") + (stream_.msg != nullptr ? stream_.msg : "no reason reported by zlib") + ")");
  }

 private:
  z_stream stream_ = {};
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<Decompressor> make_gzip_decompressor() { return std::make_unique<GzipDecompressor>(); }

}  // namespace aaco::formats
