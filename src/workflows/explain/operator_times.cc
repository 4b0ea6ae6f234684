#include "workflows/explain/operator_times.h"

#include <algorithm>
#include <array>

namespace aaco::workflows {
namespace {

constexpr double kOperatorLead = 0.5;  // of the operators' own time
constexpr double kDispatchNs =
    5'000;  // an operator of PyTorch costs the host about this much whatever it does (our own judgement)
constexpr std::int64_t kFewestOperators = 100;

constexpr std::array<std::string_view, 8> kProducts = {"::mm",     "::addmm",  "::bmm",   "::baddbmm",
                                                       "::matmul", "::linear", "::addmv", "gemm"};

bool is_product(std::string_view name) {
  return std::any_of(kProducts.begin(), kProducts.end(), [&](auto word) { return name.find(word) != std::string_view::npos; });
}

}  // namespace

void OperatorTimes::add(const trace::ApiCallRow& row) {
  if (names_.text(row.domain) != "cpu_op" || row.end_ns <= row.start_ns) return;
  auto& open = open_[{row.rank, row.thread_id}];
  while (!open.empty() && open.back().end_ns <= row.start_ns) open.pop_back();
  if (!open.empty()) own_ns_[open.back().name] -= std::min(row.end_ns, open.back().end_ns) - row.start_ns;
  own_ns_[row.name.value] += row.end_ns - row.start_ns;
  ++count_;
  open.push_back({row.end_ns, row.name.value});
}

std::optional<OperatorTimes::Leading> OperatorTimes::leading() const {
  double sum = 0, products = 0, convolutions = 0;
  for (const auto& [id, ns] : own_ns_) {
    const std::string_view name = names_.text({id});
    const auto own = static_cast<double>(std::max<std::int64_t>(0, ns));
    sum += own;
    if (name.find("conv") != std::string_view::npos)
      convolutions += own;
    else if (is_product(name))
      products += own;
  }
  if (sum <= 0) return std::nullopt;
  if (count_ >= kFewestOperators && sum / static_cast<double>(count_) < kDispatchNs)
    return Leading{"framework", "operators as short as their dispatch", 1, false};
  if (products >= kOperatorLead * sum) return Leading{"matrix-products", "matrix products", products / sum, true};
  if (convolutions >= kOperatorLead * sum) return Leading{"convolutions", "convolutions", convolutions / sum, true};
  return std::nullopt;
}

}  // namespace aaco::workflows
