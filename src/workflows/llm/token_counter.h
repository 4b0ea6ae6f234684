#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"
#include "core/result.h"
#include "serving/fetch.h"
#include "serving/target.h"
#include "serving/tokenizer.h"

namespace aaco::workflows {

// Counts tokens of answers where the server's stream does not: by a tokenizer.json, or by the server's own /tokenize (vLLM's and
// llama.cpp's form).
class TokenCounter {
 public:
  // With a file: that; fails where it cannot be read. Otherwise /tokenize below the API's path or beside it; empty where the
  // server has none.
  static core::Result<std::optional<TokenCounter>> find(const std::string& tokenizer_file, const serving::Target& target,
                                                        const std::string& model);
  core::Result<std::int64_t> count(const std::string& text) const;
  // As the column token_source of llm_requests has it; valid for the life of the program.
  [[nodiscard]] std::string_view source() const { return tokenizer_ ? "tokenizer" : "tokenize"; }

 private:
  TokenCounter() = default;
  std::optional<serving::Tokenizer> tokenizer_;
  std::optional<serving::Fetcher> fetcher_;
  std::string path_, text_key_;
  core::Json request_;
};

}  // namespace aaco::workflows
