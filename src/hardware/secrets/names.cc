#include "hardware/secrets/names.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include "core/strings.h"
#include "hardware/secrets/characters.h"

namespace aaco::hardware::secrets {
namespace {

constexpr std::string_view kPasswordWords[] = {
    "password", "passwd",  "passphrase", "passcode", "passwort", "pwd",     "pw",  "pswd", "passw",  "psk", "userpass",
    "userpwd",  "sshpass", "storepass",  "keypass",  "passin",   "passout", "otp", "totp", "pgpass", "puk", "pincode"};
constexpr std::string_view kSecretWords[] = {"apikey",    "token",     "secret",     "secrets",   "credential",   "credentials",
                                             "creds",     "auth",      "oauth",      "cookie",    "cookies",      "bearer",
                                             "sig",       "webhook",   "dsn",        "jwt",       "pat",          "sas",
                                             "csrf",      "xsrf",      "sessionid",  "phpsessid", "jsessionid",   "privatekey",
                                             "secretkey", "accesskey", "accountkey", "pass",      "authorization"};
constexpr std::string_view kPasswordParts[] = {"password", "passwd", "passphrase"};
constexpr std::string_view kSecretParts[] = {"secret",     "credential", "apikey",     "accesskey",
                                             "privatekey", "authtoken",  "accesstoken"};
// With one of these a "key" opens something; with one of those below it finds something.
constexpr std::string_view kKeyOwners[] = {
    "api",     "access",       "account",   "secret",  "shared", "encryption", "signing", "ssh",  "master",
    "license", "subscription", "storage",   "service", "deploy", "consumer",   "app",     "hmac", "aes",
    "ingest",  "admin",        "functions", "auth",    "client", "private",    "root",    "user", "instrumentation"};
constexpr std::string_view kHarmlessKeys[] = {"sort",  "primary", "foreign", "partition", "shard", "group", "public",
                                              "cache", "kv",      "hash",    "num",       "order", "join",  "index"};
// With one of these a "token" is a piece of text for a language model.
constexpr std::string_view kTextTokens[] = {
    "max",  "min",        "num",         "number", "count",  "per",    "limit",     "length", "len",
    "size", "budget",     "batched",     "eos",    "bos",    "pad",    "unk",       "sep",    "cls",
    "mask", "special",    "stop",        "total",  "prompt", "output", "generated", "type",   "level",
    "rate", "throughput", "speculative", "draft",  "image",  "add",    "ignore",    "skip",   "decode"};
// What may follow such a part within one word; otherwise it is the beginning of another word ("secretary").
constexpr std::string_view kAfterParts[] = {"key",    "id",   "value", "token",  "access", "word", "text",
                                            "string", "data", "hash",  "base64", "b64",    "hex"};
// Where threads run, and other pins that open nothing.
constexpr std::string_view kThreadPlaces[] = {"cpu",     "cpus", "core",  "cores",  "thread",  "threads", "socket",
                                              "sockets", "numa", "node",  "nodes",  "package", "memory",  "host",
                                              "gpu",     "all",  "close", "spread", "compact", "scatter", "strict"};
// A name that ends so describes the secret, not its value.
constexpr std::string_view kDescriptions[] = {
    "file",     "path",   "dir",     "folder",   "filename", "type",     "len",        "length",  "size",        "enabled",
    "required", "policy", "expiry",  "expires",  "ttl",      "format",   "algorithm",  "version", "method",      "mode",
    "provider", "helper", "manager", "backend",  "endpoint", "url",      "uri",        "count",   "parallelism", "dtype",
    "bits",     "cache",  "heads",   "jar",      "store",    "keystore", "truststore", "dim",     "name",        "names",
    "prompt",   "stdin",  "fd",      "rotation", "scheme",   "checking"};
constexpr std::string_view kSwitches[] = {"true", "false",   "yes",      "no",       "on",      "off",      "none", "null",
                                          "auto", "default", "required", "optional", "enabled", "disabled", "0",    "1"};
constexpr std::string_view kAuthMethods[] = {"basic",     "digest",    "ntlm",   "kerberos", "gssapi", "oauth", "oauth2",
                                             "oidc",      "jwt",       "mtls",   "iam",      "sso",    "ldap",  "saml",
                                             "negotiate", "anonymous", "radius", "pam",      "md5",    "trust", "peer"};

template <class List>
bool among(std::string_view word, const List& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}
bool among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
template <class List>
bool any_among(const std::vector<std::string>& words, const List& wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return among(word, wanted); });
}
template <class List>
bool has_part(std::string_view word, const List& parts) {
  return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) {
    const std::size_t at = word.find(part);
    if (at == std::string_view::npos) return false;
    std::string_view rest = word.substr(at + part.size());
    if (rest.starts_with('s')) rest.remove_prefix(1);
    while (!rest.empty() && is_digit(rest.front())) rest.remove_prefix(1);
    return rest.empty() || std::any_of(std::begin(kAfterParts), std::end(kAfterParts),
                                       [&](std::string_view next) { return rest.starts_with(next); });
  });
}

