#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hardware/secrets.h"
#include "hardware/secrets/names.h"

using namespace aaco::hardware;  // NOLINT: one function

// A value that is called a secret never reaches the output, however it is dressed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)secrets::kind_of_name(text);
  (void)secrets::is_secret_value(text);
  aaco::core::Environment environment;
  environment.set("AACO_API_KEY", text);
  environment.set("AACO_URL", "https://user:" + text + "@host/");
  for (const auto& [name, value] : filter_environment(environment).variables)
    if (name == "AACO_API_KEY" && size > 20 && !text.starts_with('$') && value == text) std::abort();
  for (const std::string& word : without_secrets({"--token=" + text, "--password", "x" + text}))
    if (size > 20 && !text.starts_with('$') && word.find(text) != std::string::npos) std::abort();
  return 0;
}
