#include "cli/output/remote_view.h"

#include "core/files.h"
#include "core/http.h"
#include "core/json.h"
#include "core/strings.h"

namespace aaco::cli {
namespace {

constexpr std::int64_t kRemoteTimeout_ns = 3'000'000'000;
constexpr std::int64_t kMaxRemoteReply = 8 << 20;
constexpr std::int64_t kMaxTokenFile = 4096;

// Where `aaco serve` on this port keeps its token (apps/server/token_file.h).
std::string usual_token_file(const std::string& host, const core::Environment& environment, const core::Paths& paths) {
  const auto runtime = environment.get("XDG_RUNTIME_DIR");
  const std::string name = "server-" + host.substr(host.rfind(':') + 1) + ".token";
  const std::string file = runtime ? core::join_path(core::join_path(*runtime, "aaco"), name) : "";
  return !file.empty() && core::exists(file) ? file : core::join_path(paths.registry, name);
}

core::Error unreachable(const std::string& url, const std::string& why) {
  return {core::ErrorCode::io, url + " does not answer: " + why, "start it there: aaco serve", {}};
}

}  // namespace

core::Result<RemoteView> RemoteView::open(const std::string& url, const std::string& token_file,
                                          const core::Environment& environment, const core::Paths& paths) {
  AACO_ASSIGN(const auto parts, core::split_url(url));
  if (!parts.second.empty() && parts.second != "/")
    return core::fail(core::ErrorCode::invalid_argument, "invalid server '" + url + "': expected http://HOST:PORT");
  const std::string file = token_file.empty() ? usual_token_file(parts.first, environment, paths) : token_file;
  const auto token = core::read_file(file, kMaxTokenFile);
  if (!token)
    return core::fail(core::ErrorCode::not_found, "cannot read the token of " + url + ": " + file,
                      "copy the server's token file here and name it with --token-file");
  return RemoteView(parts.first, std::string(core::trim(*token)));
}

core::Result<report::LiveView> RemoteView::read() const {
  core::HttpRequest request;
  request.url = url_ + "/api/v1/now";
  request.headers = {{"Authorization", "Bearer " + token_}};
  request.timeout_ns = kRemoteTimeout_ns;
  request.reply_limit_bytes = kMaxRemoteReply;
  const auto reply = core::http_send(request);
  if (!reply) return tl::unexpected(unreachable(url_, reply.error().message));
  if (reply->status == 401 || reply->status == 429)
    return core::fail(core::ErrorCode::permission, url_ + " refused the token", "name its token file with --token-file");
  if (reply->status != 200) return tl::unexpected(unreachable(url_, "status " + std::to_string(reply->status)));
  AACO_ASSIGN(const auto document, core::Json::parse(reply->body));
  return report::live_view_from_json(document);
}

}  // namespace aaco::cli
