#include <measure/increment.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <measure/words.h>

namespace splitcount::measure {
namespace {

using Words = std::span<const Word>;

/// A name with what stands before its dots: the last part, and the one before it.
struct Name {
  std::string last;
  std::string before;
  std::size_t length = 0;  ///< in words; 0: there is none
};

Name name_at(Words words, std::size_t at) {
  Name name;
  for (auto next = at; next < words.size() && words[next].is_name(); next += 2) {
    name.before = std::exchange(name.last, words[next].text);
    name.length = next + 1 - at;
    if (next + 1 >= words.size() || !words[next + 1].is(".")) break;
  }
  return name;
}

/// Where a list at its own depth ends: at one of those words, or where its bracket closes.
template <class Ends>
std::size_t end_of(Words words, std::size_t at, const Ends& ends) {
  int depth = 0;
  for (; at < words.size(); ++at) {
    if (words[at].is("(")) ++depth;
    if (words[at].is(")") && --depth < 0) return at;
    if (depth == 0 && (words[at].is(";") || ends(words[at]))) return at;
  }
  return at;
}

bool ends_assignments(const Word& word) {
  return word.is("where") || word.is("from") || word.is("returning") || word.is("when") || word.is("end");
}

/// The amount that is added to the column, "" where it is no single word; nothing where the words are something else.
std::optional<std::string> amount_added(Words words, std::string_view column) {
  // coalesce(n, 0) + 1 is read as n + 1
  std::vector<Word> plain;
  for (std::size_t at = 0; at < words.size(); ++at) {
    if ((words[at].is("coalesce") || words[at].is("ifnull")) && at + 1 < words.size() && words[at + 1].is("(")) {
      const auto close = end_of(words, at + 2, [](const Word&) { return false; });
      const auto inner = name_at(words, at + 2);
      if (close < words.size() && inner.length > 0 && inner.last == column) {
        plain.insert(plain.end(), words.begin() + static_cast<std::ptrdiff_t>(at + 2),
                     words.begin() + static_cast<std::ptrdiff_t>(at + 2 + inner.length));
        at = close;
        continue;
      }
    }
    plain.push_back(words[at]);
  }
  const Words all(plain);
  const auto first = name_at(all, 0);
  if (first.length > 0 && first.last == column && first.before != "excluded" && all.size() > first.length + 1) {
    const auto& sign = all[first.length];
    if (!sign.is("+") && !sign.is("-")) return std::nullopt;
    const auto rest = all.subspan(first.length + 1);
    const bool is_one = rest.size() == 1 || (rest.size() == 3 && rest[1].is("::"));
    const bool is_plain = rest[0].kind == Word::Kind::number || rest[0].kind == Word::Kind::parameter;
    return is_one && is_plain ? (sign.is("-") ? "-" : "") + std::string(rest[0].as_written) : std::string();
  }
  if (all.size() < 3) return std::nullopt;
  const auto plus = std::find_if(all.begin(), all.end(), [](const Word& word) { return word.is("+"); });
  const auto after = static_cast<std::size_t>(plus - all.begin()) + 1;
  const auto last = name_at(all, after);
  if (last.length == 0 || last.last != column || last.before == "excluded" || after + last.length != all.size()) return std::nullopt;
  return after == 2 ? std::string(all[0].as_written) : std::string();
}

bool names(Words words, std::string_view column) {
  return std::any_of(words.begin(), words.end(), [column](const Word& word) { return word.is_name() && word.text == column; });
}

/// The column of `column = value`, where that is all.
std::string column_of_equality(Words words) {
  const auto name = name_at(words, 0);
  if (name.length == 0 || words.size() <= name.length + 1 || !words[name.length].is("=")) return {};
  const auto value = words.subspan(name.length + 1);
  const bool is_one = value.size() == 1 || (value.size() == 3 && value[1].is("::"));
  const auto other = name_at(value, 0);  // as NEW.id in a trigger, or a variable
  return is_one || other.length == value.size() ? name.last : std::string();
}

class Finder {
 public:
  explicit Finder(Words words) : words_(words) {}

