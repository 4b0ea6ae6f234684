#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "hooks/functions.h"
#include "trace/names.h"

namespace aaco::workflows {

// What the JSON of a hooked call's arguments says.
struct HookedArguments {
  std::uint64_t stream = 0, event = 0;  // handles
  std::int64_t bytes = 0, device = 0;
  bool failed = false, to_host = false;
  std::optional<trace::NameId> kernel;
};

inline constexpr std::uint64_t kPerThreadStream = 2;  // the stream handle that means another stream in each thread

// The stream's own number: the handle, or of the calling thread.
inline std::uint64_t stream_of(const HookedArguments& arguments, std::int64_t thread_id) {
  return arguments.stream != kPerThreadStream ? arguments.stream
                                              : static_cast<std::uint64_t>(thread_id) << 32U | kPerThreadStream;
}

// Functions and arguments of rows of api_calls, each text read once.
class HookedTexts {
 public:
  explicit HookedTexts(trace::NameTable& names) : names_(names) {}
  // Null: not one that the hooks record.
  const hooks::Function* function(trace::NameId name);
  const HookedArguments& arguments(trace::NameId id);

 private:
  trace::NameTable& names_;
  std::unordered_map<std::uint32_t, const hooks::Function*> functions_;  // by name
  std::unordered_map<std::uint32_t, HookedArguments> arguments_;         // by name
};

}  // namespace aaco::workflows
