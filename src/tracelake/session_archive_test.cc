#include <filesystem>

#include "core/hash.h"
#include "tracelake/archive/tar.h"
#include "tracelake/archive/zstd_file.h"
#include "tracelake/lake.h"
#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

class SessionArchiveTest : public SessionTest {
 protected:
  [[nodiscard]] std::string file() const { return join_path(folder(), "session.tar.zst"); }
  [[nodiscard]] std::string other_root() const { return join_path(folder(), "elsewhere"); }

  // An archive of any members, however hostile.
  void write_archive(const std::vector<std::pair<std::string, std::string>>& members) const {
    auto out = *archive::ZstdFileWriter::create(file());
    archive::TarWriter tar([&out](std::string_view bytes) { return out.write(bytes); });
    for (const auto& [name, bytes] : members) {
      ASSERT_TRUE(tar.begin(name, static_cast<std::int64_t>(bytes.size()), 0)) << name;
      ASSERT_TRUE(tar.add(bytes));
      ASSERT_TRUE(tar.end_file());
    }
    ASSERT_TRUE(tar.finish());
    ASSERT_TRUE(out.finish());
  }
  static std::string manifest_text(const std::map<std::string, std::string>& files, const std::string& id = "x") {
    trace::SessionManifest out = manifest(id);
    for (const auto& [name, bytes] : files) out.hashes[name] = core::sha256_hex(bytes);
    return to_json(out).dump();
  }
  ErrorCode refusal() const {
    const auto path = unpack_session(file(), other_root());
    EXPECT_FALSE(path);
    const auto entries = list_sessions(other_root());
    EXPECT_TRUE(entries && entries->empty()) << "something stayed";
    return path ? ErrorCode::cancelled : path.error().code;
  }
};

TEST_F(SessionArchiveTest, RoundTrip) {
  const std::string path = make(manifest(), 5000);
  ASSERT_TRUE(pack_session(path, file()));
  const auto unpacked = unpack_session(file(), other_root());
  ASSERT_TRUE(unpacked) << unpacked.error().text();
  EXPECT_EQ(*unpacked, join_path(other_root(), std::string("2026-11-21/") + kId));
  EXPECT_TRUE(verify_session(*unpacked)->empty());
  EXPECT_EQ(*core::read_file(join_path(path, "session.json")), *core::read_file(join_path(*unpacked, "session.json")));
  trace::NameTable names;
  EXPECT_EQ(read_table<trace::IterationRow>(*unpacked, names)->size(), 5000u);
  EXPECT_EQ(unpack_session(file(), other_root()).error().code, ErrorCode::conflict);
}

TEST_F(SessionArchiveTest, RefusesChangedManifest) {
  const std::string path = make(manifest()), manifest_file = join_path(path, "session.json");
  std::string text = *core::read_file(manifest_file);
  text.replace(text.find("\"tag\""), 5, "\"tog\"");
  ASSERT_TRUE(core::write_file_atomic(manifest_file, text));
  EXPECT_EQ(pack_session(path, file()).error().code, ErrorCode::invalid_input);
  write_archive({{std::string(kId) + "/session.json", text}});
  EXPECT_NE(unpack_session(file(), other_root()).error().text().find("does not match its seal"), std::string::npos);
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
}

TEST_F(SessionArchiveTest, PackingRefusesChangedAndIncompleteSessions) {
  const std::string path = make(manifest());
  ASSERT_TRUE(core::write_file_atomic(join_path(path, "env.json"), "{}"));
  EXPECT_EQ(pack_session(path, file()).error().code, ErrorCode::invalid_input);
  EXPECT_FALSE(core::exists(file()));
  auto open = create(manifest("open"));
  EXPECT_EQ(pack_session(open->path(), file()).error().code, ErrorCode::invalid_input);
  EXPECT_EQ(pack_session(root, file()).error().code, ErrorCode::not_found);
  EXPECT_EQ(pack_session(make(manifest("whole")), "/nowhere/x.tar.zst").error().code, ErrorCode::not_found);
}

TEST_F(SessionArchiveTest, RefusesTruncationAnywhere) {
  ASSERT_TRUE(pack_session(make(manifest()), file()));
  const std::string bytes = *core::read_file(file());
  for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 40) {
    ASSERT_TRUE(core::write_file_atomic(file(), bytes.substr(0, size)));
    EXPECT_EQ(refusal(), ErrorCode::invalid_input) << size;
  }
}

TEST_F(SessionArchiveTest, RefusesChangedBytes) {
  ASSERT_TRUE(pack_session(make(manifest()), file()));
  std::string bytes = *core::read_file(file());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  ASSERT_TRUE(core::write_file_atomic(file(), bytes));
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
}

TEST_F(SessionArchiveTest, RefusesUnlistedFiles) {
  write_archive({{"x/session.json", manifest_text({})}, {"x/extra.sh", "rm"}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
}

TEST_F(SessionArchiveTest, RefusesAFileTwice) {
  write_archive({{"x/session.json", manifest_text({{"a", "1"}})}, {"x/a", "1"}, {"x/a", "1"}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
}

TEST_F(SessionArchiveTest, RefusesAWrongHashAndALackingFile) {
  write_archive({{"x/session.json", manifest_text({{"a", "1"}})}, {"x/a", "2"}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
  write_archive({{"x/session.json", manifest_text({{"a", "1"}})}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
}

TEST_F(SessionArchiveTest, RefusesPathTraversal) {
  write_archive({{"x/session.json", manifest_text({}, "../../x")}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
  write_archive({{"y/session.json", manifest_text({}, "x")}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
  write_archive({{"x/session.json", manifest_text({{"session.json", "1"}})}, {"x/session.json", "1"}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
}

TEST_F(SessionArchiveTest, RefusesABomb) {
  const std::string zeros(90 << 20, '\0');
  write_archive({{"x/session.json", manifest_text({{"a", zeros}})}, {"x/a", zeros}});
  ASSERT_LT(*core::file_size(file()), 100'000);
  EXPECT_EQ(refusal(), ErrorCode::exhausted);
}

TEST_F(SessionArchiveTest, RefusesOtherFiles) {
  ASSERT_TRUE(core::write_file_atomic(file(), "not compressed"));
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
  write_archive({});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
  write_archive({{"x/a", "1"}});
  EXPECT_EQ(refusal(), ErrorCode::invalid_input);
  EXPECT_EQ(unpack_session(join_path(folder(), "nothing"), other_root()).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace aaco::tracelake
