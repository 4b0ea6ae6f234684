#include "core/csv_cell.h"

#include <gtest/gtest.h>

namespace aaco::core {
namespace {

TEST(CsvCell, FormulasAreNeutralised) {
  for (const char* text : {"=1+1", "=cmd|' /C calc'!A0", "@SUM(A1)", "+cmd|x", "-cmd()", "-", "+", "--x", "\tx", "-1-A2"})
    EXPECT_EQ(csv_cell(text).substr(0, 1), "'") << text;
  EXPECT_EQ(csv_cell("=A1,B1"), "\"'=A1,B1\"");
  EXPECT_EQ(csv_cell("\rx"), "\"'\rx\"");
}
TEST(CsvCell, NumbersStayNumbers) {
  for (const char* text : {"-1", "+2.5", "-1e-07", "-.5", "+12.3 %", "0", "1e9"}) EXPECT_EQ(csv_cell(text), text);
}
TEST(CsvCell, OtherTextStays) {
  for (const char* text : {"", "conv2d", "a=b", "a-b", "user@host"}) EXPECT_EQ(csv_cell(text), text);
}
TEST(CsvCell, IsQuotedWhereItMustBe) {
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_cell(" a"), "\" a\"");
}

}  // namespace
}  // namespace aaco::core
