#include "runner/input_shapes.h"

#include <algorithm>

#include "core/numbers.h"
#include "core/strings.h"
#include "graph/shapes.h"

namespace aaco::runner {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::int64_t kMaxInputBytes = std::int64_t{16} << 30;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  graph::Shape dimensions(shape.begin(), shape.end());
  return graph::to_string(dimensions);
}

// The size of "a + b" where both are known (exporters write sums into symbols); a total is what is past plus what is new.
std::optional<std::int64_t> derived(const std::string& symbol, const std::map<std::string, std::int64_t>& sizes) {
  const auto known = [&](std::string_view term) -> std::optional<std::int64_t> {
    if (const auto number = core::parse_i64(term)) return number;
    const auto found = sizes.find(std::string(core::trim(term)));
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  };
  if (symbol == "total_sequence_length") {
    const auto past = known("past_sequence_length"), now = known("sequence_length");
    return past && now ? std::optional(*past + *now) : std::nullopt;
  }
  const std::vector<std::string_view> terms = core::split(symbol, '+');
  if (terms.size() < 2) return std::nullopt;
  std::int64_t sum = 0;
  for (const std::string_view term : terms) {
    const auto size = known(term);
    if (!size || __builtin_add_overflow(sum, *size, &sum)) return std::nullopt;
  }
  return sum;
}

class Resolver {
 public:
  explicit Resolver(const std::vector<TensorInfo>& inputs) : inputs_(inputs) {}

  core::Result<ResolvedShapes> run(const Shapes& file_shapes, const InputRequest& request) {
    AACO_TRY(bind_given(file_shapes, request));
    for (const auto& [name, shape] : request.default_shapes) AACO_TRY(bind_input(name, shape, "models.yaml", false));
    return settle();
  }

