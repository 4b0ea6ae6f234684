#include "core/json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/files.h"

namespace aaco::core {
namespace {

constexpr std::size_t kMaxJsonDepth = 256;

// Builds a Json from nlohmann's events, so that order and integer kinds stay what they were.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json take() { return std::move(root_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(static_cast<long long>(value))); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(static_cast<unsigned long long>(value))); }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool key(string_t& value) override {
    open_.back().key = std::move(value);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    const std::string what = error.what();
    const auto colon = what.find("] ");
    problem_ = "byte " + std::to_string(position) + ": " + (colon == std::string::npos ? what : what.substr(colon + 2));
    return false;
  }

 private:
  // An array or object that has begun and not ended.
  struct Frame {
    bool is_array = false;
    Json::Array items;
    Json::Object members;
    std::string key;
  };

  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Frame& frame = open_.back(); frame.is_array) {
      frame.items.push_back(std::move(value));
    } else {
      frame.members.emplace_back(std::move(frame.key), std::move(value));
    }
    return true;
  }
  bool open(bool is_array) {
    if (open_.size() >= kMaxJsonDepth) {
      problem_ = "nested more than " + std::to_string(kMaxJsonDepth) + " levels deep";
      return false;
    }
    open_.push_back({is_array, {}, {}, {}});
    return true;
  }
  bool close() {
    Frame done = std::move(open_.back());
    open_.pop_back();
    return add(done.is_array ? Json::array(std::move(done.items)) : Json::object(last_of_each(std::move(done.members))));
  }

  // A key that stands twice keeps its first place and its last value; linear, for documents of any width.
  static Json::Object last_of_each(Json::Object members) {
    std::unordered_map<std::string_view, std::size_t> first_place;
    first_place.reserve(members.size());
    bool twice = false;
    for (std::size_t i = 0; i < members.size(); ++i) twice = !first_place.emplace(members[i].first, i).second || twice;
    if (!twice) return members;
    std::vector<std::size_t> place(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) place[i] = first_place.at(members[i].first);
    Json::Object kept;
    std::vector<std::size_t> moved(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (place[i] == i) {
        moved[i] = kept.size();
        kept.emplace_back(members[i].first, std::move(members[i].second));
      } else {
        kept[moved[place[i]]].second = std::move(members[i].second);
      }
    }
    return kept;
  }

  Json root_;
  std::vector<Frame> open_;
  std::string problem_;
};

void write_string(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[i];
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else if (byte < 0x80) {
      out += text[i];
    } else {
      const std::size_t length = byte >= 0xF0 && byte < 0xF5 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 0;
      bool valid = length != 0 && byte < 0xF5 && i + length <= text.size();
      for (std::size_t j = 1; valid && j < length; ++j) valid = (static_cast<unsigned char>(text[i + j]) & 0xC0) == 0x80;
      if (valid && length == 3) {  // no over-long forms, no surrogates
        const auto second = static_cast<unsigned char>(text[i + 1]);
        valid = !(byte == 0xE0 && second < 0xA0) && !(byte == 0xED && second >= 0xA0);
      } else if (valid && length == 4) {
        const auto second = static_cast<unsigned char>(text[i + 1]);
        valid = !(byte == 0xF0 && second < 0x90) && !(byte == 0xF4 && second >= 0x90);
      }
      if (valid) {
        out.append(text.substr(i, length));
        i += length - 1;
      } else {
        out += "\xEF\xBF\xBD";
      }
    }
  }
  out += '"';
}

