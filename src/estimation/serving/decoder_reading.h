#pragma once

#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/decoder.h"
#include "estimation/serving/config_reader.h"

// Parts of read_decoder(); keys as the configuration classes of Hugging Face Transformers name them.
namespace aaco::estimation {

// The longest sequence with the scaling of rotary positions: YaRN stretches the original length, linear and dynamic scaling the
// stated one; Llama 3's and LongRoPE's are in the stated one already (from memory of how vLLM takes them; not looked up).
core::Result<std::int64_t> read_context(ConfigReader& config);

// Needs the number of layers.
core::Status read_window(ConfigReader& config, DecoderArchitecture& model);

// Which layers have experts. Needs layers and the intermediate size; fills model.experts.
core::Result<std::vector<bool>> read_experts(ConfigReader& config, DecoderArchitecture& model);

core::Status read_latent(ConfigReader& config, DecoderArchitecture& model);

// Types of weights, which of them keep 16 bits, and the cache's. `document`: the whole file. Needs all sizes.
core::Status read_types(const core::Json& document, const std::vector<bool>& has_experts, ConfigReader& config,
                        DecoderArchitecture& model);

}  // namespace aaco::estimation
