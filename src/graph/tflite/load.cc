#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/mapped_file.h"
#include "graph/condition.h"
#include "graph/tflite.h"
#include "graph/tflite/bodies.h"
#include "graph/tflite/flat_table.h"
#include "graph/tflite/open_sizes.h"
#include "graph/tflite/options.h"
#include "graph/tflite/schema.h"
#include "graph/tflite/signatures.h"

namespace aaco::graph::tflite {
namespace {

using core::ErrorCode;

constexpr std::int64_t kVersion = 3;
constexpr std::uint64_t kMaxRank = 64, kMaxInputs = 1 << 16;
constexpr std::size_t kMaxNodes = 1'000'000;
constexpr int kMaxDepth = 8;

template <class Field>
constexpr int at(Field field) {
  return static_cast<int>(field);
}

class Decoder {
 public:
  Decoder(FlatBytes& bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  core::Result<Source> run(const std::string& signature) {
    using schema::Model;
    if (bytes_.data.size() < 8 || bytes_.data.substr(4, 4) != "TFL3")
      return refuse("not a TFLite model (no TFL3 marker at byte 4)");
    model_ = FlatTable::root(bytes_);
    const std::uint64_t version = model_.unsigned_number(at(Model::version), 4, 0);
    if (bytes_.damaged) return damage();
    if (version != kVersion) return refuse("unsupported schema version " + std::to_string(version) + ": AACO supports version 3");
    codes_ = model_.vector(at(Model::operator_codes), 4);
    buffers_ = model_.vector(at(Model::buffers), 4);
    subgraphs_ = model_.vector(at(Model::subgraphs), 4);
    if (subgraphs_.count == 0) return refuse("the file has no graph");
    const std::vector<Signature> signatures = signatures_of(model_);
    if (bytes_.damaged) return damage();
    AACO_ASSIGN(Chosen chosen, choose_signature(signatures, signature, name_));
    Source source;
    if (!chosen.assumption.empty()) source.assumptions.push_back(std::move(chosen.assumption));
    Graph& graph = source.graph;
    AACO_TRY(fill(graph, chosen.subgraph, 0));
    graph.opsets["tflite"] = kVersion;
    graph.format_version = kVersion;
    graph.producer = model_.text(at(Model::description));
    if (bytes_.damaged) return damage();
    return source;
  }

 private:
  [[nodiscard]] tl::unexpected<core::Error> refuse(const std::string& what) const {
    return core::fail(ErrorCode::invalid_input, name_ + ": " + what, "convert the model again");
  }
  [[nodiscard]] tl::unexpected<core::Error> damage() const {
    return core::fail(ErrorCode::invalid_input, name_ + ": the file is damaged or truncated (an offset points outside the file)",
                      "download or copy the file again");
  }

  core::Status fill(Graph& graph, std::uint64_t number, int depth) {
    using schema::SubGraph;
    if (depth > kMaxDepth) return refuse("graphs are nested more than " + std::to_string(kMaxDepth) + " deep");
    if (number >= subgraphs_.count) return refuse("reference to missing graph " + std::to_string(number));
    const FlatTable source = model_.element(subgraphs_, number);
    graph.name = source.text(at(SubGraph::name));
    open_.clear();
    AACO_TRY(
        add_tensors(source, graph, depth == 0 ? "" : (graph.name.empty() ? "graph" + std::to_string(number) : graph.name) + "/"));
    std::vector<bool> made(graph.tensors.size(), false);
    for (const Initializer& initializer : graph.initializers) made[static_cast<std::size_t>(initializer.tensor.value)] = true;
    AACO_ASSIGN(const auto inputs, ids(source, at(SubGraph::inputs), graph));
    for (const TensorId id : inputs)
      if (id.valid() && !made[static_cast<std::size_t>(id.value)]) {
        graph.inputs.push_back(id);
        made[static_cast<std::size_t>(id.value)] = true;
      }
    open_.settle(graph, depth == 0);
    for (const TensorId id : variables_) made[static_cast<std::size_t>(id.value)] = true;
    AACO_TRY(add_nodes(source, graph, made, depth));
    AACO_ASSIGN(graph.outputs, ids(source, at(SubGraph::outputs), graph));
    for (const TensorId id : graph.outputs)
      if (!id.valid() || !made[static_cast<std::size_t>(id.value)]) return refuse("no operator produces one of the outputs");
    return {};
  }

  // No two tensors of a model have one name: bodies know those around them by it.
  std::string own_name(std::string name) {
    if (!names_.insert(name).second) {
      name += "#" + std::to_string(names_.size());
      names_.insert(name);
    }
    return name;
  }

  core::Status add_tensors(const FlatTable& source, Graph& graph, const std::string& prefix) {
    using schema::Tensor;
    variables_.clear();
    unranked_.clear();
    held_.clear();
    same_as_.clear();
    const auto tensors = source.vector(at(schema::SubGraph::tensors), 4);
    tensors_ += tensors.count;
    if (tensors_ > 4 * kMaxNodes) return refuse("it has more than four million tensors");
    for (std::uint64_t number = 0; number < tensors.count && !bytes_.damaged; ++number) {
      const FlatTable item = source.element(tensors, number);
      TensorDescriptor tensor{own_name(prefix + item.text(at(Tensor::name))), ElementType::unknown, std::nullopt};
      const std::int64_t code = item.signed_number(at(Tensor::type), 1, 0);
      const auto type = schema::element_type_of(code);
      if (!type)
        return refuse("the tensor '" + tensor.name + "' has an element type unknown to TFLite (" + std::to_string(code) + ")");
      tensor.type = *type;
      std::vector<std::int64_t> example;
      AACO_TRY(read_shape(item, tensor, example));
      const TensorId id = graph.add_tensor(tensor);
      open_.note(id, std::move(example));
      if (tensor.shape->empty() && item.unsigned_number(at(Tensor::has_rank), 1, 0) == 0) unranked_.insert(id);
      if (item.unsigned_number(at(Tensor::is_variable), 1, 0) != 0) variables_.insert(id);
      AACO_TRY(add_constant(item, id, graph));
    }
    return bytes_.damaged ? core::Status(damage()) : core::Status();
  }

  // `example`: the sizes that stand in the file for open ones.
  core::Status read_shape(const FlatTable& item, TensorDescriptor& tensor, std::vector<std::int64_t>& example) const {
    using schema::Tensor;
    const auto sizes = item.integers(at(Tensor::shape), kMaxRank).value_or(std::vector<std::int64_t>());
    const auto signature = item.integers(at(Tensor::shape_signature), kMaxRank);
    const bool fits = signature && signature->size() == sizes.size();
    tensor.shape = Shape{};
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      const bool open = sizes[axis] == -1 || (fits && (*signature)[axis] == -1);
      if (sizes[axis] < 0 && !open)
        return refuse("the tensor '" + tensor.name + "' has a negative size, " + std::to_string(sizes[axis]));
      tensor.shape->push_back(open ? Dimension{} : Dimension(sizes[axis]));
      if (open) example.push_back(std::max<std::int64_t>(1, sizes[axis]));
    }
    return {};
  }

