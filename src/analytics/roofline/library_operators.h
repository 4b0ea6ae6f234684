#pragma once

#include <optional>
#include <string_view>

#include "analytics/kernel_work.h"
#include "core/json.h"

namespace aaco::analytics::roofline {

// Work of operators that libraries register beside ATen's (aiter::gemm_a16w16, vllm::rocm_unquantized_gemm,
// flash_attn::_flash_attn_forward), by the recorded shapes of their operands. Empty where these do not decide it: packed weights,
// sequences of unknown lengths.
std::optional<OperatorWork> library_work(std::string_view name, const core::Json& arguments);

}  // namespace aaco::analytics::roofline
