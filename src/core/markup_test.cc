#include "core/markup.h"

#include <gtest/gtest.h>

namespace aaco::core {
namespace {

TEST(Markup, LeavesNothingThatEndsAnElementOrAnAttribute) {
  EXPECT_EQ(escape_markup("<b title=\"a&b\">"), "&lt;b title=&quot;a&amp;b&quot;&gt;");
  EXPECT_EQ(escape_markup("&lt;"), "&amp;lt;");
  EXPECT_EQ(escape_markup("50 µs"), "50 µs");
  EXPECT_EQ(escape_markup(""), "");
}

}  // namespace
}  // namespace aaco::core
