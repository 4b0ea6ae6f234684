#include "hardware/secrets/forms.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "core/strings.h"
#include "hardware/secrets/characters.h"
#include "hardware/secrets/names.h"

namespace aaco::hardware::secrets {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// What tokens of public services begin with.
constexpr std::string_view kBeginnings[] = {"ghp_",
                                            "gho_",
                                            "ghu_",
                                            "ghs_",
                                            "ghr_",
                                            "github_pat_",  // GitHub
                                            "glpat-",
                                            "gldt-",
                                            "glrt-",
                                            "glcbt-",
                                            "glptt-",
                                            "glft-",
                                            "glsoat-",
                                            "glimt-",
                                            "glagent-",
                                            "gloas-",
                                            "GR1348941",  // GitLab
                                            "sk-",
                                            "hf_",
                                            "api_org_",
                                            "nvapi-",
                                            "r8_",
                                            "gsk_",
                                            "tgp_v1_",
                                            "pplx-",
                                            "xai-",
                                            "fw_",
                                            "lsv2_pt_",
                                            "lsv2_sk_",
                                            "pcsk_",  // models
                                            "xoxa-",
                                            "xoxb-",
                                            "xoxe-",
                                            "xoxe.",
                                            "xoxo-",
                                            "xoxp-",
                                            "xoxr-",
                                            "xoxs-",
                                            "xapp-",  // Slack
                                            "AKIA",
                                            "ASIA",
                                            "ABIA",
                                            "ACCA",
                                            "AROA",
                                            "AIDA",
                                            "LTAI",
                                            "AKID",  // clouds
                                            "AIza",
                                            "ya29.",
                                            "GOCSPX-",
                                            "1//0",
                                            "EAA",
                                            "dop_v1_",
                                            "doo_v1_",
                                            "dor_v1_",
                                            "fo1_",
                                            "FlyV1",
                                            "HRKU-",
                                            "rnd_",
                                            "npm_",
                                            "pypi-",
                                            "rubygems_",
                                            "dckr_pat_",
                                            "dckr_oat_",
                                            "oy2",
                                            "CCIPAT_",
                                            "ATATT3",
                                            "ATBB",
                                            "ATCTT3",
                                            "BBDC-",
                                            "sk_",
                                            "rk_live_",
                                            "rk_test_",
                                            "pk_live_",
                                            "whsec_",
                                            "sq0atp-",
                                            "sq0csp-",
                                            "shpat_",
                                            "shpca_",
                                            "shppa_",
                                            "shpss_",
                                            "SG.",
                                            "key-",
                                            "xkeysib-",
                                            "EZAK",
                                            "EZTK",
                                            "duffel_",
                                            "shippo_",  // payment and mail
                                            "dapi",
                                            "hvs.",
                                            "hvb.",
                                            "hvr.",
                                            "s.",
                                            "pul-",
                                            "glsa_",
                                            "glc_",
                                            "NRAK-",
                                            "NRJS-",
                                            "NRII-",
                                            "sntrys_",
                                            "sntryu_",
                                            "dp.pt.",
                                            "dp.st.",
                                            "sbp_",
                                            "sb_secret_",
                                            "nfp_",
                                            "vercel_",
                                            "pscale_",
                                            "lin_api_",
                                            "PMAK-",
                                            "figd_",
                                            "secret_",
                                            "ntn_",
                                            "tfp_",
                                            "CFPAT-",
                                            "ops_",
                                            "AGE-SECRET-KEY-",
                                            "eyJ",
                                            "v1.0-",
                                            "cio_",
                                            "dt0c01.",
                                            "tskey-",
                                            "patk",
                                            "pat-na1-"};
constexpr std::string_view kPlaces[] = {"hooks.slack.com/services/",     "/api/webhooks/",
                                        "webhook.office.com/webhookb2/", "-----BEGIN",
                                        "PuTTY-User-Key-File",           ".atlasv1."};

// What follows a known beginning is a token where it is one long run, or shorter and no word.
bool is_token_body(std::string_view body) {
  constexpr std::size_t kLongRun = 16, kShort = 12;
  const auto run = static_cast<std::size_t>(std::find_if_not(body.begin(), body.end(), is_alnum) - body.begin());
  return run >= kLongRun || (body.size() >= kShort && std::any_of(body.begin(), body.end(), is_digit) &&
                             std::any_of(body.begin(), body.end(), is_upper));
}

bool has_known_beginning(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && std::string_view(" \t\n,;:='\"/@%([{?&").find(text[i - 1]) == kNone) continue;
    std::string_view rest = text.substr(i);
    rest = rest.substr(0, rest.find_first_of(" \t\n,;'\")]}"));
    for (const std::string_view beginning : kBeginnings)
      if (rest.starts_with(beginning) && is_token_body(rest.substr(beginning.size()))) return true;
  }
  return false;
}

