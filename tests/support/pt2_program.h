#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.h"
#include "graph/pt2.h"

// ExportedProgram JSON written by hand, for tests.
namespace aaco::graph::pt2 {

using core::Json;

inline Json tensor_argument(const std::string& name) { return Json::object({{"as_tensor", Json::object({{"name", name}})}}); }
inline Json argument(const std::string& name, Json value) { return Json::object({{"name", name}, {"arg", std::move(value)}}); }
inline Json ints(const std::vector<std::int64_t>& values) {
  Json list = Json::array();
  for (const std::int64_t value : values) list.push(value);
  return Json::object({{"as_ints", std::move(list)}});
}

// One program: x -> nodes -> the last output.
struct ProgramFile {
  Json ranges = Json::object(), schema = Json::object({{"major", 8}});
  Json values = Json::object(), inputs = Json::array(), nodes = Json::array(), specs = Json::array(), results = Json::array();

  void describe(const std::string& name, const std::vector<Json>& sizes, std::int64_t type = 7) {
    Json list = Json::array();
    for (const Json& size : sizes)
      list.push(size.is_string() ? Json::object({{"as_expr", Json::object({{"expr_str", size}})}})
                                 : Json::object({{"as_int", size}}));
    values.set(name, Json::object({{"dtype", type}, {"sizes", std::move(list)}}));
  }
  void input(const std::string& name, const std::vector<Json>& sizes, const char* role = "user_input", std::int64_t type = 7) {
    describe(name, sizes, type);
    inputs.push(tensor_argument(name));
    const Json held = std::string_view(role) == "user_input" ? tensor_argument(name) : Json::object({{"name", name}});
    specs.push(Json::object({{role, Json::object({{"arg", held}})}}));
  }
  void node(const std::string& target, std::vector<Json> arguments, const std::string& output, const std::vector<Json>& sizes) {
    describe(output, sizes);
    Json outputs = Json::array();
    outputs.push(tensor_argument(output));
    nodes.push(
        Json::object({{"target", target}, {"inputs", Json::array(std::move(arguments))}, {"outputs", std::move(outputs)}}));
  }
  void bound(const std::string& symbol, Json smallest, Json largest) {
    ranges.set(symbol, Json::object({{"min_val", std::move(smallest)}, {"max_val", std::move(largest)}}));
  }
  void result(const std::string& name) {
    results.push(Json::object({{"user_output", Json::object({{"arg", tensor_argument(name)}})}}));
  }
  // Its graph, as the body of another one's node: the inputs' names and what it answers.
  [[nodiscard]] Json body(const std::string& answer) const {
    Json outputs = Json::array();
    outputs.push(tensor_argument(answer));
    return Json::object({{"inputs", inputs}, {"outputs", std::move(outputs)}, {"nodes", nodes}, {"tensor_values", values}});
  }
  [[nodiscard]] std::string text() const {
    const Json graph =
        Json::object({{"inputs", inputs}, {"outputs", Json::array()}, {"nodes", nodes}, {"tensor_values", values}});
    const Json signature = Json::object({{"input_specs", specs}, {"output_specs", results}});
    return Json::object({{"graph_module", Json::object({{"graph", graph}, {"signature", signature}})},
                         {"opset_version", Json::object({{"aten", 10}})},
                         {"torch_version", "2.7.0"},
                         {"range_constraints", ranges},
                         {"schema_version", schema}})
        .dump(-1);
  }
  [[nodiscard]] core::Result<Graph> parse() const {
    AACO_ASSIGN(Source source, parse_program(text(), "test.pt2"));
    return std::move(source.graph);
  }
  [[nodiscard]] std::string refusal() const {
    const auto graph = parse();
    return graph ? "" : graph.error().text();
  }
};

}  // namespace aaco::graph::pt2
