#include "workflows/run/hooked_arguments.h"

#include <algorithm>
#include <string>

#include "core/json.h"
#include "hooks/call_rows.h"

namespace aaco::workflows {
namespace {

std::uint64_t address_of(const core::Json& value) {
  std::uint64_t out = 0;
  for (const char c : value.text().substr(std::min<std::size_t>(2, value.text().size())))
    out = out << 4U | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  return out;
}

}  // namespace

const hooks::Function* HookedTexts::function(trace::NameId name) {
  const auto [known, fresh] = functions_.try_emplace(name.value, nullptr);
  if (fresh) known->second = hooks::find_recorded(names_.text(name));
  return known->second;
}

const HookedArguments& HookedTexts::arguments(trace::NameId id) {
  const auto [known, fresh] = arguments_.try_emplace(id.value);
  const std::string text(names_.text(id));
  if (!fresh || text.empty()) return known->second;
  const core::Json json = core::Json::parse(text).value_or(core::Json());
  HookedArguments& out = known->second;
  out.stream = address_of(json["stream"]), out.event = address_of(json["event"]);
  out.bytes = json["bytes"].as_i64().value_or(0), out.device = json["device"].as_i64().value_or(0);
  out.failed = json.contains("result");
  out.to_host = json["kind"].text() == "d2h";
  if (json.contains("kernel")) out.kernel = names_.intern(json["kernel"].text());
  return out;
}

}  // namespace aaco::workflows
