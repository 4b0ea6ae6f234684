#include "tracelake/store/session_index.h"

#include <gtest/gtest.h>

namespace aaco::tracelake::store {
namespace {

IndexedSession session(const std::string& tag = "a tag") {
  IndexedSession one;
  one.identity = {7, 800, -9};
  one.head.id.text = "20261121T000001Z-aaaaaa";
  one.head.kind = "run";
  one.head.tag = tag;
  one.head.state = "complete";
  one.head.created_realtime_ns = 1'700'000'000'123'456'789;
  one.head.outcome.model = "net\tof\\two\nlines";
  one.head.outcome.batch = 8;
  one.head.outcome.p50_ns = 0.1;
  one.head.outcome.files = *core::Json::parse(R"([{"file": "a\tb"}])");
  return one;
}

TEST(SessionIndex, SurvivesItsText) {
  const SessionIndex index = {{"2026-11-21/a", session()}, {"2026-11-21/b", session("")}};
  const SessionIndex read = parse_index(index_text(index));
  ASSERT_EQ(read.size(), 2U);
  const IndexedSession& one = read.at("2026-11-21/a");
  EXPECT_EQ(one.identity, session().identity);
  EXPECT_EQ(to_json(one.head), to_json(session().head));
  EXPECT_FALSE(one.head.outcome.threads);
  EXPECT_EQ(read.at("2026-11-21/b").head.tag, "");
}
TEST(SessionIndex, DamagedTextIsAnEmptyIndex) {
  const std::string whole = index_text({{"2026-11-21/a", session()}});
  EXPECT_TRUE(parse_index("").empty());
  EXPECT_TRUE(parse_index("aaco session index 2" + whole.substr(20)).empty());
  EXPECT_TRUE(parse_index(whole.substr(0, whole.size() - 1)).empty()) << "cut";
  EXPECT_TRUE(parse_index(whole + "2026-11-21/b\tx\n").empty());
  EXPECT_TRUE(parse_index(whole + "\n").empty());
  for (std::size_t at = 21; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = '\n';
    EXPECT_LE(parse_index(changed).size(), 1U) << at;
  }
}
TEST(SessionIndex, HeadHasNoMore) {
  trace::SessionManifest manifest = session().head;
  manifest.hashes["env.json"] = "0";
  manifest.warnings.push_back({"a", "b", ""});
  EXPECT_EQ(to_json(head_of(manifest)), to_json(session().head));
}
TEST(SessionIndex, MissingFileHasNoIdentity) {
  FileIdentity identity;
  EXPECT_FALSE(identify("/nonexistent", identity));
  EXPECT_TRUE(identify("/proc/self/exe", identity));
}

}  // namespace
}  // namespace aaco::tracelake::store
