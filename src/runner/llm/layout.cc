#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/numbers.h"
#include "core/strings.h"
#include "runner/decoder.h"
#include "runner/input_meaning.h"
#include "runner/inputs.h"

namespace aaco::runner::llm {
namespace {

using core::ErrorCode;

constexpr const char* kExportHint =
    "export it with a cache: 'optimum-cli export onnx --task text-generation-with-past', or ONNX Runtime GenAI's model builder";
constexpr std::size_t kCacheRank = 4;

core::Result<DecoderLayout> refuse(const std::string& why, const std::string& hint = kExportHint) {
  return core::fail(ErrorCode::unsupported, "not a decoder that 'aaco llm' can run: " + why, hint);
}

// ".0.key" of "past_key_values.0.key" and of "present.0.key": what pairs them.
std::string suffix_of(const std::string& name, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes)
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return {};
}
std::string past_suffix(const std::string& name) { return suffix_of(name, {"past_key_values", "past"}); }
std::string present_suffix(const std::string& name) { return suffix_of(name, {"present_key_values", "present"}); }

std::vector<TensorInfo> declared_outputs(const graph::Graph& graph) {
  graph::Graph outputs = graph;
  outputs.inputs = graph.outputs;
  return declared_inputs(outputs);
}

std::string shape_text(const TensorInfo& info) {
  graph::Shape shape;
  for (std::size_t i = 0; i < info.shape.size(); ++i)
    shape.push_back(info.shape[i] >= 0 ? graph::Dimension(info.shape[i]) : graph::Dimension(info.symbols[i]));
  return graph::to_string(shape);
}

// Why a past tensor is not [batch, heads, tokens, size]; empty: it is.
std::string problem_of(const TensorInfo& past) {
  if (past.shape.size() != kCacheRank || past.shape[1] < 0 || past.shape[3] < 0)
    return fmt::format("input '{}' is {}, expected [batch, heads, tokens, size] with fixed heads and size", past.name,
                       shape_text(past));
  if (past.shape[2] >= 0)
    return fmt::format("input '{}' is {}: the number of tokens in the cache is fixed", past.name, shape_text(past));
  if (past.type != ElementType::float32 && past.type != ElementType::float16 && past.type != ElementType::bfloat16)
    return fmt::format("input '{}' has elements of type {}", past.name, to_string(past.type));
  return {};
}

// The place of an input with a meaning of its own; null: it has none that is known.
TensorInfo* known_input(DecoderLayout& layout, const std::string& name) {
  if (name == "input_ids") return &layout.ids;
  if (name == "attention_mask") return &layout.mask;
  if (name == "position_ids") return &layout.positions;
  if (name == "use_cache_branch") return &layout.cache_branch;
  if (name == "seqlens_k") return &layout.lengths;
  if (name == "total_sequence_length" || name == "total_seq_len") return &layout.total_length;
  return nullptr;
}

// Whether all of the cache goes into nodes that may update it in place.
bool is_genai(const graph::Graph& graph, const std::map<std::string, TensorInfo>& pasts) {
  std::size_t taken = 0;
  for (const graph::Node& node : graph.nodes)
    if (node.op_type == "GroupQueryAttention")
      for (const graph::TensorId id : node.inputs)
        taken += id.valid() && pasts.contains(past_suffix(graph.tensor(id).name)) ? 1 : 0;
  return taken == pasts.size();
}

// Rows of the tables that positions pick from: of an input, or the cosines of GroupQueryAttention.
std::optional<std::int64_t> positions_of(const graph::Graph& graph) {
  constexpr std::size_t kCosines = 7;
  std::optional<std::int64_t> rows;
  const auto take = [&](std::int64_t found) { rows = std::min(rows.value_or(found), found); };
  const auto meanings = find_meanings(graph);
  for (const InputMeaning& meaning : meanings)
    if (meaning.kind == InputMeaning::Kind::positions && meaning.table_rows) take(*meaning.table_rows);
  for (const graph::Node& node : graph.nodes) {
    if (node.op_type != "GroupQueryAttention" || node.inputs.size() <= kCosines || !node.inputs[kCosines].valid()) continue;
    const auto& shape = graph.tensor(node.inputs[kCosines]).shape;
    if (shape && shape->size() == 2 && shape->front().fixed()) take(shape->front().size);
  }
  return rows;
}

std::optional<std::int64_t> vocabulary_of(const graph::Graph& graph, const TensorInfo& logits) {
  if (!logits.shape.empty() && logits.shape.back() > 0) return logits.shape.back();
  const auto meanings = find_meanings(graph);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    if (graph.tensor(graph.inputs[i]).name == "input_ids") return meanings[i].table_rows;
  return std::nullopt;
}

core::Result<DecoderLayout> refuse_without_cache(const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs) {
  const bool presents =
      std::any_of(outputs.begin(), outputs.end(), [](const auto& one) { return one.name.starts_with("present"); });
  if (presents)
    return refuse("it puts a cache out but takes none in: the first half of a split export",
                  "use the merged decoder, or the one with past (decoder_with_past_model.onnx)");
  std::vector<std::string> names;
  for (const TensorInfo& input : inputs) names.push_back(input.name);
  return refuse("it has no key/value cache (inputs: " + core::join(names, ", ") + ")");
}

// Inputs into the layout, those of the cache by their suffix.
core::Result<std::map<std::string, TensorInfo>> sort_inputs(const std::vector<TensorInfo>& inputs, DecoderLayout& layout) {
  std::map<std::string, TensorInfo> pasts;
  for (const TensorInfo& input : inputs) {
    if (input.name.find("encoder") != std::string::npos)
      return tl::unexpected(
          refuse("input '" + input.name + "' belongs to an encoder-decoder model", "use a decoder-only model").error());
    if (TensorInfo* place = known_input(layout, input.name)) {
      *place = input;
      continue;
    }
    if (const std::string suffix = past_suffix(input.name); !suffix.empty()) {
      if (const std::string problem = problem_of(input); !problem.empty()) return tl::unexpected(refuse(problem).error());
      pasts.emplace(suffix, input);
      continue;
    }
    return tl::unexpected(refuse("input '" + input.name + "' has no known meaning",
                                 "known inputs: input_ids, attention_mask, position_ids, use_cache_branch, seqlens_k, "
                                 "total_sequence_length and past_key_values.*")
                              .error());
  }
  return pasts;
}

std::int64_t number_in(const std::string& suffix) {
  const auto from = suffix.find_first_of("0123456789");
  if (from == std::string::npos) return 0;
  const auto to = suffix.find_first_not_of("0123456789", from);
  return core::parse_i64(suffix.substr(from, to == std::string::npos ? to : to - from)).value_or(0);
}

}  // namespace

