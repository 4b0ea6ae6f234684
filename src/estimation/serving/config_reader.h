#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "estimation/decoder_family.h"

namespace aaco::estimation {

// Keys of a configuration, with the defaults of its class. Families call the same size by different names; "a.b" is b within a.
class ConfigReader {
 public:
  using Keys = std::initializer_list<std::string_view>;

  // `is_part`: of a configuration of text and images, which leaves out all that equals the defaults of its class.
  ConfigReader(const core::Json& json, const std::string& name, const DecoderFamily& family, bool is_part)
      : json_(json), name_(name), family_(family), is_part_(is_part) {}

  [[nodiscard]] tl::unexpected<core::Error> wrong(const std::string& what, const std::string& hint = {}) const;
  [[nodiscard]] tl::unexpected<core::Error> unsupported(const std::string& what, const std::string& hint = {}) const;

  // The first of the keys that is there and not null; null: none.
  [[nodiscard]] const core::Json* find(Keys keys) const;
  // Whether one is there as null: the class computes it from the others.
  [[nodiscard]] bool is_null(Keys keys) const;
  // A list of equal sizes, one a layer, is one size. Fails without any of the keys unless there is `otherwise`.
  [[nodiscard]] core::Result<std::int64_t> size(Keys keys, std::optional<std::int64_t> otherwise = std::nullopt) const;
  // With the default of the class, which a note states. `main`: a whole file has it always, and without it is refused.
  [[nodiscard]] core::Result<std::int64_t> size_or_default(Keys keys, const std::string& default_of, bool main,
                                                           std::optional<std::int64_t> otherwise = std::nullopt);
  [[nodiscard]] bool flag(const ConfigFlag& flag) const;
  [[nodiscard]] bool flag(std::string_view key, bool otherwise) const { return flag(ConfigFlag{std::string(key), otherwise}); }

  [[nodiscard]] const core::Json& json() const { return json_; }
  [[nodiscard]] const DecoderFamily& family() const { return family_; }
  [[nodiscard]] std::vector<std::string>& notes() { return notes_; }

 private:
  [[nodiscard]] const core::Json& at(std::string_view path) const;

  const core::Json& json_;
  const std::string& name_;
  const DecoderFamily& family_;
  bool is_part_;
  std::vector<std::string> notes_;
};

}  // namespace aaco::estimation
