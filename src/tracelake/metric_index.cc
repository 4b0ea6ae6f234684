#include "tracelake/metric_index.h"

#include <charconv>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/files.h"
#include "core/hash.h"
#include "tracelake/store/session_index.h"

namespace aaco::tracelake {
namespace {

using core::join_path;

// The file: kFirstLine, the SHA-256 of what follows, one line "<id>\t<unit>" per column, an empty line, and one line per session:
// "<path below the root>\t<identity>\t<identity>" and "\t<column>=<value>" for each value. An identity is "<inode> <bytes> <ns>".
constexpr std::string_view kIndexFile = ".metrics";
constexpr std::string_view kFirstLine = "aaco metric index 1\n";
constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kFewestIndexed = 64;

using Identities = std::array<store::FileIdentity, MetricIndex::kDocuments.size()>;

// A document that is missing has an identity too: none.
Identities identities_of(const std::string& session_path) {
  Identities out;
  for (std::size_t i = 0; i < out.size(); ++i)
    (void)store::identify(join_path(session_path, MetricIndex::kDocuments.at(i)), out.at(i));
  return out;
}

template <class Number>
void put(std::string& text, Number value) {
  std::array<char, 32> digits{};
  text.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

template <class Number>
std::optional<Number> take(std::string_view& text, char end) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  if (!text.empty()) {
    if (text.front() != end) return std::nullopt;
    text.remove_prefix(1);
  } else if (end != '\t') {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

bool plain(std::string_view text) { return text.find_first_of("\t\n") == std::string_view::npos; }

struct KnownRow {
  Identities identities;
  std::string_view values;  // "\t<column>=<value>" of each
  bool used = false;
};

struct FreshRow {
  std::string key;
  Identities identities;
  std::string values;
};

std::optional<KnownRow> parse_row(std::string_view fields) {
  KnownRow row;
  for (store::FileIdentity& identity : row.identities) {
    const auto inode = take<std::uint64_t>(fields, ' ');
    const auto size = take<std::int64_t>(fields, ' ');
    const auto modified = take<std::int64_t>(fields, '\t');
    if (!inode || !size || !modified) return std::nullopt;
    identity = {*inode, *size, *modified};
  }
  row.values = fields;
  return row;
}

void put_row(std::string& text, std::string_view key, const Identities& identities, std::string_view values) {
  text += key;
  for (const store::FileIdentity& identity : identities) {
    text += '\t';
    put(text, identity.inode);
    text += ' ';
    put(text, identity.size_bytes);
    text += ' ';
    put(text, identity.modified_ns);
  }
  if (!values.empty()) text += '\t';
  text += values;
  text += '\n';
}

}  // namespace

struct MetricIndex::Impl {
  std::string root, metric;
  Reader reader;
  std::string text;                            // of the file: rows point into it
  std::map<std::string, std::size_t> columns;  // "<id>\t<unit>" -> number
  std::map<std::size_t, std::string> asked;    // columns of the metric: number -> unit
  std::unordered_map<std::string_view, KnownRow> known;
  std::vector<FreshRow> fresh;
  std::size_t found = 0, not_kept = 0;

  void load();
  bool parse(std::string_view rest);
  std::size_t column_of(const std::string& id, const std::string& unit);
  [[nodiscard]] std::optional<Value> value_in(std::string_view values) const;
  [[nodiscard]] std::string key_of(const std::string& session_path) const;
};

void MetricIndex::Impl::load() {
  auto file = core::read_file(join_path(root, kIndexFile), kMaxBytes);
  if (!file || !file->starts_with(kFirstLine)) return;
  text = *std::move(file);
  std::string_view rest = std::string_view(text).substr(kFirstLine.size());
  const auto hash = take_line(rest);
  if (hash && hash->size() == kHashDigits && core::sha256_hex(rest) == *hash && parse(rest)) return;
  columns.clear();
  asked.clear();
  known.clear();
}

bool MetricIndex::Impl::parse(std::string_view rest) {
  for (;;) {
    const auto line = take_line(rest);
    if (!line) return false;
    if (line->empty()) break;
    const std::size_t tab = line->find('\t');
    if (tab == std::string_view::npos) return false;
    (void)column_of(std::string(line->substr(0, tab)), std::string(line->substr(tab + 1)));
  }
  while (!rest.empty()) {
    const auto line = take_line(rest);
    const std::size_t tab = line ? line->find('\t') : std::string_view::npos;
    if (tab == std::string_view::npos) return false;
    auto row = parse_row(line->substr(tab + 1));
    if (!row) return false;
    known.insert_or_assign(line->substr(0, tab), *row);
  }
  return true;
}

std::size_t MetricIndex::Impl::column_of(const std::string& id, const std::string& unit) {
  const auto [place, fresh_one] = columns.try_emplace(id + "\t" + unit, columns.size());
  if (fresh_one && id == metric) asked.emplace(place->second, unit);
  return place->second;
}

std::optional<MetricIndex::Value> MetricIndex::Impl::value_in(std::string_view values) const {
  for (const auto& [column, unit] : asked) {
    std::string needle;
    put(needle, column);
    needle += '=';
    std::size_t at = 0;
    if (!values.starts_with(needle)) {
      at = values.find("\t" + needle);
      if (at == std::string_view::npos) continue;
      ++at;
    }
    std::string_view number = values.substr(at + needle.size());
    if (const auto value = take<double>(number, '\t')) return Value{*value, unit};
  }
  return std::nullopt;
}

std::string MetricIndex::Impl::key_of(const std::string& session_path) const {
  return session_path.size() > root.size() && session_path.starts_with(root) ? session_path.substr(root.size() + 1)
                                                                             : session_path;
}

MetricIndex::MetricIndex(std::string root, std::string metric, Reader reader) : impl_(std::make_unique<Impl>()) {
  impl_->root = std::move(root);
  impl_->metric = std::move(metric);
  impl_->reader = std::move(reader);
  impl_->load();
}
MetricIndex::MetricIndex(MetricIndex&&) noexcept = default;
MetricIndex& MetricIndex::operator=(MetricIndex&&) noexcept = default;
MetricIndex::~MetricIndex() = default;

core::Result<std::optional<MetricIndex::Value>> MetricIndex::find(const std::string& session_path) {
  Impl& my = *impl_;
  std::string key = my.key_of(session_path);
  const Identities identities = identities_of(session_path);
  if (const auto row = my.known.find(key); row != my.known.end() && row->second.identities == identities) {
    row->second.used = true;
    ++my.found;
    return my.value_in(row->second.values);
  }
  auto metrics = my.reader(session_path);
  if (!metrics) {
    ++my.not_kept;
    return tl::unexpected<core::Error>(std::move(metrics).error());
  }
  FreshRow row{std::move(key), identities, {}};
  std::optional<Value> answer;
  bool indexable = plain(row.key);
  for (const trace::MetricValue& one : *metrics) {
    indexable = indexable && !one.id.empty() && plain(one.id) && plain(one.unit);
    if (trace::find_metric(*metrics, one.id) != &one) continue;  // of several devices: the first, as elsewhere
    if (indexable) {
      if (!row.values.empty()) row.values += '\t';
      put(row.values, my.column_of(one.id, one.unit));
      row.values += '=';
      put(row.values, one.value);
    }
    if (one.id == my.metric) answer = Value{one.value, one.unit};
  }
  // Documents that change while they are read are read again next time.
  if (indexable && identities_of(session_path) == identities)
    my.fresh.push_back(std::move(row));
  else
    ++my.not_kept;
  return answer;
}

void MetricIndex::save() {
  Impl& my = *impl_;
  if (my.fresh.empty() || my.fresh.size() + my.found < kFewestIndexed) return;
  std::string body;
  std::vector<std::string_view> names(my.columns.size());
  for (const auto& [name, number] : my.columns) names.at(number) = name;
  for (const std::string_view name : names) (body += name) += '\n';
  body += '\n';
  for (const FreshRow& row : my.fresh) {
    my.known.erase(row.key);
    put_row(body, row.key, row.identities, row.values);
  }
  for (const auto& [key, row] : my.known)
    if (row.used || core::is_directory(join_path(my.root, key))) put_row(body, key, row.identities, row.values);
  (void)core::write_file_atomic(join_path(my.root, kIndexFile), std::string(kFirstLine) + core::sha256_hex(body) + "\n" + body);
}

std::size_t MetricIndex::sessions_read() const { return impl_->fresh.size() + impl_->not_kept; }

}  // namespace aaco::tracelake
