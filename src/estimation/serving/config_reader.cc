#include "estimation/serving/config_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace aaco::estimation {

tl::unexpected<core::Error> ConfigReader::wrong(const std::string& what, const std::string& hint) const {
  return core::fail(core::ErrorCode::invalid_input, name_ + ": " + what, hint);
}

tl::unexpected<core::Error> ConfigReader::unsupported(const std::string& what, const std::string& hint) const {
  return core::fail(core::ErrorCode::unsupported, name_ + ": " + what,
                    hint.empty() ? "only layers of full, sliding-window and latent attention have estimates" : hint);
}

const core::Json& ConfigReader::at(std::string_view path) const {
  const auto dot = path.find('.');
  return dot == std::string_view::npos ? json_[path] : json_[path.substr(0, dot)][path.substr(dot + 1)];
}

const core::Json* ConfigReader::find(Keys keys) const {
  for (const std::string_view key : keys)
    if (const core::Json& value = at(key); !value.is_null()) return &value;
  return nullptr;
}

bool ConfigReader::is_null(Keys keys) const {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return json_.contains(key) && json_[key].is_null(); });
}

core::Result<std::int64_t> ConfigReader::size(Keys keys, std::optional<std::int64_t> otherwise) const {
  const auto* key = std::find_if(keys.begin(), keys.end(), [&](std::string_view one) { return !at(one).is_null(); });
  if (key == keys.end()) {
    if (otherwise) return *otherwise;
    return wrong(fmt::format("missing key \"{}\"", *keys.begin()), "pass the whole config.json as published");
  }
  const core::Json* value = &at(*key);
  if (const auto& items = value->items(); !items.empty()) {
    const auto differs = [&](const core::Json& item) { return item.as_i64() != items.front().as_i64(); };
    if (std::any_of(items.begin(), items.end(), differs))
      return unsupported(fmt::format("layers of different sizes (\"{}\") are not supported", *key));
    value = &items.front();
  }
  const auto number = value->as_i64();
  if (!number || *number < 0) return wrong(fmt::format("\"{}\" is not a valid size", *key), "it requires a whole number");
  return *number;
}

core::Result<std::int64_t> ConfigReader::size_or_default(Keys keys, const std::string& default_of, bool main,
                                                         std::optional<std::int64_t> otherwise) {
  const auto usual = family_.usual(default_of);
  const bool given = find(keys) != nullptr;
  if (given || !usual || (main && !is_part_) || (otherwise && is_null(keys))) return size(keys, otherwise);
  // Parts of files are expected to leave out defaults.
  if (!is_part_) notes_.push_back(fmt::format("\"{}\" is not in the file: {}, the default of its class", *keys.begin(), *usual));
  return *usual;
}

bool ConfigReader::flag(const ConfigFlag& flag) const {
  if (flag.key.empty()) return flag.value;
  const bool value = at(flag.key).as_bool().value_or(flag.value);
  return flag.inverted ? !value : value;
}

}  // namespace aaco::estimation
