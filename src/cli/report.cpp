#include <cli/report.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <base/text.h>
#include <cli/output.h>
#include <cli/report_page.h>

namespace splitcount::cli {
namespace {

constexpr std::string_view page_ending = ".html";
constexpr std::size_t path_bytes_shown = 200;

auto not_written(const std::string& path, std::string_view why, int error = 0) {
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return fail(is_full ? ErrorCode::disk_full : ErrorCode::io_error,
              fmt::format("--report {} cannot be written ({})", splitcount::quoted(path, path_bytes_shown), why));
}
auto not_written(const std::string& path, int error) { return not_written(path, std::strerror(error), error); }

/// Where a link of that name leads, so that the link stays.
std::string end_of_links(const std::string& path) {
  std::error_code error;
  const auto end = std::filesystem::canonical(path, error);
  return error ? path : end.string();
}

/// A file beside the one that is to be written, which takes its place when it is whole. Else it is removed.
class NewFile {
 public:
  explicit NewFile(std::string place) : place_(std::move(place)) {
    const auto folder = std::filesystem::path(place_).parent_path();
    name_ = (folder / ".splitcount-report-XXXXXX").string();
    descriptor_ = mkstemp(name_.data());
    if (descriptor_ < 0) error_ = errno;
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    if (!placed_) unlink(name_.c_str());
  }

  /// 0, or what the system said.
  [[nodiscard]] int error() const noexcept { return error_; }

  [[nodiscard]] int write_all(std::string_view text) {
    while (!text.empty()) {
      const auto written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
  }

  /// Gives it its name. mkstemp lets nobody else read it, and a report is a file like any other.
  [[nodiscard]] int place() {
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor_, 0666 & ~mask) != 0 || fsync(descriptor_) != 0) return errno;
    if (std::rename(name_.c_str(), place_.c_str()) != 0) return errno;
    placed_ = true;
    return 0;
  }

 private:
  std::string place_;
  std::string name_;
  int descriptor_ = -1;
  int error_ = 0;
  bool placed_ = false;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string new_nonce() {
  std::random_device random;
  std::string nonce;
  for (int i = 0; i < 4; ++i) nonce += fmt::format("{:08x}", random());
  return nonce;
}

}  // namespace

void declare_report(Command& command) {
  command.option("--report", "FILE", "Writes a page with plots and all numbers, too: one FILE.html\nthat needs no network");
}

Result<std::optional<std::string>> read_report(const Command& command) {
  auto path = command.value("--report");
  // A slip must not replace a database by a page.
  if (path && !path->ends_with(page_ending)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("--report {} is not right; a name that ends in .html is", splitcount::quoted(*path, path_bytes_shown)));
  }
  return path;
}

Result<void> check_report(const std::optional<std::string>& path) {
  if (!path) return {};
  struct stat info {};
  if (stat(path->c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return not_written(*path, "it is a folder; a file in it is right");
    if (!S_ISREG(info.st_mode)) return not_written(*path, "it is no file");
  } else if (errno != ENOENT) {
    return not_written(*path, errno);
  }
  const NewFile trial(end_of_links(*path));
  if (trial.error() == ENOENT) return not_written(*path, "there is no such folder");
  if (trial.error() != 0) return not_written(*path, trial.error());
  return {};
}

Result<void> write_report(const std::string& path, const std::string& json) {
  NewFile file(end_of_links(path));
  int error = file.error();
  if (error == 0) error = file.write_all(report_of_json(json, new_nonce()));
  if (error == 0) error = file.place();
  if (error != 0) return not_written(path, error);
  return {};
}

bool is_reported(const std::optional<std::string>& path, const std::string& json) {
  if (!path) return true;
  const auto written = write_report(*path, json);
  Output::note(written ? fmt::format("the report is in {}", printable(*path)) : written.error().message);
  return written.has_value();
}

std::string report_of_json(const std::string& json, std::string_view nonce) {
  // In lines, for people; the numbers stay as they are.
  const auto raw = escaped(nlohmann::ordered_json::parse(json).dump(2));
  std::string page;
  std::string_view rest = report_page;
  for (auto begin = rest.find("{{"); begin != rest.npos; begin = rest.find("{{")) {
    const auto end = rest.find("}}", begin);
    page += rest.substr(0, begin);
    page += rest.substr(begin, end - begin) == "{{raw" ? std::string_view(raw) : nonce;
    rest.remove_prefix(end + 2);
  }
  return page.append(rest);
}

}  // namespace splitcount::cli
