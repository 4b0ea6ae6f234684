#include "workflows/run/marked_ranges.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trace/sink.h"

namespace aaco::workflows {
namespace {

class MarkedRangesTest : public testing::Test {
 protected:
  // As a recorded program does.
  void write(const std::string& text) { std::ofstream(ranges_.variable().second, std::ios::app) << text << std::flush; }

  trace::MemorySink sink_;
  MarkedRanges ranges_;
};

TEST_F(MarkedRangesTest, LinesBecomeMarkers) {
  write("10 11 1000 2000 load a batch\n10 12 1500 1600 step\n");
  ranges_.drain(sink_);
  const auto account = ranges_.finish(sink_);
  EXPECT_EQ(account.kept, 2);
  const auto& rows = sink_.rows<trace::ApiCallRow>();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(sink_.text(rows[0].name), "load a batch");
  EXPECT_EQ(sink_.text(rows[0].domain), "marker");
  EXPECT_EQ(rows[1].process_id, 10);
  EXPECT_EQ(rows[1].thread_id, 12);
  EXPECT_EQ(rows[1].end_ns - rows[1].start_ns, 100);
}

TEST_F(MarkedRangesTest, ALineInTwoPiecesIsOneRange) {
  write("10 11 1000 20");
  ranges_.drain(sink_);
  write("00 step\n");
  EXPECT_EQ(ranges_.finish(sink_).kept, 1);
}

TEST_F(MarkedRangesTest, NoLineLeavesNoAccount) { EXPECT_TRUE(ranges_.finish(sink_).source.empty()); }

TEST_F(MarkedRangesTest, MalformedLinesAreCounted) {
  write("\n10 11 1000\n10 11 2000 1000 backwards\n10 11 -1 2000 negative\n10 11 1000 2000 \nten 11 1 2 x\n");
  const auto account = ranges_.finish(sink_);
  EXPECT_EQ(account.kept, 0);
  EXPECT_EQ(account.dropped.at("not a range"), 6);
  EXPECT_EQ(account.state, trace::Account::State::partial);
}

TEST_F(MarkedRangesTest, TheFutureIsRefused) {
  write("1 1 1 9223372036854775807 x\n");
  EXPECT_EQ(ranges_.finish(sink_).dropped.at("ends in the future"), 1);
}

TEST_F(MarkedRangesTest, ALastLineWithoutItsEndIsCounted) {
  write("1 1 1 2 x\n1 1 1");
  const auto account = ranges_.finish(sink_);
  EXPECT_EQ(account.kept, 1);
  EXPECT_EQ(account.dropped.at("cut off"), 1);
}

TEST_F(MarkedRangesTest, NamesAndLinesAreBounded) {
  write("1 1 1 2 " + std::string(1000, 'n') + "\n" + std::string(300'000, 'x'));
  const auto account = ranges_.finish(sink_);
  ASSERT_EQ(account.kept, 1);
  EXPECT_EQ(sink_.text(sink_.rows<trace::ApiCallRow>()[0].name).size(), MarkedRanges::kMaxName);
  EXPECT_GE(account.dropped.at("not a range"), 1);
}

}  // namespace
}  // namespace aaco::workflows
