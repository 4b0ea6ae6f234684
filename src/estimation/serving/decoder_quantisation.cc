#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/strings.h"
#include "estimation/serving/decoder_reading.h"
#include "estimation/serving/module_patterns.h"

namespace aaco::estimation {
namespace {

constexpr double kScaleBytes = 2;       // FP16 scale of a group (AutoGPTQ, AutoAWQ, compressed-tensors)
constexpr double kFloatScaleBytes = 4;  // FP32 scale of a block

// A kind of weights: its type, and bytes of one weight with its scales.
struct Packed {
  std::string type;
  double bytes = 0;  // 0: as usual for the type
};

struct Group {
  ModulePatterns targets;
  bool all = false;  // of "Linear"
  Packed packed;
};

struct Quantisation {
  std::vector<Group> groups;  // the first that fits a module counts
  ModulePatterns kept;
  bool keeps_head = true;  // unless an exception says otherwise
};

core::Result<std::string> plain_type(const core::Json& value, const ConfigReader& config, std::vector<std::string>& notes) {
  std::string text = core::to_lower(value.text());
  if (text.starts_with("torch.")) text.erase(0, 6);
  if (text.empty() || text == "auto") {
    if (!value.is_null() && !value.is_string()) return config.wrong("\"torch_dtype\" is not a text");
    return std::string("bf16");
  }
  if (text == "bfloat16" || text == "bf16") return std::string("bf16");
  if (text == "float16" || text == "half" || text == "fp16") return std::string("fp16");
  if (text == "float32" || text == "float" || text == "fp32") {
    notes.emplace_back("float32 weights are costed in 16 bits, as serving stacks load them; --dtype fp32 keeps 32");
    return std::string("bf16");
  }
  if (text.starts_with("float8")) return std::string("fp8");
  return config.wrong("unknown data type '" + text + "' of the weights",
                      "it requires bfloat16, float16, float32 or float8_e4m3fn");
}

core::Result<double> group_size(const core::Json& value, double usual, const ConfigReader& config) {
  if (value.is_null()) return usual;
  const auto size = value.as_i64();
  if (!size || *size == 0 || *size < -1 || *size > (1 << 20)) return config.wrong("\"group_size\" is not a valid size");
  return static_cast<double>(*size);
}

// With a scale, and a zero point of the same width, per group; -1: per output channel, which is little.
Packed integers(std::int64_t bits, double group, bool zero_points) {
  const double width = static_cast<double>(bits) / 8;
  return {bits == 8 ? "int8" : "int4", group < 0 ? width : width + (kScaleBytes + (zero_points ? width : 0)) / group};
}

core::Result<Packed> by_blocks(const core::Json& block, const ConfigReader& config) {
  if (block.is_null()) return Packed{"fp8", 0};
  const auto& sizes = block.items();
  const auto rows = sizes.size() == 2 ? sizes[0].as_i64() : std::nullopt,
             columns = sizes.size() == 2 ? sizes[1].as_i64() : std::nullopt;
  if (!rows || !columns || *rows < 1 || *columns < 1) return config.wrong("\"weight_block_size\" is not two sizes");
  return Packed{"fp8", 1 + kFloatScaleBytes / static_cast<double>(*rows) / static_cast<double>(*columns)};
}

core::Result<Packed> quark_type(const core::Json& quantised, const ConfigReader& config) {
  const core::Json* weight = &quantised["global_quant_config"]["weight"];
  if (weight->is_array() && !weight->items().empty()) weight = &weight->items().front();  // scales quantised once more
  const std::string type = core::to_lower((*weight)["dtype"].text());
  if (type.starts_with("fp8")) return Packed{"fp8", 0};
  if (type.starts_with("fp4") || type.starts_with("mx_fp4") || type.starts_with("mxfp4")) return Packed{"mxfp4", 0};
  if (type == "int8" || type == "uint8") return Packed{"int8", 0};
  if (type == "int4" || type == "uint4") {
    AACO_ASSIGN(const double group, group_size((*weight)["group_size"], -1, config));
    return integers(4, group, false);
  }
  return config.wrong("unknown weight type '" + type + "' of quantization method 'quark'");
}

// Weights of one group of compressed-tensors.
core::Result<Packed> compressed_weights(const core::Json& weights, const std::string& format, const ConfigReader& config) {
  const auto bits = weights["num_bits"].as_i64();
  if (!bits) return config.wrong("\"num_bits\" of a group of weights is not a valid size");
  const bool floats = core::to_lower(weights["type"].text()) == "float";
  if (*bits == 8 && floats) return by_blocks(weights["block_structure"], config);
  AACO_ASSIGN(const double group, group_size(weights["group_size"], -1, config));
  if (*bits == 4 && floats) return Packed{format.starts_with("nvfp4") || group == 16 ? "nvfp4" : "mxfp4", 0};
  if (*bits == 4 || *bits == 8) return integers(*bits, group, !weights["symmetric"].as_bool().value_or(true));
  return config.wrong(fmt::format("weights of {} bits are not supported: expected 4 or 8", *bits));
}

// compressed-tensors states bits and type in its groups; older files have the format's name alone.
core::Status read_compressed(const core::Json& quantised, const ConfigReader& config, Quantisation& out) {
  const std::string format = core::to_lower(quantised["format"].text());
  for (const auto& [name, group] : quantised["config_groups"].members()) {
    if (group["weights"].is_null()) continue;  // of activations alone
    const std::string own = core::to_lower(group["format"].is_string() ? group["format"].text() : format);
    Group one;
    AACO_ASSIGN(one.packed, compressed_weights(group["weights"], own, config));
    for (const core::Json& target : group["targets"].items()) {
      if (target.text() == "Linear" || target.text() == "FusedMoE")
        one.all = true;
      else
        one.targets.add(target.text());
    }
    one.all = one.all || group["targets"].items().empty();
    out.groups.push_back(std::move(one));
  }
  if (!out.groups.empty()) return {};
  Packed packed{format.find("pack") != std::string::npos ? "int4" : "int8", 0};
  if (format.find("float") != std::string::npos || format.find("naive") != std::string::npos) packed.type = "fp8";
  out.groups.push_back({{}, true, packed});
  return {};
}

core::Result<Packed> bits_and_bytes(const core::Json& quantised) {
  if (!quantised["load_in_4bit"].as_bool().value_or(false)) return Packed{"int8", 0};
  // One FP32 maximum per 64 weights, which double quantisation makes one byte, with an FP32 maximum per 256 of these.
  const bool twice = quantised["bnb_4bit_use_double_quant"].as_bool().value_or(false);
  return Packed{"int4", 0.5 + (twice ? 1 + kFloatScaleBytes / 256 : kFloatScaleBytes) / 64};
}

// AutoAWQ and AutoGPTQ: stacks drop the zero points of symmetric weights.
core::Result<Packed> grouped_integers(const core::Json& quantised, const std::string& method, const ConfigReader& config) {
  const std::int64_t bits = (quantised["bits"].is_null() ? quantised["w_bit"] : quantised["bits"]).as_i64().value_or(4);
  if (bits != 4 && bits != 8) return config.wrong(fmt::format("weights of {} bits are not supported: expected 4 or 8", bits));
  AACO_ASSIGN(const double group,
              group_size(quantised["group_size"].is_null() ? quantised["q_group_size"] : quantised["group_size"], 128, config));
  const bool zeros =
      method == "awq" ? quantised["zero_point"].as_bool().value_or(true) : !quantised["sym"].as_bool().value_or(true);
  return integers(bits, group, zeros);
}

core::Result<Quantisation> read_method(const core::Json& quantised, const ConfigReader& config) {
  const std::string method = core::to_lower(quantised["quant_method"].text());
  const std::string algorithm = core::to_lower(quantised["quant_algo"].text());
  Quantisation out;
  Packed packed;
  bool lists_all = false;  // what keeps 16 bits
  if (method == "mxfp4") {
    packed = {"mxfp4", 0};
  } else if (method == "fp8" || method == "fbgemm_fp8") {
    AACO_ASSIGN(packed, by_blocks(quantised["weight_block_size"], config));
  } else if (algorithm.starts_with("fp8")) {
    packed = {"fp8", 0};
    lists_all = true;
  } else if (algorithm.starts_with("nvfp4")) {
    packed = {"nvfp4", 0};
    lists_all = true;
  } else if (method == "awq" || method == "gptq" || method == "auto-round") {
    AACO_ASSIGN(packed, grouped_integers(quantised, method, config));
    out.keeps_head = !quantised["lm_head"].as_bool().value_or(false);
  } else if (method == "quark") {
    AACO_ASSIGN(packed, quark_type(quantised, config));
    lists_all = true;
  } else if (method == "compressed-tensors") {
    AACO_TRY(read_compressed(quantised, config, out));
    lists_all = true;
  } else if (method == "bitsandbytes") {
    AACO_ASSIGN(packed, bits_and_bytes(quantised));
  } else {
    return config.wrong("unknown quantization method '" + (method.empty() ? algorithm : method) + "'");
  }
  if (out.groups.empty()) out.groups.push_back({{}, true, packed});
  for (const std::string_view key :
       {"modules_to_not_convert", "ignore", "ignored_layers", "exclude", "exclude_modules", "llm_int8_skip_modules"}) {
    if (quantised[key].is_array() && lists_all) out.keeps_head = false;
    for (const core::Json& entry : quantised[key].items())
      if (entry.is_string()) out.kept.add(entry.text());
  }
  return out;
}

// Parameters of one part of the model by what they are kept in.
struct Part {
  double all = 0, plain = 0;
  std::map<std::string, double> by_type;
  std::map<std::string, double> bytes;  // of one weight
  [[nodiscard]] double kept() const { return all > 0 ? plain / all : 0; }
  [[nodiscard]] std::string type() const {
    const auto most =
        std::max_element(by_type.begin(), by_type.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == by_type.end() ? "" : most->first;
  }
};

class Counter {
 public:
  Counter(const Quantisation& quantisation, const DecoderArchitecture& model) : quantisation_(quantisation), m_(model) {}

