#include "serving/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "core/files.h"
#include "core/numbers.h"
#include "serving/tokenizer/splitter.h"

namespace aaco::serving {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kMaxFile = std::int64_t{256} << 20;
constexpr double kUnknownPenalty = 10;  // below the worst piece (SentencePiece)

core::Error unsupported(std::string_view what, std::string_view name) {
  return {ErrorCode::unsupported,
          fmt::format("unsupported {} '{}' in the tokenizer", what, name.substr(0, 80)),
          "token counts stay unknown; use a server that reports usage",
          {}};
}
core::Error damaged(std::string_view why) {
  return {ErrorCode::invalid_input, fmt::format("the file is not a tokenizer.json: {}", why), {}, {}};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// One step before the model. Words go in, words come out.
struct Step {
  enum class Kind { prepend, replace, lower, split, byte_level, metaspace } kind = Kind::split;
  std::string from, to;
  bool flag = false;  // byte_level: put a space first; metaspace: split at the mark; prepend: unless the text starts with it
  std::optional<SplitPattern> pattern;
};

core::Status read_normalizer(const Json& json, std::vector<Step>& steps) {
  if (json.is_null()) return {};
  const std::string_view type = json["type"].text();
  if (type == "Sequence") {
    for (const Json& one : json["normalizers"].items()) AACO_TRY(read_normalizer(one, steps));
    return {};
  }
  // They leave ASCII as it is; text beyond it is almost always in the composed form.
  if (type == "NFC" || type == "NFKC" || type == "Precompiled") return {};
  if (type == "Prepend") {
    steps.push_back({Step::Kind::prepend, {}, std::string(json["prepend"].text()), false, {}});
    return {};
  }
  if (type == "Lowercase") {
    steps.push_back({Step::Kind::lower, {}, {}, false, {}});
    return {};
  }
  if (type == "Replace" && json["pattern"]["String"].is_string()) {
    steps.push_back(
        {Step::Kind::replace, std::string(json["pattern"]["String"].text()), std::string(json["content"].text()), false, {}});
    return {};
  }
  return tl::unexpected(unsupported("normalizer", type));
}

core::Status read_pre_tokenizer(const Json& json, std::vector<Step>& steps) {
  if (json.is_null()) return {};
  const std::string_view type = json["type"].text();
  if (type == "Sequence") {
    for (const Json& one : json["pretokenizers"].items()) AACO_TRY(read_pre_tokenizer(one, steps));
    return {};
  }
  if (type == "ByteLevel") {
    Step step{Step::Kind::byte_level, {}, {}, json["add_prefix_space"].as_bool().value_or(false), {}};
    if (json["use_regex"].as_bool().value_or(true)) step.pattern = SplitPattern{};
    steps.push_back(step);
    return {};
  }
  if (type == "Split") {
    const auto pattern = known_pattern(json["pattern"]["Regex"].text());
    if (!pattern || json["invert"].as_bool().value_or(false))
      return tl::unexpected(unsupported("pattern", json["pattern"].dump(-1)));
    if (json["behavior"].text() != "Isolated") return tl::unexpected(unsupported("behavior", json["behavior"].text()));
    steps.push_back({Step::Kind::split, {}, {}, false, pattern});
    return {};
  }
  if (type == "Metaspace") {
    const bool prefix = json.contains("prepend_scheme") ? json["prepend_scheme"].text() != "never"
                                                        : json["add_prefix_space"].as_bool().value_or(true);
    if (prefix) steps.push_back({Step::Kind::prepend, {}, std::string(json["replacement"].text()), true, {}});
    steps.push_back(
        {Step::Kind::metaspace, " ", std::string(json["replacement"].text()), json["split"].as_bool().value_or(true), {}});
    return {};
  }
  return tl::unexpected(unsupported("pre-tokenizer", type));
}

std::vector<std::string> split_before(const std::string& text, const std::string& mark) {
  if (mark.empty()) return {text};
  std::vector<std::string> words;
  std::size_t start = 0;
  for (std::size_t at = text.find(mark, mark.size()); at != std::string::npos; at = text.find(mark, at + mark.size())) {
    words.push_back(text.substr(start, at - start));
    start = at;
  }
  words.push_back(text.substr(start));
  return words;
}

void apply(const Step& step, std::vector<std::string>& words) {
  std::vector<std::string> next;
  for (std::string& word : words) {
    switch (step.kind) {
      case Step::Kind::prepend:
        // Metaspace does not put a second one.
        next.push_back(step.flag && (word.starts_with(step.to) || word.starts_with(' ')) ? std::move(word) : step.to + word);
        break;
      case Step::Kind::replace:
        replace_all(word, step.from, step.to);
        next.push_back(std::move(word));
        break;
      case Step::Kind::lower:
        for (char& c : word)
          if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
        next.push_back(std::move(word));
        break;
      case Step::Kind::metaspace: {
        replace_all(word, step.from, step.to);
        if (!step.flag) {
          next.push_back(std::move(word));
          break;
        }
        for (std::string& one : split_before(word, step.to)) next.push_back(std::move(one));
        break;
      }
      case Step::Kind::split:
        for (const std::string_view one : split_words_by(*step.pattern, word)) next.emplace_back(one);
        break;
      case Step::Kind::byte_level: {
        if (step.flag && !word.starts_with(' ')) word.insert(0, " ");
        if (!step.pattern) {
          next.push_back(byte_level(word));
          break;
        }
        for (const std::string_view one : split_words_by(*step.pattern, word)) next.push_back(byte_level(one));
        break;
      }
    }
  }
  words = std::move(next);
}

struct Piece {
  std::int64_t id = 0;
  double score = 0;
};

}  // namespace

struct Tokenizer::State {
  bool unigram = false, byte_fallback = false, fuse_unknown = false, ignore_merges = false;
  std::unordered_map<std::string, Piece> vocabulary;
  std::unordered_map<std::string, std::int64_t> merges;  // "left\nright" -> rank
  std::optional<std::int64_t> unknown;
  double lowest_score = 0;
  std::size_t longest_piece = 1;
  std::vector<std::pair<std::string, std::int64_t>> added;  // the longest first
  std::vector<Step> steps;

