#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/yaml.h"

// Classifies kernels by name: family, library, and the parameters encoded in the name.
namespace aaco::analytics::fingerprint {

enum class Family : std::uint8_t {
  gemm,
  convolution,
  attention,
  reduction,
  normalisation,
  softmax,
  elementwise,
  copy_transpose,
  embedding_gather,
  sort_scan,
  rng,
  collective,
  optimiser,
  stencil,
  delay,  // spins for a given time: a delay kernel in a stream
  other
};
std::string_view to_string(Family family);
std::optional<Family> family_from_string(std::string_view name);

struct Fingerprint {
  Family family = Family::other;
  std::string library;    // "hipBLASLt"; empty: unknown
  core::Json parameters;  // object, or null
  std::string pattern;    // id of the pattern that decided; empty: none did
  bool operator==(const Fingerprint&) const = default;
};

// A pattern of data/kernels: texts that must (or must not) occur in the name, case-insensitive if stated.
struct Pattern {
  std::string id;
  std::vector<std::string> starts;  // the name starts with one of them (empty: no condition, also below)
  std::vector<std::string> all;     // all occur in it
  std::vector<std::string> any;     // at least one occurs
  std::vector<std::string> none;    // none occurs
  std::optional<Family> family;     // the result; a pattern may set only one of the two
  std::optional<std::string> library;
  std::string decoder;  // how parameters are read: tensile, ck, cutlass, triton, asm_conv, fused; or empty
};

// The patterns, tried in order; the first match with a family sets the family, the first with a library sets the library.
// Matching is plain search, linear in the name's length. Names are compared in lower case, without ".kd" and "[clone ...]".
class PatternBook {
 public:
  // Every *.yaml of a folder (data/kernels), in order of name. Fails, with file and line, on an unknown key, family or decoder, a
  // pattern without a condition or without a statement, and an id that occurs twice.
  static core::Result<PatternBook> load(const std::string& folder);
  core::Status add(const core::YamlNode& document);
  [[nodiscard]] Fingerprint classify(std::string_view kernel_name) const;
  [[nodiscard]] const std::vector<Pattern>& patterns() const { return patterns_; }

 private:
  std::vector<Pattern> patterns_;
  std::set<std::string, std::less<>> operators_;  // names of operators that hold an underscore
};

// Parameters encoded in names of these kinds; null if there are none.
core::Json decode_tensile(std::string_view name);   // rocBLAS/Tensile and hipBLASLt: layout, types, macro tile, MFMA, split
core::Json decode_ck(std::string_view name);        // Composable Kernel: block, tile, types
core::Json decode_cutlass(std::string_view name);   // cutlass_80_tensorop_..., sm80_xmma_..., ampere_sgemm_...
core::Json decode_triton(std::string_view name);    // triton_poi_fused_add_mul_0: kind and fused operators
core::Json decode_fused(std::string_view name);     // mlir_dot_add_relu, mul_add_kernel: fused operators
core::Json decode_asm_conv(std::string_view name);  // igemm_fwd_gtcx2_nhwc_bf16_...: direction, layout, type, tile

// The operators of a fused name, in its order: "_to_copy_add_mul" with "to_copy" known is _to_copy, add, mul.
std::vector<std::string_view> split_fused(std::string_view fused, const std::set<std::string, std::less<>>& operators);

}  // namespace aaco::analytics::fingerprint