  Part attention, dense, shared, experts, head;

  void count(const std::vector<bool>& has_experts) {
    for (std::int64_t i = 0; i < m_.layers; ++i) {
      layer_ = fmt::format("model.layers.{}.", i);
      count_attention();
      if (i >= static_cast<std::int64_t>(has_experts.size()) || !has_experts[static_cast<std::size_t>(i)]) {
        count_block(dense, {"mlp.", "feed_forward."}, m_.intermediate, 1);
        continue;
      }
      const double count = static_cast<double>(m_.experts->count);
      count_block(experts, {"mlp.experts.0.", "block_sparse_moe.experts.0.", "feed_forward.experts.0.", "ffn.experts.0."},
                  m_.experts->intermediate, count);
      count_block(shared, {"mlp.shared_experts.", "mlp.shared_expert.", "feed_forward.shared_expert.", "shared_mlp."},
                  m_.experts->shared_intermediate, 1);
    }
    layer_.clear();
    if (quantisation_.keeps_head || m_.tied_embeddings)
      head.all = head.plain = 1;
    else
      add(head, {"lm_head"}, 1);
  }

 private:
  using Names = std::vector<std::string>;

  // The module has one of the names, as its family calls it.
  void add(Part& part, const Names& names, double parameters) {
    part.all += parameters;
    const auto covered = [&](const ModulePatterns& patterns) {
      return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return patterns.covers(layer_ + name); });
    };
    if (!quantisation_.kept.empty() && covered(quantisation_.kept)) {
      part.plain += parameters;
      return;
    }
    for (const Group& group : quantisation_.groups) {
      if (!group.all && !covered(group.targets)) continue;
      part.by_type[group.packed.type] += parameters;
      part.bytes[group.packed.type] = group.packed.bytes;
      return;
    }
    part.plain += parameters;
  }

