#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// What the model_type of a Hugging Face configuration says beyond its sizes: data/architectures/families.yaml.
namespace aaco::estimation {

// A constant, or a key of the configuration with the value that it has where the file lacks it.
struct ConfigFlag {
  std::string key;  // empty: `value` for all
  bool value = false;
  bool inverted = false;  // of what the key says
  bool operator==(const ConfigFlag&) const = default;
};
// "true", "false", "KEY", "KEY=true", "!KEY=true".
core::Result<ConfigFlag> parse_flag(std::string_view text);

// One learned factor per value of a head (for queries and for keys), of all heads together, or of every head.
enum class HeadNorm : std::uint8_t { none, head, all, heads };

struct DecoderFamily {
  std::vector<std::string> types;
  std::string unsupported;     // why its models are refused; empty: they are not
  std::string note, note_key;  // what estimates leave out; only where the file has that key above 0
  bool gated = true, tied = false;
  std::int64_t norms = 2;  // per layer, over the hidden values
  ConfigFlag one_norm;     // parallel attention and feed-forward blocks share one
  ConfigFlag norm_bias, final_norm{{}, true}, embedding_norm;
  ConfigFlag qkv_bias, out_bias, mlp_bias, head_bias, router_bias, expert_bias;
  bool inner_norms = false;  // before the output projections of both blocks
  HeadNorm qk_norm = HeadNorm::none;
  ConfigFlag has_qk_norm{{}, true};
  bool sinks = false;                     // a learned score per head
  bool shared_gate = false;               // of the experts that every token visits
  bool alternating_updates = false;       // AltUp, LAuReL and embeddings per layer (Gemma 3n)
  std::optional<std::int64_t> positions;  // rows of a learned table beyond the context
  std::int64_t activation_parameters = 0;
  ConfigFlag multi_query;
  ConfigFlag has_window{{}, true};
  std::int64_t window_pattern = 0;               // one layer of so many has full attention; 0: none
  std::int64_t intermediate_ratio = 0;           // to the hidden size where the file does not say; 0: it must
  double intermediate_share = 1;                 // of the size in the file
  std::map<std::string, std::int64_t> defaults;  // of the configuration class, by the names of decoders.yaml

  [[nodiscard]] std::optional<std::int64_t> usual(const std::string& size) const;
  [[nodiscard]] bool has_type(std::string_view type) const;  // whether it has that model_type
};

class DecoderFamilies {
 public:
  explicit DecoderFamilies(std::vector<DecoderFamily> families) : families_(std::move(families)) {}
  // Null: not known.
  [[nodiscard]] const DecoderFamily* find(std::string_view model_type) const;
  [[nodiscard]] const std::vector<DecoderFamily>& all() const { return families_; }

 private:
  std::vector<DecoderFamily> families_;
};

core::Result<DecoderFamilies> load_decoder_families(const std::string& path);

}  // namespace aaco::estimation