std::string_view to_string(DecoderLayout::Family family) {
  return family == DecoderLayout::Family::genai ? "ONNX Runtime GenAI" : "Optimum";
}

std::int64_t DecoderLayout::cache_bytes(std::int64_t sequences, std::int64_t tokens) const {
  std::int64_t bytes = 0;
  for (const Pair& pair : cache) bytes += sequences * kv_heads * tokens * pair.head_size * element_size(cache_type);
  return bytes;
}

core::Result<DecoderLayout> find_decoder_layout(const graph::Graph& graph) {
  DecoderLayout layout;
  const auto inputs = declared_inputs(graph);
  const auto outputs = declared_outputs(graph);
  if (std::none_of(inputs.begin(), inputs.end(), [](const auto& one) { return !past_suffix(one.name).empty(); }))
    return refuse_without_cache(inputs, outputs);
  AACO_ASSIGN(const auto pasts, sort_inputs(inputs, layout));
  if (layout.ids.name.empty()) return refuse("it has no input 'input_ids'", "models that take embeddings are not supported");

  std::vector<std::string> order;
  for (const auto& [suffix, past] : pasts) order.push_back(suffix);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return number_in(a) < number_in(b); });
  const TensorInfo& first = pasts.at(order.front());
  layout.kv_heads = first.shape[1];
  layout.cache_type = first.type;
  for (const std::string& suffix : order) {
    const TensorInfo& past = pasts.at(suffix);
    const auto present =
        std::find_if(outputs.begin(), outputs.end(), [&](const auto& one) { return present_suffix(one.name) == suffix; });
    if (present == outputs.end()) return refuse("input '" + past.name + "' has no output 'present" + suffix + "'");
    if (past.shape[1] != layout.kv_heads || past.type != layout.cache_type)
      return refuse("inputs '" + first.name + "' and '" + past.name + "' differ in heads or type");
    layout.cache.push_back({past.name, present->name, past.shape[3]});
  }
  layout.layers = static_cast<std::int64_t>(layout.cache.size() / 2);
  for (const TensorInfo& output : outputs) {
    if (!present_suffix(output.name).empty()) continue;
    if (output.name == "logits" || layout.logits.empty()) layout.logits = output.name;
    if (layout.logits == output.name) layout.vocabulary = vocabulary_of(graph, output);
  }
  if (layout.logits.empty()) return refuse("it has no output 'logits'");
  if (first.shape[0] >= 0) layout.batch = first.shape[0];
  layout.max_positions = positions_of(graph);
  if (is_genai(graph, pasts)) layout.family = DecoderLayout::Family::genai;
  return layout;
}

std::vector<TensorInfo> decoder_inputs(const DecoderLayout& layout, std::int64_t batch, std::int64_t past, std::int64_t length) {
  std::vector<TensorInfo> inputs;
  const auto add = [&](const TensorInfo& declared, std::vector<std::int64_t> shape) {
    if (declared.name.empty()) return;
    inputs.push_back({declared.name, declared.type, std::move(shape), {}});
  };
  const auto as_declared = [](const TensorInfo& declared, std::int64_t sequences) {
    return std::vector<std::int64_t>(declared.shape.size(), sequences);
  };
  add(layout.ids, {batch, length});
  add(layout.mask, {batch, past + length});
  add(layout.positions, {batch, length});
  add(layout.cache_branch, as_declared(layout.cache_branch, 1));
  add(layout.lengths, as_declared(layout.lengths, batch));
  add(layout.total_length, as_declared(layout.total_length, 1));
  for (const DecoderLayout::Pair& pair : layout.cache)
    inputs.push_back({pair.past, layout.cache_type, {batch, layout.kv_heads, past, pair.head_size}, {}});
  return inputs;
}

}  // namespace aaco::runner::llm
