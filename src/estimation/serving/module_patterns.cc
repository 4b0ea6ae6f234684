#include "estimation/serving/module_patterns.h"

#include <functional>

namespace aaco::estimation {
namespace {

// Parts of models of text and images have a prefix that differs between versions of Transformers.
std::string without_prefix(std::string_view entry) {
  std::string out(entry);
  for (const std::string_view prefix : {"language_model.", "text_model."})
    for (auto at = out.find(prefix); at != std::string::npos; at = out.find(prefix)) out.erase(at, prefix.size());
  return out;
}

// A backtracking matcher over the pattern's text. Every step counts, so that no expression takes long.
class Matcher {
 public:
  using Rest = std::function<bool(std::size_t)>;

  Matcher(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  ExpressionMatch run() {
    const bool matched = alternatives(0, pattern_.size(), 0, [](std::size_t) { return true; });
    return failed_ ? ExpressionMatch::not_understood : matched ? ExpressionMatch::yes : ExpressionMatch::no;
  }

 private:
  static constexpr int kMaxSteps = 4'000, kMaxDepth = 400;

  bool fail() {
    failed_ = true;
    return false;
  }
  // The end of the atom at `at`, with its bracket closed; npos: none.
  [[nodiscard]] std::size_t atom_end(std::size_t at, std::size_t end) const {
    if (pattern_[at] == '\\') return at + 2 <= end ? at + 2 : std::string_view::npos;
    const char open = pattern_[at];
    if (open != '(' && open != '[') return at + 1;
    int depth = 0;
    for (std::size_t i = at; i < end; ++i) {
      if (pattern_[i] == '\\') {
        ++i;
      } else if (open == '[') {
        if (pattern_[i] == ']' && i > at + 1) return i + 1;
      } else if (pattern_[i] == '(') {
        ++depth;
      } else if (pattern_[i] == ')' && --depth == 0) {
        return i + 1;
      }
    }
    return std::string_view::npos;
  }

  bool alternatives(std::size_t at, std::size_t end, std::size_t position, const Rest& rest) {
    std::size_t begin = at;
    while (!failed_) {
      std::size_t bar = begin;
      while (bar < end && pattern_[bar] != '|') {
        bar = atom_end(bar, end);
        if (bar == std::string_view::npos) return fail();
      }
      if (sequence(begin, bar, position, rest)) return true;
      if (bar >= end) return false;
      begin = bar + 1;
    }
    return false;
  }

  bool sequence(std::size_t at, std::size_t end, std::size_t position, const Rest& rest) {
    if (failed_ || ++steps_ > kMaxSteps || depth_ > kMaxDepth) return fail();
    if (at >= end) return rest(position);
    ++depth_;
    const bool matched = atom(at, end, position, rest);
    --depth_;
    return matched;
  }

  bool atom(std::size_t at, std::size_t end, std::size_t position, const Rest& rest) {
    if (pattern_[at] == '^') return position == 0 && sequence(at + 1, end, position, rest);
    if (pattern_[at] == '$') return position == text_.size() && sequence(at + 1, end, position, rest);
    const std::size_t next = atom_end(at, end);
    if (next == std::string_view::npos) return fail();
    const char quantifier = next < end ? pattern_[next] : '\0';
    if (quantifier == '{' || pattern_[at] == '*' || pattern_[at] == '+' || pattern_[at] == '?') return fail();
    const bool repeats = quantifier == '*' || quantifier == '+';
    std::size_t after = next + (repeats || quantifier == '?' ? 1 : 0);
    if (after > next && after < end && pattern_[after] == '?') ++after;  // lazy: the same answer
    const Rest then = [&, after](std::size_t p) { return sequence(after, end, p, rest); };
    if (repeats) return repeated(at, next, position, quantifier == '*' ? 0 : 1, then);
    if (quantifier == '?' && then(position)) return true;
    return once(at, next, position, then);
  }

  bool repeated(std::size_t at, std::size_t next, std::size_t position, int least, const Rest& then) {
    if (failed_ || ++steps_ > kMaxSteps || depth_ > kMaxDepth) return fail();
    if (least <= 0 && then(position)) return true;
    ++depth_;
    const bool matched = once(at, next, position, [&](std::size_t p) {
      return p > position && repeated(at, next, p, least - 1, then);  // an empty turn brings nothing
    });
    --depth_;
    return matched;
  }

  bool once(std::size_t at, std::size_t next, std::size_t position, const Rest& then) {
    if (failed_) return false;
    const char first = pattern_[at];
    if (first == '(') {
      std::size_t inner = at + 1;
      if (inner < next && pattern_[inner] == '?') {
        if (inner + 1 >= next || pattern_[inner + 1] != ':') return fail();
        inner += 2;
      }
      return alternatives(inner, next - 1, position, then);
    }
    return position < text_.size() && matches(at, next, text_[position]) && then(position + 1);
  }

  static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

  bool escaped(char kind, char c) {
    if (kind == 'd') return c >= '0' && c <= '9';
    if (kind == 'w') return is_word(c);
    if (is_word(kind)) return fail();  // \b, \1 and the like
    return kind == c;
  }

  bool matches(std::size_t at, std::size_t next, char c) {
    const char first = pattern_[at];
    if (first == '.') return true;
    if (first == '\\') return escaped(pattern_[at + 1], c);
    if (first != '[') return first == c;
    bool found = false;
    const bool negated = pattern_[at + 1] == '^';
    for (std::size_t i = at + (negated ? 2 : 1); i + 1 < next; ++i) {
      if (pattern_[i] == '\\' && i + 2 < next) {
        found = escaped(pattern_[++i], c) || found;
      } else if (i + 3 < next && pattern_[i + 1] == '-') {
        found = (c >= pattern_[i] && c <= pattern_[i + 2]) || found;
        i += 2;
      } else {
        found = pattern_[i] == c || found;
      }
    }
    return found != negated;
  }

  std::string_view pattern_, text_;
  int steps_ = 0, depth_ = 0;
  bool failed_ = false;
};

}  // namespace

ExpressionMatch expression_matches(std::string_view expression, std::string_view text) {
  constexpr std::size_t kMaxExpression = 1'000;  // each step may read all of it
  return expression.size() > kMaxExpression ? ExpressionMatch::not_understood : Matcher(expression, text).run();
}

bool glob_matches(std::string_view glob, std::string_view text) {
  std::size_t g = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && glob[g] == text[t]) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

void ModulePatterns::add(std::string_view entry) {
  const bool is_expression = entry.starts_with("re:");
  const bool is_glob = !is_expression && entry.find('*') != std::string_view::npos;
  if (!is_expression && !is_glob) {
    names_.insert(without_prefix(entry));
    return;
  }
  const std::string plain = without_prefix(is_expression ? entry.substr(3) : entry);
  const bool is_bad =
      is_expression && expression_matches(plain, "model.layers.0.self_attn.q_proj") == ExpressionMatch::not_understood;
  if (is_bad || globs_.size() + expressions_.size() >= kMaxWildcards) {
    ignored_.emplace_back(entry.substr(0, 80));
    return;
  }
  (is_expression ? expressions_ : globs_).push_back(plain);
}

bool ModulePatterns::covers(const std::string& name) const {
  // Every run of whole components, of which a name has few.
  for (std::size_t begin = 0; begin != std::string::npos && !names_.empty();) {
    for (std::size_t end = name.find('.', begin);; end = name.find('.', end + 1)) {
      if (names_.contains(name.substr(begin, end == std::string::npos ? end : end - begin))) return true;
      if (end == std::string::npos) break;
    }
    begin = name.find('.', begin);
    if (begin != std::string::npos) ++begin;
  }
  const std::size_t wildcards = globs_.size() + expressions_.size();
  if (wildcards > matches_left_) matches_left_ = 0;
  if (matches_left_ == 0) return false;
  matches_left_ -= wildcards;
  for (const std::string& glob : globs_)
    if (glob_matches(glob, name) || glob_matches(glob + ".*", name) || glob_matches("*." + glob, name)) return true;
  for (const std::string& expression : expressions_)
    if (expression_matches(expression, name) == ExpressionMatch::yes) return true;
  return false;
}

}  // namespace aaco::estimation