// "clientSecretKey", "APIKey" and "client-secret_key" in lower-case words.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool open = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_alnum(name[i])) {
      open = false;
      continue;
    }
    const bool after_lower = i > 0 && is_lower(name[i - 1]) && is_upper(name[i]);
    const bool last_of_capitals =
        i > 0 && i + 1 < name.size() && is_upper(name[i - 1]) && is_upper(name[i]) && is_lower(name[i + 1]);
    if (!open || after_lower || last_of_capitals) words.emplace_back();
    open = true;
    words.back().push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(name[i]))));
  }
  return words;
}

NameKind kind_of_word(const std::string& word, const std::vector<std::string>& words) {
  if (among(word, kPasswordWords) || has_part(word, kPasswordParts)) return NameKind::password;
  if (word == "token" || word == "tokens" || (word.size() > 5 && word.ends_with("token"))) {
    if (any_among(words, kTextTokens) || (word != words.back() && words.back() == "id")) return NameKind::plain;
    return word == "tokens" ? NameKind::ambiguous : NameKind::secret;
  }
  if (among(word, kSecretWords) || has_part(word, kSecretParts)) return NameKind::secret;
  if (word == "pin" && word == words.back()) return NameKind::pin;
  if (word == "key" || word == "keys") {
    if (any_among(words, kHarmlessKeys)) return NameKind::plain;
    return any_among(words, kKeyOwners) ? NameKind::secret : NameKind::ambiguous;
  }
  if (among(word, {"cert", "certificate", "private", "signature"})) return NameKind::ambiguous;
  if (word == "connection" && (among("string", words) || among("str", words))) return NameKind::password;
  return NameKind::plain;
}

bool is_number(std::string_view value) {
  return !value.empty() && value.find_first_not_of("0123456789.") == std::string_view::npos;
}
// "$TOKEN", "${TOKEN}": the name of a secret.
bool is_reference(std::string_view value) {
  if (!value.starts_with('$')) return false;
  value.remove_prefix(1);
  if (value.starts_with('{') && value.ends_with('}')) value = value.substr(1, value.size() - 2);
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}
// "0-3", "0,1": CPUs. A word: a place.
bool is_placement(const std::string& lower) {
  const bool list =
      lower.find_first_not_of("0123456789,-:") == std::string::npos && lower.find_first_of(",-:") != std::string::npos;
  return list || among(lower, kThreadPlaces);
}
bool is_path(std::string_view value) {
  if (value.starts_with('/') || value.starts_with("./") || value.starts_with("../") || value.starts_with("~/")) return true;
  return value.find("://") == std::string_view::npos && value.size() > 4 &&
         among(value.substr(value.rfind('.') == std::string_view::npos ? value.size() : value.rfind('.')),
               {".pem", ".key", ".crt", ".cer", ".p12", ".pub", ".json", ".txt", ".yaml"});
}
// The shell's PWD is a folder, a database's PWD is a password.
bool is_folder(std::string_view value) {
  return value.starts_with('/') && value.find('/', 1) != std::string_view::npos &&
         std::none_of(value.begin(), value.end(), [](char c) { return is_upper(c) || c == '+' || c == '='; });
}
bool is_plain_word(std::string_view value) {
  constexpr std::size_t kLongestWord = 24;
  constexpr std::size_t kLongestMixed = 8;
  const bool letters = std::all_of(value.begin(), value.end(), [](char c) {
    return is_lower(c) || is_upper(c) || c == '-' || c == '_' || c == '.' || c == ',';
  });
  const bool mixed =
      std::all_of(value.begin(), value.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == ','; });
  return (letters && value.size() <= kLongestWord) || (mixed && value.size() <= kLongestMixed);
}

}  // namespace

NameKind kind_of_name(std::string_view name) {
  const auto words = words_of(name);
  if (words.empty() || among(words.back(), kDescriptions)) {
    // A webhook's address is its secret.
    return among("webhook", words) && (words.back() == "url" || words.back() == "uri") ? NameKind::secret : NameKind::plain;
  }
  NameKind kind = NameKind::plain;
  for (const std::string& word : words) kind = std::max(kind, kind_of_word(word, words));
  return kind;
}

bool must_remove(NameKind kind, std::string_view value) {
  constexpr std::size_t kLongestCount = 3;
  const std::string lower = core::to_lower(value);
  if (kind == NameKind::plain || value.empty() || among(lower, kSwitches) || is_reference(value)) return false;
  if (kind == NameKind::password) return !is_folder(value);
  if (among(lower, kAuthMethods)) return false;
  if (kind == NameKind::pin && (is_placement(lower) || is_path(value))) return false;
  if (kind == NameKind::secret || kind == NameKind::pin) return !is_number(value) || value.size() > kLongestCount;
  return !is_number(value) && !is_path(value) && !is_plain_word(value);
}

}  // namespace aaco::hardware::secrets
