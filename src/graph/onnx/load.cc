#include <algorithm>

#include "core/files.h"
#include "core/numbers.h"
#include "graph/onnx.h"
#include "graph/onnx/decode_graph.h"
#include "graph/onnx/decode_tensor.h"
#include "graph/onnx/schema.h"

namespace aaco::graph::onnx {
namespace {

using core::ErrorCode;
using core::fail;

// What people take for a model and is none; empty for anything that may be one.
std::string_view known_impostor(std::string_view head) {
  if (head.empty()) return "the file is empty";
  if (head.starts_with("version https://git-lfs"))
    return "this is a Git LFS pointer, not the model itself (fetch it with 'git lfs pull')";
  if (head.starts_with("PK\x03\x04")) return "this is a zip archive (a PyTorch or Keras file?), not an ONNX model";
  const auto is_text = [](char letter) {
    return (letter >= ' ' && letter <= '~') || letter == '\n' || letter == '\r' || letter == '\t';
  };
  if (std::all_of(head.begin(), head.end(), is_text)) return "this is text, not an ONNX model";
  return {};
}

core::Result<Graph> decode_model(Input& input) {
  if (const std::string_view problem = known_impostor(input.view(0, 64)); !problem.empty() && !input.failed())
    return fail(ErrorCode::invalid_input, input.name() + ": " + std::string(problem));
  std::optional<Range> body;
  std::vector<Range> functions;
  Graph head;
  WireReader reader(input, {0, input.size()});
  for (Field field; reader.next(field);) {
    if (field.number == schema::Model::ir_version && field.wire == Field::varint) head.format_version = field.as_int();
    if (field.wire != Field::bytes) continue;
    switch (field.number) {
      case schema::Model::graph: body = field.range; break;
      case schema::Model::producer_name: head.producer = text_of(input, field) + head.producer; break;
      case schema::Model::producer_version: head.producer += " " + text_of(input, field); break;
      case schema::Model::opset_import: decode_opset(input, field.range, head.opsets); break;
      case schema::Model::metadata_props: decode_entry(input, field.range, head.metadata); break;
      case schema::Model::functions: functions.push_back(field.range); break;
      default: break;
    }
  }
  AACO_TRY(input.status());
  if (!body) return fail(ErrorCode::invalid_input, input.name() + ": not an ONNX model (it has no graph)", "check the path");
  Graph graph = decode_graph(input, *body, 0);
  graph.format_version = head.format_version;
  constexpr std::int64_t kOptionalInputs = 4;
  if (graph.format_version < kOptionalInputs) graph.overridable.clear();
  graph.producer = std::move(head.producer);
  graph.opsets = std::move(head.opsets);
  graph.metadata = std::move(head.metadata);
  for (const Range& range : functions) {
    if (input.failed()) break;
    graph.functions.push_back(decode_function(input, range));
  }
  AACO_TRY(input.status());
  return graph;
}

template <class Visit>
core::Status each_external(const Graph& graph, const std::string& model, const Visit& visit) {
  for (const Initializer& initializer : graph.initializers) {
    const auto& location = initializer.constant.location;
    if (location && location->file != model) AACO_TRY(visit(graph.tensor(initializer.tensor).name, *location));
  }
  for (const Graph& body : graph.subgraphs) AACO_TRY(each_external(body, model, visit));
  return {};
}

}  // namespace

core::Result<Graph> load(const std::string& path) {
  AACO_ASSIGN(Input input, Input::open(path));
  return decode_model(input);
}

core::Result<Graph> parse(std::string_view bytes, std::string name) {
  Input input = Input::of_memory(bytes, std::move(name));
  return decode_model(input);
}

core::Result<TensorLiteral> parse_tensor(std::string_view bytes, std::string name) {
  Input input = Input::of_memory(bytes, std::move(name));
  TensorLiteral tensor = decode_tensor(input, {0, input.size()}, input.size());
  AACO_TRY(input.status());
  if (tensor.descriptor.type == ElementType::unknown)
    return fail(ErrorCode::invalid_input, input.name() + ": the file has no tensor", "save it as an ONNX TensorProto");
  return tensor;
}

core::Status check_external_data(const Graph& graph, const std::string& path) {
  std::map<std::string, std::int64_t> sizes;
  return each_external(graph, path, [&](const std::string& tensor, const DataLocation& location) -> core::Status {
    if (!sizes.contains(location.file)) {
      const auto size = core::file_size(location.file);
      if (!size)
        return fail(ErrorCode::not_found,
                    path + ": the weight '" + tensor + "' is stored in " + location.file + ", which cannot be read (" +
                        size.error().message + ")",
                    "place the file next to the model");
      sizes[location.file] = *size;
    }
    if (location.offset <= sizes[location.file] - location.bytes) return {};
    return fail(ErrorCode::invalid_input,
                path + ": the weight '" + tensor + "' ends at byte " + std::to_string(location.offset + location.bytes) + " of " +
                    location.file + ", which has only " + std::to_string(sizes[location.file]) + " bytes",
                "download or copy the file again: it is truncated");
  });
}

}  // namespace aaco::graph::onnx
