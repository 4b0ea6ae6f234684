#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analytics/gpu_advice.h"
#include "core/numbers.h"

namespace aaco::analytics::advice {
namespace {

struct Words {
  std::string_view kind, what;
};
constexpr std::array<Words, 4> kWords = {{{"h2d", "copies from the host to the device"},
                                          {"d2h", "copies from the device to the host"},
                                          {"d2d", "copies within the device"},
                                          {"p2p", "copies between devices"}}};

}  // namespace

IssuedWork issued_work(std::string_view kind, double count, std::optional<double> mean_bytes) {
  const std::string many = core::format_count(count);
  const std::string size = mean_bytes ? fmt::format(" ({} on average)", core::format_bytes(*mean_bytes)) : std::string();
  if (kind == "memset")
    return {"small-fills", fmt::format("issuing {} small fills of device memory one by one{}", many, size),
            "fill one buffer instead of many (torch._foreach_zero_, one allocation), or let the kernel that follows initialise "
            "its output"};
  const auto words = std::find_if(kWords.begin(), kWords.end(), [&](const Words& one) { return one.kind == kind; });
  return {"small-copies",
          fmt::format("issuing {} small {} one by one{}", many, words == kWords.end() ? "copies" : words->what, size),
          "pack the data into one buffer and copy it once, or build it where it is needed"};
}

}  // namespace aaco::analytics::advice
