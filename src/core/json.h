#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.h"

namespace aaco::core {

// A JSON document as a value. Objects keep their order; integers keep 64 bits, signed and unsigned, and are not doubles.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}                                                      // NOLINT: values convert by design
  Json(bool value) : value_(value) {}                                          // NOLINT
  Json(int value) : value_(std::int64_t{value}) {}                             // NOLINT
  Json(unsigned value) : value_(std::int64_t{value}) {}                        // NOLINT
  Json(long value) : value_(std::int64_t{value}) {}                            // NOLINT
  Json(long long value) : value_(static_cast<std::int64_t>(value)) {}          // NOLINT
  Json(unsigned long value) : Json(static_cast<unsigned long long>(value)) {}  // NOLINT
  Json(unsigned long long value);                                              // NOLINT
  Json(double value) : value_(value) {}                                        // NOLINT: not finite is written as null
  Json(std::string value) : value_(std::move(value)) {}                        // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}                 // NOLINT
  Json(const char* value) : value_(std::string(value)) {}                      // NOLINT
  template <class T>
  Json(std::optional<T> value) {  // NOLINT: empty is null
    if (value) *this = Json(*std::move(value));
  }

  static Json object() { return Json(Object{}); }
  static Json object(std::initializer_list<Member> members) { return Json(Object(members)); }
  // The keys must differ.
  static Json object(Object members) { return Json(std::move(members)); }
  static Json array() { return Json(Array{}); }
  static Json array(Array items) { return Json(std::move(items)); }
  // An array of strings.
  template <class Texts>
  static Json texts(const Texts& texts) {
    Json list = array();
    for (const auto& text : texts) list.push(text);
    return list;
  }

  // Refuses what is not JSON, with the byte where it stops being so. Depth is limited to 256. Of a key that stands twice the last
  // value counts.
  static Result<Json> parse(std::string_view text);

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  [[nodiscard]] bool is_bool() const { return std::holds_alternative<bool>(value_); }
  [[nodiscard]] bool is_string() const { return std::holds_alternative<std::string>(value_); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Array>(value_); }
  [[nodiscard]] bool is_object() const { return std::holds_alternative<Object>(value_); }
  [[nodiscard]] bool is_number() const;

  // The value if it is of that kind (numbers convert where nothing is lost).
  [[nodiscard]] std::optional<bool> as_bool() const;
  [[nodiscard]] std::optional<std::int64_t> as_i64() const;
  [[nodiscard]] std::optional<std::uint64_t> as_u64() const;
  [[nodiscard]] std::optional<double> as_f64() const;
  [[nodiscard]] std::optional<std::string> as_string() const;
  // The text, or empty: for reading documents of our own making.
  [[nodiscard]] std::string_view text() const;
  [[nodiscard]] const Array& items() const;     // empty where this is no array
  [[nodiscard]] const Object& members() const;  // empty where this is no object
  Array& mutable_items();                       // makes an array of null

  // The member, or a null value that lives for ever.
  const Json& operator[](std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const;
  // Adds or replaces; makes an object of null.
  Json& set(std::string_view key, Json value);
  Json& set_if(std::string_view key, Json value) { return value.is_null() ? *this : set(key, std::move(value)); }
  void push(Json value);

  // One line with indent < 0, else indented. Non-ASCII stays as it is; invalid UTF-8 is replaced.
  [[nodiscard]] std::string dump(int indent = 2) const;

  bool operator==(const Json&) const = default;

 private:
  explicit Json(Object members) : value_(std::move(members)) {}
  explicit Json(Array items) : value_(std::move(items)) {}
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

// Reads and parses; the error names the file.
Result<Json> read_json_file(const std::string& path);

}  // namespace aaco::core
