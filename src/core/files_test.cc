#include "core/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "core/handles.h"
#include "core/private_library.h"

namespace aaco::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  TemporaryDirectory folder_ = *TemporaryDirectory::make(testing::TempDir());
  [[nodiscard]] std::string at(std::string_view name) const { return join_path(folder_.path(), name); }
  [[nodiscard]] std::string written(std::string_view name, std::string_view text) const {
    EXPECT_TRUE(write_file_atomic(at(name), text));
    return at(name);
  }
};

TEST_F(Files, WriteAndRead) { EXPECT_EQ(*read_file(written("a", "text")), "text"); }
TEST_F(Files, EmptyFile) { EXPECT_EQ(*read_file(written("a", "")), ""); }
TEST_F(Files, BinaryAndLarge) {
  std::string bytes(3'000'001, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  EXPECT_EQ(*read_file(written("a", bytes)), bytes);
}
TEST_F(Files, FileOfUnknownSize) { EXPECT_THAT(*read_file("/proc/self/status"), HasSubstr("VmRSS")); }
TEST_F(Files, WriteReplaces) {
  (void)written("a", "old and longer");
  EXPECT_EQ(*read_file(written("a", "new")), "new");
}
TEST_F(Files, WriteLeavesNothingElse) {
  (void)written("a", "1");
  (void)written("a", "2");
  EXPECT_THAT(*list_directory(folder_.path()), ElementsAre("a"));
}
TEST_F(Files, ReaderSeesOldOrNewNeverAPart) {
  const std::string path = written("a", std::string(100'000, 'x'));
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(write_file_atomic(path, std::string(100'000, i % 2 ? 'x' : 'y')));
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = *read_file(path);
    ASSERT_EQ(seen, std::string(100'000, seen[0]));
  }
}
TEST_F(Files, ListingIsSorted) {
  for (const char* name : {"c", "a", "b"}) (void)written(name, "");
  EXPECT_THAT(*list_directory(folder_.path()), ElementsAre("a", "b", "c"));
}
TEST_F(Files, TreeSizeDoesNotFollowLinks) {
  (void)written("a", "12345");
  EXPECT_TRUE(make_directories(at("deep/er")));
  (void)written("deep/er/b", "123");
  std::filesystem::create_symlink(at("a"), at("link"));
  EXPECT_EQ(*tree_size(folder_.path()), 8);
}
TEST_F(Files, RemoveTree) {
  EXPECT_TRUE(make_directories(at("x/y/z")));
  EXPECT_TRUE(remove_tree(at("x")));
  EXPECT_FALSE(exists(at("x")));
}
TEST_F(Files, RemoveOfMissingPath) { EXPECT_TRUE(remove_tree(at("nothing"))); }
TEST_F(Files, RemoveTreeKeepsWhatALinkPointsTo) {
  (void)written("kept", "1");
  EXPECT_TRUE(make_directories(at("x")));
  std::filesystem::create_symlink(at("kept"), at("x/link"));
  EXPECT_TRUE(remove_tree(at("x")));
  EXPECT_TRUE(exists(at("kept")));
}
TEST_F(Files, MakeDirectoriesTwice) { EXPECT_TRUE(make_directories(at("x/y")) && make_directories(at("x/y"))); }
TEST_F(Files, FreeSpace) { EXPECT_GT(*free_space(folder_.path()), 0); }

TEST_F(Files, RefusesMissingFile) {
  const auto result = read_file(at("none"));
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
  EXPECT_THAT(result.error().message, HasSubstr(at("none")));
}
TEST_F(Files, RefusesFolderAsFile) { EXPECT_EQ(read_file(folder_.path()).error().code, ErrorCode::invalid_input); }
TEST_F(Files, RefusesFileAboveTheLimit) { EXPECT_EQ(read_file(written("a", "12345"), 4).error().code, ErrorCode::exhausted); }
TEST_F(Files, AcceptsFileAtTheLimit) { EXPECT_EQ(*read_file(written("a", "12345"), 5), "12345"); }
TEST_F(Files, RefusesEndlessFile) { EXPECT_EQ(read_file("/dev/zero", 1 << 20).error().code, ErrorCode::exhausted); }
TEST_F(Files, RefusesWriteIntoMissingFolder) { EXPECT_EQ(write_file_atomic(at("no/a"), "x").error().code, ErrorCode::not_found); }
TEST_F(Files, RefusesWriteOntoAFolder) {
  EXPECT_TRUE(make_directories(at("x")));
  EXPECT_FALSE(write_file_atomic(at("x"), "text"));
  EXPECT_THAT(*list_directory(folder_.path()), ElementsAre("x"));  // and leaves no temporary file
}
TEST_F(Files, RefusesFolderBelowAFile) { EXPECT_FALSE(make_directories(written("a", "") + "/b")); }
TEST_F(Files, RefusesListingOfAFile) { EXPECT_FALSE(list_directory(written("a", ""))); }
TEST_F(Files, RefusesSizeOfMissingFile) { EXPECT_EQ(file_size(at("none")).error().code, ErrorCode::not_found); }
TEST_F(Files, RefusesTreeSizeOfMissingFolder) { EXPECT_FALSE(tree_size(at("none"))); }
TEST_F(Files, RefusesRenameOfMissingFile) { EXPECT_FALSE(rename_path(at("none"), at("other"))); }
TEST_F(Files, RefusesFullDevice) {
  const auto written_full = write_file_atomic("/dev/full/x", "x");
  EXPECT_FALSE(written_full);
}
// As an ordinary user: root may write everywhere.
TEST_F(Files, RefusesReadOnlyFolder) {
  EXPECT_TRUE(make_directories(at("ro")));
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(at("ro").c_str(), 0555);
  const bool root = ::geteuid() == 0;
  ASSERT_EQ(root ? ::seteuid(65534) : 0, 0);
  const auto result = write_file_atomic(at("ro/a"), "x");
  ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
  EXPECT_EQ(result.error().code, ErrorCode::permission);
  EXPECT_THAT(result.error().message, HasSubstr("ro/a"));
}
TEST_F(Files, UnwritableFolderNamesTheVariableToSet) {
  EXPECT_TRUE(make_writable_folder(at("new/one"), "AACO_REGISTRY"));
  EXPECT_TRUE(make_writable_folder(at("new/one"), "AACO_REGISTRY"));
  const auto below_a_file = make_writable_folder(written("a", "") + "/b", "AACO_REGISTRY");
  ASSERT_FALSE(below_a_file);
  EXPECT_THAT(below_a_file.error().remedy, HasSubstr("AACO_REGISTRY"));
  EXPECT_TRUE(make_directories(at("ro")));
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(at("ro").c_str(), 0555);
  const bool root = ::geteuid() == 0;
  ASSERT_EQ(root ? ::seteuid(65534) : 0, 0);
  const auto read_only = make_writable_folder(at("ro"), "AACO_REGISTRY");
  ASSERT_EQ(root ? ::seteuid(0) : 0, 0);
  ASSERT_FALSE(read_only);
  EXPECT_EQ(read_only.error().code, ErrorCode::permission);
}
// sysfs is read-only in the sense that counts: nobody may make files there, root included.
// As root a rename over /dev/null would put a file in the place of the device.
TEST_F(Files, PipesAreWrittenInPlace) {
  const std::string pipe = at("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const FileDescriptor reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write_file_atomic(pipe, "text"));
  std::array<char, 8> bytes{};
  EXPECT_EQ(::read(reader.get(), bytes.data(), bytes.size()), 4);
  EXPECT_TRUE(write_file_atomic("/dev/null", "text"));
  struct stat info {};
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

TEST_F(Files, RefusesWriteToReadOnlyPath) { EXPECT_FALSE(write_file_atomic("/sys/aaco_test", "x")); }

TEST_F(Files, TemporaryDirectoryIsRemovedWithItsOwner) {
  std::string path;
  {
    const auto inner = *TemporaryDirectory::make(folder_.path());
    path = inner.path();
    EXPECT_TRUE(write_file_atomic(join_path(path, "a"), "x"));
  }
  EXPECT_FALSE(exists(path));
}
TEST_F(Files, TemporaryDirectoryCanBeKept) {
  std::string path;
  {
    auto inner = *TemporaryDirectory::make(folder_.path());
    path = inner.release();
  }
  EXPECT_TRUE(exists(path));
}
TEST_F(Files, TemporaryDirectoryMoves) {
  auto first = *TemporaryDirectory::make(folder_.path());
  const std::string path = first.path();
  const TemporaryDirectory second = std::move(first);
  EXPECT_TRUE(exists(path));
  EXPECT_EQ(second.path(), path);
}

TEST(Paths, Join) { EXPECT_EQ(join_path("/a", "b"), "/a/b"); }
TEST(Paths, Base) { EXPECT_EQ(base_name("/a/b.onnx"), "b.onnx"); }
TEST(Paths, Parent) { EXPECT_EQ(parent_path("/a/b.onnx"), "/a"); }
TEST(Paths, PrivateLibrariesAreBesideShare) {
  Paths paths;
  paths.share = "/opt/aaco/share/aaco";
  EXPECT_EQ(private_library(paths, "libx.so"), "/opt/aaco/lib/aaco/libx.so");
}
TEST(Paths, AbsoluteIsNormal) { EXPECT_EQ(absolute_path("/a/./b/../c"), "/a/c"); }

}  // namespace
}  // namespace aaco::core
