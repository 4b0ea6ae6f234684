#include "hardware/secrets/command_words.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/strings.h"
#include "hardware/secrets/characters.h"
#include "hardware/secrets/forms.h"
#include "hardware/secrets/names.h"
#include "hardware/secrets/randomness.h"

namespace aaco::hardware::secrets {
namespace {

constexpr std::string_view kSpace = " \t\n\r";

// Options of well-known programs whose value is a password, next to or attached to the option.
struct PasswordOption {
  std::string_view program;
  std::string_view option;
  std::string_view subcommand;  // only with it
};
constexpr PasswordOption kPasswordOptions[] = {{"mysql", "-p", ""},
                                               {"mysqldump", "-p", ""},
                                               {"mysqladmin", "-p", ""},
                                               {"mysqlimport", "-p", ""},
                                               {"mysqlshow", "-p", ""},
                                               {"mysqlcheck", "-p", ""},
                                               {"mariadb", "-p", ""},
                                               {"mariadb-dump", "-p", ""},
                                               {"mariadb-admin", "-p", ""},
                                               {"sshpass", "-p", ""},
                                               {"7z", "-p", ""},
                                               {"7za", "-p", ""},
                                               {"rar", "-p", ""},
                                               {"unrar", "-p", ""},
                                               {"mongo", "-p", ""},
                                               {"mongosh", "-p", ""},
                                               {"mongodump", "-p", ""},
                                               {"mongorestore", "-p", ""},
                                               {"mongoexport", "-p", ""},
                                               {"mongoimport", "-p", ""},
                                               {"cqlsh", "-p", ""},
                                               {"docker", "-p", "login"},
                                               {"podman", "-p", "login"},
                                               {"nerdctl", "-p", "login"},
                                               {"helm", "-p", "login"},
                                               {"az", "-p", "login"},
                                               {"skopeo", "-p", "login"},
                                               {"zip", "-P", ""},
                                               {"unzip", "-P", ""},
                                               {"ipmitool", "-P", ""},
                                               {"sqlcmd", "-P", ""},
                                               {"bcp", "-P", ""},
                                               {"tsql", "-P", ""},
                                               {"isql", "-P", ""},
                                               {"mosquitto_pub", "-P", ""},
                                               {"mosquitto_sub", "-P", ""},
                                               {"ldapsearch", "-w", ""},
                                               {"ldapadd", "-w", ""},
                                               {"ldapmodify", "-w", ""},
                                               {"ldapdelete", "-w", ""},
                                               {"ldapwhoami", "-w", ""},
                                               {"ldappasswd", "-w", ""},
                                               {"ldappasswd", "-s", ""},
                                               {"redis-cli", "-a", ""},
                                               {"redis-benchmark", "-a", ""},
                                               {"memtier_benchmark", "-a", ""},
                                               {"openssl", "-k", ""},
                                               {"openssl", "-K", ""},
                                               {"snmpwalk", "-c", ""},
                                               {"snmpget", "-c", ""},
                                               {"snmpwalk", "-A", ""},
                                               {"snmpwalk", "-X", ""}};

template <class F>
bool any_of(std::string_view text, F&& test) {
  return std::any_of(text.begin(), text.end(), test);
}
bool numeric(std::string_view text) { return text.find_first_not_of("0123456789.:,-/") == std::string_view::npos; }

// "fp16", "gfx942", "x264": a few letters and a number.
bool is_short_designation(std::string_view value) {
  const auto digits = std::find_if(value.begin(), value.end(), is_digit);
  return value.size() <= 8 && digits - value.begin() <= 4 && digits != value.end() &&
         std::all_of(value.begin(), digits, is_lower) && std::all_of(digits, value.end(), [](char c) { return is_digit(c); });
}
// "-pX" of an unknown program: a password where X mixes letters with digits or signs; "-p8080", "-pthread", "-p0.5" and paths are
// none.
bool is_attached_password(std::string_view value) {
  const bool letters = any_of(value, [](char c) { return is_lower(c) || is_upper(c); });
  const bool more =
      any_of(value, [](char c) { return is_digit(c) || std::string_view("!@#$%^&*?+").find(c) != std::string_view::npos; });
  return value.size() >= 5 && letters && more && value.find_first_of("/=:,") == std::string_view::npos &&
         !is_short_designation(value);
}
// "-p X" of an unknown program: only what can hardly be anything else.
bool is_strong_password(std::string_view value) {
  const int classes =
      static_cast<int>(any_of(value, is_digit)) + static_cast<int>(any_of(value, is_lower)) +
      static_cast<int>(any_of(value, is_upper)) +
      static_cast<int>(any_of(value, [](char c) { return std::string_view("!@#$%^&*?+").find(c) != std::string_view::npos; }));
  return value.size() >= 8 && classes >= 3 && value.find_first_of("/=:,.-_") == std::string_view::npos;
}
// "user:password", "user%password"; not "1000:1000" and, but for curl, not "host:8001".
bool is_user_with_password(std::string_view value, bool in_container, bool may_be_port) {
  const std::size_t sign = value.find_first_of(":%");
  if (sign == std::string_view::npos || sign + 1 >= value.size() || numeric(value) || value[0] == '/') return false;
  if (may_be_port && value.size() - sign <= 6 &&
      std::all_of(value.begin() + static_cast<std::ptrdiff_t>(sign) + 1, value.end(), is_digit))
    return false;
  return !in_container && value.substr(sign + 1, 1) != "/" && value.substr(0, sign).find('/') == std::string_view::npos;
}

// What comes before the credentials of a header.
bool is_scheme(std::string_view word) {
  const std::string lower = core::to_lower(word);
  constexpr std::string_view kSchemes[] = {"basic",     "bearer", "digest", "token",           "apikey",
                                           "negotiate", "ntlm",   "hmac",   "aws4-hmac-sha256"};
  return std::find(std::begin(kSchemes), std::end(kSchemes), lower) != std::end(kSchemes);
}

class Cleaner {
 public:
  CleanWords clean(const std::vector<std::string>& words) {
    for (const std::string& word : words) result_.words.push_back(clean_one(word));
    return std::move(result_);
  }

