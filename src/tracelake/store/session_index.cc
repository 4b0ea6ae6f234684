#include "tracelake/store/session_index.h"

#include <sys/stat.h>

#include <array>
#include <charconv>
#include <optional>

#include "core/files.h"

namespace aaco::tracelake::store {
namespace {

constexpr std::string_view kIndexFile = ".index";
constexpr std::string_view kFirstLine = "aaco session index 1\n";
constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;

void put(std::string& line, std::string_view text) {
  for (const char c : text) {
    if (c == '\\')
      line += "\\\\";
    else if (c == '\t')
      line += "\\t";
    else if (c == '\n')
      line += "\\n";
    else
      line += c;
  }
  line += '\t';
}

template <class Number>
void put_number(std::string& line, Number value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  line.append(digits.data(), end);
  line += '\t';
}

template <class Number>
void put_number(std::string& line, const std::optional<Number>& value) {
  if (value) return put_number(line, *value);
  line += '\t';
}

// Reads the fields of one line in order; ok() is false once one was missing or malformed.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}
  std::string text() {
    const std::string_view field = next();
    std::string out;
    out.reserve(field.size());
    for (std::size_t i = 0; i < field.size(); ++i) {
      if (field[i] != '\\' || i + 1 == field.size())
        out += field[i];
      else
        out += field[++i] == 't' ? '\t' : field[i] == 'n' ? '\n' : field[i];
    }
    return out;
  }
  template <class Number>
  Number number() {
    const auto value = optional<Number>();
    ok_ = ok_ && value.has_value();
    return value.value_or(Number{});
  }
  template <class Number>
  std::optional<Number> optional() {
    const std::string_view field = next();
    if (field.empty()) return std::nullopt;
    Number value{};
    const auto read = std::from_chars(field.data(), field.data() + field.size(), value);
    ok_ = ok_ && read.ec == std::errc() && read.ptr == field.data() + field.size();
    return value;
  }
  [[nodiscard]] bool ok() const { return ok_ && rest_.empty(); }

 private:
  std::string_view next() {
    const std::size_t tab = rest_.find('\t');
    ok_ = ok_ && tab != std::string_view::npos;
    const std::string_view field = rest_.substr(0, tab);
    rest_ = tab == std::string_view::npos ? std::string_view() : rest_.substr(tab + 1);
    return field;
  }
  std::string_view rest_;
  bool ok_ = true;
};

std::string line_of(const std::string& path, const IndexedSession& session) {
  std::string line;
  const trace::SessionManifest& head = session.head;
  put(line, path);
  put_number(line, session.identity.inode);
  put_number(line, session.identity.size_bytes);
  put_number(line, session.identity.modified_ns);
  put(line, head.id.text);
  put_number(line, head.created_realtime_ns);
  put_number(line, static_cast<std::int64_t>(head.schema_version));
  for (const std::string* text : {&head.kind, &head.tag, &head.state, &head.tool_version, &head.fingerprint, &head.outcome.model,
                                  &head.outcome.backend, &head.outcome.provider})
    put(line, *text);
  put_number(line, head.outcome.batch);
  put_number(line, head.outcome.threads);
  put_number(line, head.outcome.p50_ns);
  put(line, head.outcome.files.is_null() ? std::string() : head.outcome.files.dump(-1));
  line.back() = '\n';
  return line;
}

bool read_line(std::string_view line, SessionIndex& index) {
  const std::string whole = std::string(line) + '\t';  // so that each field ends in one
  Fields fields(whole);
  std::string path = fields.text();
  IndexedSession session;
  session.identity.inode = fields.number<std::uint64_t>();
  session.identity.size_bytes = fields.number<std::int64_t>();
  session.identity.modified_ns = fields.number<std::int64_t>();
  trace::SessionManifest& head = session.head;
  head.id.text = fields.text();
  head.created_realtime_ns = fields.number<std::int64_t>();
  head.schema_version = static_cast<decltype(head.schema_version)>(fields.number<std::int64_t>());
  for (std::string* text : {&head.kind, &head.tag, &head.state, &head.tool_version, &head.fingerprint, &head.outcome.model,
                            &head.outcome.backend, &head.outcome.provider})
    *text = fields.text();
  head.outcome.batch = fields.optional<std::int64_t>();
  head.outcome.threads = fields.optional<std::int64_t>();
  head.outcome.p50_ns = fields.optional<double>();
  const std::string files = fields.text();
  if (!fields.ok()) return false;
  if (!files.empty()) {
    auto document = core::Json::parse(files);
    if (!document) return false;
    head.outcome.files = *std::move(document);
  }
  index.insert_or_assign(std::move(path), std::move(session));
  return true;
}

}  // namespace

bool identify(const std::string& file, FileIdentity& identity) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return false;
  identity = {info.st_ino, info.st_size, static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
  return true;
}

trace::SessionManifest head_of(const trace::SessionManifest& manifest) {
  trace::SessionManifest head;
  head.schema_version = manifest.schema_version;
  head.id = manifest.id;
  head.kind = manifest.kind;
  head.tag = manifest.tag;
  head.state = manifest.state;
  head.tool_version = manifest.tool_version;
  head.created_realtime_ns = manifest.created_realtime_ns;
  head.fingerprint = manifest.fingerprint;
  head.outcome.model = manifest.outcome.model;
  head.outcome.backend = manifest.outcome.backend;
  head.outcome.provider = manifest.outcome.provider;
  head.outcome.batch = manifest.outcome.batch;
  head.outcome.threads = manifest.outcome.threads;
  head.outcome.p50_ns = manifest.outcome.p50_ns;
  head.outcome.files = manifest.outcome.files;
  return head;
}

SessionIndex parse_index(std::string_view text) {
  SessionIndex index;
  if (!text.starts_with(kFirstLine)) return index;
  for (std::size_t at = kFirstLine.size(); at < text.size();) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos || !read_line(text.substr(at, end - at), index)) return {};
    at = end + 1;
  }
  return index;
}

SessionIndex read_index(const std::string& root) {
  const auto text = core::read_file(core::join_path(root, kIndexFile), kMaxBytes);
  return text ? parse_index(*text) : SessionIndex();
}

std::string index_text(const SessionIndex& index) {
  std::string text(kFirstLine);
  for (const auto& [path, session] : index) text += line_of(path, session);
  return text;
}

void write_index(const std::string& root, const SessionIndex& index) {
  (void)core::write_file_atomic(core::join_path(root, kIndexFile), index_text(index));
}

}  // namespace aaco::tracelake::store
