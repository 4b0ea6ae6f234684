#include "core/positional_bytes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/checksum.h"
#include "core/files.h"

namespace aaco::core {
namespace {

TEST(Crc32c, KnownSums) {  // RFC 3720, appendix B.4
  EXPECT_EQ(crc32c(""), 0U);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

TEST(Crc32c, TheTableSaysTheSame) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(crc32c(text), crc32c_by_table(text)) << text.size();
    text += static_cast<char>(i * 37);
  }
}

TEST(PositionalBytes, OfMemory) {
  const auto bytes = PositionalBytes::of("0123456789", "digits");
  EXPECT_EQ(bytes.size(), 10U);
  EXPECT_EQ(bytes.read(3, 4)->text(), "3456");
  EXPECT_EQ(bytes.read(10, 0)->size(), 0U);
  EXPECT_NE(bytes.read(8, 3).error().message.find("digits"), std::string::npos);
  EXPECT_FALSE(bytes.read(11, 0));
  EXPECT_FALSE(bytes.read(~std::uint64_t{0}, 2)) << "no sum that runs over";
}

TEST(PositionalBytes, OfAFileThatIsReplaced) {
  const auto folder = TemporaryDirectory::make("/tmp").value();
  const std::string path = folder.path() + "/file";
  ASSERT_TRUE(write_file_atomic(path, "0123456789"));
  const auto opened = PositionalBytes::open(path);
  ASSERT_TRUE(opened) << opened.error().text();
  ASSERT_TRUE(write_file_atomic(path, "another"));
  EXPECT_EQ(opened->read(4, 6)->text(), "456789");
}

TEST(PositionalBytes, OfAFileThatBecameShorter) {
  const auto folder = TemporaryDirectory::make("/tmp").value();
  const std::string path = folder.path() + "/file";
  ASSERT_TRUE(write_file_atomic(path, "0123456789"));
  const auto opened = PositionalBytes::open(path);
  ASSERT_EQ(::truncate(path.c_str(), 5), 0);
  const auto read = opened->read(4, 6);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::invalid_input);
  EXPECT_NE(read.error().message.find(path), std::string::npos);
}

TEST(PositionalBytes, MissingFileIsRefused) {
  EXPECT_EQ(PositionalBytes::open("/nowhere/at/all").error().code, ErrorCode::not_found);
  EXPECT_EQ(PositionalBytes::open("/tmp").error().code, ErrorCode::invalid_input);
  EXPECT_EQ(PositionalBytes::open("/dev/null").error().code, ErrorCode::invalid_input);
}

}  // namespace
}  // namespace aaco::core
