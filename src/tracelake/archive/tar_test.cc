#include "tracelake/archive/tar.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace aaco::tracelake::archive {
namespace {

using core::ErrorCode;

std::string tar_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  TarWriter tar([&out](std::string_view bytes) -> core::Status {
    out += bytes;
    return {};
  });
  for (const auto& [name, bytes] : members) {
    EXPECT_TRUE(tar.begin(name, static_cast<std::int64_t>(bytes.size()), 1));
    EXPECT_TRUE(tar.add(bytes));
    EXPECT_TRUE(tar.end_file());
  }
  EXPECT_TRUE(tar.finish());
  return out;
}

// Gives the bytes in pieces of `piece`.
ReadBytes source(std::string bytes, std::size_t piece = 100) {
  return [bytes = std::move(bytes), at = std::size_t{0}, piece](std::span<char> into) mutable -> core::Result<std::size_t> {
    const std::size_t count = std::min({piece, into.size(), bytes.size() - at});
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, into.begin());
    at += count;
    return count;
  };
}

core::Result<std::vector<std::pair<std::string, std::string>>> members_of(const std::string& bytes) {
  TarReader tar(source(bytes));
  std::vector<std::pair<std::string, std::string>> out;
  for (;;) {
    AACO_ASSIGN(auto member, tar.next());
    if (!member) return out;
    std::string text;
    char buffer[77];
    for (;;) {
      AACO_ASSIGN(const std::size_t count, tar.read(buffer));
      if (count == 0) break;
      text.append(buffer, count);
    }
    out.emplace_back(member->name, text);
  }
}

// The archive with a byte of the first header changed and its checksum made right again.
std::string with_header_byte(std::string bytes, std::size_t at, char value) {
  bytes[at] = value;
  std::fill_n(bytes.begin() + 148, 8, ' ');
  int sum = 0;
  for (std::size_t i = 0; i < kTarBlock; ++i) sum += static_cast<unsigned char>(bytes[i]);
  for (std::size_t i = 6; i-- > 0; sum >>= 3) bytes[148 + i] = static_cast<char>('0' + (sum & 7));
  bytes[154] = '\0';
  return bytes;
}

TEST(Tar, RoundTrip) {
  const std::vector<std::pair<std::string, std::string>> members{
      {"a/b", "hello"},
      {"a/empty", ""},
      {"a/" + std::string(120, 'x') + "/" + std::string(90, 'y'), std::string(5000, 'z')},
      {"a/é", std::string(512, '1')}};
  const auto read = members_of(tar_of(members));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, members);
}

TEST(Tar, MembersThatAreNotReadAreSkipped) {
  TarReader tar(source(tar_of({{"a", std::string(3000, 'x')}, {"b", "y"}})));
  EXPECT_EQ((*tar.next())->name, "a");
  EXPECT_EQ((*tar.next())->name, "b");
  EXPECT_FALSE(tar.next()->has_value());
}

TEST(Tar, LargeSizesAreWrittenInBase256) {
  std::string out;
  TarWriter tar([&out](std::string_view bytes) -> core::Status {
    out += bytes;
    return {};
  });
  ASSERT_TRUE(tar.begin("big", std::int64_t{20} << 30, 0));
  TarReader reader(source(out));
  EXPECT_EQ((*reader.next())->size, std::int64_t{20} << 30);
}

TEST(Tar, RefusesUnsafeNames) {
  for (const char* name : {"/etc/passwd", "../x", "a/../x", "a//b", "a/", ".ssh/x", "a\\b", "a\nb", ""})
    EXPECT_EQ(check_member_name(name).error().code, ErrorCode::invalid_input) << name;
  EXPECT_TRUE(check_member_name("20261121T081530Z-3f9a1c/telemetry/gpu_events.parquet"));
  const std::string plain = tar_of({{"xx/y", "1"}});
  EXPECT_FALSE(members_of(with_header_byte(plain, 0, '/')));
  EXPECT_FALSE(members_of(with_header_byte(with_header_byte(plain, 0, '.'), 1, '.')));
}

TEST(Tar, RefusesLinksDevicesAndExtensions) {
  for (const char type : {'1', '2', '3', '4', '6', '7', 'x', 'g', 'L', 'K', 'S'})
    EXPECT_EQ(members_of(with_header_byte(tar_of({{"a", ""}}), 156, type)).error().code, ErrorCode::invalid_input) << type;
}

TEST(Tar, FoldersArePassedOver) { EXPECT_TRUE(members_of(with_header_byte(tar_of({{"a", ""}}), 156, '5'))->empty()); }

TEST(Tar, RefusesDamage) {
  const std::string good = tar_of({{"a", "hello"}});
  std::string wrong = good;
  wrong[3] = 'x';
  EXPECT_EQ(members_of(wrong).error().code, ErrorCode::invalid_input);                                // checksum
  EXPECT_EQ(members_of(with_header_byte(good, 257, 'X')).error().code, ErrorCode::invalid_input);     // magic
  EXPECT_EQ(members_of(with_header_byte(good, 124, '9')).error().code, ErrorCode::invalid_input);     // size
  EXPECT_EQ(members_of(with_header_byte(good, 124, '\xff')).error().code, ErrorCode::invalid_input);  // size beyond all disks
  EXPECT_EQ(members_of("").error().code, ErrorCode::invalid_input);
  for (std::size_t size = 1; size < good.size() - 2 * kTarBlock; size += 100)
    EXPECT_EQ(members_of(good.substr(0, size)).error().code, ErrorCode::invalid_input) << size;
}

TEST(Tar, WriterRefusesFilesThatGrowOrShrink) {
  TarWriter tar([](std::string_view) -> core::Status { return {}; });
  ASSERT_TRUE(tar.begin("a", 3, 0));
  EXPECT_EQ(tar.add("four").error().code, ErrorCode::conflict);
  ASSERT_TRUE(tar.begin("b", 3, 0));
  ASSERT_TRUE(tar.add("ab"));
  EXPECT_EQ(tar.end_file().error().code, ErrorCode::conflict);
  EXPECT_FALSE(tar.begin("../a", 0, 0));
  EXPECT_EQ(tar.begin(std::string(120, 'x'), 0, 0).error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace aaco::tracelake::archive