  core::Status add_constant(const FlatTable& item, TensorId id, Graph& graph) {
    using schema::Buffer;
    const std::uint64_t index = item.unsigned_number(at(schema::Tensor::buffer), 4, 0);
    if (index == 0) return {};
    if (index >= buffers_.count)
      return refuse("the tensor '" + graph.tensor(id).name + "' refers to missing buffer " + std::to_string(index) + "");
    const FlatTable buffer = model_.element(buffers_, index);
    const auto data = buffer.vector(at(Buffer::data), 1);
    const std::uint64_t outside = buffer.unsigned_number(at(Buffer::offset), 8, 0),
                        size = buffer.unsigned_number(at(Buffer::size), 8, 0);
    const std::uint64_t begin = data.count > 0 ? data.at : outside > 1 ? outside : 0, bytes = data.count > 0 ? data.count : size;
    if (begin == 0 || bytes == 0) return {};
    if (begin > bytes_.data.size() || bytes > bytes_.data.size() - begin) return damage();
    const TensorDescriptor& tensor = graph.tensor(id);
    const bool sparse = item.table(at(schema::Tensor::sparsity)).valid();
    const auto count = tensor.shape ? element_count(*tensor.shape) : std::nullopt;
    const auto expected = count ? bytes_of(tensor.type, *count) : std::nullopt;
    if (!sparse && expected && static_cast<std::uint64_t>(*expected) != bytes)
      return refuse("the constant '" + tensor.name + "' has " + std::to_string(bytes) +
                    " bytes, which does not match its shape " + to_string(*tensor.shape));
    Constant constant;
    if (!sparse) constant.location = DataLocation{name_, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(bytes)};
    if (!sparse && bytes <= static_cast<std::uint64_t>(kKeptConstantBytes)) {
      const std::string_view held = bytes_.data.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(bytes));
      const auto* first = reinterpret_cast<const std::byte*>(held.data());
      constant.data.assign(first, first + held.size());
    }
    hold(id, index, std::move(constant), graph);
    return {};
  }

