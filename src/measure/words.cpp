#include <measure/words.h>

#include <algorithm>
#include <utility>

namespace splitcount::measure {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool goes_on(char c) { return begins_name(c) || is_digit(c) || c == '$'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Word> all() {
    while (at_ < text_.size()) {
      const auto begin = at_;
      if (skip()) {
        blank_ = true;
        continue;
      }
      Word word;
      word.after_blank = std::exchange(blank_, false);
      read(word);
      word.as_written = text_.substr(begin, at_ - begin);
      words_.push_back(std::move(word));
    }
    return std::move(words_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void go_to(std::size_t at) { at_ = std::min(at, text_.size()); }

  /// A blank or a comment.
  bool skip() {
    if (is_blank(peek())) return ++at_, true;
    if (peek() == '-' && peek(1) == '-') return go_to(text_.find('\n', at_)), true;
    if (peek() != '/' || peek(1) != '*') return false;
    int depth = 0;
    do {
      if (peek() == '/' && peek(1) == '*') {
        ++depth;
        at_ += 2;
      } else if (peek() == '*' && peek(1) == '/') {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0 && at_ < text_.size());
    go_to(at_);
    return true;
  }

  void read(Word& word) {
    const char c = peek();
    if (c == '\'') return read_text(word, false);
    if ((c == 'e' || c == 'E') && peek(1) == '\'') return ++at_, read_text(word, true);
    if (c == '"' || c == '`') return read_quoted_name(word);
    if (c == '$' && !is_digit(peek(1)) && read_dollar_text(word)) return;
    if (c == '$' || (c == '?' && is_digit(peek(1)))) return read_while(word, Word::Kind::parameter, is_digit);
    if (c == '?') return ++at_, void(word.kind = Word::Kind::parameter);
    if (is_digit(c)) return read_while(word, Word::Kind::number, [](char d) { return goes_on(d) || d == '.'; });
    if (begins_name(c)) {
      read_while(word, Word::Kind::name, goes_on);
      std::transform(word.text.begin(), word.text.end(), word.text.begin(), small);
      return;
    }
    const std::size_t length = c == ':' && peek(1) == ':' ? 2 : 1;
    word.text = std::string(text_.substr(at_, length));
    at_ += length;
  }

  template <class Belongs>
  void read_while(Word& word, Word::Kind kind, const Belongs& belongs) {
    const auto begin = at_++;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    word.kind = kind;
    word.text = std::string(text_.substr(begin, at_ - begin));
  }

  void read_text(Word& word, bool escapes) {
    word.kind = Word::Kind::text;
    for (++at_; at_ < text_.size(); ++at_) {
      if (escapes && text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '\'') {
        if (peek(1) != '\'') return go_to(at_ + 1);
        ++at_;
      }
    }
    go_to(at_);
  }

  void read_quoted_name(Word& word) {
    const char mark = peek();
    word.kind = Word::Kind::quoted_name;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == mark) {
        if (peek(1) != mark) return go_to(at_ + 1);
        ++at_;
      }
      word.text += text_[at_];
    }
  }

  /// $tag$ ... $tag$
  bool read_dollar_text(Word& word) {
    auto end = at_ + 1;
    while (end < text_.size() && goes_on(text_[end]) && text_[end] != '$') ++end;
    if (end >= text_.size() || text_[end] != '$') return false;
    const auto tag = text_.substr(at_, end + 1 - at_);
    const auto close = text_.find(tag, end + 1);
    word.kind = Word::Kind::text;
    go_to(close == std::string_view::npos ? close : close + tag.size());
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool blank_ = false;
  std::vector<Word> words_;
};

}  // namespace

std::vector<Word> words_of(std::string_view statement) { return Reader(statement).all(); }

}  // namespace splitcount::measure