  std::vector<Increment> all() {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      if (words_[at].is("into")) {
        note_table(at + 1);
        upsert_key_.clear();
      }
      if (words_[at].is("conflict") && is_at(at + 1, "(")) upsert_key_ = name_at(words_, at + 2).last;
      if (words_[at].is("update")) look_at_update(at);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_at(std::size_t at, std::string_view keyword) const { return at < words_.size() && words_[at].is(keyword); }

  void note_table(std::size_t at) {
    const auto name = name_at(words_, at);
    table_ = name.last;
    schema_ = name.before;
  }

  void look_at_update(std::size_t at) {
    if (at > 0 && words_[at - 1].is("for")) return;
    if (is_at(at + 1, "set")) {  // of an upsert or a MERGE: its table was named before
      const bool is_upsert = at > 0 && words_[at - 1].is("do");
      return look_at_assignments(at + 2, is_upsert);
    }
    auto next = at + 1;
    if (is_at(next, "only")) ++next;
    const auto name = name_at(words_, next);
    if (name.length == 0) return;
    next += name.length;
    if (is_at(next, "*")) ++next;
    if (is_at(next, "as")) ++next;
    if (!is_at(next, "set") && next < words_.size() && words_[next].is_name()) ++next;
    if (!is_at(next, "set")) return;
    table_ = name.last;
    schema_ = name.before;
    look_at_assignments(next + 1, false);
  }

  void look_at_assignments(std::size_t at, bool is_upsert) {
    const auto end = end_of(words_, at, ends_assignments);
    const auto first = found_.size();
    while (at < end) {
      const auto comma = std::min(end, end_of(words_, at, [](const Word& word) { return word.is(","); }));
      const auto target = name_at(words_, at);
      if (target.length > 0 && at + target.length < comma && words_[at + target.length].is("=")) {
        const auto value = words_.subspan(at + target.length + 1, comma - at - target.length - 1);
        if (auto amount = amount_added(value, target.last)) {
          Increment increment;
          increment.schema = schema_;
          increment.table = table_;
          increment.column = target.last;
          increment.amount = *std::move(amount);
          if (is_upsert) increment.key_column = upsert_key_;
          increment.has_condition = is_upsert;
          found_.push_back(std::move(increment));
        }
      }
      at = comma + 1;
    }
    for (auto i = first; i < found_.size(); ++i) look_at_rest(found_[i], end, is_upsert);
  }

  /// The condition and what is returned.
  void look_at_rest(Increment& increment, std::size_t at, bool is_upsert) {
    const auto no_end = [](const Word&) { return false; };
    const auto statement_end = end_of(words_, at, no_end);
    const auto is_returning = [](const Word& word) { return word.is("returning"); };
    const auto is_where = [](const Word& word) { return word.is("where"); };
    const auto returning = std::min(statement_end, end_of(words_, at, is_returning));
    const auto where = end_of(words_, at, is_where);
    if (where < returning) {
      const auto condition = words_.subspan(where + 1, returning - where - 1);
      increment.has_condition = true;
      increment.asks_for_count = names(condition, increment.column);
      if (!is_upsert) increment.key_column = column_of_equality(condition);
    }
    if (returning < statement_end) {
      const auto returned = words_.subspan(returning + 1, statement_end - returning - 1);
      increment.returns_count = names(returned, increment.column) ||
                                std::any_of(returned.begin(), returned.end(), [](const Word& word) { return word.is("*"); });
    }
  }

  Words words_;
  std::string table_;
  std::string schema_;
  std::string upsert_key_;
  std::vector<Increment> found_;
};

}  // namespace

std::vector<Increment> increments(std::string_view text) {
  const auto words = words_of(text);
  return Finder(words).all();
}

std::string shape_of(std::string_view statement, bool numbers_too) {
  std::string shape;
  for (const auto& word : words_of(statement)) {
    if (word.after_blank && !shape.empty()) shape += ' ';
    if (word.kind == Word::Kind::text) {
      shape += "'?'";
    } else if (word.kind == Word::Kind::number && numbers_too) {
      shape += '?';
    } else {
      shape += word.as_written;
    }
  }
  return shape;
}

}  // namespace splitcount::measure