  // Tensors of one buffer, type and shape are one (tied embeddings).
  void hold(TensorId id, std::uint64_t buffer, Constant constant, Graph& graph) {
    const TensorDescriptor& tensor = graph.tensor(id);
    const std::string place = std::to_string(buffer) + " " + std::string(to_string(tensor.type)) + " " + to_string(*tensor.shape);
    const auto [first, is_new] = held_.emplace(place, id);
    if (is_new)
      graph.initializers.push_back({id, std::move(constant)});
    else
      same_as_[id] = first->second;
  }

  core::Result<std::vector<TensorId>> ids(const FlatTable& table, int field, const Graph& graph) const {
    std::vector<TensorId> out;
    for (const std::int64_t number : table.integers(field, kMaxInputs).value_or(std::vector<std::int64_t>())) {
      if (number < -1 || number >= static_cast<std::int64_t>(graph.tensors.size()))
        return refuse("reference to missing tensor " + std::to_string(number));
      const TensorId id = number < 0 ? TensorId() : TensorId{static_cast<std::int32_t>(number)};
      const auto same = same_as_.find(id);
      out.push_back(same == same_as_.end() ? id : same->second);
    }
    return out;
  }

  // The operator's number: two fields, of which the larger counts (codes above 127 came later).
  core::Status name_operator(const FlatTable& item, Node& node, std::int64_t& code) const {
    using schema::OperatorCode;
    const std::uint64_t index = item.unsigned_number(at(schema::Operator::opcode), 4, 0);
    if (index >= codes_.count) return refuse("an operator refers to missing operator code " + std::to_string(index));
    const FlatTable held = model_.element(codes_, index);
    code = std::max(held.signed_number(at(OperatorCode::deprecated_code), 1, 0),
                    held.signed_number(at(OperatorCode::builtin_code), 4, 0));
    node.domain = "tflite";
    node.op_type = std::string(schema::operator_name(code));
    if (node.op_type.empty()) node.op_type = "BUILTIN_" + std::to_string(code);
    if (code == schema::kCustom) node.op_type = "custom:" + held.text(at(OperatorCode::custom_code));
    return {};
  }

  core::Status add_nodes(const FlatTable& source, Graph& graph, std::vector<bool>& made, int depth) {
    using schema::Operator;
    const auto operators = source.vector(at(schema::SubGraph::operators), 4);
    for (std::uint64_t number = 0; number < operators.count && !bytes_.damaged; ++number) {
      if (++nodes_ > kMaxNodes) return refuse("it has more than a million operators");
      const FlatTable item = source.element(operators, number);
      Node node;
      std::int64_t code = 0;
      AACO_TRY(name_operator(item, node, code));
      AACO_ASSIGN(node.inputs, ids(item, at(Operator::inputs), graph));
      AACO_ASSIGN(node.outputs, ids(item, at(Operator::outputs), graph));
      AACO_TRY(check_order(node, graph, made));
      // A converter does not know what a custom operator makes; of a builtin one, no rank is none.
      if (code == schema::kCustom)
        for (const TensorId id : node.outputs)
          if (unranked_.contains(id)) graph.tensor(id).shape.reset();
      node.name = node.outputs.empty() || !node.outputs[0].valid() ? node.op_type + std::to_string(number)
                                                                   : graph.tensor(node.outputs[0]).name;
      const bool newer = node.op_type.starts_with("STABLEHLO_");
      const FlatTable options = item.table(at(newer ? Operator::options_2 : Operator::options));
      read_options(node, options);
      AACO_ASSIGN(const bool stays, add_bodies(node, options, graph, depth));
      if (stays) graph.nodes.push_back(std::move(node));
    }
    return bytes_.damaged ? core::Status(damage()) : core::Status();
  }