  core::Status read_model(const Json& model);
  core::Status read_merges(const Json& list);
  void encode_text(std::string_view text, std::vector<std::int64_t>& ids) const;
  void encode_bpe(const std::string& word, std::vector<std::int64_t>& ids) const;
  void encode_unigram(const std::string& word, std::vector<std::int64_t>& ids) const;
  void add_unknown(std::string_view piece, std::vector<std::int64_t>& ids) const;
};

core::Status Tokenizer::State::read_merges(const Json& list) {
  std::int64_t rank = 0;
  for (const Json& merge : list.items()) {
    std::string left, right;
    if (merge.is_array() && merge.items().size() == 2) {
      left = merge.items()[0].text();
      right = merge.items()[1].text();
    } else {
      const std::string_view text = merge.text();
      const std::size_t space = text.find(' ');
      if (space == std::string_view::npos) return tl::unexpected(damaged("a merge is not a pair"));
      left = text.substr(0, space);
      right = text.substr(space + 1);
    }
    merges.try_emplace(left + "\n" + right, rank++);
  }
  return {};
}

core::Status Tokenizer::State::read_model(const Json& model) {
  byte_fallback = model["byte_fallback"].as_bool().value_or(false);
  if (model["vocab"].is_object() && (model["type"].text() == "BPE" || model.contains("merges"))) {
    for (const auto& [text, id] : model["vocab"].members()) vocabulary[text] = {id.as_i64().value_or(-1), 0};
    fuse_unknown = model["fuse_unk"].as_bool().value_or(false);
    ignore_merges = model["ignore_merges"].as_bool().value_or(false);
    for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!model[key].text().empty()) return tl::unexpected(unsupported("BPE option", key));
    if (const auto found = vocabulary.find(std::string(model["unk_token"].text())); found != vocabulary.end())
      unknown = found->second.id;
    return read_merges(model["merges"]);
  }
  if (model["type"].text() != "Unigram") return tl::unexpected(unsupported("model", model["type"].text()));
  unigram = true;
  fuse_unknown = true;
  std::int64_t id = 0;
  for (const Json& entry : model["vocab"].items()) {
    const auto score = entry.items().size() == 2 ? entry.items()[1].as_f64() : std::nullopt;
    if (!score) return tl::unexpected(damaged("a piece has no score"));
    vocabulary[std::string(entry.items()[0].text())] = {id++, *score};
    lowest_score = std::min(lowest_score, *score);
  }
  unknown = model["unk_id"].as_i64();
  return {};
}

