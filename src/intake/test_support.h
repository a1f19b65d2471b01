// For tests: folders, files, gzip, and log lines.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <unistd.h>
#include <zlib.h>

namespace splitcount::intake {

/// A folder that is removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "splitcount-test-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = path;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// Writes a file and returns its path.
  [[nodiscard]] std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  void append(std::string_view name, std::string_view bytes) const {
    std::ofstream(file(name), std::ios::binary | std::ios::app) << bytes;
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One gzip member.
inline std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("deflate");
  std::string out(deflateBound(&stream, static_cast<uLong>(bytes.size())) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate");
  return out;
}

/// A combined log line for a target, without its newline.
inline std::string log_line(std::string_view target) {
  return "10.0.0.1 - - [17/May/2015:10:05:03 +0000] \"GET " + std::string(target) +
         " HTTP/1.1\" 200 203 \"http://from.example/\" \"Agent/1.0\"";
}

/// `count` lines with newlines; their targets are /0 to /(keys - 1), over and over.
inline std::string log_lines(int count, int keys) {
  std::string text;
  for (int i = 0; i < count; ++i) text += log_line("/" + std::to_string(i % keys)) + "\n";
  return text;
}

/// 10,000 lines of a real web server.
inline std::string example_log() {
  return (std::filesystem::path(__FILE__).parent_path() / "../../examples/access.log").lexically_normal().string();
}

}  // namespace splitcount::intake
