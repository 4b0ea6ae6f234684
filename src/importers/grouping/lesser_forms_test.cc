#include "importers/grouping/lesser_forms.h"

#include <gtest/gtest.h>

namespace aaco::importers::grouping {
namespace {

InputFile file(const char* path, const char* format, const char* run = nullptr, std::optional<RocmTable> table = {}) {
  InputFile made;
  made.path = path;
  made.info.name = format;
  made.table = table;
  if (run != nullptr) made.place = RocmPlace{0, run, 0, 0, std::nullopt, {}};
  return made;
}
std::string kept(std::vector<InputFile> files) {
  Inputs inputs;
  inputs.files = std::move(files);
  const std::size_t all = inputs.files.size();
  leave_out_lesser_forms(inputs);
  EXPECT_EQ(inputs.files.size() + inputs.passed.size(), all);
  std::string out;
  for (const InputFile& each : inputs.files) out += each.path + " ";
  return out;
}

TEST(LesserForms, AnXspaceReplacesItsJson) {
  EXPECT_EQ(kept({file("a/h.trace.json.gz", "jax_trace"), file("a/h.xplane.pb", "xplane")}), "a/h.xplane.pb ");
}
TEST(LesserForms, TablesReplaceAPerfettoTraceOfTheirRun) {
  EXPECT_EQ(kept({file("7_results.pftrace", "pftrace", "7"), file("7_kernel_trace.csv", "rocprofv3", "7", RocmTable::kernels)}),
            "7_kernel_trace.csv ");
}
TEST(LesserForms, AloneTheyStay) {
  EXPECT_EQ(kept({file("a/h.trace.json.gz", "jax_trace")}), "a/h.trace.json.gz ");
  EXPECT_EQ(kept({file("7_results.pftrace", "pftrace", "7")}), "7_results.pftrace ");
}
TEST(LesserForms, OtherFoldersAndRunsStay) {
  EXPECT_EQ(kept({file("a/h.trace.json.gz", "jax_trace"), file("b/h.xplane.pb", "xplane")}), "a/h.trace.json.gz b/h.xplane.pb ");
  EXPECT_EQ(kept({file("7.pftrace", "pftrace", "7"), file("8.csv", "rocprofv3", "8", RocmTable::kernels)}), "7.pftrace 8.csv ");
}
TEST(LesserForms, TablesOfTheMachineReplaceNothing) {
  EXPECT_EQ(kept({file("7.pftrace", "pftrace", "7"), file("7_agent_info.csv", "rocprofv3", "7", RocmTable::facts)}),
            "7.pftrace 7_agent_info.csv ");
}

}  // namespace
}  // namespace aaco::importers::grouping