core::Result<Tokenizer> Tokenizer::parse(const Json& document) {
  auto state = std::make_unique<State>();
  if (!document["model"].is_object()) return tl::unexpected(damaged("it has no model"));
  AACO_TRY(state->read_model(document["model"]));
  if (state->vocabulary.empty()) return tl::unexpected(damaged("the vocabulary is empty"));
  AACO_TRY(read_normalizer(document["normalizer"], state->steps));
  AACO_TRY(read_pre_tokenizer(document["pre_tokenizer"], state->steps));
  for (const Json& token : document["added_tokens"].items()) {
    if (token["content"].text().empty()) return tl::unexpected(damaged("an added token is empty"));
    state->added.emplace_back(token["content"].text(), token["id"].as_i64().value_or(-1));
  }
  std::sort(state->added.begin(), state->added.end(),
            [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [text, piece] : state->vocabulary) state->longest_piece = std::max(state->longest_piece, text.size());
  return Tokenizer(std::move(state));
}

core::Result<Tokenizer> Tokenizer::load(const std::string& path) {
  AACO_ASSIGN(const std::string text, core::read_file(path, kMaxFile));
  auto document = Json::parse(text);
  if (!document) return tl::unexpected(std::move(document).error().with("reading " + path));
  auto tokenizer = parse(*document);
  if (!tokenizer) return tl::unexpected(std::move(tokenizer).error().with("reading " + path));
  return tokenizer;
}

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

void Tokenizer::State::add_unknown(std::string_view piece, std::vector<std::int64_t>& ids) const {
  if (byte_fallback) {
    std::vector<std::int64_t> bytes;
    for (const char c : piece) {
      const auto found = vocabulary.find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(c)));
      if (found == vocabulary.end()) break;
      bytes.push_back(found->second.id);
    }
    if (bytes.size() == piece.size()) {
      ids.insert(ids.end(), bytes.begin(), bytes.end());
      return;
    }
  }
  if (unknown && !(fuse_unknown && !ids.empty() && ids.back() == *unknown)) ids.push_back(*unknown);
}

void Tokenizer::State::encode_bpe(const std::string& word, std::vector<std::int64_t>& ids) const {
  if (ignore_merges)
    if (const auto whole = vocabulary.find(word); whole != vocabulary.end()) {
      ids.push_back(whole->second.id);
      return;
    }
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t length = character_length(std::string_view(word).substr(at));
    parts.push_back(word.substr(at, length));
    at += length;
  }
  for (;;) {
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto merge = merges.find(parts[i] + "\n" + parts[i + 1]);
      if (merge == merges.end() || merge->second >= best) continue;
      best = merge->second;
      place = i;
    }
    if (best == std::numeric_limits<std::int64_t>::max()) break;
    parts[place] += parts[place + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
  for (const std::string& part : parts) {
    const auto found = vocabulary.find(part);
    if (found != vocabulary.end())
      ids.push_back(found->second.id);
    else
      add_unknown(part, ids);
  }
}

// The pieces with the highest sum of scores (Viterbi; Kudo, ACL 2018).
void Tokenizer::State::encode_unigram(const std::string& word, std::vector<std::int64_t>& ids) const {
  struct Best {
    double score = -std::numeric_limits<double>::infinity();
    std::size_t from = 0;
    std::optional<std::int64_t> id;  // empty: unknown
  };
  std::vector<Best> best(word.size() + 1);
  best[0].score = 0;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t character = character_length(std::string_view(word).substr(at));
    bool known_character = false;
    for (std::size_t length = character; at + length <= word.size() && length <= longest_piece; ++length) {
      const auto piece = vocabulary.find(word.substr(at, length));
      if (piece == vocabulary.end()) continue;
      known_character = known_character || length == character;
      Best& end = best[at + length];
      if (const double score = best[at].score + piece->second.score; score > end.score) end = {score, at, piece->second.id};
    }
    if (!known_character) {
      Best& end = best[at + character];
      if (const double score = best[at].score + lowest_score - kUnknownPenalty; score > end.score) end = {score, at, {}};
    }
    at += character;
  }
  std::vector<std::pair<std::size_t, std::size_t>> cuts;
  for (std::size_t at = word.size(); at > 0; at = best[at].from) cuts.emplace_back(best[at].from, at);
  std::reverse(cuts.begin(), cuts.end());
  for (const auto& [from, to] : cuts) {
    if (best[to].id)
      ids.push_back(*best[to].id);
    else
      add_unknown(std::string_view(word).substr(from, to - from), ids);
  }
}

void Tokenizer::State::encode_text(std::string_view text, std::vector<std::int64_t>& ids) const {
  if (text.empty()) return;
  std::vector<std::string> words = {std::string(text)};
  for (const Step& step : steps) apply(step, words);
  for (const std::string& word : words) unigram ? encode_unigram(word, ids) : encode_bpe(word, ids);
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::int64_t> ids;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto token = std::find_if(state_->added.begin(), state_->added.end(),
                                    [&](const auto& one) { return text.substr(at).starts_with(one.first); });
    if (token == state_->added.end()) {
      ++at;
      continue;
    }
    state_->encode_text(text.substr(start, at - start), ids);
    ids.push_back(token->second);
    start = at += token->first.size();
  }
  state_->encode_text(text.substr(start), ids);
  return ids;
}

}  // namespace aaco::serving
