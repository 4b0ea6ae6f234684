#include "runner/ort/session_settings.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/numbers.h"
#include "core/strings.h"
#include "runner/backend.h"

namespace aaco::runner::ort {
namespace {

using core::ErrorCode;

constexpr std::array kNames = {"execution_mode", "fixed_dimensions", "inter_op_threads",
                               "memory_arena",   "memory_pattern",   "pinning"};
constexpr std::int64_t kMaxInterOpThreads = 1024;

core::Status check_word(const std::string& name, const std::string& value, std::string_view a, std::string_view b) {
  if (value == a || value == b) return {};
  return core::fail(ErrorCode::invalid_argument, "invalid value '" + value + "' for session option '" + name + "': expected " +
                                                     std::string(a) + " or " + std::string(b));
}

core::Status check_setting(const std::string& name, const std::string& value) {
  if (name.find('.') != std::string::npos) return {};
  if (name == "execution_mode") return check_word(name, value, "sequential", "parallel");
  if (name == "inter_op_threads") {
    const auto count = core::parse_i64(value);
    if (count && *count >= 1 && *count <= kMaxInterOpThreads) return {};
    return core::fail(ErrorCode::invalid_argument,
                      "invalid value '" + value + "' for session option 'inter_op_threads': expected a count of at least 1");
  }
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return check_word(name, value, "on", "off");
  return core::fail(ErrorCode::invalid_argument, "unknown session option '" + name + "'",
                    "known: " + core::join(std::vector<std::string>(kNames.begin(), kNames.end()), ", ") +
                        ", and ONNX Runtime configuration entries such as session.intra_op.allow_spinning");
}

core::Status apply_setting(const Api& api, OrtSessionOptions* session, const std::string& name, const std::string& value) {
  const OrtApi& call = *api.call;
  OrtStatus* status = nullptr;
  if (name == "execution_mode")
    status = call.SetSessionExecutionMode(session, value == "parallel" ? ORT_PARALLEL : ORT_SEQUENTIAL);
  else if (name == "inter_op_threads")
    status = call.SetInterOpNumThreads(session, static_cast<int>(core::parse_i64(value).value_or(0)));
  else if (name == "memory_arena")
    status = value == "on" ? call.EnableCpuMemArena(session) : call.DisableCpuMemArena(session);
  else if (name == "memory_pattern")
    status = value == "on" ? call.EnableMemPattern(session) : call.DisableMemPattern(session);
  else if (name != "pinning" && name != kFixedDimensions)
    status = call.AddSessionConfigEntry(session, name.c_str(), value.c_str());
  return api.check(status, "session option '" + name + "'");
}

}  // namespace

core::Status check_session_settings(const std::map<std::string, std::string>& settings) {
  for (const auto& [name, value] : settings) AACO_TRY(check_setting(name, value));
  return {};
}

core::Status apply_session_settings(const Api& api, OrtSessionOptions* session,
                                    const std::map<std::string, std::string>& settings) {
  AACO_TRY(check_session_settings(settings));
  for (const auto& [name, value] : settings) AACO_TRY(apply_setting(api, session, name, value));
  return {};
}

}  // namespace aaco::runner::ort
