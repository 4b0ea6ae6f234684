#include "runner/ort/session_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aaco::runner::ort {
namespace {

using ::testing::HasSubstr;
using Settings = std::map<std::string, std::string>;

std::string refusal(const Settings& settings) {
  const auto checked = check_session_settings(settings);
  return checked ? "" : checked.error().text();
}

TEST(SessionSettings, NoneIsValid) { EXPECT_EQ(refusal({}), ""); }
TEST(SessionSettings, KnownNamesAreValid) {
  EXPECT_EQ(refusal({{"execution_mode", "parallel"},
                     {"inter_op_threads", "2"},
                     {"memory_arena", "off"},
                     {"memory_pattern", "on"},
                     {"pinning", "on"}}),
            "");
}
TEST(SessionSettings, ConfigurationEntriesPassVerbatim) { EXPECT_EQ(refusal({{"session.intra_op.allow_spinning", "0"}}), ""); }
TEST(SessionSettings, UnknownNameIsRefused) {
  EXPECT_THAT(refusal({{"arena", "off"}}), HasSubstr("unknown session option 'arena'"));
}
TEST(SessionSettings, SwitchesAreOnOrOff) { EXPECT_THAT(refusal({{"memory_arena", "1"}}), HasSubstr("expected on or off")); }
TEST(SessionSettings, ModeIsOneOfTwo) {
  EXPECT_THAT(refusal({{"execution_mode", "fast"}}), HasSubstr("expected sequential or parallel"));
}
TEST(SessionSettings, CountsStartAtOne) {
  for (const char* value : {"0", "-1", "two", "", "99999"})
    EXPECT_THAT(refusal({{"inter_op_threads", value}}), HasSubstr("inter_op_threads")) << value;
}

}  // namespace
}  // namespace aaco::runner::ort
