#include "runner/zoo/builder.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "core/check.h"
#include "core/half.h"

namespace aaco::runner::zoo {
namespace {

constexpr std::int64_t kOpset = 17;
constexpr std::int64_t kIrVersion = 8;

template <class T>
std::vector<std::byte> bytes_of_values(std::span<const T> values) {
  std::vector<std::byte> bytes(values.size_bytes());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

graph::Shape shape_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

}  // namespace

Builder::Builder(std::string name, ElementType type) : type_(type) {
  blueprint_.type = type;
  blueprint_.graph.name = std::move(name);
  blueprint_.graph.producer = "aaco-zoo";
  blueprint_.graph.format_version = kIrVersion;
  blueprint_.graph.opsets[""] = kOpset;
}

std::string Builder::path(std::string_view separator, std::string_view last) const {
  std::string text;
  for (const std::string& scope : scopes_) (text += scope) += separator;
  return text += last;
}

TensorId Builder::input(std::string name, ElementType type, graph::Shape shape) {
  const TensorId id = blueprint_.graph.add_tensor({std::move(name), type, std::move(shape)});
  blueprint_.graph.inputs.push_back(id);
  return id;
}

void Builder::output(TensorId tensor, std::string name, ElementType type, graph::Shape shape) {
  blueprint_.graph.tensor(tensor) = {std::move(name), type, std::move(shape)};
  blueprint_.graph.outputs.push_back(tensor);
}

TensorId Builder::weight(std::string_view name, Dims dims, Fill fill) {
  const TensorId id = blueprint_.graph.add_tensor({path(".", name), type_, shape_of(dims)});
  blueprint_.graph.initializers.push_back({id, {}});
  blueprint_.fills.push_back(fill);
  return id;
}

TensorId Builder::parameter(std::string_view name, Dims dims, Fill fill) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  blueprint_.parameters += count;
  return weight(name, std::move(dims), fill);
}

TensorId Builder::buffer(std::string_view name, Dims dims, Fill fill) { return weight(name, std::move(dims), fill); }

TensorId Builder::kept(std::string name, ElementType type, Dims dims, std::vector<std::byte> data) {
  if (const auto found = constants_.find(name); found != constants_.end()) return found->second;
  const TensorId id = blueprint_.graph.add_tensor({name, type, shape_of(dims)});
  blueprint_.graph.initializers.push_back({id, {std::move(data), std::nullopt}});
  blueprint_.fills.emplace_back();
  constants_.emplace(std::move(name), id);
  return id;
}

TensorId Builder::constant(std::span<const std::int64_t> values) {
  std::string name = "const_i64";
  for (const std::int64_t value : values) name += "_" + std::to_string(value);
  return kept(std::move(name), ElementType::int64, {static_cast<std::int64_t>(values.size())}, bytes_of_values(values));
}

TensorId Builder::scalar(std::int64_t value) {
  return kept("scalar_i64_" + std::to_string(value), ElementType::int64, {},
              bytes_of_values(std::span<const std::int64_t>(&value, 1)));
}

TensorId Builder::real(double value, ElementType type) {
  const auto single = static_cast<float>(value);
  const std::uint16_t half = core::to_half(single);
  std::string name = fmt::format("scalar_{}_{}", graph::to_string(type), value);
  return kept(std::move(name), type, {},
              type == ElementType::float16 ? bytes_of_values(std::span<const std::uint16_t>(&half, 1))
                                           : bytes_of_values(std::span<const float>(&single, 1)));
}

TensorId Builder::reals(std::string_view name, std::span<const float> values, Dims dims) {
  return kept(path(".", name), ElementType::float32, std::move(dims), bytes_of_values(values));
}

TensorId Builder::integers(std::string_view name, std::span<const std::int64_t> values, Dims dims) {
  return kept(path(".", name), ElementType::int64, std::move(dims), bytes_of_values(values));
}

TensorId Builder::node(std::string op_type, std::vector<TensorId> inputs, std::vector<graph::Attribute> attributes) {
  return node_n(std::move(op_type), 1, std::move(inputs), std::move(attributes)).front();
}

std::vector<TensorId> Builder::node_n(std::string op_type, std::size_t outputs, std::vector<TensorId> inputs,
                                      std::vector<graph::Attribute> attributes) {
  std::string name = "/" + path("/", op_type);
  if (const int count = used_names_[name]++; count > 0) name += "_" + std::to_string(count);
  graph::Node made{name, std::move(op_type), "", std::move(inputs), {}, std::move(attributes)};
  for (std::size_t index = 0; index < outputs; ++index)
    made.outputs.push_back(
        blueprint_.graph.add_tensor({name + "_output_" + std::to_string(index), ElementType::unknown, std::nullopt}));
  blueprint_.graph.nodes.push_back(std::move(made));
  return blueprint_.graph.nodes.back().outputs;
}

std::vector<TensorId> Builder::runtime_node(std::string op_type, std::size_t outputs, std::vector<TensorId> inputs,
                                            std::vector<graph::Attribute> attributes) {
  const auto made = node_n(std::move(op_type), outputs, std::move(inputs), std::move(attributes));
  blueprint_.graph.nodes.back().domain = "com.microsoft";
  blueprint_.graph.opsets["com.microsoft"] = 1;
  return made;
}

Blueprint Builder::finish() && { return std::move(blueprint_); }

}  // namespace aaco::runner::zoo
