#include "formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

namespace aaco::formats::zip {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kEnd64LocatorSignature = 0x07064b50;
constexpr std::uint32_t kDirectorySignature = 0x02014b50;
constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::size_t kEndBytes = 22, kEnd64LocatorBytes = 20, kEnd64Bytes = 56, kDirectoryBytes = 46, kLocalBytes = 30;
constexpr std::size_t kMaxComment = 65535;
constexpr std::uint16_t kZip64Extra = 1, kEncrypted = 1;
constexpr std::uint64_t kSaturated = 0xFFFFFFFFU;

// A little-endian number of `size` bytes at `at`; the caller has checked that they are there.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t index = 0; index < size; ++index)
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[at + index])} << (8 * index);
  return value;
}

bool holds(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  return at <= bytes.size() && size <= bytes.size() - at;
}

bool is_at(std::string_view bytes, std::uint64_t at, std::uint32_t signature, std::size_t size) {
  return holds(bytes, at, size) && number(bytes, static_cast<std::size_t>(at), 4) == signature;
}

tl::unexpected<core::Error> damaged(std::string what) {
  return fail(ErrorCode::invalid_input, "the zip archive is damaged: " + std::move(what), "download or copy the file again");
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;
};

core::Result<Directory> find_directory(std::string_view archive) {
  const std::size_t furthest = archive.size() > kEndBytes + kMaxComment ? archive.size() - kEndBytes - kMaxComment : 0;
  for (std::size_t at = archive.size() >= kEndBytes ? archive.size() - kEndBytes + 1 : 0; at-- > furthest;) {
    if (!is_at(archive, at, kEndSignature, kEndBytes)) continue;
    Directory found{number(archive, at + 16, 4), number(archive, at + 10, 2)};
    if (found.offset != kSaturated && found.entries != 0xFFFF) return found;
    if (at < kEnd64LocatorBytes || !is_at(archive, at - kEnd64LocatorBytes, kEnd64LocatorSignature, kEnd64LocatorBytes))
      return found;
    const std::uint64_t end64 = number(archive, at - kEnd64LocatorBytes + 8, 8);
    if (!is_at(archive, end64, kEnd64Signature, kEnd64Bytes)) return damaged("its zip64 directory is not at the declared offset");
    const auto start = static_cast<std::size_t>(end64);
    return Directory{number(archive, start + 48, 8), number(archive, start + 32, 8)};
  }
  return damaged("it has no central directory, so it is truncated");
}

// Sizes that do not fit 32 bits stand in an extra field, in a fixed order, those that fit left out.
core::Status apply_zip64(std::string_view extra, std::uint64_t& bytes, std::uint64_t& compressed, std::uint64_t& offset) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const std::uint64_t kind = number(extra, at, 2);
    const auto size = static_cast<std::size_t>(number(extra, at + 2, 2));
    at += 4;
    if (!holds(extra, at, size)) return damaged("an extra field is truncated");
    if (kind == kZip64Extra) {
      std::size_t from = at;
      for (std::uint64_t* value : {&bytes, &compressed, &offset}) {
        if (*value != kSaturated) continue;
        if (from + 8 > at + size) return damaged("a zip64 field is too short");
        *value = number(extra, from, 8);
        from += 8;
      }
    }
    at += size;
  }
  return {};
}

core::Result<Entry> read_entry(std::string_view archive, std::size_t at, std::size_t& next) {
  const auto name_bytes = static_cast<std::size_t>(number(archive, at + 28, 2));
  const auto extra_bytes = static_cast<std::size_t>(number(archive, at + 30, 2));
  const auto comment_bytes = static_cast<std::size_t>(number(archive, at + 32, 2));
  if (!holds(archive, at + kDirectoryBytes, name_bytes + extra_bytes + comment_bytes))
    return damaged("its central directory is truncated");
  if ((number(archive, at + 8, 2) & kEncrypted) != 0)
    return fail(ErrorCode::unsupported, "the zip archive is encrypted", "unpack it first");
  std::uint64_t compressed = number(archive, at + 20, 4), bytes = number(archive, at + 24, 4),
                offset = number(archive, at + 42, 4);
  AACO_TRY(apply_zip64(archive.substr(at + kDirectoryBytes + name_bytes, extra_bytes), bytes, compressed, offset));
  if (bytes > INT64_MAX || compressed > archive.size() || offset > archive.size())
    return damaged("a member is outside the archive");
  next = at + kDirectoryBytes + name_bytes + extra_bytes + comment_bytes;
  Entry entry;
  entry.name = std::string(archive.substr(at + kDirectoryBytes, name_bytes));
  entry.method = static_cast<std::uint16_t>(number(archive, at + 10, 2));
  entry.crc32 = static_cast<std::uint32_t>(number(archive, at + 16, 4));
  entry.compressed_bytes = static_cast<std::int64_t>(compressed);
  entry.bytes = static_cast<std::int64_t>(bytes);
  entry.header_offset = static_cast<std::int64_t>(offset);
  return entry;
}

