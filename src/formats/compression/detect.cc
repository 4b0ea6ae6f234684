#include "core/check.h"
#include "formats/compression/decompressors.h"

namespace aaco::formats {

std::string_view to_string(Compression kind) {
  switch (kind) {
    case Compression::gzip: return "gzip";
    case Compression::zstd: return "zstd";
    case Compression::none: break;
  }
  return "none";
}

Compression detect_compression(std::string_view head) {
  if (head.size() < 4) return Compression::none;
  if (head.starts_with("\x1f\x8b\x08")) return Compression::gzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  // A skippable frame may stand before the first one with data.
  if ((static_cast<unsigned char>(head[0]) & 0xF0U) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18") return Compression::zstd;
  return Compression::none;
}

std::unique_ptr<Decompressor> make_decompressor(Compression kind) {
  AACO_CHECK(kind != Compression::none);
  return kind == Compression::gzip ? make_gzip_decompressor() : make_zstd_decompressor();
}

}  // namespace aaco::formats
