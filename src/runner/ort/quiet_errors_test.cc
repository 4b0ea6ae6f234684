#include "runner/ort/quiet_errors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

namespace aaco::runner::ort {
namespace {

void say(const char* text) { (void)!::write(STDERR_FILENO, text, std::strlen(text)); }

TEST(QuietErrors, LeavesOutLinesAboutSchemasAndCountsThem) {
  testing::internal::CaptureStderr();
  QuietErrors quiet;
  say("Schema error: Trying to register Abs\n\nreal trouble\n\nSchema error: Trying to register Add\n\nlast words");
  EXPECT_EQ(quiet.finish(), 2);
  EXPECT_EQ(quiet.finish(), 2);
  say(", later\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "real trouble\n\nlast words, later\n");
}
TEST(QuietErrors, WithoutWordsNothingIsWritten) {
  testing::internal::CaptureStderr();
  { const QuietErrors quiet; }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace aaco::runner::ort
