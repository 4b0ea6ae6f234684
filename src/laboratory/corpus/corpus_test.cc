#include "laboratory/corpus.h"

#include <gtest/gtest.h>

#include "tests/support/source_dir.h"

namespace aaco::laboratory::corpus {
namespace {

core::YamlNode yaml(std::string_view text) {
  auto node = core::YamlNode::parse(text, "cases.yaml");
  EXPECT_TRUE(node.has_value()) << text;
  return node ? std::move(*node) : core::YamlNode();
}

std::string one_case(std::string_view changed = "") {
  std::string text =
      "schema: 1\ncases:\n"
      "  - id: a.gap_0\n    file: traces/a.json\n    kind: gap\n    question: why\n    query: {call: gap, args: {rank: 0}}\n"
      "    values: {start_ns: 9007199254740993, length_ns: 10, launch: hipLaunchKernel}\n"
      "    truth: {class: host, cause: python, seconds: [framework], must_not: [memory]}\n"
      "    proof: because\n    split: tune\n    origin: real-other\n";
  if (!changed.empty()) {
    const auto colon = changed.find(':');
    const auto begin = text.find(std::string(changed.substr(0, colon + 1)));
    EXPECT_NE(begin, std::string::npos) << changed;
    text.replace(begin, text.find('\n', begin) - begin, changed);
  }
  return text;
}
bool reads(std::string_view changed) { return cases_of(yaml(one_case(changed))).has_value(); }

TEST(Load, ReadsACase) {
  const auto cases = cases_of(yaml(one_case()));
  ASSERT_TRUE(cases.has_value()) << cases.error().text();
  EXPECT_EQ(cases->front().start_ns, 9007199254740993);  // no double holds it
  EXPECT_EQ(cases->front().truth.seconds, std::vector<std::string>{"framework"});
  EXPECT_EQ(cases->front().values.count("launch"), 0u);
}
TEST(Load, Refusals) {
  EXPECT_FALSE(reads("kind: guess"));
  EXPECT_FALSE(reads("split: both"));
  EXPECT_FALSE(reads("truth: {cause: python}"));
  EXPECT_FALSE(reads("truth: {class: host, cause: python, third: [x]}"));
  EXPECT_FALSE(reads("query: {args: {}}"));
  EXPECT_FALSE(reads("values: {length_ns: 0}"));
  EXPECT_FALSE(reads("proof: x\n    more: y"));
  EXPECT_FALSE(reads("kind: pair"));  // of what
  EXPECT_FALSE(cases_of(yaml("schema: 2\ncases: []\n")).has_value());
  EXPECT_FALSE(cases_of(yaml("schema: 1\ncases: 3\n")).has_value());
  const std::string twice = one_case() + one_case().substr(one_case().find("  - id"));
  EXPECT_FALSE(cases_of(yaml(twice)).has_value());
  EXPECT_FALSE(load_cases(AACO_SOURCE_DIR "/docs/formats").has_value());
}
TEST(Load, TheCorpusOfTheProject) {
  const auto cases = load_cases(AACO_SOURCE_DIR "/tests/corpus");
  ASSERT_TRUE(cases.has_value()) << cases.error().text();
  EXPECT_GE(cases->size(), 120u);
}

Words words() {
  auto read =
      Words::of(yaml("schema: 1\nclasses: {host_waiting: host}\ncauses: [{ids: [host_late], class: host, cause: unknown}]\n"
                     "reasons: {import.totals_only: statistics}\n"));
  EXPECT_TRUE(read.has_value());
  return *read;
}
TEST(Words, WhatIsNotListedIsItsOwnWord) {
  EXPECT_EQ(words().class_of("host_waiting"), "host");
  EXPECT_EQ(words().class_of("cannot_tell"), "cannot-tell");
  EXPECT_EQ(words().cause_of("host_late").cause, "unknown");
  EXPECT_EQ(words().cause_of("data_loading").cause, "data-loading");
  EXPECT_EQ(words().cause_of("").cause, "");
  EXPECT_EQ(words().reason_of("import.totals_only"), "statistics");
  EXPECT_EQ(words().reason_of("something.else"), "");
}
TEST(Words, Refusals) {
  EXPECT_FALSE(Words::of(yaml("schema: 2\n")).has_value());
  EXPECT_FALSE(Words::of(yaml("schema: 1\nclasses: [a]\n")).has_value());
  EXPECT_FALSE(Words::of(yaml("schema: 1\ncauses: [{class: host}]\n")).has_value());
  EXPECT_FALSE(Words::of(yaml("schema: 1\ncauses: [{ids: [a]}, {ids: [a]}]\n")).has_value());
  EXPECT_FALSE(Words::load(AACO_SOURCE_DIR "/data/nowhere.yaml").has_value());
}
TEST(Words, OfTheProgram) { EXPECT_TRUE(Words::load(AACO_SOURCE_DIR "/data/rules/corpus_words.yaml").has_value()); }

Case gap() { return cases_of(yaml(one_case()))->front(); }
Judgement said(const std::string& class_id, const std::string& cause, std::optional<double> confidence = {}) {
  Answer answer;
  answer.class_id = class_id;
  answer.cause = cause;
  answer.confidence = confidence;
  return judge(gap(), answer);
}

TEST(Judge, TheFirstAnswerAndTheSecondsAreRight) {
  EXPECT_TRUE(said("host", "python").first);
  EXPECT_TRUE(said("host", "python").cause);
  EXPECT_TRUE(said("host", "framework").cause);
  EXPECT_TRUE(said("launch", "framework").first);  // filed under another class
  EXPECT_TRUE(said("host", "").first);
  EXPECT_FALSE(said("host", "").cause);
}
TEST(Judge, AnythingElseIsWrong) {
  EXPECT_FALSE(said("launch", "launch").first);
  EXPECT_FALSE(said("host", "allocation").cause);
  EXPECT_FALSE(said("", "").first);
}
TEST(Judge, WhatMustNotBeSaidIsWrongWhateverElseIs) {
  const Judgement one = said("memory", "python");
  EXPECT_EQ(one.violations, std::vector<std::string>{"memory"});
  EXPECT_FALSE(one.first);
  EXPECT_FALSE(one.claim_true());
}
TEST(Judge, ACauseThatNamesAFrameIsRightForThatFrame) {
  Case one = gap();
  one.truth.seconds = {"host-code"};
  Answer answer;
  answer.class_id = "host";
  answer.cause = "host-code";
  EXPECT_TRUE(judge(one, answer).cause) << "no frame is asked";
  one.truth.frame = "soundfile.py";
  EXPECT_FALSE(judge(one, answer).cause);
  answer.frame = "host code in soundfile.py(285): read";
  EXPECT_TRUE(judge(one, answer).cause);
  one.truth.cause = "data-loading";
  answer.cause = "python";
  EXPECT_TRUE(judge(one, answer).cause) << "Python code, with that function as its evidence";
  answer.frame = "train.py(88): main";
  EXPECT_FALSE(judge(one, answer).cause);
}
TEST(Judge, KernelTimeFollowsFromEveryLimitOfKernels) {
  Case one = gap();
  const auto device = [&](const char* class_id, std::vector<std::string> must_not = {}) {
    one.truth = {class_id, "matrix-products", {}, std::move(must_not), ""};
    Answer answer;
    answer.class_id = "device";
    return judge(one, answer).first;
  };
  EXPECT_TRUE(device("memory"));
  EXPECT_TRUE(device("compute"));
  EXPECT_TRUE(device("mixed"));
  EXPECT_FALSE(device("host"));
  EXPECT_FALSE(device("memory", {"device"}));
}
TEST(Judge, UnknownIsNotWrongOnlyWhereNobodyCanTell) {
  EXPECT_TRUE(said("cannot-tell", "unknown").unknown);
  EXPECT_FALSE(said("cannot-tell", "python").unknown);
  Case one = gap();
  one.truth.seconds.emplace_back("cannot-tell");
  EXPECT_FALSE(judge(one, said("cannot-tell", "").answer).unknown);
}
TEST(Judge, TheSecondClassCounts) {
  Answer answer;
  answer.class_id = "launch";
  answer.second = "host";
  EXPECT_FALSE(judge(gap(), answer).first);
  EXPECT_TRUE(judge(gap(), answer).in_two);
}
TEST(Judge, CoverageAsksNoClass) {
  Case one = gap();
  one.kind = "coverage";
  one.truth = {"", "linked", {}, {"low-coverage"}};
  Answer answer;
  answer.cause = "linked";
  EXPECT_TRUE(judge(one, answer).cause);
  answer.claims = {"low-coverage"};
  EXPECT_EQ(judge(one, answer).violations.size(), 1u);
  EXPECT_EQ(score_of({judge(one, answer)}).all.first.count, 0);
}

TEST(Score, CountsAndNames) {
  const Score score =
      score_of({said("host", "python", 0.95), said("launch", "launch", 0.95), said("cannot-tell", "unknown", 0.3)});
  EXPECT_EQ(score.all.first.right, 1);
  EXPECT_EQ(score.all.first.count, 3);
  EXPECT_EQ(score.all.unknown.right, 1);
  ASSERT_EQ(score.sure_and_wrong.size(), 1u);
  EXPECT_EQ(score.sure_and_wrong.front().answer.cause, "launch");
  EXPECT_EQ(score.groups.at("cause").at("python").first.count, 3);
}
TEST(Score, OfNothing) {
  const Score score = score_of({});
  EXPECT_EQ(score.all.first.count, 0);
  EXPECT_EQ(score.calibration.claims, 0);
  EXPECT_FALSE(to_json(score, true)["class_first"].contains("ratio"));
  EXPECT_FALSE(to_json(score, false).contains("must_not_cases"));
}
TEST(Score, CalibrationIsTheMeanDistanceOfConfidenceAndTruth) {
  std::vector<Judgement> half;
  for (int i = 0; i < 10; ++i) half.push_back(said("host", i < 5 ? "python" : "allocation", 0.85));
  const Reliability told = reliability(half);
  EXPECT_EQ(told.claims, 10);
  ASSERT_EQ(told.bins.size(), 1u);
  EXPECT_NEAR(told.bins.front().right_ratio, 0.5, 1e-12);
  EXPECT_NEAR(told.error_ratio, 0.35, 1e-9);
  EXPECT_EQ(told.low, told.high);  // one trace, drawn again and again
}
TEST(Score, WithoutConfidenceThereIsNoCalibration) { EXPECT_EQ(reliability({said("host", "python")}).claims, 0); }

}  // namespace
}  // namespace aaco::laboratory::corpus
