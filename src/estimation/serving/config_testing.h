#pragma once

#include <string>

#include "estimation/decoder.h"
#include "tests/support/source_dir.h"

// Configurations for tests of what is read from them.
namespace aaco::estimation::testing_config {

inline const DecoderFamilies& families() {
  static const auto all = *load_decoder_families(AACO_SOURCE_DIR "/data/architectures/families.yaml");
  return all;
}
inline core::Result<DecoderArchitecture> read(const std::string& text) {
  return read_decoder(*core::Json::parse(text), families(), "m");
}
inline constexpr const char* kLlama =
    R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8,
        "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192, "torch_dtype": "bfloat16"})";
// kLlama with members added or replaced.
inline core::Result<DecoderArchitecture> llama(const std::string& members) {
  core::Json json = *core::Json::parse(kLlama);
  const core::Json more = *core::Json::parse(members);
  for (const auto& [key, value] : more.members()) json.set(key, value);
  return read_decoder(json, families(), "m");
}
inline std::string refusal(const core::Result<DecoderArchitecture>& made) { return made ? "accepted" : made.error().text(); }
inline std::string notes(const core::Result<DecoderArchitecture>& made) {
  std::string out;
  if (made)
    for (const std::string& note : made->notes) out += note + "\n";
  return out;
}

}  // namespace aaco::estimation::testing_config
