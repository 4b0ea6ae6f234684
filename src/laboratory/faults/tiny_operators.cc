#include "laboratory/tiny_operators.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "core/files.h"
#include "core/handles.h"
#include "graph/onnx.h"

namespace aaco::laboratory::faults {
namespace {

using core::ErrorCode;

// The weights as they lie in the files of the model that was loaded.
class FileWeights final : public graph::onnx::WeightSource {
 public:
  explicit FileWeights(const graph::Graph& graph) : graph_(graph) {}

  core::Status read(std::size_t index, std::int64_t offset, std::span<std::byte> out) override {
    const auto& location = graph_.initializers[index].constant.location;
    if (!location || offset < 0 || offset + static_cast<std::int64_t>(out.size()) > location->bytes)
      return core::fail(ErrorCode::unsupported, "the model has a constant that is not stored as raw bytes in a file");
    AACO_ASSIGN(const int file, open(location->file));
    for (std::size_t done = 0; done < out.size();) {
      const ssize_t got = ::pread(file, out.data() + done, out.size() - done,
                                  static_cast<off_t>(location->offset + offset) + static_cast<off_t>(done));
      if (got <= 0) return core::fail(ErrorCode::io, location->file + " is too short for its weights");
      done += static_cast<std::size_t>(got);
    }
    return {};
  }

 private:
  core::Result<int> open(const std::string& path) {
    auto known = files_.find(path);
    if (known == files_.end()) {
      core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
      if (!file.valid()) return core::fail_errno(errno, path);
      known = files_.emplace(path, std::move(file)).first;
    }
    return known->second.get();
  }
  const graph::Graph& graph_;
  std::map<std::string, core::FileDescriptor> files_;
};

bool is_float(const graph::TensorDescriptor& tensor) {
  return tensor.type == graph::ElementType::float32 || tensor.type == graph::ElementType::float16;
}

}  // namespace

core::Status append_tiny_operators(const std::string& model, std::int64_t count, const std::string& op_type,
                                   const std::string& path) {
  AACO_ASSIGN(graph::Graph graph, graph::onnx::load(model));
  const auto output =
      std::find_if(graph.outputs.begin(), graph.outputs.end(), [&](graph::TensorId id) { return is_float(graph.tensor(id)); });
  if (output == graph.outputs.end())
    return core::fail(ErrorCode::unsupported, model + " has no floating-point output to append operators to");
  // Of a large output operators would move memory: they work on its mean.
  graph::TensorDescriptor mean = graph.tensor(*output);
  mean.name = "aaco_tiny_mean";
  if (mean.shape) mean.shape->assign(mean.shape->size(), graph::Dimension(1));
  graph::TensorId last = graph.add_tensor(std::move(mean));
  graph.nodes.push_back({"aaco_tiny_mean_node", "ReduceMean", "", {*output}, {last}, {}});
  for (std::int64_t i = 0; i < count; ++i) {
    graph::TensorDescriptor next = graph.tensor(last);
    next.name = "aaco_tiny_" + std::to_string(i);
    const graph::TensorId made = graph.add_tensor(std::move(next));
    // Two negations in a row would be folded by no runtime today; two operators taking turns are safe from it for longer.
    graph.nodes.push_back(
        {"aaco_tiny_node_" + std::to_string(i), i % 2 == 0 ? op_type : std::string("Neg"), "", {last}, {made}, {}});
    last = made;
  }
  graph.outputs.push_back(last);
  FileWeights weights(graph);
  return graph::onnx::write(graph, &weights, path);
}

}  // namespace aaco::laboratory::faults