  core::Result<std::map<std::string, std::int64_t>> given(const Shapes& file_shapes, const InputRequest& request) {
    AACO_TRY(bind_given(file_shapes, request));
    for (const TensorInfo& input : inputs_)
      for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
        if (input.shape[axis] >= 0) continue;
        if (const auto size = derived(input.symbols[axis], sizes_)) AACO_TRY(bind(input.symbols[axis], *size, "the sum", true));
        if (input.symbols[axis].empty() && sizes_.contains(symbol_of(input, axis)))
          return fail(ErrorCode::invalid_argument,
                      "dimension " + std::to_string(axis) + " of the input '" + input.name +
                          "' has no name: ONNX Runtime cannot fix its size",
                      "name it in the model (dim_param), or leave out its size");
      }
    return sizes_;
  }

 private:
  core::Status bind_given(const Shapes& file_shapes, const InputRequest& request) {
    for (const auto& [name, shape] : file_shapes) AACO_TRY(bind_input(name, shape, "the input file", true));
    for (const auto& [name, shape] : request.shapes) AACO_TRY(bind_input(name, shape, "--shape", true));
    for (const auto& [symbol, size] : request.dimensions) AACO_TRY(bind_named(symbol, size));
    if (request.batch) AACO_TRY(bind_batch(*request.batch));
    return {};
  }

  // A dimension without a name gets one that no exporter writes.
  static std::string symbol_of(const TensorInfo& input, std::size_t axis) {
    return input.symbols[axis].empty() ? input.name + "#" + std::to_string(axis) : input.symbols[axis];
  }

  core::Status bind(const std::string& symbol, std::int64_t size, const std::string& source, bool strict) {
    if (size < 0)
      return fail(ErrorCode::invalid_argument, "the size of '" + symbol + "' is " + std::to_string(size),
                  "sizes must be 0 or more");
    const auto [found, is_new] = sizes_.try_emplace(symbol, size);
    if (is_new || !strict || found->second == size) return {};
    return fail(
        ErrorCode::invalid_argument,
        source + " sets '" + symbol + "' to " + std::to_string(size) + ", but it is already " + std::to_string(found->second),
        "use consistent sizes");
  }

  core::Status bind_shape(const TensorInfo& input, const std::vector<std::int64_t>& shape, const std::string& source,
                          bool strict) {
    if (shape.size() != input.shape.size())
      return fail(ErrorCode::invalid_argument, source + " gives the input '" + input.name + "' the shape " + shape_text(shape) +
                                                   ", the model expects " + std::to_string(input.shape.size()) + " dimensions");
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (input.shape[axis] < 0)
        AACO_TRY(bind(symbol_of(input, axis), shape[axis], source, strict));
      else if (input.shape[axis] != shape[axis])
        return fail(ErrorCode::invalid_argument, source + " gives the input '" + input.name + "' the shape " + shape_text(shape) +
                                                     ", but the model has dimension " + std::to_string(axis) + " fixed at " +
                                                     std::to_string(input.shape[axis]));
    }
    return {};
  }

  core::Status bind_input(const std::string& name, const std::vector<std::int64_t>& shape, const std::string& source,
                          bool strict) {
    bool found = false;
    for (const TensorInfo& input : inputs_) {
      const bool fits =
          name.ends_with('*') ? input.name.starts_with(std::string_view(name).substr(0, name.size() - 1)) : input.name == name;
      if (!fits) continue;
      found = true;
      AACO_TRY(bind_shape(input, shape, source, strict));
    }
    if (found) return {};
    return fail(ErrorCode::invalid_argument, source + " refers to an input '" + name + "' that the model does not have",
                "the model's inputs: " + names());
  }

  core::Status bind_named(const std::string& symbol, std::int64_t size) {
    for (const TensorInfo& input : inputs_)
      if (std::find(input.symbols.begin(), input.symbols.end(), symbol) != input.symbols.end())
        return bind(symbol, size, "the command line", true);
    std::string known;
    for (const std::string& name : symbols()) known += (known.empty() ? "" : ", ") + name;
    return fail(ErrorCode::invalid_argument, "the model has no dimension '" + symbol + "'",
                known.empty() ? "all dimensions are fixed" : "the model's dimensions: " + known);
  }

  // Every symbol of the inputs, each once.
  [[nodiscard]] std::vector<std::string> symbols() const {
    std::vector<std::string> all;
    for (const TensorInfo& input : inputs_)
      for (const std::string& symbol : input.symbols)
        if (!symbol.empty() && std::find(all.begin(), all.end(), symbol) == all.end()) all.push_back(symbol);
    return all;
  }

  // The symbol that counts items: one named so, else the first dimension of the first input that has any.
  [[nodiscard]] std::string batch_symbol() const {
    for (const TensorInfo& input : inputs_)
      for (const std::string& symbol : input.symbols)
        if (core::to_lower(symbol).find("batch") != std::string::npos && symbol.find('+') == std::string::npos) return symbol;
    for (const TensorInfo& input : inputs_)
      if (!input.shape.empty() && input.shape[0] < 0) return symbol_of(input, 0);
    return {};
  }

  core::Status bind_batch(std::int64_t batch) {
    if (batch < 1)
      return fail(ErrorCode::invalid_argument, "batch size " + std::to_string(batch) + " is invalid", "use 1 or more");
    const std::string symbol = batch_symbol();
    if (!symbol.empty()) {
      AACO_TRY(bind(symbol, batch, "--batch", true));
      return bind_unnamed_batches(batch);
    }
    for (const TensorInfo& input : inputs_)
      if (!input.shape.empty() && input.shape[0] != batch)
        return fail(ErrorCode::invalid_argument,
                    "batch size " + std::to_string(batch) + " requested, but the model input '" + input.name +
                        "' has the fixed shape " + shape_text(input.shape),
                    "use batch size " + std::to_string(input.shape[0]) + ", or export the model with a symbolic first dimension");
    return {};
  }

  // First dimensions that are open and have no name follow the batch too.
  core::Status bind_unnamed_batches(std::int64_t batch) {
    for (const TensorInfo& input : inputs_)
      if (!input.shape.empty() && input.shape[0] < 0 && input.symbols[0].empty())
        AACO_TRY(bind(symbol_of(input, 0), batch, "--batch", true));
    return {};
  }

  void assume(const TensorInfo& input, std::size_t axis) {
    const std::string symbol = symbol_of(input, axis);
    const std::int64_t size = graph::usual_size(symbol, input.shape.size(), axis);
    sizes_.emplace(symbol, size);
    if (size != 1 || symbol != batch_symbol())
      assumptions_.push_back("dimension " + std::to_string(axis) + " of the input '" + input.name + "'" +
                             (input.symbols[axis].empty() ? "" : " (" + symbol + ")") + " has no fixed size: assumed " +
                             std::to_string(size) + " (override with --shape)");
  }

  // Sums wait until everything else is known.
  core::Result<ResolvedShapes> settle() {
    for (const bool sums : {false, true}) {
      for (const TensorInfo& input : inputs_) {
        for (std::size_t axis = 0; axis < input.shape.size(); ++axis) {
          if (input.shape[axis] >= 0) continue;
          const std::string symbol = symbol_of(input, axis);
          const bool is_sum = symbol.find('+') != std::string::npos || symbol == "total_sequence_length";
          if (is_sum != sums) continue;
          const auto size = derived(symbol, sizes_);
          if (size)
            AACO_TRY(bind(symbol, *size, "the sum", true));
          else if (!sizes_.contains(symbol))
            assume(input, axis);
        }
      }
    }
    return collect();
  }

  core::Result<ResolvedShapes> collect() {
    ResolvedShapes result;
    for (const TensorInfo& input : inputs_) {
      std::vector<std::int64_t> shape = input.shape;
      std::int64_t bytes = std::max<std::int64_t>(1, element_size(input.type));
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (shape[axis] < 0) shape[axis] = sizes_.at(symbol_of(input, axis));
        if (__builtin_mul_overflow(bytes, shape[axis], &bytes) || bytes > kMaxInputBytes)
          return fail(ErrorCode::exhausted,
                      "the input '" + input.name + "' of shape " + shape_text(shape) + " is larger than 16 GiB",
                      "use a smaller batch size or sequence length");
        if (!input.symbols[axis].empty()) result.dimensions[input.symbols[axis]] = shape[axis];
      }
      result.shapes.push_back(std::move(shape));
    }
    const std::string symbol = batch_symbol();
    if (!symbol.empty())
      result.batch = sizes_.at(symbol);
    else if (!result.shapes.empty() && !result.shapes[0].empty())
      result.batch = std::max<std::int64_t>(1, result.shapes[0][0]);
    result.assumptions = std::move(assumptions_);
    return result;
  }

  [[nodiscard]] std::string names() const {
    std::vector<std::string> list;
    for (const TensorInfo& input : inputs_) list.push_back(input.name);
    if (list.size() > 8) list.resize(8), list.emplace_back("...");
    return core::join(list, ", ");
  }

  const std::vector<TensorInfo>& inputs_;
  std::map<std::string, std::int64_t> sizes_;
  std::vector<std::string> assumptions_;
};

}  // namespace

core::Result<ResolvedShapes> resolve_shapes(const std::vector<TensorInfo>& inputs, const Shapes& file_shapes,
                                            const InputRequest& request) {
  return Resolver(inputs).run(file_shapes, request);
}

core::Result<std::map<std::string, std::int64_t>> given_sizes(const std::vector<TensorInfo>& inputs, const Shapes& file_shapes,
                                                              const InputRequest& request) {
  return Resolver(inputs).given(file_shapes, request);
}

}  // namespace aaco::runner
