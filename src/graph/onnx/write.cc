#include <algorithm>
#include <limits>
#include <memory>

#include "core/files.h"
#include "graph/onnx.h"
#include "graph/onnx/encode.h"
#include "graph/onnx/output_file.h"
#include "graph/onnx/schema.h"
#include "graph/onnx/wire_writer.h"

namespace aaco::graph::onnx {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::int64_t kChunkBytes = std::int64_t{4} << 20;
constexpr std::int64_t kPageBytes = 4096;
// Small constants stay in the file even when the weights are outside, so that shape inference finds them.
constexpr std::int64_t kAlwaysEmbedBytes = 1024;

// One initializer on its way into the file: `head` is all of its TensorProto but the payload that follows it.
struct PlannedTensor {
  std::size_t index = 0;
  std::int64_t bytes = 0;
  bool embedded = true;
  std::string head;
};

core::Result<std::int64_t> constant_bytes(const Graph& graph, const Initializer& initializer) {
  const TensorDescriptor& descriptor = graph.tensor(initializer.tensor);
  const auto count = descriptor.shape ? element_count(*descriptor.shape) : std::nullopt;
  const auto bytes = count ? bytes_of(descriptor.type, *count) : std::nullopt;
  if (!bytes)
    return fail(ErrorCode::invalid_argument, "the weight '" + descriptor.name + "' has no fixed size and cannot be written");
  const auto kept = static_cast<std::int64_t>(initializer.constant.data.size());
  if (kept > 0 && kept != *bytes)
    return fail(ErrorCode::invalid_argument, "the constant '" + descriptor.name + "' has " + std::to_string(kept) +
                                                 " bytes, but its shape requires " + std::to_string(*bytes));
  return *bytes;
}

void external_entry(WireWriter& out, std::string_view key, const std::string& value) {
  WireWriter entry;
  entry.bytes_field(schema::Entry::key, key);
  entry.bytes_field(schema::Entry::value, value);
  out.bytes_field(schema::Tensor::external_data, entry.bytes());
}

class ModelWriter {
 public:
  ModelWriter(const Graph& graph, WeightSource* weights, const std::string& path, const WriteOptions& options)
      : graph_(graph), weights_(weights), path_(path), options_(options), data_path_(path + ".data") {}

  core::Status run() {
    AACO_TRY(plan());
    AACO_ASSIGN(const std::string structure, encode_structure());
    const std::string head = encode_model_head();
    std::int64_t graph_bytes = static_cast<std::int64_t>(structure.size());
    for (const PlannedTensor& tensor : tensors_) graph_bytes += field_bytes(message_bytes(tensor));
    if (graph_bytes + static_cast<std::int64_t>(head.size()) > std::numeric_limits<std::int32_t>::max() - 64)
      return fail(ErrorCode::exhausted, path_ + ": the model exceeds the 2 GB limit of a protobuf file",
                  "store its weights as external data");

    AACO_ASSIGN(OutputFile file, OutputFile::create(path_));
    WireWriter start;
    start.append(head);
    start.length_prefix(schema::Model::graph, static_cast<std::uint64_t>(graph_bytes));
    AACO_TRY(file.append(start.bytes()));
    AACO_TRY(file.append(structure));
    for (const PlannedTensor& tensor : tensors_) AACO_TRY(write_tensor(tensor, file));
    return write_external();
  }

 private:
  core::Status plan() {
    const std::int64_t all = weight_bytes(graph_);
    WeightStorage storage = options_.storage;
    if (storage == WeightStorage::automatic) storage = all > kEmbedLimitBytes ? WeightStorage::external : WeightStorage::embed;
    absent_ = storage == WeightStorage::absent;
    std::int64_t external_offset = 0;
    for (std::size_t index = 0; index < graph_.initializers.size(); ++index) {
      PlannedTensor tensor;
      tensor.index = index;
      AACO_ASSIGN(tensor.bytes, constant_bytes(graph_, graph_.initializers[index]));
      const bool kept = tensor.bytes == 0 || !graph_.initializers[index].constant.data.empty();
      if (!kept && weights_ == nullptr && !absent_)
        return fail(ErrorCode::invalid_argument,
                    "no data for the weight '" + graph_.tensor(graph_.initializers[index].tensor).name + "'");
      tensor.embedded = storage == WeightStorage::embed || (kept && (absent_ || tensor.bytes <= kAlwaysEmbedBytes));
      total_bytes_ += absent_ && !tensor.embedded ? 0 : tensor.bytes;
      AACO_ASSIGN(tensor.head, tensor_head(tensor, external_offset));
      tensors_.push_back(std::move(tensor));
    }
    return {};
  }

