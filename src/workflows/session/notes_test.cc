#include "workflows/notes.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/files.h"
#include "tests/support/made_session.h"
#include "workflows/session_list.h"
#include "workflows/store.h"

namespace aaco::workflows {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Notes : public ::testing::Test {
 protected:
  [[nodiscard]] std::string problem(SessionNotes notes) const {
    const auto written = write_notes("id", std::move(notes), lake_.services.paths);
    return written ? "" : written.error().message;
  }
  Lake lake_;
};

TEST_F(Notes, AreReadAsWritten) {
  const auto written = write_notes("id", {.text = " driver 6.3\nwarm machine ", .tags = {"b", " a ", "b"}}, lake_.services.paths);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->text, "driver 6.3\nwarm machine");
  EXPECT_THAT(written->tags, ElementsAre("a", "b"));
  EXPECT_EQ(read_notes("id", lake_.services.paths), *written);
  EXPECT_EQ(all_notes(lake_.services.paths.sessions).at("id"), *written);
}
TEST_F(Notes, ASessionWithoutThemHasEmptyOnes) { EXPECT_TRUE(read_notes("other", lake_.services.paths).empty()); }
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
    EXPECT_TRUE(read_notes("id", lake_.services.paths).empty()) << text;
  }
}
TEST_F(Notes, ListsShowThemAndFilterByTheirTags) {
  lake_.make({.tag = "measured"});
  lake_.make({.tag = "other"});
  const auto& paths = lake_.services.paths;
  const std::string id = list_page({.tag = "measured"}, paths)->sessions.front().id;
  ASSERT_TRUE(write_notes(id, {.text = "Reference of the release", .tags = {"release"}}, paths));
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
  ASSERT_TRUE(write_notes(id, {.text = "x"}, paths));
  ASSERT_TRUE(remove("tag:a", paths));
  EXPECT_TRUE(all_notes(paths.sessions).empty());
}

}  // namespace
}  // namespace aaco::workflows
