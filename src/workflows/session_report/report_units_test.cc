#include <gtest/gtest.h>

#include "workflows/session_report/report_series.h"

namespace aaco::workflows {
namespace {

TEST(UnitOf, FromTheEnding) { EXPECT_EQ(unit_of("process.rss_bytes"), "bytes"); }
TEST(UnitOf, Rates) { EXPECT_EQ(unit_of("system.interrupts_per_second"), "1/s"); }
TEST(UnitOf, RatesOfBytes) { EXPECT_EQ(unit_of("process.storage_read_bytes_per_second"), "bytes/s"); }
TEST(UnitOf, AWholeLastPart) { EXPECT_EQ(unit_of("process.count"), "count"); }
TEST(UnitOf, OnlyWholeWords) { EXPECT_EQ(unit_of("cpu.discount"), ""); }
TEST(UnitOf, NoUnit) { EXPECT_EQ(unit_of("system.load_1min"), ""); }
TEST(UnitOf, RejectsAUnitWithoutAMetric) { EXPECT_EQ(unit_of("bytes"), ""); }

}  // namespace
}  // namespace aaco::workflows
