#include "workflows/process_identity.h"

#include <string>
#include <string_view>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::workflows {

std::int64_t process_start_ticks(std::int64_t process_id) {
  constexpr std::size_t kStartTime = 19;  // of the words after the name, proc(5)
  const auto stat = core::read_file("/proc/" + std::to_string(process_id) + "/stat");
  const auto end = stat ? stat->rfind(')') : std::string::npos;
  if (end == std::string::npos) return 0;
  const auto words = core::split_words(std::string_view(*stat).substr(end + 1));
  if (words.size() <= kStartTime || words[0] == "Z") return 0;
  return core::parse_i64(words[kStartTime]).value_or(0);
}

}  // namespace aaco::workflows
