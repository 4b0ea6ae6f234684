#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>

#include "analytics/fingerprint.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::analytics::fingerprint {
namespace {

using core::Json;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The integers of a text such as "128x128x32", or null if it is none of `least` to `most` parts.
Json tile_of(std::string_view text, std::size_t least, std::size_t most) {
  Json list = Json::array();
  for (const std::string_view part : core::split(text, 'x')) {
    const auto value = core::parse_i64(part);
    if (part.empty() || !is_digit(part.front()) || !value) return {};
    list.push(*value);
  }
  return list.items().size() < least || list.items().size() > most ? Json() : list;
}

// The characters of [0-9x] from `begin` on.
std::string_view digits_and_x(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && (is_digit(text[end]) || text[end] == 'x')) ++end;
  while (end > begin && text[end - 1] == 'x') --end;
  return text.substr(begin, end - begin);
}

Json or_null(Json object) { return object.members().empty() ? Json() : object; }

}  // namespace

// Tokens of "cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_64x3_tn_align2" and of xmma and sgemm names: the first AxB is the
// thread block's tile, the second K x stages; two letters of n, t are the layouts of A and B.
Json decode_cutlass(std::string_view name) {
  Json out = Json::object();
  if (const std::size_t at = name.find("cutlass_"); at != std::string_view::npos) name = name.substr(at);
  name = name.substr(0, name.find_first_of(">(:, "));
  int tiles = 0;
  for (const std::string_view token : core::split(name, '_')) {
    const bool is_tile = token.starts_with("tilesize");
    Json tile = tile_of(is_tile ? token.substr(8) : token, 2, 3);
    if (!tile.is_null() && tiles == 0) {
      out.set("tile", std::move(tile));
      ++tiles;
    } else if (!tile.is_null() && tiles == 1 && tile.items().size() == 2) {
      out.set("tile_k", tile.items()[0]).set("stages", tile.items()[1]);
      ++tiles;
    } else if (token == "nn" || token == "nt" || token == "tn" || token == "tt") {
      out.set("transpose_a", token[0] == 't').set("transpose_b", token[1] == 't');
    } else if (token.starts_with("align") && token.size() > 5) {
      out.set_if("alignment", core::parse_i64(token.substr(5)));
    } else if (token.starts_with("stage") && token.size() > 5 && is_digit(token[5])) {
      out.set_if("stages", core::parse_i64(token.substr(5)));
    } else if (token.starts_with("tensor") && token.size() > 6 && is_digit(token[6])) {
      out.set_if("matrix_instruction", tile_of(token.substr(6), 3, 3));
    } else if (token.find("splitK") != std::string_view::npos || token == "splitk") {
      out.set("split_k", true);
    }
  }
  for (const std::string_view part : {"volta", "turing", "ampere", "hopper", "maxwell", "sm80", "sm86", "sm89", "sm90", "sm100"})
    if (name.starts_with(part)) out.set("architecture", part);
  return or_null(std::move(out));
}

// "moe_ck2stages_gemm1_256x32x64x128_..._F8_F8_B16": block size, then the tile M x N x K, then the types of A, B and C. Template
// names give the block size as the first integer after the kernel's own name and the tile after it.
Json decode_ck(std::string_view name) {
  Json out = Json::object();
  if (name.find("moe_ck2stages_") != std::string_view::npos) {
    std::vector<std::string_view> types;
    for (const std::string_view token : core::split(name, '_')) {
      if (const Json numbers = tile_of(token, 4, 4); !numbers.is_null() && !out.contains("tile")) {
        out.set("block", numbers.items()[0]);
        out.set("tile", Json::array({numbers.items()[1], numbers.items()[2], numbers.items()[3]}));
      }
      if (token == "gemm1" || token == "gemm2") out.set("stage", token == "gemm1" ? 1 : 2);
      if (token == "F8" || token == "B16" || token == "F16" || token == "I8" || token == "FP4X2") types.push_back(token);
    }
    if (types.size() == 3) out.set("input_type", types[0]).set("weight_type", types[1]).set("output_type", types[2]);
    return or_null(std::move(out));
  }
  if (const std::size_t at = name.find("kentry<"); at != std::string_view::npos)
    out.set_if("block", core::parse_i64(digits_and_x(name, at + 7)));
  return or_null(std::move(out));
}

// "triton_poi_fused_add_mul_0": kind, the operators that were fused (names with underscores stay joined), and a number.
Json decode_triton(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kKinds = {
      {{"poi", "pointwise"}, {"red", "reduction"}, {"per", "persistent_reduction"}, {"tem", "template"}, {"for", "foreach"}}};
  if (!name.starts_with("triton_")) return {};
  std::string_view rest = name.substr(7);
  Json out = Json::object();
  for (const auto& [code, kind] : kKinds)
    if (rest.starts_with(code) && rest.size() > code.size() && rest[code.size()] == '_') {
      out.set("kind", kind);
      rest.remove_prefix(code.size() + 1);
      break;
    }
  if (rest.starts_with("fused_")) {
    rest.remove_prefix(6);
    if (const std::size_t last = rest.rfind('_'); last != std::string_view::npos && core::parse_i64(rest.substr(last + 1)))
      rest = rest.substr(0, last);
    out.set("fused", rest);
  }
  return or_null(std::move(out));
}

// "mlir_reshape_dot_add" of rocMLIR, "mul_add_kernel" of MIGraphX: the instructions, joined by underscores.
Json decode_fused(std::string_view name) {
  if (name.starts_with("mlir_")) name.remove_prefix(5);
  if (name.ends_with("_kernel")) name.remove_suffix(7);
  Json out = Json::object();
  if (!name.empty()) out.set("fused", name);
  return or_null(std::move(out));
}

std::vector<std::string_view> split_fused(std::string_view fused, const std::set<std::string, std::less<>>& operators) {
  constexpr std::size_t kMaxWords = 8;  // of one operator
  std::vector<std::string_view> found;
  while (!fused.empty()) {
    const bool underscore = fused.front() == '_';
    std::size_t length = 0;
    std::size_t end = underscore ? 0 : std::string_view::npos;
    for (std::size_t word = 0; word < kMaxWords; ++word) {
      end = fused.find('_', end == std::string_view::npos ? 0 : end + 1);
      const std::string_view candidate =
          fused.substr(underscore ? 1 : 0, end == std::string_view::npos ? end : end - (underscore ? 1 : 0));
      if (word == 0 || operators.contains(candidate)) length = candidate.size() + (underscore ? 1 : 0);
      if (end == std::string_view::npos) break;
    }
    const std::string_view name = fused.substr(0, length);
    if (!name.empty() && name != "_") found.push_back(name);
    fused.remove_prefix(std::min(fused.size(), length + 1));
  }
  return found;
}

// "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16_wt32x32x8_...": MIOpen's assembly implicit GEMM generator.
Json decode_asm_conv(std::string_view name) {
  Json out = Json::object();
  for (const std::string_view token : core::split(name, '_')) {
    if (token == "fwd" || token == "bwd" || token == "wrw") out.set("direction", token);
    if (token == "nhwc" || token == "nchw") out.set("layout", token);
    if (token == "bf16" || token == "fp16" || token == "fp32" || token == "int8") out.set("type", token);
    if (token.starts_with("bt")) out.set_if("macro_tile", tile_of(token.substr(2), 3, 3));
    if (token.starts_with("wt")) out.set_if("wave_tile", tile_of(token.substr(2), 3, 3));
    if (token == "gkgs") out.set("split_k", true);
  }
  return or_null(std::move(out));
}

}  // namespace aaco::analytics::fingerprint
