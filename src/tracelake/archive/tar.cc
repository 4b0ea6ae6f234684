#include "tracelake/archive/tar.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/strings.h"

namespace aaco::tracelake::archive {
namespace {

using core::ErrorCode;
using Block = std::array<char, kTarBlock>;

struct Field {
  std::size_t at;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kUser{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr std::size_t kType = 156;
constexpr Field kMagic{257, 6};
constexpr Field kVersion{263, 2};
constexpr Field kPrefix{345, 155};
constexpr std::int64_t kMaxOctalSize = (std::int64_t{1} << 33) - 1;
constexpr std::int64_t kMaxSize = std::int64_t{1} << 50;

std::int64_t padding_of(std::int64_t size) {
  const auto block = static_cast<std::int64_t>(kTarBlock);
  return (block - size % block) % block;
}

void put_text(Block& block, Field field, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), field.size), block.begin() + static_cast<std::ptrdiff_t>(field.at));
}

void put_octal(Block& block, Field field, std::int64_t value) {
  for (std::size_t i = field.size - 1; i-- > 0; value >>= 3) block[field.at + i] = static_cast<char>('0' + (value & 7));
}

void put_size(Block& block, std::int64_t value) {
  if (value <= kMaxOctalSize) return put_octal(block, kSize, value);
  for (std::size_t i = kSize.size - 1; i > 0; --i, value >>= 8) block[kSize.at + i] = static_cast<char>(value & 0xFF);
  block[kSize.at] = static_cast<char>(0x80);
}

std::string_view text_of(const Block& block, Field field) {
  const std::string_view all(block.data() + field.at, field.size);
  return all.substr(0, all.find('\0'));
}

std::optional<std::int64_t> number_of(const Block& block, Field field) {
  if ((static_cast<unsigned char>(block[field.at]) & 0x80) != 0) {
    std::uint64_t value = static_cast<unsigned char>(block[field.at]) & 0x7F;
    for (std::size_t i = 1; i < field.size; ++i) {
      if (value > static_cast<std::uint64_t>(kMaxSize)) return std::nullopt;
      value = value << 8 | static_cast<unsigned char>(block[field.at + i]);
    }
    if (value > static_cast<std::uint64_t>(kMaxSize)) return std::nullopt;
    return static_cast<std::int64_t>(value);
  }
  const std::string_view digits = core::trim(text_of(block, field));
  if (digits.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '7') return std::nullopt;
    value = value << 3 | (digit - '0');
  }
  return value;
}

// The sum of the header's bytes with its own field as spaces.
std::int64_t checksum_of(const Block& block) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) {
    const bool own = i >= kChecksum.at && i < kChecksum.at + kChecksum.size;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

tl::unexpected<core::Error> damaged(std::string_view what) {
  return core::fail(ErrorCode::invalid_input, "not a packed session: " + std::string(what), "download or pack it again");
}

// Where a name above 100 characters is cut into prefix and name, at a slash; 0 where it does not fit.
std::size_t cut_of(std::string_view name) {
  const std::size_t from = name.size() > kName.size + 1 ? name.size() - kName.size - 1 : 0;
  const std::size_t slash = name.find('/', from);
  return slash == std::string_view::npos || slash > kPrefix.size ? 0 : slash;
}

}  // namespace

core::Status check_member_name(std::string_view name) {
  bool good = !name.empty() && name.size() <= kPrefix.size + 1 + kName.size;
  for (const std::string_view part : core::split(name, '/'))
    good = good && !part.empty() && part.front() != '.' && std::all_of(part.begin(), part.end(), [](char c) {
             return static_cast<unsigned char>(c) >= ' ' && c != '\\' && c != 0x7F;
           });
  if (good) return {};
  return core::fail(ErrorCode::invalid_input,
                    "the archive contains a file name '" +
                        core::replace_all(std::string(name), std::string_view("\0", 1), "\\0") + "' that is not allowed",
                    "it was not created by `aaco pack`, or was tampered with");
}

