#include "trace/account.h"

namespace aaco::trace {

std::int64_t Account::dropped_total() const {
  std::int64_t total = 0;
  for (const auto& [why, count] : dropped) total += count;
  return total;
}

std::string_view to_string(Account::State state) {
  switch (state) {
    case Account::State::ok: return "ok";
    case Account::State::partial: return "partial";
    case Account::State::unsupported: return "unsupported";
    case Account::State::failed: return "failed";
  }
  return "failed";
}

core::Json to_json(const Account& account) {
  core::Json dropped = core::Json::object();
  for (const auto& [why, count] : account.dropped) dropped.set(why, static_cast<long long>(count));
  core::Json notes = core::Json::texts(account.notes);
  core::Json out = core::Json::object({{"source", account.source}, {"state", to_string(account.state)}});
  if (!account.reason.empty()) out.set("reason", account.reason);
  out.set("read", account.read).set("kept", account.kept).set("dropped", std::move(dropped));
  if (!account.notes.empty()) out.set("notes", std::move(notes));
  return out;
}

core::Result<Account> account_from_json(const core::Json& document) {
  if (!document.is_object()) return core::fail(core::ErrorCode::invalid_input, "an account must be an object");
  Account account;
  account.source = document["source"].text();
  account.reason = document["reason"].text();
  const std::string_view state = document["state"].text();
  bool known_state = false;
  for (auto known : {Account::State::ok, Account::State::partial, Account::State::unsupported, Account::State::failed})
    if (to_string(known) == state) {
      account.state = known;
      known_state = true;
    }
  if (!known_state)
    return core::fail(core::ErrorCode::invalid_input,
                      "the account of '" + account.source + "' has an unknown state '" + std::string(state) + "'");
  account.read = document["read"].as_i64().value_or(0);
  account.kept = document["kept"].as_i64().value_or(0);
  for (const auto& [why, count] : document["dropped"].members()) account.dropped[why] = count.as_i64().value_or(0);
  for (const auto& note : document["notes"].items()) account.notes.emplace_back(note.text());
  return account;
}

}  // namespace aaco::trace
