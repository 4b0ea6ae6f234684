#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace aaco::serving {

// A tokenizer.json of the Hugging Face form: models BPE and Unigram, with the normalizers and pre-tokenizers that the common
// language models use. Whatever it has that changes tokens and is not known here is refused, so that a count is right or absent.
class Tokenizer {
 public:
  static core::Result<Tokenizer> load(const std::string& path);
  // Fails with invalid_input on a document that is damaged, with unsupported on a part that is not known, naming it.
  static core::Result<Tokenizer> parse(const core::Json& document);
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();
  // Ids of the text's tokens, without the tokens that a template adds.
  [[nodiscard]] std::vector<std::int64_t> encode(std::string_view text) const;
  [[nodiscard]] std::int64_t count(std::string_view text) const { return static_cast<std::int64_t>(encode(text).size()); }

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace aaco::serving