  core::Status check_order(const Node& node, const Graph& graph, std::vector<bool>& made) const {
    for (const TensorId id : node.inputs)
      if (id.valid() && !made[static_cast<std::size_t>(id.value)])
        return refuse("the tensor '" + graph.tensor(id).name + "' is read before it is produced (a cycle or a missing operator)");
    for (const TensorId id : node.outputs) {
      if (!id.valid()) continue;
      const bool variable = variables_.contains(id);
      if (made[static_cast<std::size_t>(id.value)] && !variable)
        return refuse("the tensor '" + graph.tensor(id).name + "' has more than one producer");
      made[static_cast<std::size_t>(id.value)] = true;
    }
    return {};
  }

  // The graphs that an operator runs: IF's two branches, WHILE's condition and body, what CALL and STABLEHLO_COMPOSITE stand for.
  [[nodiscard]] static std::vector<int> body_fields(const Node& node) {
    if (node.op_type == "IF" || node.op_type == "WHILE") return {0, 1};
    if (node.op_type == "CALL") return {0};
    if (node.op_type == "STABLEHLO_COMPOSITE") return {1};
    return {};
  }

  core::Result<std::vector<Graph>> read_bodies(const Node& node, const FlatTable& options, int depth) {
    std::vector<Graph> bodies;
    if (body_fields(node).empty()) return bodies;
    auto around =
        std::tuple(std::move(variables_), std::move(open_), std::move(unranked_), std::move(held_), std::move(same_as_));
    open_.follow(std::get<1>(around));
    for (const int field : body_fields(node)) {
      const auto number = options.signed_number(field, 4, 0);
      if (number <= 0) return refuse("'" + node.name + "' runs graph " + std::to_string(number));
      AACO_TRY(fill(bodies.emplace_back(), static_cast<std::uint64_t>(number), depth + 1));
    }
    std::tie(variables_, open_, unranked_, held_, same_as_) = std::move(around);
    return bodies;
  }

  // Whether the node stays, with its bodies; one that runs a graph once is replaced by it.
  core::Result<bool> add_bodies(Node& node, const FlatTable& options, Graph& graph, int depth) {
    AACO_ASSIGN(std::vector<Graph> bodies, read_bodies(node, options, depth));
    if (bodies.empty()) return true;
    const auto misfit = [&] { return refuse("'" + node.name + "' (" + node.op_type + ") does not match the graph it runs"); };
    if (bodies.size() == 1) {
      if (!put_in(graph, node, std::move(bodies[0]))) return misfit();
      return false;
    }
    std::vector<SubgraphId> numbers;
    for (Graph& body : bodies) {
      numbers.push_back(SubgraphId{static_cast<std::int32_t>(graph.subgraphs.size())});
      graph.subgraphs.push_back(std::move(body));
    }
    if (node.op_type == "WHILE") {
      for (const SubgraphId number : numbers)
        if (graph.subgraph(number).inputs.size() > node.inputs.size()) return misfit();
      node.attributes.push_back({"bodies", std::move(numbers)});
      return true;
    }
    if (node.inputs.empty()) return refuse("'" + node.name + "' has no condition input");
    if (!make_condition(graph, node, numbers)) return misfit();
    return true;
  }

  FlatBytes& bytes_;
  std::string name_;
  OpenSizes open_;
  FlatTable model_;
  FlatTable::Vector codes_, buffers_, subgraphs_;
  std::set<std::string> names_;
  std::set<TensorId> unranked_;           // without a dimension and without a word that they have none
  std::map<std::string, TensorId> held_;  // constants by buffer, type and shape
  std::map<TensorId, TensorId> same_as_;  // constants that are another one
  std::set<TensorId> variables_;          // of the graph that is being read: state that lives between calls
  std::size_t nodes_ = 0, tensors_ = 0;
};

}  // namespace

core::Result<Source> parse(std::string_view bytes, const std::string& name, const std::string& signature) {
  FlatBytes flat{bytes, false};
  return Decoder(flat, name).run(signature);
}

core::Result<Source> load(const std::string& path, const std::string& signature) {
  AACO_ASSIGN(const core::MappedFile file, core::MappedFile::open(path));
  return parse(file.bytes(), path, signature);
}

}  // namespace aaco::graph::tflite
