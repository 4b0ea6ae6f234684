#include <unistd.h>

#include <filesystem>

#include "core/strings.h"
#include "tracelake/lake.h"
#include "tracelake/testing/session_testing.h"

namespace aaco::tracelake {
namespace {

using core::ErrorCode;
using core::join_path;

class SessionListTest : public SessionTest {
 protected:
  [[nodiscard]] std::vector<SessionEntry> list() const {
    auto entries = list_sessions(root);
    EXPECT_TRUE(entries) << entries.error().text();
    return entries.value_or(std::vector<SessionEntry>());
  }
};

TEST_F(SessionListTest, MissingRootHasNoSessions) { EXPECT_TRUE(list().empty()); }

TEST_F(SessionListTest, OldestFirst) {
  (void)make(manifest("20261121T000002Z-bbbbbb"));
  (void)make(manifest("20261120T000001Z-aaaaaa", "", kCreatedNs - 86'400'000'000'000));
  const auto entries = list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].manifest.id.text, "20261120T000001Z-aaaaaa");
  EXPECT_EQ(entries[0].path, join_path(root, "2026-11-20/20261120T000001Z-aaaaaa"));
}

TEST_F(SessionListTest, OldestFirstWithinASecond) {
  (void)make(manifest("20261121T000001Z-bbbbbb", "same", kCreatedNs));
  (void)make(manifest("20261121T000001Z-aaaaaa", "same", kCreatedNs + 1));
  const auto entries = list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].manifest.id.text, "20261121T000001Z-aaaaaa");
  EXPECT_EQ(core::base_name(find_session(root, "tag:same").value_or("")), "20261121T000001Z-aaaaaa");
}

TEST_F(SessionListTest, OpenSessionIsIncompleteAndItsWriterLives) {
  auto writer = create(manifest());
  auto entries = list();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].manifest.state, "incomplete");
  ASSERT_TRUE(entries[0].writer);
  EXPECT_TRUE(entries[0].writer->alive);
  EXPECT_EQ(entries[0].writer->process_id, ::getpid());
  writer.reset();
  EXPECT_FALSE(list()[0].writer->alive);
}

TEST_F(SessionListTest, DamagedSessionsAreShownAsSuch) {
  const std::string day = join_path(root, "2026-11-21");
  for (const auto& [id, text] : std::vector<std::pair<std::string, std::string>>{
           {"a-empty", ""},
           {"b-cut", R"({"schema_version": 1, "session_id": "b-cut")"},
           {"c-newer", R"({"schema_version": 99, "session_id": "c-newer", "kind": "run"})"},
           {"d-other", R"([1, 2, 3])"}}) {
    ASSERT_TRUE(core::make_directories(join_path(day, id)));
    ASSERT_TRUE(core::write_file_atomic(join_path(join_path(day, id), "session.json"), text));
  }
  ASSERT_TRUE(core::make_directories(join_path(day, "e-nothing")));
  const auto entries = list();
  ASSERT_EQ(entries.size(), 5u);
  for (const SessionEntry& entry : entries) EXPECT_TRUE(entry.manifest.state.starts_with("damaged: ")) << entry.manifest.state;
  EXPECT_THAT(entries[2].manifest.state, ::testing::HasSubstr("schema version 99"));
  EXPECT_EQ(read_manifest(entries[2].path).error().code, ErrorCode::unsupported);
}

TEST_F(SessionListTest, IgnoresOtherFiles) {
  (void)make(manifest());
  ASSERT_TRUE(core::write_file_atomic(join_path(root, "notes.txt"), "x"));
  ASSERT_TRUE(core::write_file_atomic(join_path(root, "2026-11-21/notes.txt"), "x"));
  ASSERT_TRUE(core::make_directories(join_path(root, "baselines/x")));
  ASSERT_TRUE(core::make_directories(join_path(root, "2026-11-21/.hidden")));
  EXPECT_EQ(list().size(), 1u);
}

