#include "workflows/explain/host_bottleneck.h"

#include <gtest/gtest.h>

#include "tests/support/source_dir.h"

namespace aaco::workflows {
namespace {

using analytics::gaps::CauseBook;
using analytics::gaps::HostProfile;
using core::Json;

class HostTrace : public testing::Test {
 public:
  HostTrace() {
    auto loaded = CauseBook::load(AACO_SOURCE_DIR "/data/gaps/causes.yaml");
    if (loaded) book_ = std::move(*loaded);
    profile_.emplace(book_, names_);
  }
  HostTrace& event(const char* domain, const char* name, std::int64_t start_us, std::int64_t end_us, std::int64_t thread = 1) {
    trace::ApiCallRow row;
    row.domain = names_.intern(domain);
    row.name = names_.intern(name);
    row.thread_id = thread;
    row.start_ns = start_us * 1000;
    row.end_ns = end_us * 1000;
    profile_->add(row);
    return *this;
  }
  Json judge() { return host_document(work_ = profile_->finish(), book_); }

  CauseBook book_;
  trace::NameTable names_;
  std::optional<HostProfile> profile_;
  analytics::gaps::HostWork work_;
};

std::string class_of(const Json& document) { return std::string(document["bottleneck_class"].text()); }
std::string cause_of(const Json& document) { return std::string(document["cause"]["id"].text()); }

TEST_F(HostTrace, DataLoaderBeforeEachStep) {
  for (int i = 0; i < 3; ++i) {
    event("annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100 * i, 100 * i + 60);
    event("cpu_op", "aten::stack", 100 * i + 10, 100 * i + 50).event("cpu_op", "aten::mm", 100 * i + 60, 100 * i + 100);
  }
  const Json found = judge();
  EXPECT_EQ(class_of(found), "host_waiting");
  EXPECT_EQ(cause_of(found), "data-loading");
  EXPECT_DOUBLE_EQ(found["cause"]["span_share_ratio"].as_f64().value_or(0), 0.6);
}
TEST_F(HostTrace, ExposedCollectives) {
  event("cpu_op", "aten::mm", 0, 100).event("annotation", "gloo:all_reduce", 50, 400, 2).event("cpu_op", "aten::mm", 400, 450);
  const Json found = judge();
  EXPECT_EQ(class_of(found), "communication_bound");
  EXPECT_EQ(work_.collective_ns, 350'000);
  EXPECT_EQ(work_.exposed_ns, 300'000);
}
TEST_F(HostTrace, HiddenCollectivesAreNoLimit) {
  event("cpu_op", "aten::mm", 0, 450).event("annotation", "gloo:all_reduce", 50, 400, 2);
  EXPECT_EQ(class_of(judge()), "inconclusive");
  EXPECT_EQ(work_.exposed_ns, 0);
}
TEST_F(HostTrace, OperatorsAloneAreInconclusive) {
  const Json found = event("cpu_op", "aten::mm", 0, 100).judge();
  EXPECT_EQ(class_of(found), "inconclusive");
  EXPECT_EQ(cause_of(found), "host-operator");
}
TEST_F(HostTrace, RejectsASmallShareOfDataLoading) {
  event("annotation", "enumerate(DataLoader)#x.__next__", 0, 20).event("cpu_op", "aten::mm", 20, 100);
  EXPECT_EQ(class_of(judge()), "inconclusive");
}
TEST_F(HostTrace, WorkersLoadBesideTheMainThread) {
  event("cpu_op", "aten::mm", 0, 100).event("annotation", "enumerate(DataLoader)#x.__next__", 0, 90, 2);
  EXPECT_EQ(class_of(judge()), "inconclusive");
}
TEST_F(HostTrace, PythonBetweenOperators) {
  for (int i = 0; i < 4; ++i) event("cpu_op", "aten::mm", 100 * i, 100 * i + 20);
  event("cpu_op", "aten::mm", 400, 420);
  const Json found = judge();
  EXPECT_EQ(class_of(found), "host_waiting");
  EXPECT_EQ(cause_of(found), "python");
}
TEST_F(HostTrace, CompilingInTheFirstStep) {
  event("annotation", "compile: load module", 0, 80).event("cpu_op", "aten::mm", 80, 100);
  EXPECT_EQ(class_of(judge()), "warmup");
}
TEST_F(HostTrace, EmptyTrace) { EXPECT_EQ(cause_of(judge()), ""); }

TEST(JudgeHost, OtherSessionsAreNotJudged) {
  trace::SessionManifest manifest;
  EXPECT_TRUE(judge_host("/nonexistent", manifest, {})->is_null()) << "not an import";
  manifest.kind = "import";
  EXPECT_TRUE(judge_host("/nonexistent", manifest, {})->is_null()) << "nothing in it";
  manifest.outcome = trace::outcome_from_json(Json::object({{"rows", Json::object({{"kernels", 1}, {"calls", 5}})}}));
  EXPECT_TRUE(judge_host("/nonexistent", manifest, {})->is_null()) << "has kernels";
}
TEST(JudgeHost, SensorReadingsAlone) {
  trace::SessionManifest manifest;
  manifest.kind = "import";
  manifest.outcome = trace::outcome_from_json(Json::object({{"rows", Json::object({{"samples", 5}})}}));
  EXPECT_EQ(cause_of(*judge_host("/nonexistent", manifest, {})), "no-workload");
}

}  // namespace
}  // namespace aaco::workflows
