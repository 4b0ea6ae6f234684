#include <fmt/format.h>

#include "analytics/llm.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::analytics::llm {

core::Result<Slo> parse_slo(std::string_view text) {
  Slo slo;
  for (const std::string_view field : core::split(text, ',')) {
    const std::size_t equals = field.find('=');
    const std::string_view name = core::trim(field.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos ? "" : core::trim(field.substr(equals + 1));
    const auto limit = core::parse_duration_ns(value);
    auto* place = name == "ttft"   ? &slo.ttft_ns
                  : name == "tpot" ? &slo.tpot_ns
                  : name == "itl"  ? &slo.itl_ns
                  : name == "e2el" ? &slo.e2el_ns
                                   : nullptr;
    if (place == nullptr || !limit || *limit <= 0 || *place)
      return core::fail(core::ErrorCode::invalid_argument, fmt::format("invalid SLO '{}'", field),
                        "expected limits such as ttft=200ms,tpot=50ms,itl=100ms,e2el=5s");
    if (value.find_first_not_of("0123456789.+-eE") == std::string_view::npos)
      return core::fail(core::ErrorCode::invalid_argument, fmt::format("invalid SLO '{}': missing unit", field),
                        fmt::format("write {}={}ms or {}={}s", name, value, name, value));
    *place = *limit;
  }
  return slo;
}

std::string to_string(const Slo& slo) {
  std::string text;
  const auto add = [&](std::string_view name, const std::optional<std::int64_t>& limit) {
    if (limit)
      text += fmt::format("{}{} <= {}", text.empty() ? "" : ", ", name, core::format_duration(static_cast<double>(*limit)));
  };
  add("TTFT", slo.ttft_ns);
  add("TPOT", slo.tpot_ns);
  add("ITL", slo.itl_ns);
  add("E2EL", slo.e2el_ns);
  return text;
}

}  // namespace aaco::analytics::llm
