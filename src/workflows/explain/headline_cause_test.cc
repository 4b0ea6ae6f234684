#include "workflows/explain/headline_cause.h"

#include <gtest/gtest.h>

namespace aaco::workflows {
namespace {

using core::Json;

Json kernel(const char* family, const char* limit, double time_ns) {
  return Json::object({{"family", family}, {"limit", limit}, {"time_ns", time_ns}});
}
Json idle(const char* cause, const char* class_id, double idle_ns) {
  return Json::object({{"cause", cause}, {"class", class_id}, {"title", cause}, {"remedy", "r"}, {"idle_ns", idle_ns}});
}
Json gpu(double compute, double communication, Json kernels, Json causes = Json::array()) {
  double of_compute = 0, of_memory = 0, unknown = 0;
  for (const Json& one : kernels.items()) {
    const std::string_view limit = one["limit"].text();
    (limit == "compute" ? of_compute : limit == "memory" ? of_memory : unknown) += *one["time_ns"].as_f64();
  }
  return Json::object(
      {{"bound", Json::object({{"compute_ratio", compute}, {"communication_ratio", communication}, {"copy_ratio", 0.4}})},
       {"idle_causes", std::move(causes)},
       {"kernel_limits",
        Json::object(
            {{"compute_ns", of_compute}, {"memory_ns", of_memory}, {"unknown_ns", unknown}, {"kernels", std::move(kernels)}})}});
}
std::string id(const char* class_id, const Json& of, bool unknown = false, const Json& straggler = {}) {
  return std::string(headline_cause(class_id, unknown, of, straggler, 1000)["id"].text());
}

Json list_of(std::vector<Json> items) {
  Json list = Json::array();
  for (Json& one : items) list.push(std::move(one));
  return list;
}

TEST(HeadlineCause, FamilyOfTheKernelsWithThatLimit) {
  const Json one = gpu(0.9, 0, list_of({kernel("gemm", "compute", 60), kernel("elementwise", "memory", 40)}));
  EXPECT_EQ(id("compute_bound", one), "matrix-products");
  EXPECT_EQ(id("memory_bound", one), "elementwise");
  EXPECT_NEAR(*headline_cause("compute_bound", false, one, {}, 1000)["span_share_ratio"].as_f64(), 0.54, 1e-9);
}
TEST(HeadlineCause, OfLaunching) {
  const auto of = [](Json causes, double drained_ns) {
    Json one = gpu(0.2, 0, Json::array(), std::move(causes));
    Json bound = one["bound"];
    one.set("bound", bound.set("launch_ratio", 0.6));
    one.set("gaps", list_of({Json::object({{"cause", "launch_latency"}, {"drained_idle_ns", drained_ns}})}));
    return id("launch_bound", one);
  };
  EXPECT_EQ(of(list_of({idle("launch", "launch", 400)}), 0), "launch");
  EXPECT_EQ(of(list_of({idle("framework", "host", 400), idle("launch", "launch", 100)}), 0), "framework");
  EXPECT_EQ(of(Json::array(), 0), "small-kernels") << "gaps too short to be named";
  EXPECT_EQ(of(list_of({idle("launch", "launch", 100)}), 0), "small-kernels") << "a sixth of the launching time";
  EXPECT_EQ(of(list_of({idle("launch", "launch", 400)}), 350), "synchronisation");
  EXPECT_EQ(of(list_of({idle("framework", "host", 500)}), 350), "framework") << "it takes longer than the waits";
}
TEST(HeadlineCause, SmallCopiesThatAreIssuedOneByOne) {
  Json one = gpu(0.2, 0, Json::array(), list_of({idle("launch", "launch", 400)}));
  one.set("bound", Json(one["bound"]).set("launch_ratio", 0.6));
  one.set("gaps", list_of({Json::object({{"cause", "copy"}, {"issue_idle_ns", 350}})}));
  one.set("copy_kinds", list_of({Json::object({{"kind", "d2h"}, {"count", 3}, {"sum_ns", 9}}),
                                 Json::object({{"kind", "h2d"}, {"count", 4000}, {"sum_ns", 8}, {"mean_bytes", 8192}})}));
  EXPECT_EQ(id("launch_bound", one), "small-copies");
  EXPECT_EQ(headline_cause("launch_bound", false, one, {}, 1000)["title"].text(),
            "issuing 4,000 small copies from the host to the device one by one (8.00 KiB on average)");
  one.set("copy_kinds", list_of({Json::object({{"kind", "memset"}, {"count", 4000}, {"sum_ns", 8}})}));
  EXPECT_EQ(id("launch_bound", one), "small-fills");
  one.set("gaps", list_of({Json::object({{"cause", "copy"}, {"issue_idle_ns", 50}})}));
  EXPECT_EQ(id("launch_bound", one), "launch");
}
TEST(HeadlineCause, PausesAfterEachWaitAreTheWaits) {
  Json one = gpu(0.4, 0, Json::array(), list_of({idle("python", "host", 300), idle("framework", "host", 200)}));
  one.set("bound", Json(one["bound"]).set("waiting_ratio", 0.6));
  one.set("gaps", list_of({Json::object({{"cause", "copy"}, {"drained_idle_ns", 500}})}));
  EXPECT_EQ(id("host_waiting", one), "synchronisation");
  one.set("gaps", list_of({Json::object({{"cause", "copy"}, {"drained_idle_ns", 100}})}));
  EXPECT_EQ(id("host_waiting", one), "python");
  one.set("gaps", list_of({Json::object({{"cause", "copy"}, {"drained_idle_ns", 500}})}));
  one.set("idle_causes", list_of({idle("data-loading", "host", 300)}));
  EXPECT_EQ(id("host_waiting", one), "data-loading") << "an activity of its own";
}
TEST(HeadlineCause, AKernelOfUnknownFamilyIsNamed) {
  Json one = kernel("other", "unknown", 90);
  one.set("name", "rnn_cell_kernel(float*)");
  EXPECT_EQ(id("device_busy", gpu(0.9, 0, list_of({one})), true), "unknown-kernel");
  EXPECT_EQ(
      id("device_busy",
         gpu(0.9, 0,
             list_of({kernel("gemm", "unknown", 40), kernel("attention", "unknown", 40), kernel("sort_scan", "unknown", 40)})),
         true),
      "device-busy");
}
TEST(HeadlineCause, NoFamilyLeads) {
  const Json kernels =
      list_of({kernel("gemm", "compute", 40), kernel("attention", "compute", 35), kernel("softmax", "compute", 25)});
  EXPECT_EQ(id("compute_bound", gpu(0.9, 0, kernels)), "");
  EXPECT_EQ(id("compute_bound", gpu(0.9, 0, list_of({kernel("other", "compute", 40)}))), "");
  EXPECT_EQ(id("compute_bound", gpu(0.9, 0, list_of({}))), "");
}
TEST(HeadlineCause, OfKernelsWithoutKnownLimit) {
  const Json convolutions = list_of({kernel("convolution", "unknown", 70), kernel("elementwise", "unknown", 30)});
  const auto beside = [&](const char* cause, double idle_ns) {
    return id("inconclusive", gpu(0.7, 0, convolutions, list_of({idle(cause, "host", idle_ns)})), true);
  };
  EXPECT_EQ(id("inconclusive", gpu(0.9, 0, convolutions), true), "convolutions");
  EXPECT_EQ(id("inconclusive", gpu(0.6, 0.3, convolutions), true), "compute-and-communication");
  EXPECT_EQ(beside("data-loading", 250), "data-loading");
  EXPECT_EQ(beside("framework", 250), "convolutions") << "dispatch is no activity to take away";
  EXPECT_EQ(beside("data-loading", 140), "convolutions") << "too little";
  EXPECT_EQ(id("inconclusive", gpu(0.9, 0, list_of({})), true), "device-busy");
  EXPECT_EQ(id("inconclusive", gpu(0.4, 0, list_of({})), true), "");
}
TEST(HeadlineCause, Communication) {
  const Json one = gpu(0.2, 0.6, list_of({}));
  EXPECT_EQ(id("communication_bound", one), "exposed-collectives");
  EXPECT_EQ(id("communication_bound", one, false, Json::object({{"rank", 3}})), "straggler");
}
TEST(HeadlineCause, OneSlowRank) {
  const Json slow = Json::object({{"rank", 2}, {"waiting_ratio", 0.3}});
  const Json cause = headline_cause("straggler", false, gpu(0.6, 0.05, list_of({})), slow, 1000);
  EXPECT_EQ(cause["id"].text(), "straggler");
  EXPECT_EQ(cause["title"].text(), "waiting for rank 2");
  EXPECT_DOUBLE_EQ(*cause["span_share_ratio"].as_f64(), 0.3) << "of the ranks that wait, not of the one that is judged";
}
TEST(HeadlineCause, WorkHeldBackOnTheDevice) {
  const auto of = [](Json causes) { return id("dependency_bound", gpu(0.1, 0, Json::array(), std::move(causes))); };
  EXPECT_EQ(of(list_of({idle("python", "host", 500), idle("stream-event", "dependency", 400)})), "stream-event");
  EXPECT_EQ(of(list_of({idle("device-latency", "cannot-tell", 500), idle("stream-event", "dependency", 100)})), "device-latency");
}
TEST(HeadlineCause, ExposedCopiesAndWhoLaunchedThem) {
  const auto kind = [](const char* name, std::int64_t sum, std::int64_t exposed, const char* by) {
    Json launched = list_of({Json::object({{"name", by}, {"exposed_ns", exposed}})});
    return Json::object({{"kind", name}, {"sum_ns", sum}, {"exposed_ns", exposed}, {"launched_by", std::move(launched)}});
  };
  Json one = gpu(0.2, 0, list_of({}));
  one.set("copy_kinds", list_of({kind("d2d", 900, 10, "aten::clone"), kind("h2d", 100, 90, "aten::to")}));
  const Json cause = headline_cause("copy_bound", false, one, {}, 1000);
  EXPECT_EQ(cause["id"].text(), "host-copies") << "the copies within the device are hidden";
  EXPECT_EQ(cause["title"].text(), "copies from the host to the device, launched by aten::to");
  EXPECT_NEAR(*cause["span_share_ratio"].as_f64(), 0.36, 1e-9);
}
TEST(HeadlineCause, LargestKindOfCopies) {
  Json one = gpu(0.2, 0, list_of({}));
  EXPECT_EQ(id("copy_bound", one), "") << "kinds unknown";
  const auto kind = [](const char* name, std::int64_t sum) { return Json::object({{"kind", name}, {"sum_ns", sum}}); };
  one.set("copy_kinds", list_of({kind("d2d", 100), kind("h2d", 300)}));
  EXPECT_EQ(id("copy_bound", one), "host-copies");
  EXPECT_NEAR(*headline_cause("copy_bound", false, one, {}, 1000)["span_share_ratio"].as_f64(), 0.3, 1e-9);
  one.set("copy_kinds", list_of({kind("d2d", 250), kind("h2d", 200), kind("d2h", 150)}));
  EXPECT_EQ(id("copy_bound", one), "host-copies") << "both directions together";
  EXPECT_EQ(headline_cause("copy_bound", false, one, {}, 1000)["title"].text(), "copies between the host and the device");
  one.set("copy_kinds", list_of({kind("unknown", 100)}));
  EXPECT_EQ(id("copy_bound", one), "");
}

}  // namespace
}  // namespace aaco::workflows