  core::Result<std::string> tensor_head(const PlannedTensor& tensor, std::int64_t& external_offset) const {
    WireWriter out;
    AACO_ASSIGN(const std::string head, encode_tensor_head(graph_.tensor(graph_.initializers[tensor.index].tensor)));
    out.append(head);
    if (tensor.embedded) {
      out.length_prefix(schema::Tensor::raw_data, static_cast<std::uint64_t>(tensor.bytes));
      return out.bytes();
    }
    external_entry(out, "location", core::base_name(data_path_));
    external_entry(out, "offset", std::to_string(external_offset));
    external_entry(out, "length", std::to_string(tensor.bytes));
    out.int_field(schema::Tensor::data_location, 1);
    external_offset = (external_offset + tensor.bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    return out.bytes();
  }

  static std::int64_t message_bytes(const PlannedTensor& tensor) {
    return static_cast<std::int64_t>(tensor.head.size()) + (tensor.embedded ? tensor.bytes : 0);
  }
  static std::int64_t field_bytes(std::int64_t length) {
    WireWriter prefix;
    prefix.length_prefix(schema::Graph::initializer, static_cast<std::uint64_t>(length));
    return static_cast<std::int64_t>(prefix.bytes().size()) + length;
  }

  std::string encode_model_head() const {
    WireWriter out;
    out.int_field(schema::Model::ir_version, graph_.format_version > 0 ? graph_.format_version : 8);
    out.bytes_field(schema::Model::producer_name, graph_.producer);
    for (const auto& [domain, version] : graph_.opsets) {
      WireWriter opset;
      opset.bytes_field(schema::Opset::domain, domain);
      opset.int_field(schema::Opset::version, version);
      out.bytes_field(schema::Model::opset_import, opset.bytes());
    }
    for (const auto& [key, value] : graph_.metadata) {
      WireWriter entry;
      entry.bytes_field(schema::Entry::key, key);
      entry.bytes_field(schema::Entry::value, value);
      out.bytes_field(schema::Model::metadata_props, entry.bytes());
    }
    return out.bytes();
  }

  // Everything of the GraphProto but its initializers.
  core::Result<std::string> encode_structure() const {
    WireWriter out;
    for (const Node& node : graph_.nodes) {
      AACO_ASSIGN(const std::string encoded, encode_node(graph_, node));
      out.bytes_field(schema::Graph::node, encoded);
    }
    out.bytes_field(schema::Graph::name, graph_.name);
    for (const TensorId id : graph_.inputs) out.bytes_field(schema::Graph::input, encode_value_info(graph_.tensor(id)));
    for (const TensorId id : graph_.outputs) out.bytes_field(schema::Graph::output, encode_value_info(graph_.tensor(id)));
    return out.bytes();
  }

  core::Status write_tensor(const PlannedTensor& tensor, OutputFile& file) {
    WireWriter prefix;
    prefix.length_prefix(schema::Graph::initializer, static_cast<std::uint64_t>(message_bytes(tensor)));
    prefix.append(tensor.head);
    AACO_TRY(file.append(prefix.bytes()));
    return tensor.embedded ? write_payload(tensor, file) : core::Status{};
  }

  core::Status write_external() {
    const bool any = std::any_of(tensors_.begin(), tensors_.end(), [](const PlannedTensor& tensor) { return !tensor.embedded; });
    if (!any || absent_) return {};
    AACO_ASSIGN(OutputFile file, OutputFile::create(data_path_));
    for (const PlannedTensor& tensor : tensors_) {
      if (tensor.embedded) continue;
      AACO_TRY(file.align(kPageBytes));
      AACO_TRY(write_payload(tensor, file));
    }
    return {};
  }

  core::Status write_payload(const PlannedTensor& tensor, OutputFile& file) {
    const std::vector<std::byte>& kept = graph_.initializers[tensor.index].constant.data;
    if (!kept.empty()) {
      AACO_TRY(file.append(kept));
      return report(tensor.bytes);
    }
    if (absent_ && tensor.bytes > 0)
      return fail(ErrorCode::invalid_argument, "the graph was loaded without weights, so none can be embedded");
    for (std::int64_t offset = 0; offset < tensor.bytes;) {
      const std::int64_t length = std::min(kChunkBytes, tensor.bytes - offset);
      chunk_.resize(static_cast<std::size_t>(length));
      AACO_TRY(weights_->read(tensor.index, offset, chunk_));
      AACO_TRY(file.append(chunk_));
      AACO_TRY(report(length));
      offset += length;
    }
    return {};
  }

  core::Status report(std::int64_t bytes) {
    done_bytes_ += bytes;
    if (options_.progress) options_.progress(done_bytes_, total_bytes_);
    return {};
  }

  const Graph& graph_;
  WeightSource* weights_;
  std::string path_;
  const WriteOptions& options_;
  std::string data_path_;
  bool absent_ = false;
  std::vector<PlannedTensor> tensors_;
  std::vector<std::byte> chunk_;
  std::int64_t done_bytes_ = 0;
  std::int64_t total_bytes_ = 0;
};

}  // namespace

std::int64_t weight_bytes(const Graph& graph) { return total_constants(graph).bytes; }

core::Status write(const Graph& graph, WeightSource* weights, const std::string& path, const WriteOptions& options) {
  if (!graph.functions.empty())
    return fail(ErrorCode::unsupported, path + ": cannot write a model with local functions", "inline its functions first");
  return ModelWriter(graph, weights, path, options).run();
}

}  // namespace aaco::graph::onnx
