#include "tracelake/sql_dialect.h"

#include <fmt/format.h>

#include <vector>

#include "core/strings.h"

namespace aaco::tracelake {
namespace {

using Arguments = std::vector<std::string>;

struct Macro {
  std::string_view name;
  std::size_t arguments;
  std::string (*duckdb)(const Arguments&);
  std::string (*clickhouse)(const Arguments&);
};

// ClickHouse 18.16 has no exact quantile that interpolates: that of a sorted array is.
std::string array_quantile(const std::string& share, const std::string& value) {
  const std::string sorted = fmt::format("arraySort(groupArray({}))", value);
  const std::string place = fmt::format("((count({}) - 1) * {})", value, share);
  const std::string low = fmt::format("arrayElement({}, toUInt32(floor({})) + 1)", sorted, place);
  const std::string high = fmt::format("arrayElement({}, toUInt32(ceil({})) + 1)", sorted, place);
  return fmt::format("if(count({0}) = 0, NULL, {1} + ({2} - {1}) * ({3} - floor({3})))", value, low, high, place);
}

constexpr Macro kMacros[] = {
    {"div", 2, [](const Arguments& a) { return fmt::format("(({}) // ({}))", a[0], a[1]); },
     [](const Arguments& a) { return fmt::format("intDiv({}, {})", a[0], a[1]); }},
    {"quantile", 2, [](const Arguments& a) { return fmt::format("quantile_cont({}, {})", a[1], a[0]); },
     [](const Arguments& a) { return array_quantile(a[0], a[1]); }},
    {"median", 1, [](const Arguments& a) { return fmt::format("quantile_cont({}, 0.5)", a[0]); },
     [](const Arguments& a) { return array_quantile("0.5", a[0]); }},
    {"stddev", 1, [](const Arguments& a) { return fmt::format("stddev_samp({})", a[0]); },
     [](const Arguments& a) { return fmt::format("if(count({0}) < 2, NULL, stddevSamp({0}))", a[0]); }},
    {"json", 2, [](const Arguments& a) { return fmt::format("json_extract_string({}, '$.{}')", a[0], a[1]); },
     [](const Arguments& a) {
       return fmt::format("if(visitParamHas(coalesce({0}, ''), '{1}'), visitParamExtractString(coalesce({0}, ''), '{1}'), NULL)",
                          a[0], a[1]);
     }},
    {"join", 0, [](const Arguments&) { return std::string("INNER JOIN"); },
     [](const Arguments&) { return std::string("ALL INNER JOIN"); }},
};

bool is_word(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

// The end of a quoted text that begins at `at`.
std::size_t end_of_quote(std::string_view sql, std::size_t at) {
  const std::size_t end = sql.find(sql[at], at + 1);
  return end == std::string_view::npos ? sql.size() : end + 1;
}

// Arguments of "(a, f(b, c))", which begins at `at`; moves behind it. Empty where it does not end.
core::Result<Arguments> arguments_at(std::string_view sql, std::size_t& at) {
  Arguments out(1);
  int depth = 0;
  for (std::size_t i = at; i < sql.size(); ++i) {
    const char c = sql[i];
    if (c == '\'' || c == '"') {
      const std::size_t end = end_of_quote(sql, i);
      out.back() += sql.substr(i, end - i);
      i = end - 1;
      continue;
    }
    if (c == '(' && depth++ == 0) continue;
    if (c == ')' && --depth == 0) {
      for (std::string& one : out) one = std::string(core::trim(one));
      at = i + 1;
      return out;
    }
    if (c == ',' && depth == 1)
      out.emplace_back();
    else
      out.back() += c;
  }
  return core::fail(core::ErrorCode::invalid_input, "a macro in this SQL has no closing parenthesis");
}

core::Result<std::string> expand_macro(SqlDialect dialect, std::string_view sql, std::size_t& at, const std::string& session_id) {
  std::size_t end = at + 1;
  while (end < sql.size() && is_word(sql[end])) ++end;
  const std::string_view name = sql.substr(at + 1, end - at - 1);
  at = end;
  if (name == "session")
    return session_id.empty() ? std::string("1 = 1") : "session_id = '" + core::replace_all(session_id, "'", "") + "'";
  for (const Macro& macro : kMacros) {
    if (macro.name != name) continue;
    Arguments arguments;
    if (macro.arguments > 0) {
      if (at >= sql.size() || sql[at] != '(')
        return core::fail(core::ErrorCode::invalid_input, fmt::format("${} requires arguments", name));
      AACO_ASSIGN(arguments, arguments_at(sql, at));
    }
    if (arguments.size() != macro.arguments)
      return core::fail(core::ErrorCode::invalid_input,
                        fmt::format("${} requires {} arguments, got {}", name, macro.arguments, arguments.size()));
    for (std::string& one : arguments) {
      AACO_ASSIGN(one, expand_sql(dialect, one, session_id));
    }
    return dialect == SqlDialect::duckdb ? macro.duckdb(arguments) : macro.clickhouse(arguments);
  }
  return core::fail(core::ErrorCode::invalid_input, fmt::format("unknown macro ${}", name));
}

}  // namespace

core::Result<std::string> expand_sql(SqlDialect dialect, std::string_view sql, const std::string& session_id) {
  std::string out;
  for (std::size_t at = 0; at < sql.size();) {
    if (sql[at] == '\'' || sql[at] == '"') {
      const std::size_t end = end_of_quote(sql, at);
      out += sql.substr(at, end - at);
      at = end;
    } else if (sql[at] == '$' && at + 1 < sql.size() && is_word(sql[at + 1])) {
      AACO_ASSIGN(const std::string text, expand_macro(dialect, sql, at, session_id));
      out += text;
    } else {
      out += sql[at++];
    }
  }
  return out;
}

}  // namespace aaco::tracelake
