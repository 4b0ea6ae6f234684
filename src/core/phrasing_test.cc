#include "core/phrasing.h"

#include <gtest/gtest.h>

namespace aaco::core {
namespace {

constexpr Phrase kPhrases[] = {{"aaco ls", "sessions()"},
                               {"aaco show SESSION --json", "open(SESSION).metrics"},
                               {"aaco verify *", "open('*').verify()"},
                               {"--force", "force=True"},
                               {"--ort-lib", "ort_library"},
                               {"--better lower", "better='lower'"},
                               {"--better", "better"},
                               {"--from", "files"}};

std::string phrased(std::string_view text) { return Phrasing(kPhrases, " in a shell").of(text); }

TEST(Phrasing, QuotedCommands) {
  EXPECT_EQ(phrased("'aaco ls' lists the sessions"), "sessions() lists the sessions");
  EXPECT_EQ(phrased("`aaco ls` lists them"), "sessions() lists them");
  EXPECT_EQ(phrased("see 'aaco show SESSION --json'"), "see open(SESSION).metrics");
}
TEST(Phrasing, CommandsWithoutAnotherNameAreOfTheShell) {
  EXPECT_EQ(phrased("run 'aaco doctor' for details"), "run 'aaco doctor' in a shell for details");
  EXPECT_EQ(phrased("run 'aaco ls --force'"), "run 'aaco ls --force' in a shell") << "as a whole or not at all";
}
TEST(Phrasing, LastWordMayBeOpen) {
  EXPECT_EQ(phrased("run 'aaco verify 2026-x' for details"), "run open('2026-x').verify() for details");
  EXPECT_EQ(phrased("'aaco verify'"), "'aaco verify' in a shell");
  EXPECT_EQ(phrased("'aaco verify a b'"), "'aaco verify a b' in a shell");
}
TEST(Phrasing, UnquotedCommands) { EXPECT_EQ(phrased("for example: aaco ls, or others"), "for example: sessions(), or others"); }
TEST(Phrasing, Options) {
  EXPECT_EQ(phrased("set --ort-lib or AACO_ORT_LIBRARY"), "set ort_library or AACO_ORT_LIBRARY");
  EXPECT_EQ(phrased("(--force)"), "(force=True)");
  EXPECT_EQ(phrased("pass --better lower, or --better higher"), "pass better='lower', or better higher");
  EXPECT_EQ(phrased("invalid value for '--from'"), "invalid value for 'files'");
}
TEST(Phrasing, OtherWordsStay) {
  for (const char* text : {"", "--", "--forced", "--force-all", "x--force", "rocprofv3 --hip-trace", "nsys --from=x", "aaco lsx",
                           "the aaco program", "a 'quote", "/opt/aaco ls"})
    EXPECT_EQ(phrased(text), text) << text;
  EXPECT_EQ(phrased("'aaco ls"), "'sessions()") << "no quote closes";
}
TEST(Phrasing, AllOfAnError) {
  const Error error = Phrasing(kPhrases, "").of(Error{ErrorCode::not_found, "--from x", "'aaco ls'", {"reading --from"}});
  EXPECT_EQ(error.message, "files x");
  EXPECT_EQ(error.remedy, "sessions()");
  EXPECT_EQ(error.context, std::vector<std::string>{"reading files"});
  EXPECT_EQ(error.code, ErrorCode::not_found);
}

}  // namespace
}  // namespace aaco::core
