#include "workflows/import_ranks.h"

#include <cctype>
#include <set>

#include "core/numbers.h"

namespace aaco::workflows {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::optional<std::int32_t> number_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end])) ++end;
  const auto value = core::parse_i64(text.substr(begin, end - begin));
  if (end == begin || !value || *value > 10'000'000) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

// All given, all different.
bool distinct(const std::vector<RankClue>& clues, std::optional<std::int32_t> RankClue::*member) {
  std::set<std::int32_t> seen;
  for (const RankClue& clue : clues)
    if (!(clue.*member) || !seen.insert(*(clue.*member)).second) return false;
  return true;
}

}  // namespace

std::optional<std::int32_t> rank_in_head(std::string_view head) {
  const std::size_t info = head.find("\"distributedInfo\"");
  if (info == std::string_view::npos) return std::nullopt;
  const std::size_t key = head.find("\"rank\"", info);
  if (key == std::string_view::npos) return std::nullopt;
  std::size_t at = key + 6;
  while (at < head.size() && (head[at] == ' ' || head[at] == ':')) ++at;
  return number_at(head, at);
}

std::optional<std::int32_t> rank_in_name(std::string_view file_name) {
  for (const std::string_view word : {"rank", "worker"})
    for (std::size_t at = file_name.find(word); at != std::string_view::npos; at = file_name.find(word, at + 1)) {
      std::size_t begin = at + word.size();
      while (begin < file_name.size() && (file_name[begin] == '_' || file_name[begin] == '-' || file_name[begin] == '=')) ++begin;
      if (const auto rank = number_at(file_name, begin)) return rank;
    }
  return std::nullopt;
}

std::vector<std::int32_t> assign_ranks(const std::vector<RankClue>& clues) {
  std::vector<std::int32_t> ranks;
  const bool heads = distinct(clues, &RankClue::head);
  const bool names = !heads && distinct(clues, &RankClue::name);
  for (std::size_t i = 0; i < clues.size(); ++i)
    ranks.push_back(heads ? *clues[i].head : names ? *clues[i].name : static_cast<std::int32_t>(i));
  return ranks;
}

}  // namespace aaco::workflows
