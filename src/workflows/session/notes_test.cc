#include "workflows/notes.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/files.h"
#include "tests/support/made_session.h"
#include "tracelake/bundle.h"
#include "workflows/session_choice.h"
#include "workflows/session_list.h"
#include "workflows/store.h"

namespace aaco::workflows {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tracelake::kMaxNoteBytes;
using tracelake::kMaxNoteTags;
using tracelake::kMaxTagBytes;

class Notes : public ::testing::Test {
 protected:
  [[nodiscard]] std::string problem(SessionNotes notes) const {
    const auto written = write_notes("id", std::move(notes), lake_.services.paths.sessions);
    return written ? "" : written.error().message;
  }
  Lake lake_;
};

TEST_F(Notes, AreReadAsWritten) {
  const auto written =
      write_notes("id", {.text = " driver 6.3\nwarm machine ", .tags = {"b", " a ", "b"}}, lake_.services.paths.sessions);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->text, "driver 6.3\nwarm machine");
  EXPECT_THAT(written->tags, ElementsAre("a", "b"));
  EXPECT_EQ(read_notes("id", lake_.services.paths.sessions), *written);
  EXPECT_EQ(all_notes(lake_.services.paths.sessions).at("id"), *written);
}
TEST_F(Notes, ASessionWithoutThemHasEmptyOnes) { EXPECT_TRUE(read_notes("other", lake_.services.paths.sessions).empty()); }
TEST_F(Notes, EmptyOnesRemoveTheFile) {
  ASSERT_EQ(problem({.text = "x"}), "");
  ASSERT_EQ(problem({.text = "  "}), "");
  EXPECT_TRUE(all_notes(lake_.services.paths.sessions).empty());
}
TEST_F(Notes, LongTextIsRefused) { EXPECT_THAT(problem({.text = std::string(kMaxNoteBytes + 1, 'x')}), HasSubstr("16 KiB")); }
TEST_F(Notes, ControlCharactersAreRefused) { EXPECT_THAT(problem({.text = "a\x1b[2J"}), HasSubstr("control")); }
TEST_F(Notes, InvalidTagsAreRefused) {
  for (const char* tag : {"", "two words", "a,b", "../x", "a\\b", "\x7f"})
    EXPECT_NE(problem({.text = "", .tags = {tag}}), "") << tag;
  EXPECT_NE(problem({.text = "", .tags = {std::string(kMaxTagBytes + 1, 'a')}}), "");
}
TEST_F(Notes, TooManyTagsAreRefused) {
  std::vector<std::string> tags;
  for (std::size_t i = 0; i <= kMaxNoteTags; ++i) tags.push_back(std::to_string(i));
  EXPECT_THAT(problem({.text = "", .tags = tags}), HasSubstr("tags"));
}
TEST_F(Notes, DamagedFilesAreEmpty) {
  ASSERT_EQ(problem({.text = "x"}), "");
  for (const char* text : {"", "[", "[]", R"({"tags":["../x", 3]})"}) {
    std::ofstream(lake_.services.paths.sessions + "/.notes/id.json") << text;
    EXPECT_TRUE(read_notes("id", lake_.services.paths.sessions).empty()) << text;
  }
}
TEST_F(Notes, ListsShowThemAndFilterByTheirTags) {
  lake_.make({.tag = "measured"});
  lake_.make({.tag = "other"});
  const auto& paths = lake_.services.paths;
  const std::string id = list_page({.tag = "measured"}, paths)->sessions.front().id;
  ASSERT_TRUE(write_notes(id, {.text = "Reference of the release", .tags = {"release"}}, paths.sessions));
  const auto tagged = list_page({.tag = "release"}, paths);
  ASSERT_EQ(tagged->found, 1U);
  EXPECT_EQ(tagged->sessions.front().note, "Reference of the release");
  EXPECT_THAT(tagged->sessions.front().tags, ElementsAre("release"));
  EXPECT_EQ(tagged->tags.at("release"), 1U);
  EXPECT_EQ(list_page({.search = "reference OF"}, paths)->found, 1U);
  EXPECT_EQ(list_page({.tag = "measured"}, paths)->found, 1U);
}
TEST_F(Notes, GoWithTheSession) {
  lake_.make({.tag = "a"});
  const auto& paths = lake_.services.paths;
  const std::string id = list_page({}, paths)->sessions.front().id;
  ASSERT_TRUE(write_notes(id, {.text = "x"}, paths.sessions));
  ASSERT_TRUE(remove("tag:a", paths));
  EXPECT_TRUE(all_notes(paths.sessions).empty());
}
TEST_F(Notes, TheirTagsNameTheSession) {
  lake_.make({.tag = "measured"});
  lake_.make({.tag = "other"});
  const auto& paths = lake_.services.paths;
  const std::string id = list_page({.tag = "measured"}, paths)->sessions.front().id;
  ASSERT_TRUE(write_notes(id, {.text = "", .tags = {"golden"}}, paths.sessions));
  const auto found = tracelake::find_session(paths.sessions, "tag:golden");
  ASSERT_TRUE(found);
  EXPECT_EQ(core::base_name(*found), id);
  EXPECT_FALSE(tracelake::find_session(paths.sessions, "tag:gold"));
  EXPECT_TRUE(is_meant(tracelake::list_session_heads(paths.sessions)->front().manifest, {{"tag", "golden"}}, {"golden"}));
}
TEST_F(Notes, TheirTagsKeepASession) {
  lake_.make({.tag = ""});
  lake_.make({.tag = ""});
  const auto& paths = lake_.services.paths;
  const std::string id = list_page({}, paths)->sessions.front().id;
  ASSERT_TRUE(write_notes(id, {.text = "", .tags = {"golden"}}, paths.sessions));
  const auto actions = tracelake::apply_retention(paths.sessions, {.max_bytes = 0, .keep_tagged = true, .dry_run = true}, 0);
  ASSERT_TRUE(actions);
  ASSERT_EQ(actions->size(), 1U);
  EXPECT_NE(core::base_name(actions->front().path), id);
}
TEST_F(Notes, TagsHaveOneForm) {
  EXPECT_TRUE(tracelake::check_tag("class=spin;x:1"));
  for (const std::string tag : {"", "a b", "a\nb", "a,b", "a/b"}) EXPECT_FALSE(tracelake::check_tag(tag)) << tag;
  EXPECT_TRUE(tracelake::check_tag(std::string(64, 'x')));
  EXPECT_FALSE(tracelake::check_tag(std::string(65, 'x')));
}

}  // namespace
}  // namespace aaco::workflows