// Lakes of fewer sessions have no index.
class SessionHeadsTest : public SessionListTest {
 protected:
  static constexpr int kSessions = 70;
  void SetUp() override {
    SessionListTest::SetUp();
    for (int i = 0; i < kSessions; ++i)
      paths.push_back(make(manifest("run-" + std::to_string(100 + i), i % 2 == 0 ? "even" : "odd", kCreatedNs + i)));
    index = join_path(root, ".index");
  }
  [[nodiscard]] std::vector<SessionEntry> heads() const {
    auto entries = list_session_heads(root);
    EXPECT_TRUE(entries) << entries.error().text();
    return entries.value_or(std::vector<SessionEntry>());
  }
  // As many, in the same order and with the same heads, as reading every manifest tells.
  void expect_true() const {
    const auto fast = heads(), slow = list();
    ASSERT_EQ(fast.size(), slow.size());
    for (std::size_t i = 0; i < fast.size(); ++i) {
      EXPECT_EQ(fast[i].path, slow[i].path);
      EXPECT_EQ(fast[i].manifest.id.text, slow[i].manifest.id.text);
      EXPECT_EQ(fast[i].manifest.tag, slow[i].manifest.tag);
      EXPECT_EQ(fast[i].manifest.state, slow[i].manifest.state);
    }
  }
  std::vector<std::string> paths;
  std::string index;
};

TEST_F(SessionHeadsTest, AreWrittenToAnIndexOnce) {
  expect_true();
  ASSERT_TRUE(core::exists(index));
  const auto written = std::filesystem::last_write_time(index);
  expect_true();
  EXPECT_EQ(std::filesystem::last_write_time(index), written);
}
TEST_F(SessionHeadsTest, FollowNewRemovedAndChangedSessions) {
  (void)heads();
  (void)make(manifest("run-900", "new", kCreatedNs + 1000));
  ASSERT_TRUE(core::remove_tree(paths[3]));
  const std::string file = join_path(paths[5], "session.json");
  ASSERT_TRUE(core::write_file_atomic(file, core::replace_all(*core::read_file(file), "\"odd\"", "\"odder\"")));
  ASSERT_TRUE(core::write_file_atomic(join_path(paths[7], "session.json"), "{"));
  expect_true();
  expect_true();
  EXPECT_EQ(core::base_name(find_session(root, "tag:odder").value_or("")), "run-105");
  EXPECT_EQ(core::base_name(find_session(root, "tag:new").value_or("")), "run-900");
}
TEST_F(SessionHeadsTest, ADamagedIndexIsRenewed) {
  (void)heads();
  const std::string whole = *core::read_file(index);
  for (const std::string& text : {std::string(), std::string("nonsense"), whole.substr(0, whole.size() / 2), whole + "x"}) {
    ASSERT_TRUE(core::write_file_atomic(index, text));
    expect_true();
    EXPECT_EQ(core::read_file(index)->size(), whole.size());
  }
}
TEST_F(SessionHeadsTest, UnwritableIndexIsIgnored) {
  ASSERT_TRUE(core::make_directories(index));
  expect_true();
}
TEST_F(SessionHeadsTest, OpenSessionsAreListed) {
  (void)heads();
  const auto writer = create(manifest("run-901", "", kCreatedNs + 2000));
  EXPECT_EQ(heads().back().manifest.state, "incomplete");
}

TEST_F(SessionListTest, FindsByEveryName) {
  const std::string first = make(manifest("20261121T081530Z-aaaaaa", "base"));
  const std::string second = make(manifest("20261121T081531Z-bbbbbb", "base"));
  const std::string third = make(manifest("20261121T081532Z-cccccc"));
  EXPECT_EQ(find_session(root, "latest").value_or(""), third);
  EXPECT_EQ(find_session(root, "tag:base").value_or(""), second);
  EXPECT_EQ(find_session(root, "20261121T081530").value_or(""), first);
  EXPECT_EQ(find_session(root, first).value_or(""), first);
  EXPECT_EQ(find_session(root, first + "/").value_or(""), first);
  EXPECT_EQ(find_session("/nowhere", first).value_or(""), first);
}

TEST_F(SessionListTest, TagOfAKilledRunIsFoundWhereNoOtherHasIt) {
  const auto killed = create(manifest("20261121T081530Z-aaaaaa", "killed"));
  EXPECT_EQ(find_session(root, "tag:killed").value_or(""), killed->path());
  const std::string whole = make(manifest("20261121T081529Z-bbbbbb", "killed"));
  EXPECT_EQ(find_session(root, "tag:killed").value_or(""), whole);
}

TEST_F(SessionListTest, DamagedTablesAreNamed) {
  const std::string path = make(manifest());
  const auto changed = [&] { return changed_documents(path, *read_manifest(path)); };
  EXPECT_TRUE(changed().empty());
  const std::string table = join_path(path, "metrics/inference_iters.parquet");
  std::string bytes = *core::read_file(table);
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  ASSERT_TRUE(core::write_file_atomic(table, bytes));
  EXPECT_THAT(changed(), ::testing::ElementsAre("metrics/inference_iters.parquet"));
  ASSERT_TRUE(core::remove_tree(table));
  EXPECT_TRUE(changed().empty()) << "a missing file is named by check_files_there()";
}

