#include "core/json_keys.h"

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <vector>

namespace aaco::core {
namespace {

// Looks at the keys of each open object; stops at the first that is there already.
class Keys : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] bool repeated() const { return repeated_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    open_.emplace_back();
    return true;
  }
  bool key(string_t& value) override {
    repeated_ = !open_.back().insert(value).second;
    return !repeated_;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  std::vector<std::unordered_set<std::string>> open_;
  bool repeated_ = false;
};

}  // namespace

bool has_repeated_key(std::string_view json) {
  Keys keys;
  return !nlohmann::json::sax_parse(json.begin(), json.end(), &keys) && keys.repeated();
}

}  // namespace aaco::core
