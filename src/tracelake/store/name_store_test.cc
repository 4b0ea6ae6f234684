#include "tracelake/store/name_store.h"

#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::tracelake::store {
namespace {

class NameStoreTest : public ::testing::Test {
 protected:
  trace::NameId intern(std::string_view text) {
    auto id = names.intern(text);
    EXPECT_TRUE(id) << id.error().text();
    return id.value_or(trace::NameId{});
  }
  core::TemporaryDirectory directory = *core::TemporaryDirectory::make(::testing::TempDir(), "aaco-names");
  NameStore names{core::join_path(directory.path(), "spill/names")};
};

TEST_F(NameStoreTest, SameTextSameId) {
  EXPECT_EQ(intern("gemm"), intern("gemm"));
  EXPECT_NE(intern("gemm"), intern("gemv"));
  EXPECT_EQ(names.text(intern("gemm")), "gemm");
}

TEST_F(NameStoreTest, EmptyTextIsIdZero) {
  EXPECT_EQ(intern(""), trace::NameId{});
  EXPECT_NE(intern("x"), trace::NameId{});
  EXPECT_EQ(names.text({}), "");
}

TEST_F(NameStoreTest, BytesOfAnyKind) {
  const std::string text("a\0b\xff", 4);
  EXPECT_EQ(names.text(intern(text)), text);
}

TEST_F(NameStoreTest, ManyTextsGrowTheIndex) {
  std::vector<trace::NameId> ids;
  for (int i = 0; i < 50'000; ++i) ids.push_back(intern("text " + std::to_string(i)));
  for (int i = 0; i < 50'000; i += 7) {
    ASSERT_EQ(names.text(ids[static_cast<std::size_t>(i)]), "text " + std::to_string(i));
    ASSERT_EQ(intern("text " + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
  }
}

TEST_F(NameStoreTest, LongTextsTakeSeveralSegments) {
  const std::string longer(3 * NameStore::kSegmentBytes + 100, 'x');
  const trace::NameId before = intern("before");
  const trace::NameId id = intern(longer);
  const trace::NameId after = intern("after");
  EXPECT_EQ(names.text(id), longer);
  EXPECT_EQ(names.text(before), "before");
  EXPECT_EQ(names.text(after), "after");
}

TEST_F(NameStoreTest, SpillsToUnnamedFile) {
  const std::size_t count = NameStore::kMemoryBytes / NameStore::kSegmentBytes + 40;
  std::vector<trace::NameId> ids;
  for (std::size_t i = 0; i < count; ++i)
    ids.push_back(intern(std::to_string(i) + std::string(NameStore::kSegmentBytes - 100, 'x')));
  EXPECT_TRUE(core::list_directory(core::join_path(directory.path(), "spill"))->empty());
  for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(names.text(ids[i]).starts_with(std::to_string(i) + "x"));
  EXPECT_EQ(intern(std::to_string(7) + std::string(NameStore::kSegmentBytes - 100, 'x')), ids[7]);
}

TEST(NameStore, FailsIfSpillFileCannotBeCreated) {
  NameStore names("/proc/aaco/names");
  core::Status status;
  for (std::size_t i = 0; i <= NameStore::kMemoryBytes / NameStore::kSegmentBytes && status; ++i)
    if (auto id = names.intern(std::to_string(i) + std::string(NameStore::kSegmentBytes - 100, 'x')); !id)
      status = tl::unexpected<core::Error>(id.error());
  EXPECT_FALSE(status);
}

}  // namespace
}  // namespace aaco::tracelake::store
