#include "analytics/node_order/scores.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/strings.h"

namespace aaco::analytics::node_order {
namespace {

using fingerprint::Family;
using graph::OperatorClass;

using Families = std::uint32_t;
template <class... F>
constexpr Families set(F... families) {
  return (0U | ... | (1U << static_cast<unsigned>(families)));
}
constexpr bool holds(Families families, Family family) { return ((families >> static_cast<unsigned>(family)) & 1U) != 0; }

// What the kernels of a class of operators are: usually, sometimes, and beside the main one.
struct Kernels {
  OperatorClass kind;
  Need need;
  Families main, sometimes, helpers;
};
constexpr auto kKernels = std::to_array<Kernels>({
    {OperatorClass::gemm, Need::anchor, set(Family::gemm), 0,
     set(Family::reduction, Family::copy_transpose, Family::elementwise)},
    {OperatorClass::convolution, Need::anchor, set(Family::convolution), set(Family::gemm),
     set(Family::copy_transpose, Family::elementwise, Family::reduction)},
    {OperatorClass::depthwise, Need::anchor, set(Family::convolution), set(Family::gemm, Family::elementwise),
     set(Family::copy_transpose)},
    {OperatorClass::attention, Need::anchor, set(Family::attention), set(Family::gemm, Family::softmax),
     set(Family::gemm, Family::softmax, Family::copy_transpose, Family::reduction, Family::elementwise)},
    {OperatorClass::recurrent, Need::anchor, set(Family::gemm), set(Family::elementwise), set(Family::gemm, Family::elementwise)},
    {OperatorClass::normalisation, Need::some, set(Family::normalisation), set(Family::reduction, Family::elementwise),
     set(Family::reduction, Family::elementwise)},
    {OperatorClass::softmax, Need::some, set(Family::softmax), set(Family::reduction, Family::attention),
     set(Family::elementwise)},
    {OperatorClass::reduction, Need::some, set(Family::reduction), set(Family::elementwise, Family::sort_scan),
     set(Family::reduction)},
    {OperatorClass::pooling, Need::some, set(Family::reduction), set(Family::elementwise), set(Family::copy_transpose)},
    {OperatorClass::gather, Need::some, set(Family::embedding_gather), set(Family::copy_transpose, Family::elementwise), 0},
    {OperatorClass::resize, Need::some, set(Family::elementwise, Family::copy_transpose), set(Family::embedding_gather), 0},
    {OperatorClass::sort, Need::some, set(Family::sort_scan), set(Family::reduction, Family::elementwise),
     set(Family::sort_scan, Family::copy_transpose)},
    {OperatorClass::rng, Need::some, set(Family::rng), set(Family::elementwise), 0},
    {OperatorClass::elementwise, Need::little, set(Family::elementwise), set(Family::copy_transpose, Family::reduction), 0},
    {OperatorClass::quantisation, Need::little, set(Family::elementwise), set(Family::reduction, Family::copy_transpose), 0},
    {OperatorClass::copy, Need::little, set(Family::copy_transpose), set(Family::elementwise, Family::embedding_gather), 0},
});

const Kernels* kernels_of(OperatorClass kind) {
  const auto* found = std::find_if(kKernels.begin(), kKernels.end(), [&](const auto& entry) { return entry.kind == kind; });
  return found == kKernels.end() ? nullptr : found;
}

// Log odds, our own judgement: a convolution that was computed by another family, or that has no kernel at all, is rare; a fused
// element-wise operator is not.
constexpr double kMatch[] = {0, 1.5, 3, 4};
constexpr double kSometimes = -1;
constexpr double kAbsent[] = {0, -0.4, -2.5, -5};
constexpr double kHelper = -0.5;
constexpr double kStray = -1, kStrayAnchor = -4;
constexpr double kSaysOperator = 1, kSaysName = 6;
constexpr double kSizeFits = 0.7, kSizeIsWrong = -1;
constexpr double kMaxElementsAThread = 32;  // vectorised kernels; those that loop over the grid have fewer threads still

// "LayerNormalization" in "..._layernorm_kernel": the first letters of the operator's name, without regard to case.
bool says_operator(const KernelName& kernel, const Node& node) {
  constexpr std::size_t kShortest = 4, kLongest = 9;
  const std::string op = core::to_lower(node.op_type.substr(0, kLongest));
  return op.size() >= kShortest && kernel.lower.find(op) != std::string::npos;
}

}  // namespace

KernelName kernel_name(const Kernel& kernel) {
  constexpr std::size_t kLooked = 1024;  // names of templates go on for thousands of characters
  KernelName name{kernel.name.substr(0, kLooked), {}, kernel.family};
  name.lower = core::to_lower(name.text);
  return name;
}

double size_score(const Node& node, const Kernel& kernel) {
  const bool one_thread_an_element = kernel.family == Family::elementwise || kernel.family == Family::copy_transpose;
  if (!one_thread_an_element || !node.elements || !kernel.threads || *node.elements <= 0 || *kernel.threads <= 0) return 0;
  const double each = *node.elements / *kernel.threads;
  if (each > kMaxElementsAThread) return 0;
  return each >= 0.2 ? kSizeFits : kSizeIsWrong;
}

Need need_of(const Node& node) {
  if (!node.kernel.empty()) return Need::anchor;
  const Kernels* kernels = kernels_of(node.kind);
  return kernels == nullptr ? Need::none : kernels->need;
}

double match_score(const Node& node, const KernelName& kernel) {
  if (!node.kernel.empty()) return names_node(kernel.text, node) ? kSaysName : kNever;
  const Kernels* kernels = kernels_of(node.kind);
  if (kernels == nullptr) return kNever;
  const double names = (names_node(kernel.text, node) ? kSaysName : 0) + (says_operator(kernel, node) ? kSaysOperator : 0);
  if (holds(kernels->main, kernel.family)) return kMatch[static_cast<int>(kernels->need)] + names;
  if (holds(kernels->sometimes, kernel.family)) return kSometimes + names;
  return names > 0 && kernel.family == Family::other ? names : kNever;
}

bool is_usual(const Node& node, Family family) {
  const Kernels* kernels = kernels_of(node.kind);
  return !node.kernel.empty() || (kernels != nullptr && holds(kernels->main, family));
}

double helper_score(const Node& node, Family family) {
  if (!node.kernel.empty()) return kNever;
  const Kernels* kernels = kernels_of(node.kind);
  return kernels != nullptr && holds(kernels->helpers, family) ? kHelper : kNever;
}

double absent_score(const Node& node) { return kAbsent[static_cast<int>(need_of(node))]; }
double stray_score(Family family) { return is_anchor(family) ? kStrayAnchor : kStray; }

bool is_anchor(Family family) { return family == Family::gemm || family == Family::convolution || family == Family::attention; }

bool names_node(std::string_view kernel, const Node& node) {
  if (!node.kernel.empty()) return kernel.substr(0, kernel.rfind(".kd")) == node.kernel;
  constexpr std::size_t kShortest = 5;  // "conv1"; shorter names stand in too many others
  if (node.name.size() < kShortest) return false;
  const auto at = kernel.find(node.name);
  if (at == std::string_view::npos) return false;
  const auto end = at + node.name.size();
  return end == kernel.size() || std::isalnum(static_cast<unsigned char>(kernel[end])) == 0;  // "conv1" is not in "conv12"
}

}  // namespace aaco::analytics::node_order