TEST_F(SessionListTest, ExactIdWinsOverPrefix) {
  const std::string first = make(manifest("run"));
  (void)make(manifest("run-2"));
  EXPECT_EQ(find_session(root, "run").value_or(""), first);
}

TEST_F(SessionListTest, RefusesAmbiguousOrMissingNames) {
  (void)make(manifest("20261121T081530Z-aaaaaa"));
  (void)make(manifest("20261121T081531Z-bbbbbb"));
  const auto ambiguous = find_session(root, "20261121");
  EXPECT_EQ(ambiguous.error().code, ErrorCode::conflict);
  EXPECT_THAT(ambiguous.error().message, ::testing::HasSubstr("20261121T081531Z-bbbbbb"));
  EXPECT_EQ(find_session(root, "nothing").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_session(root, "tag:nothing").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_session(root, "tag:").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(find_session(root, "").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(find_session(root, "./no/such/path").error().code, ErrorCode::not_found);
  EXPECT_EQ(find_session("/nowhere", "latest").error().code, ErrorCode::not_found);
}

TEST_F(SessionListTest, LatestIsNeverAnOpenOne) {
  const std::string whole = make(manifest("20261121T081530Z-aaaaaa"));
  auto open = create(manifest("20261121T081531Z-bbbbbb"));
  EXPECT_EQ(find_session(root, "latest").value_or(""), whole);
  std::filesystem::remove(join_path(root, "latest"));
  EXPECT_EQ(find_session(root, "latest").value_or(""), whole);
}

TEST_F(SessionListTest, VerifyListsDifferences) {
  const std::string path = make(manifest());
  ASSERT_TRUE(verify_session(path));
  EXPECT_TRUE(verify_session(path)->empty());
  ASSERT_TRUE(core::write_file_atomic(join_path(path, "env.json"), "{}"));
  ASSERT_TRUE(core::write_file_atomic(join_path(path, "extra.txt"), "{}"));
  ASSERT_TRUE(core::remove_tree(join_path(path, "metrics/inference_iters.parquet")));
  const auto findings = verify_session(path);
  ASSERT_TRUE(findings);
  std::vector<std::string> texts;
  for (const auto& finding : *findings) texts.push_back(finding.file + " " + finding.problem);
  EXPECT_EQ(texts,
            (std::vector<std::string>{"metrics/inference_iters.parquet missing", "env.json changed", "extra.txt unexpected"}));
}

TEST_F(SessionListTest, VerifyDetectsChangedManifest) {
  const std::string path = make(manifest()), file = join_path(path, "session.json");
  const std::string whole = *core::read_file(file);
  std::string edited = whole;
  edited.replace(edited.find("\"tag\""), 5, "\"tog\"");
  const core::Json document = *core::Json::parse(whole);
  for (const std::string& text :
       {edited, document.dump(0), whole + "\n", core::replace_all(whole, "seal\": \"", "seal\": \"0")}) {
    ASSERT_TRUE(core::write_file_atomic(file, text));
    const auto findings = verify_session(path);
    ASSERT_TRUE(findings && findings->size() == 1) << text;
    EXPECT_EQ(findings->front().file + " " + findings->front().problem, "session.json changed");
  }
  ASSERT_TRUE(core::write_file_atomic(file, to_json(*read_manifest(path)).dump() + "\n"));
  EXPECT_TRUE(verify_session(path)->empty()) << "as earlier versions wrote it, without a seal";
}

TEST_F(SessionListTest, VerifyAllowsLaterReport) {
  const std::string path = make(manifest());
  ASSERT_TRUE(core::make_directories(join_path(path, "report")));
  ASSERT_TRUE(core::write_file_atomic(join_path(path, "report/report.html"), "<p>"));
  EXPECT_TRUE(verify_session(path)->empty());
}

TEST_F(SessionListTest, VerifyRefusesLinksAndIncompleteSessions) {
  const std::string path = make(manifest());
  std::filesystem::create_symlink("/etc/passwd", join_path(path, "passwd"));
  EXPECT_EQ(verify_session(path).error().code, ErrorCode::invalid_input);
  auto open = create(manifest("open"));
  EXPECT_EQ(verify_session(open->path()).error().code, ErrorCode::invalid_input);
}

}  // namespace
}  // namespace aaco::tracelake
