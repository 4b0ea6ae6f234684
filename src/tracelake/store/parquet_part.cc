#include "tracelake/store/parquet_part.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracelake/store/parquet_footer.h"

namespace aaco::tracelake::store {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::int64_t kTailBytes = 8;                        // length of the footer, magic
constexpr std::int64_t kLargeFooter = 32 << 10;               // a smaller one is read in a millisecond as it is
constexpr std::int64_t kMaxFooter = std::int64_t{256} << 20;  // of a billion rows
constexpr std::int64_t kMaxPart = std::int64_t{64} << 20;     // bytes in memory

bool read_at(int file, std::int64_t offset, std::string& into) {
  for (std::size_t done = 0; done < into.size();) {
    const ssize_t count = ::pread(file, into.data() + done, into.size() - done, offset + static_cast<std::int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

bool write_at(int file, std::int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += count;
  }
  return true;
}

// Where the footer is; no bytes where the file has none.
struct FooterPlace {
  std::int64_t offset = 0, size = 0;
};

FooterPlace find_footer(int file, std::int64_t size) {
  std::string tail(kTailBytes, '\0');
  if (size < kTailBytes || !read_at(file, size - kTailBytes, tail) || !tail.ends_with(kMagic)) return {};
  std::uint32_t length = 0;
  std::memcpy(&length, tail.data(), sizeof length);
  if (length > std::min(kMaxFooter, size - kTailBytes)) return {};
  return {size - kTailBytes - length, length};
}

// Its first bytes, at most so many; none where they cannot be read.
std::string read_footer(int file, const FooterPlace& place, std::int64_t most = kMaxFooter) {
  std::string footer(static_cast<std::size_t>(std::min(place.size, most)), '\0');
  return read_at(file, place.offset, footer) ? footer : std::string();
}

// Offsets stay as they are: what is not copied are holes.
bool write_part(int from, std::int64_t size, const FooterPart& part, int to) {
  if (!write_at(to, 0, kMagic)) return false;
  std::string bytes;
  for (const auto& group : part.groups) {
    if (group.offset > size || group.size > size - group.offset) return false;
    bytes.resize(static_cast<std::size_t>(group.size));
    if (!read_at(from, group.offset, bytes) || !write_at(to, group.offset, bytes)) return false;
  }
  std::string end = part.footer;
  const auto length = static_cast<std::uint32_t>(end.size());
  end.append(reinterpret_cast<const char*>(&length), sizeof length).append(kMagic);
  return write_at(to, size, end);
}

}  // namespace

std::optional<ParquetPart> parquet_part(const std::string& file, std::span<const Between> between) {
  if (between.empty()) return std::nullopt;
  const core::FileDescriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!from.valid() || ::fstat(from.get(), &about) != 0) return std::nullopt;
  const FooterPlace place = find_footer(from.get(), about.st_size);
  if (place.size < kLargeFooter) return std::nullopt;
  const std::string footer = read_footer(from.get(), place);
  const auto part = part_of_footer(footer, between);
  if (!part || part->groups.size() * 2 > part->group_count) return std::nullopt;
  std::int64_t bytes = 0;
  for (const auto& group : part->groups) bytes += group.size;
  if (bytes > kMaxPart) return std::nullopt;
  ParquetPart out{core::FileDescriptor(::memfd_create("aaco_part", MFD_CLOEXEC))};
  if (!out.file.valid() || !write_part(from.get(), about.st_size, *part, out.file.get())) return std::nullopt;
  return out;
}

std::vector<std::string> parquet_columns(const std::string& file) {
  constexpr std::int64_t kSchemaBytes = 64 << 10;  // it stands in front
  const core::FileDescriptor from(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!from.valid() || ::fstat(from.get(), &about) != 0) return {};
  return columns_of_footer(read_footer(from.get(), find_footer(from.get(), about.st_size), kSchemaBytes));
}

}  // namespace aaco::tracelake::store
