#include "cli/options/dimension_list.h"

#include "cli/options/whole_number.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::cli {

core::Result<graph::Bindings> parse_dimensions(const std::vector<std::string>& texts) {
  using core::ErrorCode;
  graph::Bindings sizes;
  for (const std::string& text : texts)
    for (const std::string_view untrimmed : core::split(text, ',')) {
      const std::string_view part = core::trim(untrimmed);
      const auto equals = part.rfind('=');
      const auto size = equals == std::string_view::npos ? std::nullopt : core::parse_i64(part.substr(equals + 1));
      if (!size || equals == 0 || *size < 0 || *size > kMaxCount)
        return core::fail(ErrorCode::invalid_argument,
                          "invalid value '" + std::string(part) + "' for '--dim': expected NAME=SIZE with a size between 0 and " +
                              std::to_string(kMaxCount),
                          "for example --dim batch=8,sequence_length=512");
      const auto [known, fresh] = sizes.emplace(std::string(part.substr(0, equals)), *size);
      if (!fresh && known->second != *size)
        return core::fail(ErrorCode::invalid_argument, "conflicting sizes for dimension '" + known->first + "': " +
                                                           std::to_string(known->second) + " and " + std::to_string(*size));
    }
  return sizes;
}

}  // namespace aaco::cli
