#include "tracelake/archive/zstd_file.h"

#include <gtest/gtest.h>

#include "core/files.h"
#include "core/random.h"

namespace aaco::tracelake::archive {
namespace {

using core::ErrorCode;

class ZstdFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return core::join_path(directory.path(), "x.zst"); }
  core::Result<std::string> read(std::size_t piece) const {
    AACO_ASSIGN(auto in, ZstdFileReader::open(path()));
    std::string out;
    std::vector<char> buffer(piece);
    for (;;) {
      AACO_ASSIGN(const std::size_t count, in.read(buffer));
      if (count == 0) return out;
      out.append(buffer.data(), count);
    }
  }
  void write(std::string_view bytes) const {
    auto out = *ZstdFileWriter::create(path());
    ASSERT_TRUE(out.write(bytes.substr(0, bytes.size() / 3)));
    ASSERT_TRUE(out.write(bytes.substr(bytes.size() / 3)));
    ASSERT_TRUE(out.finish());
  }
  core::TemporaryDirectory directory = *core::TemporaryDirectory::make(::testing::TempDir(), "aaco-zstd");
};

std::string noise(std::size_t size) {
  core::Random random(7);
  std::string out;
  while (out.size() < size) out += static_cast<char>(random.below(20));
  return out;
}

TEST_F(ZstdFileTest, RoundTripInAnyPieces) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{300'000}}) {
    write(noise(size));
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 20}) EXPECT_EQ(read(piece).value_or("?"), noise(size));
  }
  write(std::string(3'000'000, 'a'));
  EXPECT_EQ(read(512).value_or("?").size(), 3'000'000u);
}

TEST_F(ZstdFileTest, UnfinishedFileNeverAppears) {
  {
    auto out = *ZstdFileWriter::create(path());
    ASSERT_TRUE(out.write("hello"));
  }
  EXPECT_TRUE(core::list_directory(directory.path())->empty());
}

TEST_F(ZstdFileTest, RefusesTruncationAndNoise) {
  write(noise(300'000));
  const std::string bytes = *core::read_file(path());
  for (const std::size_t size : {std::size_t{3}, bytes.size() / 2, bytes.size() - 1}) {
    ASSERT_TRUE(core::write_file_atomic(path(), bytes.substr(0, size)));
    EXPECT_EQ(read(4096).error().code, ErrorCode::invalid_input) << size;
  }
  ASSERT_TRUE(core::write_file_atomic(path(), "hello, this is text"));
  EXPECT_EQ(read(4096).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(ZstdFileReader::open(directory.path() + "/none").error().code, ErrorCode::not_found);
  EXPECT_FALSE(ZstdFileWriter::create("/nowhere/x"));
}

}  // namespace
}  // namespace aaco::tracelake::archive
