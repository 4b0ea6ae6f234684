#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "graph/load.h"
#include "runner/zoo.h"
#include "tests/shapes/runtime_shapes.h"
#include "tests/support/source_dir.h"

namespace aaco {
namespace {

void expect_equal(const std::string& name, const ShapeComparison& comparison) {
  EXPECT_EQ(comparison.error, "") << name;
  EXPECT_GT(comparison.compared, 0) << name;
  EXPECT_EQ(comparison.different.size(), 0U) << name << ": " << comparison.different[0];
}

TEST(ZooShapes, AreThoseOfOnnxRuntime) {
  const auto runtime = open_runtime();
  if (runtime == nullptr) GTEST_SKIP() << "skipped, no ONNX Runtime library here";
  for (const runner::zoo::Entry& entry : runner::zoo::list()) {
    auto blueprint = runner::zoo::build_graph(entry, {});
    ASSERT_TRUE(blueprint);
    graph::Bindings sizes;
    for (const std::string& symbol : graph::free_symbols(blueprint->graph))
      sizes[symbol] = symbol.find("batch") != std::string::npos ? 2 : symbol.find("past") != std::string::npos ? 7 : 5;
    const auto model = graph::prepare(std::move(blueprint->graph), sizes);
    ASSERT_TRUE(model) << entry.name;
    expect_equal(entry.name, compare_shapes(*runtime, model->graph));
  }
}

// Every .onnx file that is given out for tests.
TEST(ZooShapes, OfOtherPeoplesModelsToo) {
  const auto runtime = open_runtime();
  if (runtime == nullptr) GTEST_SKIP() << "skipped, no ONNX Runtime library here";
  const char* set = std::getenv("AACO_REAL_DATA");
  const std::filesystem::path root =
      std::filesystem::path(set != nullptr ? set : AACO_SOURCE_DIR "/../shared/data") / "traces/onnx";
  if (!std::filesystem::exists(root)) GTEST_SKIP() << "skipped, no real data";
  for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
    if (file.path().extension() != ".onnx") continue;
    const auto model = graph::open_model(file.path().string());
    ASSERT_TRUE(model) << file.path() << model.error().text();
    expect_equal(file.path().string(), compare_shapes(*runtime, model->graph));
  }
}

}  // namespace
}  // namespace aaco
