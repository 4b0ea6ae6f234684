#include "hardware/tracer.h"

#include <algorithm>
#include <string_view>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::hardware {
namespace {

constexpr std::int64_t kProcFileLimit = 1 << 16;
constexpr std::string_view kTracerPid = "TracerPid:", kUnknown = "unknown";

std::string proc_text(const std::string& root, std::int64_t process_id, const char* file) {
  return core::read_file(core::join_path(root, "proc/" + std::to_string(process_id) + "/" + file), kProcFileLimit).value_or("");
}

}  // namespace

std::string tracer_of(const std::string& root, std::int64_t process_id) {
  std::int64_t tracer = 0;
  const std::string status = proc_text(root, process_id, "status");
  for (const std::string_view line : core::split(status, '\n'))
    if (line.starts_with(kTracerPid)) tracer = core::parse_i64(core::trim(line.substr(kTracerPid.size()))).value_or(0);
  if (tracer <= 0) return {};
  std::string name(core::trim(proc_text(root, tracer, "comm")));
  // A process chooses its name.
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7F; }, '?');
  return name.empty() ? std::string(kUnknown) : name;
}

}  // namespace aaco::hardware