  void count_attention() {
    const double hidden = static_cast<double>(m_.hidden);
    if (!m_.latent) {
      const double query = static_cast<double>(m_.heads * m_.head_dim), key = static_cast<double>(m_.kv_heads * m_.head_dim);
      add(attention, {"self_attn.q_proj", "self_attn.qkv_proj", "attn.q_proj"}, hidden * query);
      add(attention, {"self_attn.k_proj", "self_attn.qkv_proj", "attn.k_proj"}, hidden * key);
      add(attention, {"self_attn.v_proj", "self_attn.qkv_proj", "attn.v_proj"}, hidden * key);
      add(attention, {"self_attn.o_proj", "attn.o_proj"}, hidden * query);
      return;
    }
    const LatentAttention& l = *m_.latent;
    const double heads = static_cast<double>(m_.heads), query = heads * static_cast<double>(l.key_dim + l.rotary_dim);
    const double rank = static_cast<double>(l.query_rank), cache = static_cast<double>(l.cache_rank);
    if (rank > 0) add(attention, {"self_attn.q_a_proj"}, hidden * rank);
    if (rank > 0)
      add(attention, {"self_attn.q_b_proj"}, rank * query);
    else
      add(attention, {"self_attn.q_proj"}, hidden * query);
    add(attention, {"self_attn.kv_a_proj_with_mqa"}, hidden * (cache + static_cast<double>(l.rotary_dim)));
    add(attention, {"self_attn.kv_b_proj"}, cache * heads * static_cast<double>(l.key_dim + l.value_dim));
    add(attention, {"self_attn.o_proj"}, heads * static_cast<double>(l.value_dim) * hidden);
  }