template <class Number>
void write_number(std::string& out, Number value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

struct Writer {
  std::string& out;
  int indent;

  void line(int depth) const {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
  }

  void write(const Json& value, int depth) const {
    if (value.is_object()) return write_object(value.members(), depth);
    if (value.is_array()) return write_array(value.items(), depth);
    if (value.is_null()) {
      out += "null";
    } else if (auto flag = value.as_bool()) {
      out += *flag ? "true" : "false";
    } else if (value.is_string()) {
      write_string(out, value.text());
    } else if (auto integer = value.as_i64()) {
      write_number(out, *integer);
    } else if (auto natural = value.as_u64()) {
      write_number(out, *natural);
    } else {
      const double number = value.as_f64().value_or(std::nan(""));
      if (std::isfinite(number))
        write_number(out, number);
      else
        out += "null";
    }
  }

  void write_object(const Json::Object& members, int depth) const {
    if (members.empty()) {
      out += "{}";
      return;
    }
    out += '{';
    bool first = true;
    for (const auto& [key, value] : members) {
      if (!first) out += ',';
      first = false;
      line(depth + 1);
      write_string(out, key);
      out += indent < 0 ? ":" : ": ";
      write(value, depth + 1);
    }
    line(depth);
    out += '}';
  }

  void write_array(const Json::Array& items, int depth) const {
    out += '[';
    bool nested = false;
    for (const Json& item : items) nested = nested || item.is_object() || item.is_array();
    bool first = true;
    for (const Json& item : items) {
      if (!first) out += indent < 0 || nested ? "," : ", ";
      first = false;
      if (nested) line(depth + 1);
      write(item, depth + 1);
    }
    if (nested) line(depth);
    out += ']';
  }
};

const Json kNull;
const Json::Array kNoItems;
const Json::Object kNoMembers;

}  // namespace

Json::Json(unsigned long long value) {
  if (value <= static_cast<unsigned long long>(std::numeric_limits<std::int64_t>::max()))
    value_ = static_cast<std::int64_t>(value);
  else
    value_ = static_cast<std::uint64_t>(value);
}

Result<Json> Json::parse(std::string_view text) {
  Builder builder;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
  return fail(ErrorCode::invalid_input, "not valid JSON (" + builder.problem() + ")");
}

bool Json::is_number() const {
  return std::holds_alternative<std::int64_t>(value_) || std::holds_alternative<std::uint64_t>(value_) ||
         std::holds_alternative<double>(value_);
}

std::optional<bool> Json::as_bool() const {
  if (const bool* value = std::get_if<bool>(&value_)) return *value;
  return std::nullopt;
}

std::optional<std::int64_t> Json::as_i64() const {
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
  if (const auto* value = std::get_if<double>(&value_); value && *value == std::trunc(*value) && std::abs(*value) < 9.0e15)
    return static_cast<std::int64_t>(*value);
  return std::nullopt;
}

std::optional<std::uint64_t> Json::as_u64() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  if (auto value = as_i64(); value && *value >= 0) return static_cast<std::uint64_t>(*value);
  return std::nullopt;
}

std::optional<double> Json::as_f64() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  return std::nullopt;
}

std::optional<std::string> Json::as_string() const {
  if (const auto* value = std::get_if<std::string>(&value_)) return *value;
  return std::nullopt;
}

std::string_view Json::text() const {
  const auto* value = std::get_if<std::string>(&value_);
  return value ? std::string_view(*value) : std::string_view();
}

const Json::Array& Json::items() const {
  const auto* value = std::get_if<Array>(&value_);
  return value ? *value : kNoItems;
}

const Json::Object& Json::members() const {
  const auto* value = std::get_if<Object>(&value_);
  return value ? *value : kNoMembers;
}

Json::Array& Json::mutable_items() {
  if (!is_array()) value_ = Array{};
  return std::get<Array>(value_);
}

const Json& Json::operator[](std::string_view key) const {
  for (const auto& [name, value] : members())
    if (name == key) return value;
  return kNull;
}

bool Json::contains(std::string_view key) const {
  for (const auto& [name, value] : members())
    if (name == key) return true;
  return false;
}

Json& Json::set(std::string_view key, Json value) {
  if (!is_object()) value_ = Object{};
  auto& object = std::get<Object>(value_);
  for (auto& [name, existing] : object)
    if (name == key) {
      existing = std::move(value);
      return *this;
    }
  object.emplace_back(std::string(key), std::move(value));
  return *this;
}

void Json::push(Json value) { mutable_items().push_back(std::move(value)); }

std::string Json::dump(int indent) const {
  std::string out;
  Writer{out, indent}.write(*this, 0);
  return out;
}

Result<Json> read_json_file(const std::string& path) {
  AACO_ASSIGN(const std::string text, read_file(path));
  auto parsed = Json::parse(text);
  if (!parsed) return tl::unexpected<Error>(std::move(parsed).error().with(path));
  return parsed;
}

}  // namespace aaco::core
