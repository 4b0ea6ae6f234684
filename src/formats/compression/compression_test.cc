#include "formats/compression.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

namespace aaco::formats {
namespace {

std::string gzip(std::string_view text) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

struct Decoded {
  std::string text;
  bool whole = false;
  bool failed = false;
};

// Feeds `input_step` bytes at a time into an output of `output_step`.
Decoded decode(std::string_view packed, std::size_t input_step = 1U << 20, std::size_t output_step = 1U << 20) {
  const auto decoder = make_decompressor(detect_compression(packed));
  Decoded decoded;
  std::string out(output_step, '\0');
  for (std::size_t at = 0; at < packed.size();) {
    const std::string_view input = packed.substr(at, input_step);
    const auto step = decoder->step(input, out);
    if (!step) {
      decoded.failed = true;
      return decoded;
    }
    at += step->consumed;
    decoded.text.append(out, 0, step->produced);
    decoded.whole = step->at_boundary;
    if (step->consumed == 0 && step->produced == 0) break;
  }
  return decoded;
}

std::string sample() {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += R"({"ph":"X","ts":)" + std::to_string(i * 7919) + "},";
  return text;
}

TEST(Compression, IsKnownByItsMagicNumber) {
  EXPECT_EQ(detect_compression(gzip("a")), Compression::gzip);
  EXPECT_EQ(detect_compression(zstd("a")), Compression::zstd);
  EXPECT_EQ(detect_compression(std::string("\x5a\x2a\x4d\x18", 4)), Compression::zstd);
  EXPECT_EQ(detect_compression("[{}]"), Compression::none);
  EXPECT_EQ(detect_compression("\x1f\x8b"), Compression::none);
  EXPECT_EQ(detect_compression(""), Compression::none);
}

TEST(Compression, RoundTripsText) {
  EXPECT_EQ(decode(gzip(sample())).text, sample());
  EXPECT_EQ(decode(zstd(sample())).text, sample());
  EXPECT_TRUE(decode(gzip(sample())).whole);
  EXPECT_TRUE(decode(zstd(sample())).whole);
}

TEST(Compression, WorksOneByteAtATime) {
  EXPECT_EQ(decode(gzip(sample()), 1, 3).text.substr(0, 1000), sample().substr(0, 1000));
  EXPECT_EQ(decode(zstd(sample()), 1).text, sample());
}

TEST(Compression, ReadsSeveralMembers) {
  EXPECT_EQ(decode(gzip("one ") + gzip("two")).text, "one two");
  EXPECT_EQ(decode(zstd("one ") + zstd("two")).text, "one two");
  EXPECT_EQ(decode(gzip("padded") + std::string(512, '\0')).text, "padded");
  EXPECT_TRUE(decode(gzip("padded") + std::string(512, '\0')).whole);
}

TEST(Compression, EmptyTextIsComplete) {
  EXPECT_TRUE(decode(gzip("")).whole);
  EXPECT_TRUE(decode(zstd("")).whole);
}

TEST(Compression, TruncatedStreamIsIncomplete) {
  const std::string packed_gzip = gzip(sample());
  const std::string packed_zstd = zstd(sample());
  for (std::size_t keep : {std::size_t{20}, packed_gzip.size() / 2, packed_gzip.size() - 1})
    EXPECT_FALSE(decode(std::string_view(packed_gzip).substr(0, keep)).whole) << keep;
  for (std::size_t keep : {std::size_t{20}, packed_zstd.size() / 2, packed_zstd.size() - 1})
    EXPECT_FALSE(decode(std::string_view(packed_zstd).substr(0, keep)).whole) << keep;
}

TEST(Compression, DamageIsAnError) {
  std::string bad_gzip = gzip(sample());
  bad_gzip[bad_gzip.size() - 6] ^= 0x55;  // in the check sum
  EXPECT_TRUE(decode(bad_gzip).failed);
  std::string bad_zstd = zstd(sample());
  bad_zstd[6] = '\xff';
  bad_zstd[9] = '\xff';
  EXPECT_TRUE(decode(bad_zstd).failed || !decode(bad_zstd).whole);
  EXPECT_TRUE(decode(gzip("one") + "trailing text").failed);
}

TEST(Compression, RejectsWindowThatNeedsTooMuchMemory) {
  // A zstd frame header with a window of 2 GiB: descriptor 0x00 (no size, no check sum), window log 31.
  const std::string header = std::string("\x28\xb5\x2f\xfd\x00", 5) + static_cast<char>((31 - 10) << 3) + std::string(64, '\0');
  EXPECT_TRUE(decode(header).failed);
}

}  // namespace
}  // namespace aaco::formats