core::Result<std::string> inflate_raw(std::string_view compressed, const Entry& entry) {
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return fail(ErrorCode::exhausted, "out of memory while unpacking '" + entry.name + "'");
  std::string out;
  int state = Z_OK;
  constexpr std::size_t kStep = 1 << 20;  // memory follows what really comes out, not what the directory claims
  const auto total = static_cast<std::size_t>(entry.bytes);
  std::size_t taken = 0;
  while (state == Z_OK && out.size() < total + 1) {
    const std::size_t done = out.size();
    out.resize(std::min(done + kStep, total + 1));
    if (stream.avail_in == 0) {
      const std::size_t piece = std::min<std::size_t>(compressed.size() - taken, 1 << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data() + taken));  // NOLINT: zlib's own signature
      stream.avail_in = static_cast<uInt>(piece);
      taken += piece;
    }
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    stream.avail_out = static_cast<uInt>(out.size() - done);
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
  }
  ::inflateEnd(&stream);
  if (state != Z_STREAM_END || out.size() != total)
    return damaged("the unpacked size of '" + entry.name + "' differs from the declared size");
  return out;
}

}  // namespace

core::Result<std::vector<Entry>> list(std::string_view archive) {
  AACO_ASSIGN(const Directory directory, find_directory(archive));
  std::vector<Entry> entries;
  std::uint64_t at = directory.offset;
  for (std::uint64_t index = 0; index < directory.entries; ++index) {
    if (!is_at(archive, at, kDirectorySignature, kDirectoryBytes))
      return damaged("its central directory has fewer members than declared");
    std::size_t next = 0;
    AACO_ASSIGN(Entry entry, read_entry(archive, static_cast<std::size_t>(at), next));
    entries.push_back(std::move(entry));
    at = next;
  }
  return entries;
}

core::Result<std::string> extract(std::string_view archive, const Entry& entry, std::int64_t limit_bytes) {
  if (entry.bytes > limit_bytes)
    return fail(ErrorCode::exhausted, "'" + entry.name + "' unpacks to " + std::to_string(entry.bytes) +
                                          " bytes, more than the " + std::to_string(limit_bytes) + " allowed");
  const auto header = static_cast<std::uint64_t>(entry.header_offset);
  if (!is_at(archive, header, kLocalSignature, kLocalBytes))
    return damaged("'" + entry.name + "' is not at the offset given in the directory");
  const auto at = static_cast<std::size_t>(header);
  const std::uint64_t start = header + kLocalBytes + number(archive, at + 26, 2) + number(archive, at + 28, 2);
  if (!holds(archive, start, static_cast<std::uint64_t>(entry.compressed_bytes)))
    return damaged("'" + entry.name + "' is truncated");
  const std::string_view stored =
      archive.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(entry.compressed_bytes));
  std::string content;
  if (entry.method == 0) {
    if (entry.compressed_bytes != entry.bytes)
      return damaged("'" + entry.name + "' is stored uncompressed, but its two sizes differ");
    content = std::string(stored);
  } else if (entry.method == Z_DEFLATED) {
    AACO_ASSIGN(content, inflate_raw(stored, entry));
  } else {
    return fail(ErrorCode::unsupported,
                "'" + entry.name + "' uses unsupported compression method " + std::to_string(entry.method),
                "repack the archive with deflate");
  }
  const auto sum = ::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  if (sum != entry.crc32) return damaged("checksum mismatch in '" + entry.name + "'");
  return content;
}

}  // namespace aaco::formats::zip
