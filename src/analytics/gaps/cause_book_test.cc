#include <gtest/gtest.h>

#include "analytics/gap_causes.h"
#include "tests/support/source_dir.h"

namespace aaco::analytics::gaps {
namespace {

core::Result<CauseBook> book() { return CauseBook::load(AACO_SOURCE_DIR "/data/gaps/causes.yaml"); }

std::string cause_of(HostDomain domain, std::string_view name) {
  const auto loaded = book();
  if (!loaded) return loaded.error().text();
  const auto found = loaded->match(domain, name);
  return found ? loaded->at(*found).id : "none";
}
std::string runtime(std::string_view name) { return cause_of(HostDomain::runtime, name); }
std::string operation(std::string_view name) { return cause_of(HostDomain::cpu_op, name); }
std::string python(std::string_view name) { return cause_of(HostDomain::python, name); }
std::string range(std::string_view name) { return cause_of(HostDomain::range, name); }

TEST(CauseBook, RuntimeCalls) {
  EXPECT_EQ(runtime("hipFree"), "allocation");
  EXPECT_EQ(runtime("cudaMalloc_v3020"), "allocation");
  EXPECT_EQ(runtime("hipLaunchKernel"), "launch");
  EXPECT_EQ(runtime("hipGraphLaunch"), "graph-launch");
  EXPECT_EQ(runtime("cudaMemcpyAsync"), "launch");
  EXPECT_EQ(runtime("hipMemcpyWithStream"), "synchronous-copy");
  EXPECT_EQ(runtime("cudaDeviceSynchronize"), "synchronisation");
  EXPECT_EQ(runtime("hipModuleLoadData"), "first-use");
  EXPECT_EQ(runtime("cudaGetDevice"), "framework");
}
TEST(CauseBook, DataLoading) {
  EXPECT_EQ(range("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"), "data-loading");
  EXPECT_EQ(operation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"), "data-loading");
  EXPECT_EQ(python("torch/utils/data/dataloader.py(701): __next__"), "data-loading");
}
TEST(CauseBook, OtherHostWork) {
  EXPECT_EQ(python("<built-in function collect>"), "gc");
  EXPECT_EQ(python("torch/serialization.py(850): save"), "checkpoint");
  EXPECT_EQ(operation("aten::item"), "synchronous-copy");
  EXPECT_EQ(range("Optimizer.step#AdamW.step"), "optimiser-host");
  EXPECT_EQ(range("executor_utils::NVRTC"), "jit-compilation");
  EXPECT_EQ(range("compile: load module"), "jit-compilation");
  EXPECT_EQ(range("Torch-Compiled Region: 0/0"), "none");
  EXPECT_EQ(operation("aten::addmm"), "framework");
  EXPECT_EQ(python("nn.Module: Linear_3"), "framework");
  EXPECT_EQ(python("train.py(10): main"), "python");
}
TEST(CauseBook, AnAllocatingOperatorIsFrameworkUnlessItFillsTheWait) {
  EXPECT_EQ(operation("aten::empty"), "framework");
  const auto loaded = book();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->match_alone(HostDomain::cpu_op, "aten::empty"), loaded->find("allocation"));
  EXPECT_FALSE(loaded->match_alone(HostDomain::cpu_op, "aten::sort"));
  EXPECT_FALSE(loaded->match_alone(HostDomain::python, "aten::empty"));
}
TEST(CauseBook, OverheadThatAProfilerRecords) {
  const auto overhead = [](std::string_view name) { return cause_of(HostDomain::overhead, name); };
  EXPECT_EQ(overhead("Activity Buffer Request"), "profiler");
  EXPECT_EQ(overhead("hipMemcpy"), "profiler") << "the time that a tracer adds to the call";
  EXPECT_EQ(overhead("Lazy Function Loading"), "first-use");
  EXPECT_EQ(overhead("Runtime Triggered Module Loading"), "first-use");
  EXPECT_EQ(overhead("Driver Compiler"), "jit-compilation");
  EXPECT_EQ(host_domain("profiler_overhead"), HostDomain::overhead);
}
TEST(CauseBook, RangesOfTheProgramAreNeutral) { EXPECT_EQ(range("## forward ##"), "none"); }
TEST(CauseBook, DomainsOfOtherRowsAreNoHostWork) {
  EXPECT_FALSE(host_domain("graph_node"));
  EXPECT_EQ(host_domain("marker"), HostDomain::range);
}

std::string refusal(std::string_view text) {
  const auto document = core::YamlNode::parse(text, "causes.yaml");
  if (!document) return document.error().text();
  const auto parsed = CauseBook::parse(*document);
  return parsed ? "accepted" : parsed.error().text();
}
bool refuses(std::string_view text, std::string_view words) { return refusal(text).find(words) != std::string::npos; }

TEST(CauseBook, Refusals) {
  EXPECT_TRUE(refuses("schema: 2\ncauses: []\npatterns: []\n", "schema 2"));
  EXPECT_TRUE(refuses("schema: 1\npatterns: []\n", "causes"));
  EXPECT_TRUE(refuses("schema: 1\ncauses: []\npatterns: []\n", "'first-use' is missing"));
  EXPECT_TRUE(refuses("schema: 1\ncauses: [{id: a, class: b, title: t, remedy: r}]\npatterns: []\n", "not a class"));
  EXPECT_TRUE(
      refuses("schema: 1\ncauses: [{id: a, class: host, title: t, remedy: r}, {id: a, class: host, title: t, remedy: r}]\n"
              "patterns: []\n",
              "duplicate"));
  const std::string one = "schema: 1\ncauses: [{id: a, class: host, title: t, remedy: r}]\npatterns: ";
  EXPECT_TRUE(refuses(one + "[{cause: b, any: [x]}]\n", "not a cause"));
  EXPECT_TRUE(refuses(one + "[{cause: a, domains: [gpu]}]\n", "not a domain"));
  EXPECT_TRUE(refuses(one + "[{cause: a, any: ['']}]\n", "empty pattern"));
  EXPECT_TRUE(refuses(one + "[{cause: a}]\n", "needs domains or any"));
  EXPECT_TRUE(refuses(one + "[{cause: a, regex: x}]\n", "regex"));
}

}  // namespace
}  // namespace aaco::analytics::gaps
