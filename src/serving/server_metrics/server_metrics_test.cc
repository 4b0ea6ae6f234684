#include "serving/server_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/source_dir.h"

namespace aaco::serving {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

std::vector<Dialect> shipped() {
  auto dialects = load_dialects(AACO_SOURCE_DIR "/data/serving/server_metrics.yaml");
  EXPECT_TRUE(dialects) << (dialects ? "" : dialects.error().text());
  return dialects ? *std::move(dialects) : std::vector<Dialect>();
}

ServerReading read(std::string_view text) { return read_server_metrics(shipped(), text).value_or(ServerReading{}); }

TEST(ServerMetrics, ReadsVllm) {
  const ServerReading reading = read(
      "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
      "# TYPE vllm:num_requests_running gauge\n"
      "vllm:num_requests_running{engine=\"0\",model_name=\"a}b\"} 8.0\n"
      "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 4.0\n"
      "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 3.0\n"
      "vllm:kv_cache_usage_perc{engine=\"0\"} 0.25\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.75\n"
      "vllm:num_preemptions_total{engine=\"0\"} 2\n");
  EXPECT_EQ(reading.dialect, "vllm");
  EXPECT_THAT(reading.values, Contains(Pair("server.running_requests", 12)));
  EXPECT_THAT(reading.values, Contains(Pair("server.waiting_requests", 3)));
  EXPECT_THAT(reading.values, Contains(Pair("server.kv_cache_used_ratio", 0.75)));
  EXPECT_THAT(reading.values, Contains(Pair("server.preemption_count", 2)));
}
TEST(ServerMetrics, ReadsTheOlderNameOfVllm) {
  EXPECT_THAT(read("vllm:gpu_cache_usage_perc 0.5\n").values, Contains(Pair("server.kv_cache_used_ratio", 0.5)));
}
TEST(ServerMetrics, ReadsSglang) {
  const ServerReading reading =
      read("sglang:num_running_reqs{model_name=\"m\"} 162.0\nsglang:token_usage 0.28\nsglang:num_queue_reqs 7\n");
  EXPECT_EQ(reading.dialect, "sglang");
  EXPECT_THAT(reading.values, Contains(Pair("server.waiting_requests", 7)));
}
TEST(ServerMetrics, ReadsTgi) { EXPECT_EQ(read("tgi_queue_size 4\ntgi_batch_current_size 9\n").dialect, "tgi"); }
TEST(ServerMetrics, ReadsLlamaCpp) {
  const ServerReading reading =
      read("# TYPE llamacpp:requests_processing gauge\nllamacpp:requests_processing 4\nllamacpp:requests_deferred 12\n");
  EXPECT_EQ(reading.dialect, "llama.cpp");
  EXPECT_THAT(reading.values, Contains(Pair("server.waiting_requests", 12)));
}
TEST(ServerMetrics, NothingInOtherMetrics) {
  EXPECT_FALSE(read_server_metrics(shipped(), "process_cpu_seconds_total 4\nhttp_requests{code=\"200\"} 3\n"));
}
TEST(ServerMetrics, NothingInHtml) { EXPECT_FALSE(read_server_metrics(shipped(), "<!doctype html><html>vllm</html>")); }
TEST(ServerMetrics, NothingInNothing) { EXPECT_FALSE(read_server_metrics(shipped(), "")); }

std::optional<double> value(std::string_view line) {
  const auto sample = parse_prometheus_line(line);
  return sample ? std::optional(sample->value) : std::nullopt;
}
TEST(PrometheusLine, WithTimeStamp) { EXPECT_EQ(value("a_total{b=\"c\"} 12 1395066363000"), 12); }
TEST(PrometheusLine, WithEscapedQuote) { EXPECT_EQ(value(R"(a{b="x\"} 9"} 3)"), 3); }
TEST(PrometheusLine, WithExponent) { EXPECT_EQ(value("a 1.5e-3"), 1.5e-3); }
TEST(PrometheusLine, WindowsLineEnd) { EXPECT_EQ(value("a 2\r"), 2); }
TEST(PrometheusLine, RejectsAComment) { EXPECT_FALSE(value("# HELP a 3")); }
TEST(PrometheusLine, RejectsNotANumber) { EXPECT_FALSE(value("a NaN")); }
TEST(PrometheusLine, RejectsInfinity) { EXPECT_FALSE(value("a +Inf")); }
TEST(PrometheusLine, RejectsAMissingValue) { EXPECT_FALSE(value("a{b=\"c\"}")); }
TEST(PrometheusLine, RejectsOpenLabels) { EXPECT_FALSE(value("a{b=\"c 3")); }
TEST(PrometheusLine, RejectsWords) { EXPECT_FALSE(value("a b c d")); }

std::string refusal(std::string_view text) {
  const auto document = core::YamlNode::parse(text, "t.yaml");
  if (!document) return document.error().message;
  const auto dialects = parse_dialects(*document);
  return dialects ? std::string() : dialects.error().message;
}
TEST(Dialects, RejectsAnotherSchema) { EXPECT_THAT(refusal("schema: 2\ndialects: []\n"), HasSubstr("schema 2")); }
TEST(Dialects, RejectsAnUnknownKey) { EXPECT_THAT(refusal("schema: 1\ndialects: []\nx: 1\n"), HasSubstr("x")); }
TEST(Dialects, RejectsAnUnknownCombination) {
  EXPECT_THAT(refusal("schema: 1\ndialects:\n  - {id: a, source: s, metrics: [{id: server.x, names: [n], combine: mean}]}\n"),
              HasSubstr("sum or max"));
}
TEST(Dialects, RejectsAMetricWithoutNames) {
  EXPECT_THAT(refusal("schema: 1\ndialects:\n  - {id: a, source: s, metrics: [{id: server.x, names: [], combine: sum}]}\n"),
              HasSubstr("name"));
}
TEST(Dialects, RejectsAnotherId) {
  EXPECT_THAT(refusal("schema: 1\ndialects:\n  - {id: a, source: s, metrics: [{id: x, names: [n], combine: sum}]}\n"),
              HasSubstr("server."));
}

}  // namespace
}  // namespace aaco::serving