core::Status TarWriter::begin(std::string_view name, std::int64_t size, std::int64_t time) {
  AACO_TRY(check_member_name(name));
  Block block{};
  const std::size_t cut = name.size() > kName.size ? cut_of(name) : 0;
  if (name.size() > kName.size && cut == 0)
    return core::fail(ErrorCode::unsupported, "file name " + std::string(name) + " is too long for the archive",
                      "use a shorter name");
  put_text(block, kName, cut > 0 ? name.substr(cut + 1) : name);
  put_text(block, kPrefix, name.substr(0, cut));
  put_octal(block, kMode, 0644);
  put_octal(block, kUser, 0);
  put_octal(block, kGroup, 0);
  put_size(block, size);
  put_octal(block, kTime, std::clamp<std::int64_t>(time, 0, kMaxOctalSize));
  block[kType] = '0';
  put_text(block, kMagic, "ustar");
  put_text(block, kVersion, "00");
  const std::int64_t checksum = checksum_of(block);
  put_octal(block, {kChecksum.at, kChecksum.size - 1}, checksum);
  block[kChecksum.at + kChecksum.size - 1] = ' ';
  left_ = size;
  padding_ = padding_of(size);
  return write_({block.data(), block.size()});
}

core::Status TarWriter::add(std::string_view bytes) {
  left_ -= static_cast<std::int64_t>(bytes.size());
  if (left_ < 0)
    return core::fail(ErrorCode::conflict, "a file grew while being packed", "pack the session when no process is writing to it");
  return write_(bytes);
}

core::Status TarWriter::end_file() {
  if (left_ != 0)
    return core::fail(ErrorCode::conflict, "a file shrank while being packed",
                      "pack the session when no process is writing to it");
  return write_(std::string(static_cast<std::size_t>(padding_), '\0'));
}

core::Status TarWriter::finish() { return write_(std::string(2 * kTarBlock, '\0')); }

core::Status TarReader::read_block(std::span<char> block) {
  while (!block.empty()) {
    AACO_ASSIGN(const std::size_t count, read_(block));
    if (count == 0) return damaged("truncated");
    block = block.subspan(count);
  }
  return {};
}

core::Status TarReader::skip_rest() {
  std::array<char, 16 * kTarBlock> buffer{};
  left_ += std::exchange(padding_, 0);
  while (left_ > 0) {
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(left_, buffer.size()));
    AACO_TRY(read_block(std::span(buffer).first(count)));
    left_ -= static_cast<std::int64_t>(count);
  }
  return {};
}

core::Status TarReader::expect_end() {
  constexpr std::size_t kMaxPadding = std::size_t{1} << 20;  // writers fill the last record up
  Block block{};
  for (std::size_t behind = 0; behind <= kMaxPadding;) {
    AACO_ASSIGN(const std::size_t count, read_(block));
    if (count == 0) return {};
    behind += count;
  }
  return damaged("trailing data after the end of the archive");
}

core::Result<std::optional<TarMember>> TarReader::next() {
  for (;;) {
    AACO_TRY(skip_rest());
    Block block{};
    AACO_TRY(read_block(block));
    if (std::all_of(block.begin(), block.end(), [](char c) { return c == 0; })) {
      AACO_TRY(expect_end());
      return std::optional<TarMember>();
    }
    if (text_of(block, {kMagic.at, 5}) != "ustar") return damaged("a header is not in ustar format");
    if (number_of(block, kChecksum) != checksum_of(block)) return damaged("header checksum mismatch");
    const auto size = number_of(block, kSize);
    if (!size || *size > kMaxSize) return damaged("invalid file size in a header");
    const char type = block[kType];
    std::string name(text_of(block, kPrefix));
    name += (name.empty() ? "" : "/") + std::string(text_of(block, kName));
    if (type == '5' && *size == 0) continue;
    if (type != '0' && type != '\0')
      return damaged("'" + name + "' is a link, a device or an extension; only regular files are allowed");
    AACO_TRY(check_member_name(name));
    left_ = *size;
    padding_ = padding_of(*size);
    return TarMember{std::move(name), *size};
  }
}

core::Result<std::size_t> TarReader::read(std::span<char> into) {
  const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(left_, static_cast<std::int64_t>(into.size())));
  if (wanted == 0) return std::size_t{0};
  AACO_ASSIGN(const std::size_t count, read_(into.first(wanted)));
  if (count == 0) return damaged("truncated inside a file");
  left_ -= static_cast<std::int64_t>(count);
  return count;
}

}  // namespace aaco::tracelake::archive
