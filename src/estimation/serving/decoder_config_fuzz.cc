#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "estimation/decoder.h"

namespace {

using aaco::estimation::ConfigFlag;
using aaco::estimation::DecoderFamily;

// One with everything that a family may have, and a plain one.
aaco::estimation::DecoderFamilies some_families() {
  DecoderFamily plain, rich;
  plain.types = {"llama"};
  rich.types = {"gpt_oss", "qwen3_moe"};
  rich.qkv_bias = rich.out_bias = rich.mlp_bias = rich.head_bias = rich.router_bias = rich.expert_bias = ConfigFlag{"", true};
  rich.qk_norm = aaco::estimation::HeadNorm::all;
  rich.positions = 2;
  rich.alternating_updates = rich.inner_norms = rich.sinks = rich.shared_gate = true;
  rich.window_pattern = 5;
  rich.intermediate_ratio = 4;
  rich.defaults = {{"layers", 35}, {"hidden", 2048},        {"heads", 8}, {"vocabulary", 262'400}, {"window", 512},
                   {"experts", 8}, {"experts_per_token", 2}};
  return aaco::estimation::DecoderFamilies({plain, rich});
}

}  // namespace

// Any text as a config.json: what is accepted has sizes that estimates can use.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = aaco::core::Json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!json) return 0;
  static const auto families = some_families();
  const auto model = aaco::estimation::read_decoder(*json, families, "fuzz");
  if (model && !(model->parameters() > 0)) __builtin_trap();
  return 0;
}