// "AC" or "SK" and 32 hexadecimal digits; "1234567890:" and 35 letters; an AWS secret is found by its disorder.
bool has_counted_form(std::string_view text) {
  if (text.size() == 34 && (text.starts_with("SK") || text.starts_with("AC")))
    return std::all_of(text.begin() + 2, text.end(), [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
  const std::size_t colon = text.find(':');
  return colon != kNone && colon >= 8 && colon <= 10 && text.size() - colon == 36 &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_digit);
}

bool is_version_control(std::string_view scheme) {
  return scheme.ends_with("ssh") || scheme.ends_with("git") || scheme == "sftp" || scheme == "scp" || scheme == "rsync";
}

// "scheme://user:pass@host" and "https://token@host", also in the middle of a text.
bool has_user_in_url(std::string_view text) {
  for (std::size_t at = text.find("://"); at != kNone; at = text.find("://", at + 3)) {
    std::size_t begin = at;
    while (begin > 0 && (is_alnum(text[begin - 1]) || text[begin - 1] == '+')) --begin;
    const std::string_view scheme = text.substr(begin, at - begin);
    const std::string_view rest = text.substr(at + 3, text.find_first_of(" \t\n\"'`<>", at + 3) - (at + 3));
    const std::size_t sign = rest.find('@'), slash = rest.find_first_of("/?#"), colon = rest.find(':');
    if (sign == kNone) continue;
    const bool inside_authority = slash == kNone || sign < slash;
    if (inside_authority && colon == kNone && (is_version_control(scheme) || !scheme.starts_with("http"))) continue;
    if (inside_authority && (colon == kNone || colon > sign)) {
      if (scheme.starts_with("http")) return true;
      continue;
    }
    if (inside_authority) return true;
    // A password with a slash in it; after a colon and digits the slash begins a path.
    if (colon == kNone || colon > slash) continue;
    const std::string_view port = rest.substr(colon + 1, slash - colon - 1);
    if (port.empty() || !std::all_of(port.begin(), port.end(), is_digit)) return true;
  }
  return false;
}

// "user:pass@tcp(host)", "user:pass@host:5432/db": addresses without a scheme. "image:tag@sha256:..." and "name:tag@1.2" are
// none.
bool has_user_without_scheme(std::string_view text) {
  const std::size_t sign = text.rfind('@');
  if (sign == kNone || sign + 1 == text.size() || text.find("://") != kNone || text.find_first_of(" \t\n") != kNone) return false;
  const std::size_t colon = text.find(':');
  if (colon == kNone || colon == 0 || colon + 1 >= sign || text.substr(0, colon).find('/') != kNone) return false;
  const std::string_view host = text.substr(sign + 1);
  if (host.starts_with("sha256:") || host.starts_with("sha512:")) return false;
  const bool is_address = host.find_first_of(":/(") != kNone || host.find('.') != kNone || host == "localhost";
  return is_address && (is_letter(host[0]) || host[0] == '[' || std::count(host.begin(), host.end(), '.') >= 3);
}

std::string_view name_before(std::string_view text, std::size_t sign) {
  std::size_t end = sign;
  while (end > 0 && std::string_view("\"' \\").find(text[end - 1]) != kNone) --end;
  std::size_t begin = end;
  while (begin > 0 && (is_alnum(text[begin - 1]) || std::string_view("_-.").find(text[begin - 1]) != kNone)) --begin;
  if (text[sign] == ':' && begin > 0 && std::string_view("/\\@:").find(text[begin - 1]) != kNone) return {};
  return text.substr(begin, end - begin);
}

std::string_view value_after(std::string_view text, std::size_t sign) {
  std::size_t begin = sign + 1;
  while (begin < text.size() && std::string_view("\"' \\=>").find(text[begin]) != kNone) ++begin;
  return text.substr(begin, text.find_first_of("\"'&;,} \t\n\\", begin) - begin);
}

// "?sig=...", "&access_token=...", "password=...", "{\"token\": ...", "X-Api-Key: ..." inside a text.
bool has_secret_assignment(std::string_view text) {
  for (std::size_t sign = text.find_first_of("=:"); sign != kNone; sign = text.find_first_of("=:", sign + 1)) {
    const std::string_view value = value_after(text, sign);
    if (text[sign] == ':' && value.starts_with("//")) continue;
    const std::string_view name = name_before(text, sign);
    if (!name.empty() && must_remove(kind_of_name(name), value)) return true;
  }
  return false;
}

// "Bearer ...", "Basic dXNlcjpwdw==", "Token ...".
bool has_scheme_and_credential(std::string_view text) {
  const std::string lower = core::to_lower(text);
  for (const std::string_view scheme : {"bearer ", "basic ", "token ", "apikey ", "negotiate ", "aws4-hmac-sha256 "}) {
    const std::size_t at = lower.find(scheme);
    if (at == std::string::npos || (at > 0 && is_alnum(lower[at - 1]))) continue;
    const std::string_view credential =
        text.substr(at + scheme.size(), text.find_first_of(" \"'\n", at + scheme.size()) - (at + scheme.size()));
    if (scheme == "bearer " && !credential.empty()) return true;
    const bool mixed = std::any_of(credential.begin(), credential.end(), is_digit) ||
                       std::any_of(credential.begin(), credential.end(), is_upper) || credential.ends_with('=');
    if (credential.size() >= 8 && mixed) return true;
  }
  return false;
}

}  // namespace

bool has_secret_form(std::string_view text) {
  return std::any_of(std::begin(kPlaces), std::end(kPlaces), [&](std::string_view place) { return text.find(place) != kNone; }) ||
         has_user_in_url(text) || has_user_without_scheme(text) || has_secret_assignment(text) || has_known_beginning(text) ||
         has_counted_form(text) || has_scheme_and_credential(text);
}

}  // namespace aaco::hardware::secrets
