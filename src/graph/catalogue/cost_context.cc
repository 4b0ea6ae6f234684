#include "graph/catalogue/cost_context.h"

#include <algorithm>

namespace aaco::graph {

bool CostContext::constant(std::size_t input) const {
  return has(input) && constants_[static_cast<std::size_t>(node_.inputs[input].value)];
}

ElementType CostContext::type(std::size_t input) const {
  return has(input) ? graph_.tensor(node_.inputs[input]).type : ElementType::unknown;
}

std::vector<std::int64_t> CostContext::dims_of(TensorId id) {
  std::vector<std::int64_t> sizes;
  const TensorDescriptor& tensor = graph_.tensor(id);
  if (!tensor.shape) {
    fail("the shape of '" + tensor.name + "' is unknown");
    return sizes;
  }
  for (const Dimension& dimension : *tensor.shape) {
    if (!dimension.fixed()) {
      fail("the shape of '" + tensor.name + "' is " + to_string(*tensor.shape));
      return {};
    }
    sizes.push_back(dimension.size);
  }
  return sizes;
}

double CostContext::elements_of(TensorId id) {
  double count = 1;
  for (const std::int64_t size : dims_of(id)) count *= static_cast<double>(size);
  return failed() ? 0 : count;
}

double CostContext::bytes_of_tensor(TensorId id) {
  const int bits = element_bits(graph_.tensor(id).type);
  const double count = elements_of(id);
  if (bits == 0) fail("the element type of '" + graph_.tensor(id).name + "' has no fixed size");
  return failed() ? 0 : count * bits / 8;
}

std::vector<std::int64_t> CostContext::dims(std::size_t input) {
  if (has(input)) return dims_of(node_.inputs[input]);
  fail("the input " + std::to_string(input) + " is missing");
  return {};
}

std::vector<std::int64_t> CostContext::output_dims(std::size_t output) {
  if (has_output(output)) return dims_of(node_.outputs[output]);
  fail("the output " + std::to_string(output) + " is missing");
  return {};
}

double CostContext::elements(std::size_t input) { return has(input) ? elements_of(node_.inputs[input]) : 0; }
double CostContext::bytes(std::size_t input) { return has(input) ? bytes_of_tensor(node_.inputs[input]) : 0; }
double CostContext::output_elements(std::size_t output) { return has_output(output) ? elements_of(node_.outputs[output]) : 0; }
double CostContext::output_bytes(std::size_t output) { return has_output(output) ? bytes_of_tensor(node_.outputs[output]) : 0; }

void CostContext::read_bytes(std::size_t input, double bytes) {
  out_.bytes_read += bytes;
  if (constant(input)) out_.weight_bytes += bytes;
}

void CostContext::read(std::size_t input) {
  if (has(input)) read_bytes(input, bytes(input));
}

void CostContext::write(std::size_t output) { out_.bytes_written += output_bytes(output); }

void CostContext::read_all() {
  for (std::size_t input = 0; input < node_.inputs.size(); ++input) {
    const auto end = node_.inputs.begin() + static_cast<std::ptrdiff_t>(input);
    if (std::find(node_.inputs.begin(), end, node_.inputs[input]) == end) read(input);  // x * x reads x once
  }
}

void CostContext::write_all() {
  for (std::size_t output = 0; output < node_.outputs.size(); ++output) write(output);
}

void CostContext::touch_all() {
  read_all();
  write_all();
}

}  // namespace aaco::graph