 private:
  // What the words before say about the next one.
  enum class Expects { anything, value_of_name, value_of_header, password, user_with_password, strong_password, assignment };

  std::string removed(std::string_view kept = {}) {
    ++result_.removed;
    return std::string(kept) + std::string(kReplacement);
  }

  [[nodiscard]] bool has_password(std::string_view value) const {
    return is_user_with_password(value, program_is_container_, program_ != "curl" && program_ != "wget");
  }

  std::string clean_one(const std::string& word) {
    const Expects expects = std::exchange(expects_, Expects::anything);
    const NameKind named = std::exchange(named_, NameKind::plain);
    if (const auto value = as_value(word, expects, named)) return *value;
    std::string clean = is_option(word) ? clean_option(word) : clean_operand(word);
    before_ = word;
    return clean;
  }

  static bool is_option(std::string_view word) {
    return word.starts_with('-') && word.size() > 1 && word.find_first_of(kSpace) == std::string_view::npos;
  }

  // The word is the value that the option before it asked for.
  std::optional<std::string> as_value(const std::string& word, Expects expects, NameKind named) {
    switch (expects) {
      case Expects::value_of_name:
        return !word.starts_with("--") && must_remove(named, word) ? std::optional(removed()) : std::nullopt;
      case Expects::value_of_header:
        if (!is_scheme(word)) return must_remove(named, word) ? std::optional(removed()) : std::nullopt;
        expects_ = Expects::password;
        return word;
      case Expects::password: return std::optional(removed());
      case Expects::user_with_password: return has_password(word) ? std::optional(removed()) : std::nullopt;
      case Expects::strong_password: return is_strong_password(word) ? std::optional(removed()) : std::nullopt;
      case Expects::assignment: {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) return std::nullopt;
        return removed(std::string_view(word).substr(0, equals + 1));
      }
      case Expects::anything: return std::nullopt;
    }
    return std::nullopt;
  }

  std::string clean_option(const std::string& word) {
    const std::string_view text = word;
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) return clean_assignment(word, equals);
    for (const PasswordOption& known : kPasswordOptions) {
      if (known.program != program_ || !text.starts_with(known.option)) continue;
      if (!known.subcommand.empty() && known.subcommand != subcommand_) continue;
      if (text.size() > known.option.size()) return removed(known.option);
      // The mysql family asks for its password when "-p" stands alone.
      if (!program_.starts_with("mysql") && !program_.starts_with("mariadb")) expects_ = Expects::password;
      return word;
    }
    if (text == "-u" || text == "-U" || text == "--user" || text == "--proxy-user" || text == "-user") {
      expects_ = Expects::user_with_password;
    } else if (text == "--from-literal") {
      expects_ = Expects::assignment;
    } else if (text == "-p") {
      expects_ = Expects::strong_password;
    } else if (text.starts_with("-u") && has_password(text.substr(2))) {
      return removed("-u");
    } else if (text.starts_with("-p") && is_attached_password(text.substr(2))) {
      return removed("-p");
    } else if (named_ = kind_of_name(text); named_ != NameKind::plain) {
      expects_ = Expects::value_of_name;
    }
    return is_secret_value(text) ? removed() : word;
  }

