#include "workflows/uploads.h"

#include <gtest/gtest.h>

#include "core/files.h"

namespace aaco::workflows {
namespace {

constexpr UploadLimits kSmallLimits{true, 8, 2};

class UploadsTest : public ::testing::Test {
 protected:
  core::TemporaryDirectory folder_ = core::TemporaryDirectory::make("/tmp", "aaco-uploads").value();
  Uploads uploads_{core::join_path(folder_.path(), "uploads")};
  [[nodiscard]] std::string sent(std::string_view name) const {
    auto upload = uploads_.begin(name, kSmallLimits);
    if (!upload) return upload.error().message;
    EXPECT_TRUE((*upload)->write("123"));
    EXPECT_TRUE((*upload)->finish());
    return (*upload)->id();
  }
  [[nodiscard]] std::string name_of(std::string_view given) const {
    const auto file = uploads_.find(sent(given));
    return file ? core::base_name(*file) : file.error().message;
  }
};

TEST_F(UploadsTest, AreFoundByTheirId) {
  const auto file = uploads_.find(sent("trace.json"));
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(core::read_file(*file).value(), "123");
  EXPECT_EQ(core::base_name(*file), "trace.json");
}
TEST_F(UploadsTest, NamesLoseWhatIsNotPlain) { EXPECT_EQ(name_of("my trace (1).json"), "my_trace__1_.json"); }
TEST_F(UploadsTest, NamesAreNoPaths) { EXPECT_EQ(name_of("../../etc/passwd"), "etc_passwd"); }
TEST_F(UploadsTest, LongNamesKeepTheirEnd) { EXPECT_TRUE(name_of(std::string(500, 'a') + ".json").ends_with("a.json")); }
TEST_F(UploadsTest, EmptyNamesAreRefused) {
  for (const char* name : {"", ".", "..", "---", "._-"})
    EXPECT_EQ(uploads_.begin(name, kSmallLimits).error().code, core::ErrorCode::invalid_argument) << name;
}
TEST_F(UploadsTest, IncompleteOnesAreNotFoundAndRemoved) {
  std::string id;
  {
    const auto upload = uploads_.begin("a", kSmallLimits);
    ASSERT_TRUE(upload);
    id = (*upload)->id();
    EXPECT_TRUE((*upload)->write("1"));
    EXPECT_FALSE(uploads_.find(id));
  }
  EXPECT_FALSE(core::exists(core::join_path(folder_.path(), "uploads/" + id)));
}
TEST_F(UploadsTest, LargeOnesAreRefused) {
  const auto upload = uploads_.begin("a", kSmallLimits);
  EXPECT_TRUE((*upload)->write("12345678"));
  EXPECT_EQ((*upload)->write("9").error().code, core::ErrorCode::exhausted);
}
TEST_F(UploadsTest, EmptyOnesAreRefused) {
  EXPECT_EQ((*uploads_.begin("a", kSmallLimits))->finish().error().code, core::ErrorCode::invalid_argument);
}
TEST_F(UploadsTest, TooManyAreRefused) {
  (void)sent("a");
  (void)sent("b");
  EXPECT_EQ(uploads_.begin("c", kSmallLimits).error().code, core::ErrorCode::exhausted);
}
TEST_F(UploadsTest, AreRefusedWhereThePolicyHasNoImport) {
  EXPECT_EQ(uploads_.begin("a", UploadLimits()).error().code, core::ErrorCode::permission);
}
TEST_F(UploadsTest, UnknownIdsAndPathsAreNotFound) {
  for (const char* id : {"", "x", "..", "../..", "/etc/passwd", ".", "a/b"}) EXPECT_FALSE(uploads_.find(id)) << id;
}
TEST_F(UploadsTest, GoWithTheirJob) {
  const std::string id = sent("a");
  uploads_.forget({"import", "--json", "/elsewhere/file", *uploads_.find(id)});
  EXPECT_FALSE(uploads_.find(id));
  EXPECT_TRUE(core::exists(folder_.path()));
}

}  // namespace
}  // namespace aaco::workflows
