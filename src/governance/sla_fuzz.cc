#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "governance/sla.h"

// Whatever is accepted can be checked, and a rule that is accepted has a limit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto book = aaco::governance::parse_sla({reinterpret_cast<const char*>(data), size}, "fuzz.yaml",
                                                [](const std::string& name) { return name; });
  if (!book) return 0;
  for (const auto& rule : book->rules) {
    if (!rule.max && !rule.min) std::abort();
    (void)check_rule(rule, {{rule.metric, 1, "ns", aaco::trace::Interval{0, 2}, {}}}, {{"model", "m"}});
  }
  return 0;
}