  std::string clean_operand(const std::string& word) {
    const std::string_view text = word;
    if (const std::size_t space = text.find_first_of(kSpace); space != std::string_view::npos) {
      const std::size_t equals = text.find('=');
      const bool named = text.starts_with('-') && equals < space && kind_of_name(text.substr(0, equals)) != NameKind::plain;
      return named ? clean_assignment(word, equals) : clean_nested(word);  // "--token= X"
    }
    note_program(text);
    if (const std::size_t equals = text.find('='); equals != std::string_view::npos) return clean_assignment(word, equals);
    if (text.starts_with("/p:") && text.size() > 3) return removed("/p:");
    const NameKind kind = kind_of_name(text);
    if (kind != NameKind::plain && text.ends_with(':')) {
      named_ = kind;  // "Authorization: Basic X" without quotes
      expects_ = Expects::value_of_header;
      return word;
    }
    if (kind == NameKind::password && text.find_first_of("/.:") == std::string_view::npos && is_bare_name(text)) {
      named_ = kind;  // "login NAME password X"
      expects_ = Expects::value_of_name;
    } else if (kind != NameKind::plain && core::to_lower(before_) == "set") {
      named_ = kind;  // "aws configure set aws_secret_access_key X"
      expects_ = Expects::value_of_name;
    }
    return is_secret_value(text) ? removed() : word;
  }

  static bool is_bare_name(std::string_view text) {
    return text == "password" || text == "passwd" || text == "passphrase" || text == "Password";
  }

  // "--token=X", "DB_PASSWORD=X", "--user=name:X", "--from-literal=name=X".
  std::string clean_assignment(const std::string& word, std::size_t equals) {
    const std::string_view text = word, name = text.substr(0, equals), value = text.substr(equals + 1);
    const bool is_name =
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == std::string_view::npos;
    if (!is_name) return is_secret_value(text) ? removed() : word;
    const std::string_view kept = text.substr(0, equals + 1);
    if (must_remove(kind_of_name(name), value)) return removed(kept);
    if ((name == "--user" || name == "--proxy-user") && has_password(value)) return removed(kept);
    if (name == "--from-literal") return removed(kept);
    if (is_secret_value(value) || is_secret_value(text)) return removed(kept);
    if (value.find_first_of(kSpace) == std::string_view::npos) return word;
    return std::string(kept) + clean_nested(std::string(value));
  }

  // A script: its words are cleaned one by one; where something secret remains, the whole of it goes.
  std::string clean_nested(const std::string& text) {
    if (text.find("PRIVATE KEY") != std::string::npos) return removed();
    constexpr std::string_view kQuotes = "\"'`();|&";
    std::string clean;
    Cleaner inner;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t space_end = std::min(text.find_first_not_of(kSpace, at), text.size());
      clean += text.substr(at, space_end - at);
      const std::size_t word_end = std::min(text.find_first_of(kSpace, space_end), text.size());
      std::string_view word = std::string_view(text).substr(space_end, word_end - space_end);
      const std::size_t open = std::min(word.find_first_not_of(kQuotes), word.size());
      const std::size_t close = word.find_last_not_of(kQuotes);
      clean += word.substr(0, open);
      if (open < word.size()) {
        clean += inner.clean_one(std::string(word.substr(open, close + 1 - open)));
        clean += word.substr(close + 1);
      }
      at = word_end;
    }
    result_.removed += inner.result_.removed;
    return is_secret_value(core::replace_all(clean, kReplacement, "")) ? removed() : clean;
  }

  void note_program(std::string_view word) {
    const std::string_view name = word.substr(word.rfind('/') == std::string_view::npos ? 0 : word.rfind('/') + 1);
    if (name == "login") subcommand_ = name;
    const bool known = std::any_of(std::begin(kPasswordOptions), std::end(kPasswordOptions),
                                   [&](const PasswordOption& option) { return option.program == name; });
    if (!known && name != "curl" && name != "wget") return;
    program_ = name;
    subcommand_.clear();
    program_is_container_ = name == "docker" || name == "podman" || name == "nerdctl";
  }

  CleanWords result_;
  Expects expects_ = Expects::anything;
  NameKind named_ = NameKind::plain;
  std::string before_, program_, subcommand_;
  bool program_is_container_ = false;
};

}  // namespace

bool is_secret_value(std::string_view value) { return has_secret_form(value) || has_random_part(value); }

CleanWords clean_words(const std::vector<std::string>& words) { return Cleaner().clean(words); }

}  // namespace aaco::hardware::secrets