  void count_block(Part& part, const Names& prefixes, std::int64_t intermediate, double times) {
    if (intermediate <= 0) return;
    const double one = static_cast<double>(m_.hidden) * static_cast<double>(intermediate) * times;
    const auto names = [&](std::initializer_list<const char*> ends) {
      Names out;
      for (const std::string& prefix : prefixes)
        for (const char* end : ends) out.push_back(prefix + end);
      return out;
    };
    add(part, names({"up_proj", "gate_up_proj", "w3", "fc1"}), one);
    add(part, names({"down_proj", "w2", "fc2"}), one);
    if (m_.gated) add(part, names({"gate_proj", "gate_up_proj", "w1"}), one);
  }

  const Quantisation& quantisation_;
  const DecoderArchitecture& m_;
  std::string layer_;
};

// The experts alone are quantised: the others are of the plain type.
bool only_experts(const Counter& parts) {
  return parts.experts.kept() < 1 && parts.attention.kept() == 1 && (parts.dense.all == 0 || parts.dense.kept() == 1) &&
         (parts.shared.all == 0 || parts.shared.kept() == 1);
}

core::Status fill(const Counter& parts, ConfigReader& config, DecoderArchitecture& model) {
  const Part& widest = parts.experts.all > 0 && parts.experts.kept() < 1 ? parts.experts
                       : parts.dense.kept() < 1 && parts.dense.all > 0   ? parts.dense
                                                                         : parts.attention;
  const std::string type = widest.type();
  if (type.empty()) {
    config.notes().emplace_back("its exceptions leave no layer to the quantisation: all weights keep 16 bits");
    return {};
  }
  if (const auto bytes = widest.bytes.find(type); bytes != widest.bytes.end()) model.packed_bytes = bytes->second;
  model.kept = {parts.attention.kept(), parts.dense.kept(), parts.shared.kept(), parts.experts.kept(), parts.head.kept()};
  if (model.experts && only_experts(parts)) {
    model.expert_type = type;
    model.kept.attention = model.kept.dense = model.kept.shared = 0;  // the plain type is theirs
    return {};
  }
  model.weight_type = type;
  const auto differs = [&](const Part& part) { return !part.by_type.empty() && part.type() != type; };
  if (model.experts && differs(parts.attention)) {
    model.weight_type = parts.attention.type();
    model.expert_type = type;
  } else if (differs(parts.attention) || differs(parts.dense) || differs(parts.shared)) {
    config.notes().push_back(fmt::format("layers are quantised to several types: all are costed as {}", type));
  }
  return {};
}

bool wants_narrow_cache(const core::Json& quantised) {
  const core::Json& scheme = quantised["kv_cache_scheme"];
  return (scheme.is_object() && scheme["num_bits"].as_i64() == 8) ||
         core::to_lower(quantised["kv_cache_quant_algo"].text()).starts_with("fp8");
}

}  // namespace

core::Status read_types(const core::Json& document, const std::vector<bool>& has_experts, ConfigReader& config,
                        DecoderArchitecture& model) {
  const core::Json* plain = config.find({"torch_dtype", "dtype"});
  for (const std::string_view key : {"torch_dtype", "dtype"})
    if (plain == nullptr && !document[key].is_null()) plain = &document[key];
  AACO_ASSIGN(model.weight_type, plain_type(plain == nullptr ? core::Json() : *plain, config, config.notes()));
  model.plain_type = model.weight_type == "fp16" ? "fp16" : "bf16";
  const core::Json* section = &document["quantization_config"];
  if (section->is_null()) section = &config.json()["quantization_config"];
  if (section->is_null()) section = &document["compression_config"];  // of older versions
  if (section->is_null()) return {};
  const core::Json& quantised = *section;
  if (!quantised.is_object()) return config.wrong("\"quantization_config\" is not an object");
  AACO_ASSIGN(const Quantisation quantisation, read_method(quantised, config));
  if (wants_narrow_cache(quantised)) model.cache_type = "fp8";
  for (const std::string& entry : quantisation.kept.ignored())
    config.notes().push_back("not understood, so without effect: exception '" + entry + "' of the quantisation");
  // MXFP4 of GPT-OSS is for the experts, with or without a list.
  if (core::to_lower(quantised["quant_method"].text()) == "mxfp4" && model.experts) {
    model.expert_type = "mxfp4";
    return {};
  }
  Counter parts(quantisation, model);
  parts.count(has_experts);
  if (quantisation.kept.exhausted()) return config.unsupported("too many layers for so many exceptions of the quantisation");
  return fill(parts, config, model);
}

}  // namespace aaco::estimation
