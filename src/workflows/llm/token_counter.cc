#include "workflows/llm/token_counter.h"

#include <fmt/format.h>
namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kCountTimeoutNs = 10'000'000'000;
constexpr std::size_t kMaxCountReply = 64 << 20;

}  // namespace

core::Result<std::int64_t> TokenCounter::count(const std::string& text) const {
  if (tokenizer_) return tokenizer_->count(text);
  Json body = request_;
  body.set(text_key_, text);
  AACO_ASSIGN(const serving::Fetched reply, fetcher_->fetch({path_, body.dump(-1), kCountTimeoutNs, kMaxCountReply}));
  if (reply.outcome != serving::Outcome::ok) return core::fail(ErrorCode::io, path_ + ": " + reply.detail);
  if (reply.status != 200) return core::fail(ErrorCode::io, fmt::format("{} answered HTTP {}", path_, reply.status));
  AACO_ASSIGN(const Json document, Json::parse(reply.body));
  if (const auto count = document["count"].as_i64(); count && *count >= 0) return *count;  // vLLM
  if (document["tokens"].is_array()) return static_cast<std::int64_t>(document["tokens"].items().size());
  return core::fail(ErrorCode::invalid_input, path_ + " returned no tokens");
}

core::Result<std::optional<TokenCounter>> TokenCounter::find(const std::string& tokenizer_file, const serving::Target& target,
                                                             const std::string& model) {
  TokenCounter counter;
  if (!tokenizer_file.empty()) {
    AACO_ASSIGN(counter.tokenizer_, serving::Tokenizer::load(tokenizer_file));
    return std::optional(std::move(counter));
  }
  serving::Target root = target;
  root.base_path.clear();
  AACO_ASSIGN(auto fetcher, serving::Fetcher::open(root, kCountTimeoutNs));
  counter.fetcher_ = std::move(fetcher);
  const std::string above =
      target.base_path.substr(0, target.base_path.rfind('/') == std::string::npos ? 0 : target.base_path.rfind('/'));
  for (const std::string& folder : {above, std::string(), target.base_path}) {
    counter.path_ = folder + "/tokenize";
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
