#include "graph/fuse/quantisation_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/files.h"
#include "graph/near_miss.h"

namespace aaco::graph {
namespace {

using testing::SizeIs;

// DequantizeLinear -> Reshape -> QuantizeLinear with these scales and the second one's zero point.
std::string reason_of_scales(float before, float behind, std::uint8_t zero, const std::string& condition) {
  Graph graph;
  graph.opsets[""] = 17;
  const auto add = [&](const std::string& name, ElementType type) { return graph.add_tensor({name, type, Shape{}}); };
  const auto constant = [&](const std::string& name, auto value, ElementType type) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    graph.initializers.push_back({add(name, type), {bytes, std::nullopt}});
    return graph.initializers.back().tensor;
  };
  const TensorId x = add("x", ElementType::uint8), d = add("d", ElementType::float32), r = add("r", ElementType::float32),
                 y = add("y", ElementType::uint8);
  const TensorId first = constant("s1", before, ElementType::float32), second = constant("s2", behind, ElementType::float32),
                 point = constant("z", zero, ElementType::uint8);
  graph.inputs = {x};
  graph.outputs = {y};
  graph.nodes = {{"d", "DequantizeLinear", "", {x, first, point}, {d}, {}},
                 {"r", "Reshape", "", {d}, {r}, {}},
                 {"q", "QuantizeLinear", "", {r, second, point}, {y}, {}}};
  const auto folder = core::TemporaryDirectory::make(testing::TempDir());
  const std::string path = core::join_path(folder->path(), "rules.yaml");
  EXPECT_TRUE(core::write_file_atomic(path,
                                      "schema_version: 1\nbackend: test\nsource: by hand\npatterns:\n"
                                      "  - name: p\n    values: [{step: q, " +
                                          condition +
                                          "}]\n    steps:\n      - {id: d, op: [DequantizeLinear]}\n"
                                          "      - {id: r, op: [Reshape], from: [d]}\n"
                                          "      - {id: q, op: [QuantizeLinear], from: [r]}\n"));
  const auto rules = load_fusion_rules(path);
  if (!rules) return rules.error().text();
  const auto found = near_misses(graph, *rules, {});
  EXPECT_THAT(found, SizeIs(1));
  if (!found.empty() && found[0].reason == "quantisation_differs" && condition.starts_with("operand: 1")) {
    EXPECT_EQ(found[0].first, 0U);
    EXPECT_EQ(found[0].second, 2U);
  }
  return found.empty() ? "nothing" : found[0].reason;
}
TEST(QuantisationConditions, ScalesAndZeroPoints) {
  EXPECT_EQ(reason_of_scales(0.5F, 0.5F, 7, "operand: 1, same_as: [d, 1]"), "");
  EXPECT_EQ(reason_of_scales(0.5F, 0.25F, 7, "operand: 1, same_as: [d, 1]"), "quantisation_differs");
  EXPECT_EQ(reason_of_scales(0.5F, 0.25F, 7, "operand: 2, same_as: [d, 2]"), "");
  EXPECT_EQ(reason_of_scales(0.5F, 0.5F, 0, "operand: 2, lowest: true"), "");
  EXPECT_EQ(reason_of_scales(0.5F, 0.5F, 7, "operand: 2, lowest: true"), "quantisation_differs");
}

// A quantised bias on `bias_scale` behind a convolution of operands on 0.5 and 0.25.
std::optional<Unmet> unmet_of_bias(float bias_scale, bool is_replaceable = false) {
  Graph graph;
  const auto add = [&](const std::string& name) { return graph.add_tensor({name, ElementType::float32, Shape{}}); };
  const auto scale = [&](const std::string& name, float value) {
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    graph.initializers.push_back({add(name), {bytes, std::nullopt}});
    return graph.initializers.back().tensor;
  };
  const TensorId of_x = scale("sx", 0.5F), of_w = scale("sw", 0.25F), of_b = scale("sb", bias_scale), x = add("x"), w = add("w"),
                 b = add("b");
  const TensorId dx = add("dx"), dw = add("dw"), db = add("db"), y = add("y");
  graph.inputs = {x, w, b};
  graph.outputs = {y};
  if (is_replaceable) graph.overridable = {of_w};
  graph.nodes = {{"dx", "DequantizeLinear", "", {x, of_x}, {dx}, {}},
                 {"dw", "DequantizeLinear", "", {w, of_w}, {dw}, {}},
                 {"db", "DequantizeLinear", "", {b, of_b}, {db}, {}},
                 {"conv", "Conv", "", {dx, dw, db}, {y}, {}}};
  return unmet_bias(graph, Links(graph), graph.nodes[3], db, 3);
}
TEST(QuantisationConditions, ABiasOnTheScaleOfTheProduct) {
  EXPECT_FALSE(unmet_of_bias(0.125F));
  ASSERT_TRUE(unmet_of_bias(0.5F));
  EXPECT_EQ(unmet_of_bias(0.5F)->reason, "quantisation_differs");
  ASSERT_TRUE(unmet_of_bias(0.125F, true));
  EXPECT_EQ(unmet_of_bias(0.125F, true)->reason, "operand_not_constant");
}

}  // namespace
}  // namespace aaco::graph
