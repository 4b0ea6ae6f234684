#include "workflows/llm/token_counter.h"

#include <fmt/format.h>

#include "core/http.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kCountTimeoutNs = 10'000'000'000;
constexpr std::int64_t kMaxCountReply = 64 << 20;

}  // namespace

core::Result<std::int64_t> TokenCounter::count(const std::string& text) const {
  if (tokenizer_) return tokenizer_->count(text);
  Json body = request_;
  body.set(text_key_, text);
  AACO_ASSIGN(const core::HttpReply reply, core::http_send({.method = "POST",
                                                            .url = url_,
                                                            .body = body.dump(-1),
                                                            .headers = headers_,
                                                            .timeout_ns = kCountTimeoutNs,
                                                            .reply_limit_bytes = kMaxCountReply}));
  if (reply.status != 200) return core::fail(ErrorCode::io, fmt::format("{} answered HTTP {}", url_, reply.status));
  AACO_ASSIGN(const Json document, Json::parse(reply.body));
  if (const auto count = document["count"].as_i64(); count && *count >= 0) return *count;  // vLLM
  if (document["tokens"].is_array()) return static_cast<std::int64_t>(document["tokens"].items().size());
  return core::fail(ErrorCode::invalid_input, url_ + " returned no tokens");
}

core::Result<std::optional<TokenCounter>> TokenCounter::find(const std::string& tokenizer_file, const serving::Target& target,
                                                             const std::string& model) {
  TokenCounter counter;
  if (!tokenizer_file.empty()) {
    AACO_ASSIGN(counter.tokenizer_, serving::Tokenizer::load(tokenizer_file));
    return std::optional(std::move(counter));
  }
  counter.headers_ = target.headers;
  const std::string root = fmt::format("{}://{}", target.tls ? "https" : "http", target.host_header());
  const std::string above =
      target.base_path.substr(0, target.base_path.rfind('/') == std::string::npos ? 0 : target.base_path.rfind('/'));
  for (const std::string& folder : {root + above, root, root + target.base_path}) {
    counter.url_ = folder + "/tokenize";
    for (const bool llama : {false, true}) {
      counter.text_key_ = llama ? "content" : "prompt";
      counter.request_ = llama ? Json::object() : Json::object({{"model", model}, {"add_special_tokens", false}});
      // llama.cpp answers a request without its key with no tokens at all.
      if (const auto tried = counter.count("one two three"); tried && *tried > 0) return std::optional(std::move(counter));
    }
  }
  return std::nullopt;
}

}  // namespace aaco::workflows
