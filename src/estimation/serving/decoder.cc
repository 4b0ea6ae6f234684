#include "estimation/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/strings.h"

namespace aaco::estimation {
namespace {

double product(std::int64_t a, std::int64_t b) { return static_cast<double>(a) * static_cast<double>(b); }

// Of one feed-forward block.
double block(const DecoderArchitecture& model, std::int64_t intermediate) {
  return (model.gated ? 3 : 2) * product(model.hidden, intermediate);
}

struct Size {
  std::string_view name;
  std::int64_t value, least, most;
};

std::string plain(std::string_view name) {
  const auto slash = name.rfind('/');
  return core::to_lower(slash == std::string_view::npos ? name : name.substr(slash + 1));
}

}  // namespace

double DecoderArchitecture::attention_parameters() const {
  if (!latent) return product(hidden, (heads + 2 * kv_heads) * head_dim) + product(heads * head_dim, hidden);
  const std::int64_t query = heads * (latent->key_dim + latent->rotary_dim);
  const double queries =
      latent->query_rank > 0 ? product(hidden, latent->query_rank) + product(latent->query_rank, query) : product(hidden, query);
  return queries + product(hidden, latent->cache_rank + latent->rotary_dim) +
         product(latent->cache_rank, heads * (latent->key_dim + latent->value_dim)) + product(heads * latent->value_dim, hidden);
}

double DecoderArchitecture::expert_parameters() const {
  if (!experts) return 0;
  return static_cast<double>(expert_layers()) * static_cast<double>(experts->count) * block(*this, experts->intermediate);
}

double DecoderArchitecture::embedding_parameters() const {
  return (tied_embeddings ? 1 : 2) * product(vocabulary, width_of_tables());
}

double DecoderArchitecture::parameters() const {
  double sum = static_cast<double>(layers) * attention_parameters() + embedding_parameters() + expert_parameters() + other.sum();
  sum += static_cast<double>(dense_layers()) * block(*this, intermediate);
  if (experts)
    sum += static_cast<double>(expert_layers()) *
           (block(*this, experts->shared_intermediate) + product(hidden, experts->count));  // with the router
  return sum;
}

double DecoderArchitecture::active_parameters() const {
  if (!experts) return parameters();
  return parameters() - expert_parameters() +
         static_cast<double>(expert_layers()) * static_cast<double>(experts->per_token) * block(*this, experts->intermediate);
}

double DecoderArchitecture::cached_values() const {
  return static_cast<double>(latent ? latent->cache_rank + latent->rotary_dim : 2 * kv_heads * head_dim);
}

const DecoderArchitecture* find_decoder(const std::vector<DecoderArchitecture>& decoders, std::string_view name) {
  const std::string wanted = plain(name);
  for (const DecoderArchitecture& decoder : decoders) {
    if (plain(decoder.name) == wanted) return &decoder;
    if (std::any_of(decoder.aliases.begin(), decoder.aliases.end(),
                    [&](const std::string& alias) { return plain(alias) == wanted; }))
      return &decoder;
  }
  return nullptr;
}

std::optional<DecoderArchitecture> find_published(const std::vector<DecoderArchitecture>& decoders, std::string_view name) {
  struct Ending {
    std::string_view text, weights;
  };
  constexpr std::array kEndings{Ending{"-fp8-dynamic", "fp8"}, Ending{"-fp8", "fp8"},   Ending{"-fp8-kv", "fp8"},
                                Ending{"-awq", "int4"},        Ending{"-gptq", "int4"}, Ending{"-gptq-int4", "int4"},
                                Ending{"-int4", "int4"},       Ending{"-int8", "int8"}, Ending{"-instruct", ""},
                                Ending{"-chat", ""},           Ending{"-hf", ""},       Ending{"-it", ""},
                                Ending{"-base", ""},           Ending{"-bf16", "bf16"}};
  std::string left = core::to_lower(name), weights;
  while (true) {
    if (const DecoderArchitecture* found = find_decoder(decoders, left)) {
      DecoderArchitecture model = *found;
      if (!weights.empty()) {
        model.weight_type = weights;
        model.expert_type.clear();
      }
      return model;
    }
    const auto* ending =
        std::find_if(kEndings.begin(), kEndings.end(), [&](const Ending& one) { return left.ends_with(one.text); });
    if (ending == kEndings.end()) return std::nullopt;
    if (weights.empty()) weights = ending->weights;
    left.resize(left.size() - ending->text.size());
  }
}

core::Status check_decoder(const DecoderArchitecture& model) {
  const auto wrong = [&](const std::string& what) {
    return core::fail(core::ErrorCode::invalid_input, fmt::format("{}: {}", model.name.empty() ? "decoder" : model.name, what));
  };
  constexpr std::int64_t kMaxSize = 1 << 24, kMaxCount = 1 << 16;
  std::vector<Size> sizes{{"layers", model.layers, 1, kMaxCount},
                          {"hidden size", model.hidden, 1, kMaxSize},
                          {"attention heads", model.heads, 1, kMaxCount},
                          {"key-value heads", model.kv_heads, 1, kMaxCount},
                          {"head dimension", model.head_dim, 1, kMaxCount},
                          {"intermediate size", model.intermediate, model.dense_layers() > 0 ? 1 : 0, kMaxSize},
                          {"vocabulary size", model.vocabulary, 1, kMaxSize},
                          {"context length", model.context, 0, std::int64_t{1} << 40},
                          {"sliding window", model.window, 0, std::int64_t{1} << 40},
                          {"layers with a sliding window", model.windowed_layers, 0, model.layers},
                          {"width of the tables", model.table_width, 0, kMaxSize},
                          {"layers without a cache", model.shared_cache_layers, 0, std::max<std::int64_t>(0, model.layers - 1)},
                          {"windows without a cache", model.shared_windowed_layers, 0, model.shared_cache_layers}};
  if (const auto& e = model.experts) {
    sizes.push_back({"experts", e->count, 1, kMaxCount});
    sizes.push_back({"experts per token", e->per_token, 1, e->count});
    sizes.push_back({"intermediate size of an expert", e->intermediate, 1, kMaxSize});
    sizes.push_back({"intermediate size of shared experts", e->shared_intermediate, 0, kMaxSize});
    sizes.push_back({"dense layers", e->dense_layers, 0, model.layers});
  }
  if (const auto& l = model.latent) {
    sizes.push_back({"rank of queries", l->query_rank, 0, kMaxSize});
    sizes.push_back({"rank of the cache", l->cache_rank, 1, kMaxSize});
    sizes.push_back({"rotary dimension", l->rotary_dim, 0, kMaxCount});
    sizes.push_back({"key dimension", l->key_dim, 1, kMaxCount});
    sizes.push_back({"value dimension", l->value_dim, 1, kMaxCount});
  }
  for (const Size& size : sizes)
    if (size.value < size.least || size.value > size.most)
      return wrong(fmt::format("invalid {} {}: expected {} to {}", size.name, size.value, size.least, size.most));
  if (!model.latent && model.heads % model.kv_heads != 0)
    return wrong(fmt::format("{} attention heads are not a multiple of {} key-value heads", model.heads, model.kv_heads));
  constexpr std::array kTypes{"bf16", "fp16", "fp32", "fp8", "int8", "int4", "mxfp4", "nvfp4"};
  for (const std::string& type : {model.weight_type, model.expert_type, model.plain_type, model.cache_type})
    if (!type.empty() && std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end())
      return wrong("unknown data type '" + type + "'");
  return {};
}

}  // namespace aaco::estimation
