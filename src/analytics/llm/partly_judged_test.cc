#include <gtest/gtest.h>

#include "analytics/llm/load_rows_testing.h"

namespace aaco::analytics::llm {
namespace {

// Requests of 5 tokens, 10 ms each, `known` of them; the tokens of the others were read at once.
Rows partly_in_one_piece(int known, int in_one_piece) {
  Rows rows;
  for (int i = 0; i < known; ++i) rows.add(10 * i, 10 * i, 10 * i + 100, 10, 5);
  for (int i = 0; i < in_one_piece; ++i) rows.add(10 * i, 10 * i, 10 * i + 100, 0, 5);
  return rows;
}
TEST(PartlyJudged, RequestsOfUnknownTpotAreNeitherGoodNorBad) {
  const Slo slo = parse_slo("tpot=30ms").value();
  Rows rows = partly_in_one_piece(40, 10);
  Load load = rows.load(slo);
  EXPECT_EQ(load.tpot_unknown, 10);
  EXPECT_EQ(load.good, 40);
  EXPECT_EQ(load.judged, 40);
  EXPECT_EQ(load.good_ratio, 1.0);
  EXPECT_TRUE(keeps(load, slo));
  EXPECT_EQ(partly_judged(load, slo), "40 of 40 requests whose TPOT is known within TPOT <= 30.0 ms (10 unknown)");
  EXPECT_NE(sentence_of(load, slo).find(partly_judged(load, slo)), std::string::npos) << sentence_of(load, slo);
  EXPECT_EQ(find_metric(metrics_of(load, {}), "llm.judged_count")->value, 40);
  EXPECT_EQ(load.tpot.p50->value, 10.0 * kMs) << "of the known ones";
  rows.add(1, 1, 2, 1, 1).outcome = rows.names.intern("timeout");
  load = rows.load(slo);
  EXPECT_EQ(load.good_ratio, 40.0 / 41);
  EXPECT_EQ(partly_judged(load, slo), "40 of 41 requests that failed or whose TPOT is known within TPOT <= 30.0 ms (10 unknown)");
}
TEST(PartlyJudged, MostUnknownHaveNoShare) {
  const Slo slo = parse_slo("tpot=30ms").value();
  const Load load = partly_in_one_piece(20, 30).load(slo);
  EXPECT_FALSE(load.good_ratio);
  EXPECT_FALSE(load.goodput_per_second);
  EXPECT_TRUE(is_unjudged(load, slo));
  EXPECT_FALSE(keeps(load, slo));
  EXPECT_EQ(partly_judged(load, slo), "TPOT is known for 20 of 50 responses, too few for a share within TPOT <= 30.0 ms");
  EXPECT_EQ(find_metric(metrics_of(load, {}), "llm.good_ratio"), nullptr);
}
TEST(PartlyJudged, LimitsOnOtherTimesJudgeThemAll) {
  const Slo slo = parse_slo("ttft=1s").value();
  const Load load = partly_in_one_piece(20, 30).load(slo);
  EXPECT_EQ(load.good_ratio, 1.0);
  EXPECT_EQ(partly_judged(load, slo), "");
}
TEST(PartlyJudged, ItlIsUnknownWithoutChunks) {
  const Slo slo = parse_slo("itl=30ms").value();
  Rows rows = partly_in_one_piece(20, 0);
  EXPECT_EQ(rows.load(slo).good_ratio, 1.0);
  rows.chunks.clear();
  EXPECT_FALSE(rows.load(slo).good_ratio);
  EXPECT_FALSE(keeps(rows.load(slo), slo));
}
TEST(PartlyJudged, SeveralTokensInOneChunkHaveNoKnownTpot) {
  const Slo slo = parse_slo("tpot=1ms").value();
  Rows rows;
  rows.add(0, 0, 100, 10, 1).output_tokens = 5;
  EXPECT_EQ(rows.load(slo).judged, 0);
  EXPECT_FALSE(rows.load(slo).good_ratio);
}

}  // namespace
}  // namespace aaco::analytics::llm
